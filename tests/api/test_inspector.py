"""The inspector's files: served to anybody, harmless, and true to the API and to the service's defaults."""

import ast
import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from app.assembly.records import BudgetTokens, DropReason
from app.forgetting.records import Cut
from app.inspector.door import HEADERS
from app.live.records import VIEWERS
from app.schemas.assemble import BUDGET_LIMIT
from app.scoring.weights import WEIGHTS
from app.store.entries import ERASED
from tests.browser.api_types import declarations

STATIC = Path(__file__).parents[2] / "app/inspector/static"
PLANNER = Path(__file__).parents[2] / "app/live/planner.py"
TYPES = Path(__file__).parents[1] / "browser/api.d.ts"
FILES = sorted(path for path in STATIC.rglob("*") if path.is_file())


def keys_of(language: str) -> list[str]:
    return re.findall(r'^  "([\w.]+)":', (STATIC / f"texts/{language}.js").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(STATIC).as_posix())
async def test_every_file_is_served_without_a_key_under_the_policy(client, path):
    del client.headers["Authorization"]
    reply = await client.get(f"http://test/inspector/{path.relative_to(STATIC).as_posix()}")
    assert (reply.status_code, reply.content) == (200, path.read_bytes())
    assert {name: reply.headers[name] for name in HEADERS} == HEADERS
    kinds = {".js": "javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg"}
    assert kinds[path.suffix] in reply.headers["Content-Type"]


async def test_the_address_without_a_slash_leads_to_the_page(client):
    reply = await client.get("http://test/inspector?a=b")
    assert (reply.status_code, reply.headers["Location"]) == (307, "inspector/?a=b")
    page = await client.get("http://test/inspector/")
    assert page.content == (STATIC / "index.html").read_bytes()


async def test_a_file_that_a_browser_has_is_not_sent_again(client):
    first = await client.get("http://test/inspector/app.js")
    tag = first.headers["ETag"]
    for known in (tag, f'"other", W/{tag}'):
        again = await client.get("http://test/inspector/app.js", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    changed = await client.get("http://test/inspector/app.js", headers={"If-None-Match": '"other"'})
    assert (changed.status_code, changed.content) == (200, first.content)
    head = await client.head("http://test/inspector/app.js")
    assert (head.status_code, head.content, head.headers["ETag"]) == (200, b"", tag)


async def test_nothing_beside_the_files_is_served(client):
    for path in ("nothing.js", "../door.py", "%2e%2e/door.py", "lib", "..%5cdoor.py", "a%00b"):
        reply = await client.get(f"http://test/inspector/{path}")
        assert reply.status_code == 404, path
    assert (await client.post("http://test/inspector/")).status_code == 405


def test_no_script_makes_markup_or_calls_another_host():
    for path in FILES:
        if path.suffix == ".js":
            script = path.read_text(encoding="utf-8")
            banned = (
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"style"
            )
            assert not re.search(banned, script), path
            assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", script), path
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|style=|<script(?![^>]* src=)|https?://", page)


def test_the_page_names_every_script_so_that_none_waits_for_another():
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    scripts = [path.relative_to(STATIC).as_posix() for path in FILES if path.suffix == ".js"]
    named = re.findall(r'<link rel="modulepreload" href="([^"]+)">|<script type="module" src="([^"]+)">', page)
    assert sorted(a or b for a, b in named) == sorted(scripts)


def test_the_languages_have_the_same_texts():
    english, italian = keys_of("en"), keys_of("it")
    assert english == italian
    assert len(set(english)) == len(english)
    pattern = re.compile(r'^  "([\w.]+)": (".*"),$', re.MULTILINE)
    texts = [dict(pattern.findall((STATIC / f"texts/{name}.js").read_text(encoding="utf-8"))) for name in ("en", "it")]
    for key in english:
        assert sorted(re.findall(r"\{\w+\}", texts[0][key])) == sorted(re.findall(r"\{\w+\}", texts[1][key])), key


def test_every_text_is_used_by_a_script():
    """A text is named as it is; or by its section, where the last part is a value: `tValue("reason", …)`."""
    scripts = "\n".join(
        path.read_text(encoding="utf-8") for path in FILES if path.suffix == ".js" and path.parent.name != "texts"
    )
    named = set(re.findall(r'"([a-z_]+(?:\.\w+)+)"', scripts))
    sections = set(re.findall(r'\btValue\("([\w.]+)"|\bt\([^`)]*`([\w.]+)\.\$\{', scripts))
    values = tuple(f"{one or other}." for one, other in sections)
    assert [key for key in keys_of("en") if key not in named and not key.startswith(values)] == []


def test_every_part_of_a_receipt_has_its_words():
    parts = {"entries", "derived", "turns", "jobs", *ERASED, *Cut().counts}
    assert {f"removed.{part}" for part in parts} <= set(keys_of("en"))


def test_every_reason_to_leave_something_out_has_its_words():
    assert {f"reason.{reason.value}" for reason in DropReason} <= set(keys_of("en"))
    assert {f"reason_why.{reason.value}" for reason in DropReason} <= set(keys_of("en"))


def test_every_reason_of_the_planner_has_its_words():
    functions = [node for node in ast.walk(ast.parse(PLANNER.read_text(encoding="utf-8"))) if is_deciding(node)]
    constants = [node.value for function in functions for node in ast.walk(function) if isinstance(node, ast.Constant)]
    reasons = {text for text in constants if isinstance(text, str) and " " in text and "\n" not in text}
    assert len(reasons) > 10
    assert {f"plan_why.{re.sub(r'[^a-z]+', '_', reason)}" for reason in reasons} <= set(keys_of("en"))


def is_deciding(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in {"plan_live", "_reads", "_episodes", "_lore"}


def test_the_defaults_of_the_playground_are_those_of_the_service():
    script = (STATIC / "pages/playground/defaults.js").read_text(encoding="utf-8")
    weights, budgets = (json.loads(found) for found in re.findall(r"= (\{.*\});", script))
    assert weights == asdict(WEIGHTS)
    assert budgets == {name: value for name, value in asdict(BudgetTokens()).items() if value is not None}
    limits = dict(re.findall(r"const (BUDGET_LIMIT|VIEWERS) = (\d+);", script))
    assert limits == {"BUDGET_LIMIT": str(BUDGET_LIMIT), "VIEWERS": str(VIEWERS)}


def test_the_types_of_the_scripts_are_those_of_the_api_page(app, request):
    made = declarations(app.openapi())
    if request.config.getoption("--update-golden"):
        TYPES.write_text(made, encoding="utf-8")
    assert TYPES.read_text(encoding="utf-8") == made
