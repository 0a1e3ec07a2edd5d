"""Equal and unequal formulas: proofs, correct counterexamples, and the named mistakes."""

from pathlib import Path

import numpy as np
import pytest

import matcalc as mc

CASES = Path(__file__).parent / "cases"


def pairs(name):
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [pair(line) for line in lines if not line.startswith("#")]


def pair(line):
    """Return the formulas, their declarations, and the mistake: the text after the last `;` if it declares nothing."""
    *rest, last = line.split("; ")
    mistake = last if rest and ":" not in last else ""
    formulas, _, declarations = ("; ".join(rest) if mistake else line).partition(" | ")
    left, right = formulas.split(" = ", 1)
    return left, right, declarations, mistake


EQUAL, UNEQUAL = pairs("equal.txt"), pairs("unequal.txt")


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("left", "right", "declarations", "domain"), EQUAL, ids=[f"{a} = {b}|{c}{d}" for a, b, c, d in EQUAL]
)
@pytest.mark.sampled(180)
def test_equal(left, right, declarations, domain):
    found = mc.equivalent(left, right, declarations, domain=domain or "first")
    assert found
    assert found.verdict in ("proved", "tested")
    if domain == "common":
        alone = mc.equivalent(left, right, declarations)
        assert not alone
        assert "wherever both are defined" in str(alone)
        assert "the second needs" in str(alone)
        values = [value_at(alone, text, declarations) for text in (left, right)]
        assert np.all(np.isfinite(values[0]))
        assert values[1] is None or not np.all(np.isfinite(values[1]))


def value_at(found, text, declarations):
    """Return the value of a formula at a counterexample, None where it has none."""
    e = mc.expression(text, declarations)
    try:
        return e.reference.value(found.at, found.point.sizes)  # as written: the computed value may have its limit
    except np.linalg.LinAlgError:
        return None


TESTED = {
    "det(eye(m) + U*V)",
    "logdet(A + u*v')",
    "det(A + u*v')",
    "det([A, B; C, D])",
    "sqrtm(S)*inv(S)*sqrtm(S)",
    "1 - tanh(x).^2",
    "logdet(X)",
    "log(a^2)",
    "2*log(a)",
    "log(a*b)",
    "log(a) + log(b)",
    "sqrt(a*b)",
    "pinv(A)",
    "inv(A)",
}
"""The left sides of those that are only tested: lemmas of determinants, and equations on a part of the domain."""


@pytest.mark.whole
def test_all_others_are_proved():
    verdicts = {(a, b): mc.equivalent(a, b, let, domain=domain or "first").verdict for a, b, let, domain in EQUAL}
    assert len(EQUAL) >= 125
    assert {a for (a, _), verdict in verdicts.items() if verdict != "proved"} == TESTED
    assert sum(verdict != "proved" for verdict in verdicts.values()) == len(TESTED)


SAID = [
    (
        "logdet(S)",
        "sum(log(eigvalsh(S)))",
        "S: matrix(n, n) symmetric",
        "common",
        "the second needs S positive definite",
    ),
    ("sum(log(eigvalsh(S)))", "logdet(S)", "S: matrix(n, n) symmetric", "first", "the first needs S positive definite"),
    ("a/a", "1", "a: scalar", "first", "wherever the first is defined; the first needs a != 0"),
    ("exp(log(a))", "a", "a: scalar", "first", "the first needs a > 0"),
    ("log1p(a)", "log(1 + a)", "a: scalar", "first", "wherever"),
    ("A*inv(A)", "eye(n)", "A: matrix(n, n)", "first", "the first needs A nonsingular"),
    ("inv(A*B)", "inv(B)*inv(A)", "A: matrix(n, n); B: matrix(n, n)", "first", "wherever the first is defined"),
    ("asin(tanh(a))", "asin(tanh(a) + 0)", "a: scalar", "first", ""),
    ("tr(A*B)", "tr(B*A)", "", "first", ""),
    ("logdet(S)", "sum(log(eigvalsh(S)))", "S: matrix(n, n) spd", "first", ""),
    ("2*log(a)", "log(a^2)", "a: scalar", "first", "wherever the first is defined; the first needs a > 0"),
    ("log(a) + log(b)", "log(a*b)", "a: scalar; b: scalar", "first", "the first needs a > 0 and b > 0"),
    ("inv(A) + inv(B)", "inv(A)*(A + B)*inv(B)", "A: matrix(n, n); B: matrix(n, n)", "first", "wherever the first"),
    ("inv(inv(A) + inv(B))", "A*inv(A + B)*B", "A: matrix(n, n); B: matrix(n, n)", "first", "no point was found"),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("left", "right", "declarations", "domain", "said"), SAID)
def test_the_domain_is_said(left, right, declarations, domain, said):
    found = mc.equivalent(left, right, declarations, domain=domain)
    assert found
    assert said in found.domain
    assert bool(said) == bool(found.domain)
    assert found.domain in str(found)


def test_a_difference_of_values_goes_before_one_of_domains():
    found = mc.equivalent("a", "2*exp(log(a))", "a: scalar")
    assert not found
    assert found.point.is_common
    assert found.mistake == "a factor of 2"


def test_what_only_rounding_hides_is_no_difference_of_domains():
    """At a singular matrix neither side has a value, though one of them is a large number in doubles."""
    assert mc.equivalent("inv(A)*inv(B)", "inv(B*A)", "A: matrix(n, n); B: matrix(n, n)")
    assert mc.equivalent("logsumexp(x)", "log(sum(exp(x)))", "x: vector(n)")


def test_an_unknown_domain_is_refused():
    with pytest.raises(mc.NotSupported, match="first, common"):
        mc.equivalent("a", "a", domain="both")


@pytest.mark.parametrize(
    ("left", "right", "declarations", "mistake"), UNEQUAL, ids=[f"{a}|{b}" for a, b, *_ in UNEQUAL]
)
@pytest.mark.sampled(60)
def test_unequal(left, right, declarations, mistake):
    found = mc.equivalent(left, right, declarations)
    assert not found
    assert found.mistake.startswith(mistake)
    if not found.point:
        return
    one, other = (mc.expression(text, declarations) for text in (left, right))
    known = {**found.at, **found.point.sizes}
    values = [e(**{n: known[n] for n in e.symbols}) for e in (one, other)]
    assert np.shape(values[0]) != np.shape(values[1]) or np.max(np.abs(values[0] - values[1])) > 1e-6
