"""Builders that show only what matters to a test."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.assembly.pipeline import assemble as assemble_prompt
from app.assembly.plan import plan
from app.assembly.records import AssemblyRequest, AssemblyRules, Candidate, Retrieved
from app.contradictions.detect import SimilarityBand
from app.domain.entries import KIND_OF_TIER, Tier
from app.domain.ids import IdKind, PublicId
from app.domain.soul import SoulBlock
from app.domain.spaces import SpaceKey
from app.scoring.relevance import MIN_RELEVANCE, Calibration

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SPACE = SpaceKey(UUID(int=1), "user:ana")
RULES = AssemblyRules(Calibration(), SimilarityBand(0.35, 0.92), MIN_RELEVANCE)


def words(text: str) -> int:
    """A token counter for tests: every element counts one token per blank-separated piece."""
    return len(text.split())


def candidate(number: int, text: str, *, days: float = 0, tier: Tier = Tier.MEMORIES, space: str = "", **fields):
    """A candidate, relevant unless it says otherwise; `days` is how long ago it was recorded."""
    name = space or SPACE.name
    moment = NOW - timedelta(days=days)
    defaults = {
        "version": 1,
        "sequence": number,
        "scope": "",
        "recorded_at": moment,
        "last_confirmed_at": moment,
        "cosine_similarity": 0.5,
    }
    return Candidate(
        id=PublicId(UUID(int=number), SpaceKey(SPACE.tenant_id, name).space_id, KIND_OF_TIER[tier]),
        space=name,
        tier=tier,
        text=text,
        **(defaults | fields),
    )


def block(name: str, text: str, position: int = 1) -> SoulBlock:
    """An active soul block."""
    block_id = PublicId(UUID(int=position), SPACE.space_id, IdKind.SOUL)
    return SoulBlock(id=block_id, version=1, name=name, text=text, position=position, active=True, recorded_at=NOW)


def request(query: str = "lunch", **fields) -> AssemblyRequest:
    """A request for Ana's space, now."""
    return AssemblyRequest(**({"space": SPACE, "query": query, "as_of": NOW, "persona": SPACE} | fields))


def assemble(candidates, asked: AssemblyRequest | None = None, *, soul=(), degraded=(), count=words):
    """Run the pure pipeline."""
    asked = asked or request()
    return assemble_prompt(asked, plan(asked), Retrieved(tuple(candidates), tuple(soul), degraded), RULES, count)


def reasons(assembly) -> dict[int, str]:
    """Why entries were dropped, by the number of the builder."""
    return {dropped.id.uuid.int: dropped.reason.value for dropped in assembly.selection.dropped}


def kept(assembly) -> list[int]:
    """The numbers of the entries in the prompt, in its order."""
    return [e.scored.candidate.id.uuid.int for e in assembly.selection.entries]
