"""Positions in triangles: programs that re-index a triangle inside arithmetic on indices are proved.

Enumerated: each notation of a triangle inside each operation with arithmetic on indices; the value, the gradient and
the product with the Hessian of a function of it. Each is planned, so proved, and interpreted by the supervisor.
"""

import re
from fractions import Fraction

import pytest

import matcalc as mc
from matcalc.compiler.verify.triangles import exact
from matcalc.pipeline.build import planned, request_of
from matcalc.tensor.sizes.size import Size

LET = "A: matrix(n, n); B: matrix(m, p); w: vector(m)"
INNER = {"vech(A)": 1, "duplication(n)'*vec(A)": 1, "tril(A)": 2, "triu(A, 1)": 2}  # with the number of axes
TWICE = ("vech(A)", "tril(A)")  # with Hessian products; those of the others contain no new forms
OF_VECTORS = """
    kron({}, B)    kron(B, {})    kron({}, {})    kron({}, w)    kron(w, {})    kron({}, vech(B*B'))    repmat({}, 2, 3)
    tile({}, k, 2)    toeplitz({}, w)    toeplitz(w, {})    conv({}, w)    conv({}, {})    ({})[1:]    ({})[::-1]
    ({})[:k]    circshift({}, 1)    [{}; w]    [w; {}]    diag({})    vec(outer({}, w))    vec(outer(w, {}))
    tril(outer({}, {}))    blkdiag({}, w)    kron(({})[::-1], w)    kron([w; {}], w)
    unvec(kron({}, w), m, n*(n + 1)//2)
"""
OF_MATRICES = """
    kron({}, B)    kron({}, {})    kron(w, {})    khatri_rao({}, {})    vec({})    vech({})    vech(({})[::-1, :])
    kron(vech(({})[1:, 1:]), w)    kron(vech({}), w)    repmat({}, k, 2)    ({})[1:, :-1]    circshift({}, 1)
    [{}, A; A, {}]    toeplitz(vec({}), w)    conv(vec({}), w)    reshape(kron({}, w), n, m*n)
"""
KINDS = {
    "value": lambda text: mc.expression(text, LET),
    "gradient": lambda text: mc.gradient(f"sum(tanh({text}).^2)", "A", declarations=LET),
    "Hessian product": lambda text: mc.hvp(f"sum(tanh({text}).^2)", "A", declarations=LET),
}
CASES = [
    (kind, outer.replace("{}", inner))
    for inner, axes in INNER.items()
    for outer in re.split(r"\s{4,}", (OF_VECTORS if axes == 1 else OF_MATRICES).strip())
    for kind in KINDS
    if kind != "Hessian product" or inner in TWICE
]


@pytest.mark.thinned(4)
@pytest.mark.parametrize(("kind", "text"), CASES)
@pytest.mark.sampled(261)
def test_no_program_is_refused(kind, text):
    program = planned(request_of([KINDS[kind](text)], ["result"], target="numpy")).program
    assert program.proof.discharged > 0


@pytest.mark.parametrize("divisor", [1, 2, 3, 4, 6])
def test_a_quotient_is_exact_if_it_is_at_all_integers(divisor):
    n, m = Size.of("n"), Size.of("m")
    for left in (n, n * (n + 1), n * (n - 1), n * n, n * (n + 1) * m, n * (n + 1) * (n + 2), n * m + n, 2 * n + 4 * m):
        quotient = left // divisor
        always = all(left.evaluate({"n": a, "m": b}) % divisor == 0 for a in range(-7, 8) for b in range(-7, 8))
        compound = next((a for t, _ in quotient.terms for a, _ in t if not isinstance(a, str)), None)
        assert always == (compound is None or exact(compound) is not None)
        if compound is not None and always:
            assert exact(compound) == left * Fraction(1, divisor)
