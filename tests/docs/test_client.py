"""The Python client as a stranger gets it: its README runs, and its wheel holds what it needs."""

import subprocess
import sys
import zipfile

from tests.docs.blocks import ROOT, blocks
from tests.docs.conftest import Running

CLIENT = ROOT / "clients" / "python"

PRELUDE = """
import pathlib
URL = "http://127.0.0.1:8080"
KEY = pathlib.Path("data/api_key").read_text().strip()
prompts = []
def answer(prompt, message):
    prompts.append(prompt)
    return "I see."
"""


def test_the_readme_runs(running: Running):
    code = [block.text for block in blocks(CLIENT / "README.md") if (block.language, block.mark) == ("python", "run")]
    checks = "assert context.failure is None, context.failure"
    script = running.localised("\n".join([PRELUDE, code[0], checks, *code[1:]]))
    done = subprocess.run(
        [".venv/bin/python", "-c", script], cwd=running.folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "I am allergic to hazelnuts." in done.stdout


def test_the_chat_loop_of_the_readme_has_ten_lines():
    loop = next(block for block in blocks(CLIENT / "README.md") if block.language == "python")
    assert len([line for line in loop.text.splitlines() if line.strip()]) <= 10


def test_the_wheel_is_typed_and_needs_httpx_and_pydantic_alone(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=CLIENT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("ricordo_client-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [archive.read(name).decode() for name in names if name.endswith("METADATA")]
    assert "ricordo_client/py.typed" in names
    needed = [line.split()[1] for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    assert [name.partition("<")[0].partition(">")[0] for name in needed] == ["httpx", "pydantic"]
