"""Unknown sizes: equations that bind them, equations that wait, and errors."""

import pytest

from matcalc.errors import NotSupported, ShapeError
from matcalc.formula.inference.unify import Sizes, is_integral, times
from matcalc.tensor.sizes.size import Size

n = Size.of("n")


def fault() -> ShapeError:
    return ShapeError("unequal")


def test_an_unknown_takes_what_it_meets() -> None:
    sizes = Sizes()
    a, b = sizes.fresh(), sizes.fresh()
    assert sizes.equate(a, b, fault) and sizes.equate(b, n + 1, fault)
    assert sizes.resolve(a * 2) == sizes.resolve(2 * (n + 1)) and sizes.resolve(a) is n + 1


def test_rigid_names_are_never_equal() -> None:
    assert not Sizes().equate(n, Size.of("m"), fault)
    assert not Sizes().equate(n, n + 1, fault)


def test_linear_equations_are_solved() -> None:
    sizes = Sizes()
    a = sizes.fresh()
    assert sizes.equate(2 * a + 1, Size.of(7), fault)
    assert sizes.resolve(a) == 3


def test_a_solution_that_is_no_length_is_refused() -> None:
    for left, right in ((2, 7), (1, -1)):
        sizes = Sizes()
        assert not sizes.equate(sizes.fresh() * left, Size.of(right), fault)


def test_an_unknown_inside_itself() -> None:
    sizes = Sizes()
    a = sizes.fresh()
    assert not sizes.equate(a, a + 1, fault)
    assert sizes.equate(a, a * 2, fault) and sizes.resolve(a) == 0


def test_an_equation_that_waits_is_solved_later() -> None:
    sizes = Sizes()
    a, b = sizes.fresh(), sizes.fresh()
    assert sizes.equate(a * b, Size.of(6), fault)
    assert sizes.equate(a, Size.of(2), fault)
    sizes.finish()
    assert sizes.resolve(b) == 3


def test_an_equation_that_stays_open_is_an_error() -> None:
    sizes = Sizes()
    assert sizes.equate(sizes.fresh() * sizes.fresh(), Size.of(6), fault)
    with pytest.raises(ShapeError, match="unequal"):
        sizes.finish()


def test_long_chains_resolve_without_recursion() -> None:
    sizes = Sizes()
    chain = [sizes.fresh() for _ in range(5000)]
    for one, other in zip(chain, chain[1:], strict=False):
        assert sizes.equate(one, other, fault)
    assert sizes.equate(chain[0], n, fault)
    assert all(sizes.resolve(size) is n for size in chain)


def test_integer_valued_polynomials() -> None:
    half = Size.of("n") * (n + 1) * (1 / Size.of(2).constant)
    assert is_integral(half) and not is_integral(n * (1 / Size.of(2).constant))


def test_sizes_do_not_explode() -> None:
    with pytest.raises(NotSupported):
        size = Size.of(1)
        for k in range(40):
            size = times(size, Size.of(f"n{k}") + 1)


def test_factors_that_are_names_are_divided_by() -> None:
    sizes = Sizes()
    a, b = sizes.fresh(), sizes.fresh()
    m = Size.of("m")
    assert sizes.equate(a * m, n * m, fault) and sizes.resolve(a) is n
    assert sizes.equate(b * (m + n), 2 * m * m + 2 * m * n, fault) and sizes.resolve(b) is 2 * m


def test_roots_are_taken() -> None:
    sizes = Sizes()
    a, b, c = sizes.fresh(), sizes.fresh(), sizes.fresh()
    assert sizes.equate(a * a, 4 * n * n, fault) and sizes.resolve(a) is 2 * n
    assert sizes.equate(b * b * b, Size.of(8), fault) and sizes.resolve(b) == 2
    assert sizes.equate(c * c, Size.of(8), fault)
    with pytest.raises(ShapeError):
        sizes.finish()


def test_equations_are_solved_together() -> None:
    sizes = Sizes()
    a, b = sizes.fresh(), sizes.fresh()
    assert sizes.equate(2 * a + 3 * b, 12 * n, fault) and sizes.equate(3 * a - 2 * b, 5 * n, fault)
    sizes.finish()
    assert sizes.resolve(a) is 3 * n and sizes.resolve(b) is 2 * n


@pytest.mark.parametrize(("right", "other"), [(5, 0), (7, 0), (-4, 2), (6, 10)])
def test_systems_without_a_solution_in_lengths(right: int, other: int) -> None:
    """(5/4, 5/6), (7/4, 7/6), (-1/2, -1), (4, -2/3)."""
    sizes = Sizes()
    a, b = sizes.fresh(), sizes.fresh()
    with pytest.raises(ShapeError, match="unequal"):
        sizes.require(2 * a + 3 * b, Size.of(right), fault)
        sizes.require(2 * a - 3 * b, Size.of(other), fault)
        sizes.finish()


@pytest.mark.parametrize(("a", "b", "right"), [(2, 4, 5), (2, 4, -2), (6, 9, 4)])
def test_equations_without_a_solution_are_refused_at_once(a: int, b: int, right: int) -> None:
    sizes = Sizes()
    assert not sizes.equate(a * sizes.fresh() + b * sizes.fresh(), Size.of(right), fault)


def test_a_sum_that_is_zero() -> None:
    sizes = Sizes()
    a, b = sizes.fresh(), sizes.fresh()
    assert sizes.equate(a + 2 * b, Size.of(0), fault)
    assert sizes.resolve(a) == 0 and sizes.resolve(b) == 0


def test_the_only_length_that_is_left() -> None:
    sizes = Sizes()
    a = sizes.fresh()
    assert sizes.settle([a, 5 - 2 * a, a - 2]) and sizes.resolve(a) == 2
    assert not Sizes().settle([a, 3 - 2 * a, a - 2])
    assert not Sizes().settle([Size.of(-1)])


def test_the_only_number_that_solves_an_equation_is_found() -> None:
    sizes = Sizes()
    a, b = sizes.fresh(), sizes.fresh()
    assert sizes.equate((a * a + a) // 2, Size.of(6), fault) and sizes.equate(b * b + 2, 3 * b, fault)
    with pytest.raises(ShapeError):  # 1 and 2
        sizes.finish()
    assert sizes.resolve(a) == 3
