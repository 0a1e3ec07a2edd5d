"""A compiled function is compared with its formulas: at larger sizes too, and with no help from memory."""

from collections.abc import Mapping

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.written.compiled import Function, Result, compiled_check


def compared(text: str, declared: str, function: Function) -> str:
    e = mc.expression(text, declared)
    return compiled_check(function, [Result("result", e.node, e.reference)], e.names, e.names.ordered())


def by_blocks(count: int, factor: float) -> Function:
    """Return x*2, each whole block of so many entries multiplied by a factor besides."""

    def function(data: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        found = 2 * data["x"]
        found[: found.size - found.size % count] *= factor
        return [found]

    return function


@pytest.mark.parametrize("count", [4, 8])
def test_blocks_of_entries_are_reached(count: int) -> None:
    assert compared("2*x", "x: vector(n)", by_blocks(count, 1.0)) == "at n=2; n=3 and n=9, to 1e-16"
    with pytest.raises(mc.InternalError, match="n=9"):
        compared("2*x", "x: vector(n)", by_blocks(count, 1.01))


@pytest.mark.parametrize(
    ("text", "declared", "said"),
    [
        ("A*x", "A: matrix(m, n); x: vector(n)", "at m=2, n=3; m=3, n=1 and m=9, n=10, to "),
        ("A*x", "A: matrix(4, 3); x: vector(3)", "at the declared sizes, to "),
        ("T", "T: tensor(k, l, m, n)", "at k=2, l=3, m=4, n=5 and k=3, l=1, m=3, n=2, to "),
    ],
)
def test_the_third_point_has_few_entries(text: str, declared: str, said: str) -> None:
    assert mc.compile(text, declarations=declared, target="numpy").checked.startswith(said)


@pytest.mark.parametrize(
    ("text", "declared"), [("2*x", "x: vector(n)"), ("2*x", "x: matrix(m, n)"), ("2*x", "x: scalar")]
)
def test_a_result_that_is_left_unwritten_is_refused(text: str, declared: str) -> None:
    def function(data: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        result = np.empty(np.shape(data["x"]))
        result, left = 2 * np.asarray(data["x"]), result
        return [left]

    with pytest.raises(mc.InternalError, match="failed its check"):
        compared(text, declared, function)


@pytest.mark.parametrize("wrong", [1.0, np.nan])
def test_a_function_that_changes_its_argument_is_refused(wrong: float) -> None:
    def function(data: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        result = 2 * data["x"] * wrong
        data["x"][...] = result
        return [result]

    with pytest.raises(mc.InternalError, match="changes its argument x"):
        compared("2*x", "x: vector(n)", function)


def failing(wrong: float | None) -> Function:
    """Return a function whose factorization fails; with `wrong` it returns this number at the first call."""
    calls = iter([wrong] if wrong is not None else [])

    def function(data: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        for number in calls:
            return [np.asarray(number)]
        raise np.linalg.LinAlgError("chol: S is not positive definite")

    return function


@pytest.mark.parametrize("wrong", [None, 7.0])
@pytest.mark.parametrize("text", ["logdet(S)", "tr(inv(S))", "sum(chol(S))", "x'*inv(S)*x"])
def test_a_factorization_that_fails_where_there_is_a_value_is_refused(text: str, wrong: float | None) -> None:
    with pytest.raises(mc.InternalError, match="failed its check"):
        compared(text, "S: matrix(n, n) spd; x: vector(n)", failing(wrong))


def test_a_factorization_may_fail_in_a_part_that_is_left_out() -> None:
    left_out = "where(a > 100, sum(expm(log(X))), 0)"
    assert compared(left_out, "X: matrix(2, 2); a: scalar", failing(None)).startswith("not checked")
