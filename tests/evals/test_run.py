"""The whole way: made-up data through a real store."""

from pathlib import Path

import orjson
import pytest

from app.domain.callers import Caller, Role
from app.runtime import Runtime
from app.scoring.weights import WEIGHTS
from app.store.keys import ensure_tenant
from evals.ablation import WHOLE, ablate, ablation_table, parts
from evals.metrics import Tally
from evals.plan import plan
from evals.run import measure
from evals.scripted import play_all
from evals.service import Service
from evals.ties import ties
from evals.weighing import compare, without_each

_FACTS = ("Keeps bees on the roof", "Plays the cello", "Is afraid of heights", "Was born in Lima")


def _write(path: Path, *rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    _write(tmp_path / "short_facts" / "memories.jsonl", *({"id": n, "text": t} for n, t in enumerate(_FACTS)))
    _write(tmp_path / "short_facts" / "questions.jsonl", {"set": "en", "question": "Who plays the cello?", "id": 1})
    turns = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(_FACTS, 1)]
    conversation = {"session_1_date_time": "1:05 pm on 3 March, 2024", "session_1": turns}
    asked = {"question": "Which instrument does Ada play, the cello?", "evidence": ["D1:2"], "category": 4}
    _write(tmp_path / "locomo" / "conversations.dev.jsonl", {"conversation": conversation, "qa": [asked]})
    pairs = [("Mia lives in Rome.", "Mia lives in Oslo.", "contradiction"), ("Mia swims.", "Mia sings.", "compatible")]
    rows = ({"a": a, "b": b, "label": label, "kind": "place", "lang": "en"} for a, b, label in pairs)
    _write(tmp_path / "contradiction_pairs" / "pairs.jsonl", *rows)
    return tmp_path


@pytest.mark.slow
async def test_the_scripted_conversations_are_part_of_it(runtime: Runtime, tenant):
    service = Service(runtime, await runtime.keys.authenticate(tenant.key), tenant.key)
    tally = Tally()
    assert await play_all(service, tally) == ()
    figures = tally.figures()
    assert figures["scripted.passed"].items >= 60
    assert {figures[f"scripted.{code}.passed"].value for code in ("en", "it", "cs")} == {1.0}


async def test_what_is_written_is_found_and_reaches_the_prompt(data: Path, runtime: Runtime, database_url: str):
    caller = Caller(ensure_tenant(database_url, "evals"), Role.EDITOR)
    figures = (await measure(Service(runtime, caller), plan(data, small=False))).figures()
    assert figures["short_facts.mrr.en"].value == figures["short_facts.mrr.en"].bm25 == 1
    assert figures["locomo.turn.fraction@5.single_hop"].value == 1
    assert figures["locomo.session.fraction@10"].value == 1
    assert figures["prompt.locomo.evidence"].value == figures["prompt.locomo.evidence"].bm25 == 1
    assert figures["prompt.locomo.tokens.p50"].value > 0
    assert figures["contradiction_pairs.en.precision"].value == 1
    assert figures["contradiction_pairs.en.recall"].value == 1


@pytest.fixture
def service(runtime: Runtime, database_url: str) -> Service:
    return Service(runtime, Caller(ensure_tenant(database_url, "evals"), Role.EDITOR))


async def test_sets_of_weights_are_compared_on_the_same_questions(data: Path, service: Service):
    (conversation,) = plan(data, small=False).retrieval[0][1]
    fresh = [tie for tie in ties() if tie.name.startswith("fresh.")]
    found = await compare(service, (WEIGHTS, *without_each(WEIGHTS)), [conversation], fresh, lambda _: None)
    whole, _, _, without_recency, *_ = found.values
    assert sum(whole["ties.first"]) > sum(without_recency["ties.first"])
    assert whole["locomo.prompt.evidence"] == [1.0]
    assert found.groups["locomo.prompt.evidence"] == ["locomo-0"]
    assert {len(values[key]) for values in found.values for key in ("ties.first", "ties.reciprocal_rank")} == {6}


async def test_every_part_is_taken_out_and_put_back(data: Path, service: Service):
    before = [getattr(module, name) for part in parts() for module, name, _ in part.replacements]
    found = await ablate(service, plan(data, small=False))
    assert [getattr(module, name) for part in parts() for module, name, _ in part.replacements] == before
    assert found.without.keys() == {part.name for part in parts()}
    assert found.differences("keyword arm")["short_facts.mrr.en"].items == 1
    lines = ablation_table(found).splitlines()
    assert WHOLE not in found.without
    assert len(lines) == 3 + len(parts())
