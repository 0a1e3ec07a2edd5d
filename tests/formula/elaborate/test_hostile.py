"""Texts of great depth and length, and sizes that explode: they work, or raise an error of matcalc's own."""

import pytest

from matcalc.errors import MatcalcError, NotSupported, ShapeError
from matcalc.formula.elaborate.texts import elaborate

N = 3000
DEEP = [
    "(" * N + "x" + ")" * N, "-(" * N + "x" + ")" * N, "A" + "'" * N,
    "exp(" * N + "x" + ")" * N,
    "(" * N + "x" + "+1)" * N, "sin(" * N + "alpha" + ")^2" * N,
    "x" + "[:]" * N, "[" * 100 + "x" + ";1]" * 100,
    "{i: " + "-(" * N + "x[i]" + ")" * N + "}", "dd(x -> " * 50 + "x" + ", x, x)" * 50, "+".join(["x"] * N),
    "+".join(f"x{k}" for k in range(1000)), "*".join(f"A{k}" for k in range(300)), "sum(" * N + "x" + ")" * N,
    "{i: " * 100 + "x[i]" + "}[i]" * 99 + "}", "matfun(exp, " * 50 + "sym(A)" + ")" * 50,
]  # fmt: skip


@pytest.mark.parametrize("text", DEEP, ids=range(len(DEEP)))
@pytest.mark.whole
def test_depth_and_length(text: str) -> None:
    assert len(elaborate([text]).nodes) == 1


LARGE = [
    ("eye(" + "*".join(f"(n{k}+1)" for k in range(40)) + ")", NotSupported),
    ("eye(((((n+1)^12)^12)^12)^12)", NotSupported),
    ("x*(((2^256)^256)^256)", NotSupported),
    ("(" * N + "alpha" + "^2)" * N, NotSupported),
    ("alpha^1e999", NotSupported),
    ("eye(" + "+".join(f"n{k}" for k in range(2000)) + ")", NotSupported),
    ("A*" * N + "x*y", ShapeError),
    ("kron(" * 60 + "A" + ", A)" * 60 + "*x + B", ShapeError),
]


@pytest.mark.parametrize(("text", "kind"), LARGE, ids=range(len(LARGE)))
@pytest.mark.sampled(4)
def test_explosions_are_errors(text: str, kind: type[MatcalcError]) -> None:
    with pytest.raises(kind) as caught:
        elaborate([text], "A: matrix(n, n); x: vector(n); y: vector(n)" if "y" in text else "")
    assert len(caught.value.message) < 400


def test_no_text_is_ever_evaluated() -> None:
    for text in ("__import__('os')", "x.__class__", "exec(x)", "eval(x)", "open(x)"):
        with pytest.raises(MatcalcError):
            elaborate([text])


def test_the_same_text_gives_the_same_everything() -> None:
    text = "sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w + {: C[p,q]*D[q,p]}"
    one, other = elaborate([text]), elaborate([text])
    assert one.nodes == other.nodes and one.scope.declarations == other.scope.declarations
