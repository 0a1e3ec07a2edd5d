"""Samples cover their set: for each fact ten false identities are refuted, and no true identity is."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.numeric.boundary import ends
from matcalc.evidence.numeric.sampling import sample
from matcalc.rulebook import default_rulebook

TABLE = tomllib.loads((Path(__file__).parent / "not_identities.toml").read_text(encoding="utf-8"))
PAIRS = [(fact, *pair.split(" = "), entry["let"]) for fact, entry in TABLE.items() for pair in entry["pairs"]]
INTERNAL = {"orthonormal"}


def test_every_fact_has_ten_formulas_and_ends():
    facts = default_rulebook().facts
    assert set(TABLE) == {*facts, "none"} - INTERNAL
    assert all(len(entry["pairs"]) == len(set(entry["pairs"])) == 10 for entry in TABLE.values())
    assert all(len(fact.ends) >= 4 for fact in facts.values())


def value_at(found, text, let):
    e = mc.expression(text, let)
    with np.errstate(all="ignore"):
        try:
            return e.reference.value(found.at, found.point.sizes)  # as written: the computed value may have its limit
        except np.linalg.LinAlgError:
            return np.asarray(np.nan)


@pytest.mark.parametrize(("fact", "left", "right", "let"), PAIRS, ids=[f"{p[0]}: {p[1]} = {p[2]}" for p in PAIRS])
@pytest.mark.thinned(2)
@pytest.mark.sampled(192)
def test_what_is_no_identity_is_refuted(fact, left, right, let):
    found = mc.equivalent(left, right, let)
    assert not found, str(found)
    a, b = (value_at(found, text, let) for text in (left, right))
    assert np.all(np.isfinite(a))
    assert not np.all(np.isfinite(b)) or np.max(np.abs(a - b)) > 1e-7 * max(np.max(np.abs(a)), np.max(np.abs(b)))


IDENTITIES = [
    ("sin(pi*k)", "0", "k: scalar integer"),
    ("cos(2*pi*k)", "1", "k: scalar integer"),
    ("relu(x) - relu(-x)", "x", "x: vector(n)"),
    ("where(x > y, x, y)", "max(x, y)", "x: scalar; y: scalar"),
    ("tanh(x)", "(exp(2*x) - 1)./(exp(2*x) + 1)", "x: vector(n)"),
    ("sinh(x)", "(exp(x) - exp(-x))/2", "x: vector(n)"),
    ("gammaln(p + 1)", "gammaln(p) + log(p)", "p: vector(n) positive"),
    ("erf(x) + erfc(x)", "1 + 0*x", "x: vector(n)"),
    ("svd_s(A)", "svd_s(A')", "A: matrix(m, n)"),
    ("sum(abs(eigvalsh(S)))", "norm_nuc(S)", "S: matrix(n, n) symmetric"),
    ("lambda_min(P)", "max(lambda_min(P), 0)", "P: matrix(n, n) psd"),
    ("norm2(sqrtm(P)*x)", "sqrt(x'*P*x)", "P: matrix(n, n) psd; x: vector(n)"),
    ("det(K)", "max(det(K), 0)", "K: matrix(n, n) skew"),
    ("logdet(Q + 2*eye(n))", "abs(logdet(Q + 2*eye(n)))", "Q: matrix(n, n) orthogonal"),
    ("svd_U(X)*svd_V(X)'", "polar_U(X)", "X: matrix(m, n)"),
    ("eigh_V(S)[:, -1]*eigh_V(S)[:, -1]'", "eig_top(S, 1)", "S: matrix(n, n) symmetric"),
    ("logdet(Q)", "0", "Q: matrix(n, n) orthogonal"),
    ("sum(x[i])", "sum{t: x[i[t]]}", "x: vector(n); i: index(N)"),
]


@pytest.mark.parametrize(("left", "right", "let"), IDENTITIES, ids=[f"{a} = {b}" for a, b, _ in IDENTITIES])
@pytest.mark.sampled(24)
def test_no_identity_is_refuted(left, right, let):
    """Overflow, rounding of data at a border and ties of a spectrum do not count as differences."""
    assert mc.equivalent(left, right, let, domain="common")


MEETINGS = [
    ("step(x - 3)^2", "step(x - 3)", "x: scalar"),
    ("sign(x)^2", "1", "x: scalar"),
    ("where(x == 7, 1, 0)", "0", "x: scalar"),
    ("where(x^2 - 5*x + 6 == 0, 1, 0)", "0", "x: scalar"),
    ("where(x >= 1, 1, 0)", "step(x - 1)", "x: scalar"),
    ("sum(step(x - y).^2)", "sum(step(x - y))", "x: vector(n); y: vector(n)"),
    ("where(x*y == 12, 1, 0)", "0", "x: scalar; y: scalar"),
    ("where(tr(A) == 3, 1, 0)", "0", "A: matrix(n, n)"),
    ("sum(where(A*x == b, 1, 0))", "0", "A: matrix(m, n); x: vector(n); b: vector(m)"),
]


@pytest.mark.parametrize(("left", "right", "let"), MEETINGS, ids=[f"{a} = {b}" for a, b, _ in MEETINGS])
@pytest.mark.sampled(3)
def test_values_are_compared_where_pieces_meet(left, right, let):
    assert not mc.equivalent(left, right, let)


def test_a_verdict_from_samples_says_which():
    found = mc.equivalent("svd_s(A)", "svd_s(A')", "A: matrix(m, n)")
    assert found.verdict == "tested"
    assert found.samples.random == 20
    assert "A = 0*M" in found.samples.ends
    assert f"equal at 20 random points and {len(found.samples.ends)} at the ends of the sets (A = 0*M; " in str(found)


TESTS = {
    "symmetric": lambda X: np.array_equal(X, X.T),
    "skew": lambda X: np.array_equal(X, -X.T),
    "lower": lambda X: np.array_equal(X, np.tril(X)),
    "upper": lambda X: np.array_equal(X, np.triu(X)),
    "diagonal": lambda X: np.array_equal(X, np.diag(np.diag(X))),
    "psd": lambda X: np.allclose(X, X.T) and np.min(np.linalg.eigvalsh(X)) >= -1e-12 * np.max(np.abs(X)),
    "spd": lambda X: np.allclose(X, X.T) and np.min(np.linalg.eigvalsh(X)) > 0,
    "nonsingular": lambda X: abs(np.linalg.det(X / np.max(np.abs(X)))) > 0,
    "orthogonal": lambda X: np.allclose(X @ X.T, np.eye(len(X)), atol=1e-12),
    "nonnegative": lambda X: np.all(X >= 0),
    "positive": lambda X: np.all(X > 0),
    "integer": lambda X: np.array_equal(X, np.round(X)),
    "index": lambda X: np.array_equal(X, np.round(X)) and np.all((X >= 0) & (X < 5)),
}
PAIRED = [("symmetric", "positive"), ("lower", "nonsingular"), ("integer", "positive"), ("orthogonal", "symmetric"),
          ("integer", "spd"), ("symmetric", "nonsingular")]  # fmt: skip
TOGETHER = [*((fact,) for fact in TESTS), *PAIRED]


@pytest.mark.parametrize("facts", TOGETHER, ids=" ".join)
@pytest.mark.sampled(36)
def test_ends_have_the_facts(facts):
    for n in (1, 2, 3):
        found = ends((n, n), facts, 5)
        assert found
        for end in found:
            for fact in facts:
                assert TESTS[fact](end.array), (end.words, fact)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("facts", PAIRED, ids=" ".join)
def test_samples_have_all_facts(facts):
    """The samplers of two facts might undo each other."""
    for n in (1, 2, 3, 4):
        drawn = sample(np.random.default_rng(n), (n, n), facts)
        assert all(TESTS[fact](drawn) for fact in facts)


def arrays(fact, shape=(3, 3)):
    return [end.array for end in ends(shape, (fact,) if fact else ())]


@pytest.mark.parametrize("fact", ["symmetric", "nonsingular", "orthogonal", "diagonal", ""])
def test_identity_and_its_negative_are_ends(fact):
    found = arrays(fact)
    assert all(any(np.array_equal(a, sign * np.eye(3)) for a in found) for sign in (1, -1))


@pytest.mark.whole
def test_ends_reach_the_border_and_far_out():
    dets = [np.linalg.det(Q) for Q in arrays("orthogonal")]
    assert min(dets) == pytest.approx(-1)
    assert max(dets) == pytest.approx(1)
    spectra = [np.linalg.eigvalsh(S) for S in arrays("spd")]
    assert min(w[0] for w in spectra) < 1e-15
    assert max(w[-1] for w in spectra) > 1e15
    assert max(w[-1] / w[0] for w in spectra) > 1e6
    assert any(np.ptp(w) == 0 for w in spectra)
    assert any(np.min(np.linalg.eigvalsh(P)) == 0 < np.max(P) for P in arrays("psd"))
    assert max(np.max(k) for k in arrays("integer")) > 1e6
    assert min(np.min(k) for k in arrays("integer")) < -1e6
    for fact in ("positive", "nonnegative", ""):
        assert max(np.max(a) for a in arrays(fact, (3,))) > 1e25
    assert any(np.min(X) < 0 < np.max(X) and np.any(X == 0) for X in arrays("sparse"))
    assert {0, 9} <= {int(k) for k in arrays("index", ())}
