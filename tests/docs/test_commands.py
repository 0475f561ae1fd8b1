"""The commands of the documentation do what it says."""

import pytest

from tests.docs.blocks import ROOT, Block, agrees, blocks
from tests.docs.conftest import Running

DOCUMENTS = [path for path in sorted((ROOT / "docs").glob("*.md")) if blocks(path)] + [ROOT / "README.md"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_print_what_the_document_shows(path, running):
    """All of a document in one shell; each command must succeed."""
    listed = [block for block in blocks(path) if block.mark != "sample"]
    printed = _run([block for block in listed if block.mark == "run"], running)
    last = ""
    for block in listed:
        if block.mark == "run":
            last = printed.pop(0)
        else:
            assert agrees(block.text, last), f"{path.name}, line {block.line}: shown\n{block.text}\nbut it is\n{last}"


def test_the_first_run_prints_what_the_readme_shows(running):
    [shown] = [block for block in blocks(ROOT / "README.md") if block.mark == "sample"]
    assert agrees(shown.text, running.documented(running.printed)), running.printed


def test_what_the_readme_says_is_missing_from_the_sample_prompt_is_missing(running):
    prompt = running.printed
    assert "eats everything" not in prompt
    assert not any(word in prompt for word in ("Pixel", "Milano", "bicycle"))


def _run(commands: list[Block], running: Running) -> list[str]:
    """What each command printed."""
    mark = "\x1e"
    script = "".join(f"{running.localised(_shell(command))}\nprintf '{mark}'\n" for command in commands)
    printed = running.shell(script)
    return [running.documented(part) for part in printed.split(mark)[:-1]]


def _shell(command: Block) -> str:
    return command.text if command.language == "sh" else f".venv/bin/python - <<'END'\n{command.text}END"
