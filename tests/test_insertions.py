"""Inserting terms without effect changes neither values nor gradients (`insertions.py`)."""

import pytest
from insertions import Campaign


def compared(count: int, seed: int, **often: int) -> None:
    found = Campaign(seed).run(count, **often)
    assert not found.wrong, "\n".join(found.wrong)
    assert found.compared == count


def test_a_few_insertions() -> None:
    compared(40, 1, each=10, compiled=30)


@pytest.mark.whole
def test_insertions() -> None:
    compared(600, 2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many_insertions(seed: int) -> None:
    compared(1000, 100 + seed)
