"""Every file that is committed: links resolve, and nothing names a package registry or a machine's folders."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

FILES = [
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    if (ROOT / name).is_file()
]
MARKDOWN = [path for path in FILES if path.suffix == ".md"]

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

# Written in pieces: this file is one of those that are looked at.
REGISTRIES = ("py" + "pi.org", "pythonhosted" + ".org", "pypi.python" + ".org", "registry.npmjs" + ".org")
FOLDERS = re.compile(r"/(?:root|home)/[A-Za-z.]|/work" + r"/(?:main|shared)|/opt/(?:pypi|wheels)|/tmp/[a-z]+x?/")


def test_there_are_files_to_look_at():
    assert len(FILES) > 100


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(path):
    targets = [t.partition("#")[0] for t in LINK.findall(FENCED.sub("", path.read_text(encoding="utf-8")))]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (path.parent / target).exists()] == []


def test_no_file_names_a_package_registry():
    assert [str(path) for path in FILES if any(host in _text(path) for host in REGISTRIES)] == []


def test_no_file_names_a_folder_of_a_machine():
    found = {str(path.relative_to(ROOT)): FOLDERS.findall(_text(path)) for path in FILES}
    assert {name: folders for name, folders in found.items() if folders} == {}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
