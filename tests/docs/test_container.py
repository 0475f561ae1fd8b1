"""The Dockerfile fits the project: no engine builds it here."""

import fnmatch
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.settings import PREFIX, Settings
from tests.docs.blocks import ROOT

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in re.sub(r"\\\n", " ", TEXT).splitlines()
    if line.strip() and not line.startswith("#")
]


def _arguments(instruction: str) -> list[str]:
    return [arguments for name, arguments in INSTRUCTIONS if name == instruction]


def _sources() -> list[str]:
    return [
        source for arguments in _arguments("COPY") if "--from" not in arguments for source in arguments.split()[:-1]
    ]


@pytest.mark.parametrize("source", _sources())
def test_what_is_copied_exists_and_reaches_the_build(source):
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert (ROOT / source).exists()
    assert any(fnmatch.fnmatch(source, pattern) or source.startswith(f"{pattern}/") for pattern in allowed)


def test_the_start_command_is_a_real_one():
    [command] = map(json.loads, _arguments("CMD"))
    program = Path(sys.executable).with_name(command[0])
    subprocess.run([program, *command[1:], "--help"], check=True, capture_output=True)


def test_it_runs_as_a_user_without_rights_and_keeps_its_data_in_a_volume():
    order = [name for name, _ in INSTRUCTIONS]
    assert _arguments("USER") == ["ricordo"]
    assert order.index("USER") < order.index("CMD")
    assert f"RICORDO_DATA_DIR={_arguments('VOLUME')[0]}" in TEXT


def test_everything_is_installed_by_hash():
    installs = re.findall(r"pip install [^&\n]*", TEXT)
    assert installs
    assert all("--require-hashes" in install or "--no-deps" in install for install in installs)


def test_the_variables_are_settings():
    names = set(re.findall(rf"\b{PREFIX}(\w+)=", TEXT))
    assert {name.lower() for name in names} <= Settings.model_fields.keys()


def test_the_health_check_succeeds_against_a_running_service(running):
    [check] = _arguments("HEALTHCHECK")
    code = json.loads(check[check.index("[") :])[2].replace("127.0.0.1:8080", f"127.0.0.1:{running.port}")
    subprocess.run([sys.executable, "-c", code], check=True)
