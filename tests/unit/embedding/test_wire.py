import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.embedding.wire import BadReplyError, NoVectorError, endpoint

OPENAI = endpoint("http://x/v1/embeddings", "m")


@pytest.mark.parametrize(
    ("url", "posted_to", "api"),
    [
        ("http://x:8000/v1", "http://x:8000/v1/embeddings", "openai"),
        ("http://x:8000/v1/", "http://x:8000/v1/embeddings", "openai"),
        ("https://x/v1/embeddings", "https://x/v1/embeddings", "openai"),
        ("https://x/proxy/embeddings?version=1", "https://x/proxy/embeddings?version=1", "openai"),
        ("http://x:8080/embed", "http://x:8080/embed", "tei"),
    ],
)
def test_the_path_tells_the_api(url: str, posted_to: str, api: str):
    found = endpoint(url, "m")
    assert (found.url, found.api) == (posted_to, api)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://x:8000", "http://x/api/embedd"])
def test_a_url_of_neither_api_is_refused(url: str):
    with pytest.raises(ValueError, match=r"it must start with|its path must end in"):
        endpoint(url, "m")


@given(st.permutations(range(6)))
def test_vectors_come_in_the_order_of_the_texts_whatever_that_of_the_reply(order: list[int]):
    data = [{"index": index, "embedding": np.eye(6)[index].tolist()} for index in order]
    np.testing.assert_array_equal(OPENAI.vectors(orjson.dumps({"data": data}), 6, 6), np.eye(6))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["data", "index", "embedding"]), x),
    )
)
def test_any_json_gives_vectors_or_an_error(reply: object):
    for where in (OPENAI, endpoint("http://x/embed", "m")):
        try:
            vectors = where.vectors(orjson.dumps(reply), 1, None)
        except (BadReplyError, NoVectorError):
            continue
        assert vectors.shape[0] == 1
        assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-5)
