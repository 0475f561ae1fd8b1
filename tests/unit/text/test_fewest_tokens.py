import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.tokens import SPLIT_PATTERNS, fewest_tokens, token_counter

TEXTS = st.text() | st.text(alphabet="ab1 \n\r\t/!'’_-é日\u00a0\x1c", max_size=60)


@pytest.mark.parametrize("encoding", SPLIT_PATTERNS)
@given(text=TEXTS)
@settings(deadline=None)  # the first example loads the vocabulary
def test_no_text_takes_fewer_tokens_than_promised(encoding, text):
    assert fewest_tokens(text) <= token_counter(encoding)(text)


def test_it_is_near_the_count_for_prose():
    assert fewest_tokens("Ana keeps bees on the roof of her house in Turin.") == 11
