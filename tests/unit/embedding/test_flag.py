"""What of bge-m3 needs no model; the rest is in tests/bge_m3."""

from itertools import chain
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.embedding.flag import Machine, similar_lengths, stored_name


@given(st.lists(st.integers(1, 8_192), max_size=40))
def test_texts_of_similar_length_go_together_and_padding_at_most_doubles_a_batch(lengths: list[int]):
    groups = similar_lengths(lengths)
    assert sorted(chain.from_iterable(groups)) == list(range(len(lengths)))
    for group in groups:
        found = [lengths[index] for index in group]
        assert max(found) * len(found) <= 2 * sum(found)


def test_short_texts_of_one_length_are_one_batch():
    assert similar_lengths([9] * 16) == [list(range(16))]


def test_a_batch_grows_with_the_cores_and_much_more_with_an_accelerator():
    two, sixteen, gpu = Machine(2, has_gpu=False), Machine(16, has_gpu=False), Machine(2, has_gpu=True)
    assert (two.threads, sixteen.threads) == (2, 8)
    assert two.limits().batch_chars == 500
    assert two.limits().batch_chars < sixteen.limits().batch_chars < gpu.limits().batch_chars
    assert gpu.limits(batch_texts=7).batch_texts == 7


def test_a_folder_is_named_by_its_last_part_and_bge_m3_by_its_own(tmp_path: Path):
    (tmp_path / "bge-m3-legal").mkdir()
    assert stored_name(str(tmp_path / "bge-m3-legal")) == "bge-m3-legal"
    assert stored_name("/models/bge-m3") == stored_name("BAAI/bge-m3") == "bge-m3"
    assert stored_name("owner/other") == "owner/other"
