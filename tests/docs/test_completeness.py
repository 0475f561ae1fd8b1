"""The documentation names what there is."""

import json
import re
from typing import get_args

import pytest
from pydantic import BaseModel

from app.api.errors import STATUS
from app.assembly.records import BudgetTokens, DropReason, Section
from app.domain.entries import TAGS, TEXT_CHARS, Category
from app.domain.spaces import SCOPE_KINDS, SPACE_KINDS
from app.embedding.models import KNOWN
from app.main import create_app
from app.schemas.assemble import (
    ALSO_READ,
    HISTORY_MESSAGES,
    AssembleBody,
    AssembleReply,
    BudgetTokensBody,
    OverridesBody,
    WeightsBody,
)
from app.schemas.entries import BATCH_ENTRIES, EpisodeFields, MemoryFields, ProcedureFields
from app.schemas.problems import ProblemType
from app.schemas.turns import MediumBody, PostedMessage, ReplyBody, TurnBody
from app.store.queue import INTERNAL, OVERTAKEN, UNAVAILABLE, WORKER_DIED
from app.text.terms import MAX_DOCUMENT_WORDS
from tests.docs.blocks import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def _unnamed(names, document: str) -> list[str]:
    return [name for name in names if f"`{name}`" not in document]


@pytest.mark.parametrize(
    "model",
    [
        AssembleBody,
        AssembleReply,
        BudgetTokensBody,
        OverridesBody,
        WeightsBody,
        MemoryFields,
        EpisodeFields,
        ProcedureFields,
        TurnBody,
        PostedMessage,
        ReplyBody,
        MediumBody,
    ],
)
def test_the_api_page_names_every_field(model: type[BaseModel]):
    assert _unnamed(model.model_fields, API) == []


@pytest.mark.parametrize("names", [DropReason, Section, Category, SPACE_KINDS, SCOPE_KINDS])
def test_the_api_page_names_every_value(names):
    assert _unnamed([str(name) for name in names], API) == []


def test_the_api_page_has_every_problem_with_its_status_and_no_other():
    table = dict(re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \| [^|]+ \|$", API, re.MULTILINE))
    assert table.keys() == {kind.rpartition(":")[2] for kind in get_args(ProblemType)}
    of_no_error = {"malformed-json": 400, "method-not-allowed": 405, "internal": 500}
    statuses = {kind.code: status for kind, status in STATUS.items()} | of_no_error
    assert {kind: int(status) for kind, status in table.items()} == statuses


def test_the_api_page_has_every_reason_of_a_failed_job():
    reasons = (INTERNAL, OVERTAKEN, UNAVAILABLE, WORKER_DIED)
    assert _unnamed([reason.partition(":")[0] for reason in reasons], API) == []


def test_nothing_is_deprecated_as_the_api_page_says():
    document = json.dumps(create_app().openapi())
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert '"deprecated": true' not in document
    assert "### Deprecated" not in changes


def test_the_architecture_page_names_every_package_and_table():
    packages = [f"app/{path.parent.name}" for path in (ROOT / "app").glob("*/__init__.py")]
    versions = (ROOT / "alembic" / "versions").glob("*.sql")
    schema = "\n".join(p.read_text(encoding="utf-8") for p in versions if p.name != "0006_queue.sql")
    assert _unnamed([*packages, *re.findall(r"^CREATE TABLE (\w+)", schema, re.MULTILINE)], ARCHITECTURE) == []


def test_the_limits_of_the_readme_are_those_of_the_code():
    limits = re.search(r"^## Limits\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)
    assert limits is not None
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\d|\d", limits[1])]
    window = KNOWN["bundled/use-multilingual-v3"].document_windows
    assert numbers == [
        TEXT_CHARS,
        window.max_windows * window.window_chars,
        window.max_windows * window.window_words,
        MAX_DOCUMENT_WORDS,
        BATCH_ENTRIES,
        TAGS,
        HISTORY_MESSAGES,
        ALSO_READ,
        BudgetTokens().soul,
        16,
    ]


def test_the_decisions_are_listed():
    folder = ROOT / "docs" / "decisions"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    assert [p.name for p in sorted(folder.glob("[0-9]*.md")) if f"({p.name})" not in listed] == []


def test_a_decision_is_called_by_the_number_of_its_file():
    texts = {p: p.read_text(encoding="utf-8") for p in (ROOT / "docs").rglob("*.md")}
    wrong = [
        (page.name, label, number)
        for page, text in texts.items()
        for label, number in re.findall(r"\[(?:[Dd]ecision )?(\d{3})\]\((?:decisions/)?(\d{3})-", text)
        if label != number
    ]
    headings = [
        p.name
        for p in texts
        if p.parent.name == "decisions" and p.name[:3].isdigit() and f"# {p.name[:3]}" != texts[p][:5]
    ]
    assert (wrong, headings) == ([], [])
