"""The whole way: made-up data through a real store."""

from pathlib import Path

import orjson
import pytest

from app.domain.callers import Caller, Role
from app.runtime import Runtime
from app.store.keys import ensure_tenant
from evals.metrics import Tally
from evals.plan import plan
from evals.run import measure
from evals.scripted import play_all
from evals.service import Service

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
