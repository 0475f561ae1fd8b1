"""A model in a process of its own: it answers, it says why it cannot, and it is replaced when somebody ends it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from app.domain.errors import UnavailableError
from app.embedding.bundled import BundledEmbedder
from app.embedding.child import ChildModel
from app.embedding.tokenwise import load

MODULE = """
import sys
import numpy as np
from app.embedding.child import serve

def load():
    {loading}
    return encode

def encode(texts):
    if "fail" in texts:
        raise ValueError("such a text cannot be read")
    return np.array([[len(text), 1] for text in texts], np.float32)

serve(load, int(sys.argv[1]))
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "some_model.py").write_text(MODULE.format(loading="pass"))
    (tmp_path / "broken_model.py").write_text(MODULE.format(loading='raise OSError("the weights are missing")'))
    (tmp_path / "dying_model.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(tmp_path)
    return "some_model"


@pytest.fixture
def child(module: str) -> Iterator[ChildModel]:
    made = ChildModel(module)
    yield made
    made.close()


def test_it_answers(child: ChildModel):
    np.testing.assert_array_equal(child(["a", "ab\ud800", ""]), [[1, 1], [3, 1], [0, 1]])


def test_what_it_cannot_do_it_says_and_goes_on(child: ChildModel):
    with pytest.raises(RuntimeError, match="such a text cannot be read"):
        child(["fail"])
    assert child(["a"]).shape == (1, 2)


@pytest.mark.parametrize(
    ("name", "reason"), [("broken_model", "the weights are missing"), ("dying_model", "ended with code 3")]
)
def test_a_model_that_cannot_be_loaded_says_why(module: str, name: str, reason: str):
    del module
    with pytest.raises(RuntimeError, match=reason):
        ChildModel(name)


def test_another_one_takes_the_place_of_one_that_was_killed(child: ChildModel):
    before = child._process.pid
    os.kill(before, signal.SIGKILL)
    assert child(["abc"])[0, 0] == 3
    assert child._process.pid != before


def test_it_ends_with_whoever_started_it(child: ChildModel):
    process = psutil.Process(child._process.pid)
    child._pipe.close()  # as when the parent is killed
    assert process.wait(5) == 0


def test_it_is_silent_when_nobody_waits_for_it_any_more(module: str, capfd: pytest.CaptureFixture[str]):
    child = ChildModel(module)
    process = psutil.Process(child._process.pid)
    child._pipe.send(["a"] * 100_000)  # the answer is larger than the pipe
    child._pipe.close()
    process.wait(5)
    assert capfd.readouterr().err == ""


async def test_a_text_is_embedded_though_the_model_was_killed():
    embedder = BundledEmbedder()
    await embedder.start()
    try:
        before = await embedder.embed_query("Who likes tea?")
        children = [one for one in psutil.Process().children() if "app.embedding.tokenwise" in one.cmdline()]
        assert children
        for one in children:
            one.kill()
        document = (await embedder.embed_documents(["Who likes tea?"]))[0]
        np.testing.assert_allclose(document, before, atol=1e-5)
    finally:
        await embedder.close()


async def test_a_model_that_is_closed_answers_nobody():
    embedder = BundledEmbedder()
    await embedder.start()
    await embedder.close()
    with pytest.raises(UnavailableError):
        await embedder.embed_query("Who likes tea?")


def test_the_child_computes_what_the_model_computes():
    texts = ["Who likes tea?", "字", ""]
    child = ChildModel("app.embedding.tokenwise")
    try:
        np.testing.assert_allclose(child(texts), load()(texts), atol=1e-6)
    finally:
        child.close()
