"""Values substituted for symbols must have their declared facts, because rewrites rely on facts.

Every fact that can be tested gets values that have it, values that lack it, and values for which it is unknown.
"""

import numpy as np
import pytest

import matcalc as mc

LET = """
p: scalar positive; g: scalar nonnegative; q: scalar; k: scalar integer; A: matrix(n, n); x: vector(n)
S: matrix(n, n) spd; C: matrix(n, n) psd; Y: matrix(n, n) symmetric; W: matrix(n, n) skew; L: matrix(n, n) lower
U: matrix(n, n) upper; D: matrix(n, n) diagonal; Q: matrix(n, n) orthogonal; N: matrix(n, n) nonsingular
"""
E, F = np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])
CASES = {
    "p": (["exp(q)", "q^2 + 1", "q^2", "2*p", 3, 1e-300], ["q", "q - 3", "-p", 0, -3, "-1e-400", 0.0]),
    "g": (["abs(q)", "q^2", "p", 0, 3], ["q", "-g", -3, "q^3"]),
    "k": (["2*k + 1", 2, -1], ["q", 2.5, "k/2"]),
    "S": (["A*A'", "A*A' + eye(n)", "2*S", E], ["A", "-S", -E, F, "A + A'", 0 * E]),
    "C": (["A*A'", "S", E, 0 * E], ["A", "-C", -E, F]),
    "Y": (["A + A'", "S", "D", E], ["A", "W", F, "A - A'"]),
    "W": (["A - A'", 0 * E], ["A", "Y", F, E]),
    "L": (["D", "tril(A)", "L*L", E], ["A", "L'", "U", F]),
    "U": (["D", "triu(A)", "L'", E], ["A", "L", F]),
    "D": (["diag(x)", "D*D", E], ["A", "L", F]),
    "Q": (["Q*Q", "Q'", E, -E], ["A", "S", F, 2 * E]),
    "N": (["S", "inv(N)", "N*N", E, F], ["A", "C", 0 * E]),
}
GOOD = [(name, value) for name, (good, _) in CASES.items() for value in good]
BAD = [(name, value) for name, (_, bad) in CASES.items() for value in bad]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "value"), GOOD, ids=[f"{n} = {v}".replace("\n", "") for n, v in GOOD])
def test_a_value_that_has_the_facts_is_put_in(name, value):
    e = mc.expression(f"sum({name}) + q", LET)
    mc.expression(f"sum({name})", LET).simplify().substitute({name: value})
    assert name in e.symbols and e.substitute({name: value}) is not None


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "value"), BAD, ids=[f"{n} = {v}".replace("\n", "") for n, v in BAD])
def test_a_value_that_has_not_is_refused_with_the_fact(name, value):
    with pytest.raises((mc.ShapeError, np.linalg.LinAlgError), match=f"{name} is declared "):
        mc.expression(f"sum({name}) + q", LET).substitute({name: value})


def test_what_was_simplified_by_a_fact_is_never_used_without_it():
    for text in ("abs(p)", "sqrt(p^2)", "max(p, 0)", "p/abs(p)"):
        e = mc.expression(text, LET).simplify()
        with pytest.raises(mc.ShapeError, match="p is declared positive, but p = -3"):
            e.substitute(p=-3)
        with pytest.raises(mc.ShapeError, match="p is declared positive, and q is not known to be"):
            e.substitute(p="q")
        assert e.substitute(p="r").declarations in ("r: scalar positive", "") and e.substitute(p="exp(q)") is not None
