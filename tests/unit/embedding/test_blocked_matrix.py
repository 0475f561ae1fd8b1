"""Products by blocks are those of the whole matrix."""

import numpy as np
import pytest

from app.embedding.tokenwise import BlockedMatrix


@pytest.mark.parametrize("rows", [1, 12, 32, 33, 200])
@pytest.mark.parametrize("shape", [(512, 768), (1280, 256), (3, 32)])
def test_a_blocked_product_is_the_product(rows: int, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(rows)
    left = rng.standard_normal((rows, shape[0]), dtype=np.float32)
    matrix = rng.standard_normal(shape, dtype=np.float32)
    product = left @ BlockedMatrix(matrix)
    assert product.shape == (rows, shape[1])
    assert product.dtype == np.float32
    np.testing.assert_allclose(product, left @ matrix, rtol=1e-4, atol=1e-3)


def test_a_result_can_be_written_to() -> None:
    product = np.ones((2, 3), np.float32) @ BlockedMatrix(np.ones((3, 64), np.float32))
    product += 1
    assert (product == 4).all()
