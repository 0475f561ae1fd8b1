"""The Python client as a stranger gets it: its README runs, and its wheel holds what it needs."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.docs.blocks import ROOT, blocks
from tests.docs.conftest import Running

CLIENT = ROOT / "clients" / "python"

PRELUDE = """
import pathlib, time
URL = "http://127.0.0.1:8080"
KEY = pathlib.Path("data/api_key").read_text().strip()
prompts = []
def answer(messages):
    assert [m["role"] for m in messages] == ["system", "user"]
    prompts.append(messages[0]["content"])
    return "I see."
def says(*texts):
    left = list(texts)
    return lambda: left.pop(0) if left else None
SESSION, listen = "today", says("I moved to Turin in May.")
"""

TOMORROW = """
assert context.failure is None, context.failure
SESSION = "tomorrow"
for _ in range(100):
    listen = says("Which city do I live in?")
    exec(LOOP)
    if "I moved to Turin in May" in prompts[-1]:
        break
    time.sleep(0.2)
else:
    raise SystemExit(prompts)
"""


def code() -> list[str]:
    return [block.text for block in blocks(CLIENT / "README.md") if (block.language, block.mark) == ("python", "run")]


def test_the_readme_runs_and_tomorrow_it_remembers(running: Running, fresh: Path):
    """In an environment that has nothing but the client and what it needs."""
    loop, *others = code()
    script = running.localised("\n".join([PRELUDE, f"LOOP = {loop!r}", loop, TOMORROW, *others]))
    done = subprocess.run(
        [fresh, "-I", "-c", script], cwd=running.folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "I am allergic to hazelnuts." in done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    """The Python of a new environment into which the client was installed, beside its dependencies alone."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    site = next(folder.glob("lib/python*/site-packages"))
    needed = site.with_name("needed")
    needed.mkdir()
    ours = Path(httpx.__file__).parents[1]
    for name in NEEDED:
        for path in (ours / name, ours / f"{name}.py"):
            if path.exists():
                (needed / path.name).symlink_to(path)
    (site / "needed.pth").write_text(str(needed))
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=CLIENT, check=True, capture_output=True)
    wheel = next(folder.glob("*.whl"))
    pip = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(pip, check=True, capture_output=True)
    return python


NEEDED = (
    "httpx", "httpcore", "h11", "anyio", "idna", "certifi", "typing_extensions",
    "pydantic", "pydantic_core", "annotated_types", "typing_inspection",
)  # fmt: skip
"""What pip takes for httpx and pydantic."""


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
