"""Convexity: proofs hold at random pairs of points, and counterexamples hold by values, both by an oracle."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.commands import cli
from matcalc.evidence.proof.convexity import CONCAVE, proof
from oracle.data import make
from oracle.values import evaluate

S, P = "S: matrix(n, n) symmetric", "S: matrix(n, n) spd"
POSITIVE = "x: vector(n) positive"
FIT = "X: matrix(m, n); y: vector(m); w: vector(n)"
LINE = "A: matrix(m, n); b: vector(m); x: vector(n)"

CONVEX = [
    ("sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "w", FIT + "; lam: scalar positive"),
    ("sum(softplus(-y.*(X*w + c)))", "w c", FIT + "; c: scalar"),
    ("logsumexp(A*x + b)", "x", LINE),
    ("norm2(X*w - y)^2", "w", FIT),
    ("-logdet(S)", "S", P),
    ("-logdet(A'*diag(x)*A)", "x", "A: matrix(m, n); x: vector(m) positive"),
    ("tr(C*S) - logdet(S)", "S", P + "; C: matrix(n, n) psd"),
    ("tr(C*inv(S))", "S", P + "; C: matrix(n, n) psd"),
    ("a'*inv(S)*a", "S", P + "; a: vector(n)"),
    ("sum(exp(X*w)) - y'*X*w", "w", FIT),
    ("logsumexp(X*w) - y'*X*w", "w", FIT),
    ("sum(huber(X*w - y))", "w", FIT),
    ("norm1(A*x - b) + lam*norm2(x)", "x", LINE + "; lam: scalar positive"),
    ("norm2(A*X - B)^2 + lam*nuclear_norm(X)", "X",
     "A: matrix(k, m); X: matrix(m, n); B: matrix(k, n); lam: scalar positive"),
    ("sum(relu(1 - y.*(X*w))) + w'*w", "w", FIT),
    ("sum(x.*log(x))", "x", POSITIVE),
    ("-sum(sqrt(x))", "x", POSITIVE),
    ("sum(1./x)", "x", POSITIVE),
    ("-sum(log(b - A*x))", "x", LINE),
    ("-log(1 - x'*x)", "x", "x: vector(n)"),
    ("exp(x'*A*x)", "x", "A: matrix(n, n) psd; x: vector(n)"),
    ("norm2(x)^4", "x", "x: vector(n)"),
    ("max(A*x + b)", "x", LINE),
    ("norminf(x)", "x", "x: vector(n)"),
    ("lambda_max(S)", "S", S),
    ("x'*A*x + b'*x", "x", "A: matrix(n, n) psd; b: vector(n); x: vector(n)"),
    ("(x'*x)/t", "x t", "x: vector(n); t: scalar positive"),
    ("norm2(A*x - b)^2/(a'*x + 1)", "x", LINE + " positive; a: vector(n) positive"),
    ("x'*inv(S)*x", "x S", P + "; x: vector(n)"),
    ("tr(X'*inv(S)*X)", "X S", P + "; X: matrix(n, k)"),
    ("sum(x.^2./y)", "x y", "x: vector(n); y: vector(n) positive"),
    ("sqrt(1 + x'*x)", "x", "x: vector(n)"),
    ("sqrt(x'*A*x + 2)", "x", "A: matrix(n, n) psd; x: vector(n)"),
    ("(1 + x'*x)^1.5", "x", "x: vector(n)"),
    ("a'*x", "x", "a: vector(n); x: vector(n)"),
    ("sum(x.*log(x./y))", "x y", "x: vector(n) positive; y: vector(n) positive"),
    ("x*log(x/y) - x + y", "x y", "x: scalar positive; y: scalar positive"),
    ("t*exp(x/t)", "x t", "x: scalar; t: scalar positive"),
    ("sum(exp(x)./y)", "x y", "x: vector(n); y: vector(n) positive"),
    ("t*logsumexp(x/t)", "x t", "x: vector(n); t: scalar positive"),
    ("t*norm2(x/t - a)^2 + norm1(x)", "x t", "x: vector(n); a: vector(n) constant; t: scalar positive"),
    ("(A*x - b)'*inv(S)*(A*x - b)", "x S", "A: matrix(n, m); b: vector(n); x: vector(m); S: matrix(n, n) spd"),
    ("-prod(x)^(1/n)", "x", POSITIVE),
    ("-det(S)^(1/n)", "S", P),
    ("-sum(sqrt(x.*y))", "x y", "x: vector(n) positive; y: vector(n) positive"),
    ("log(sum(exp(x)) + sum(exp(-x)))", "x", "x: vector(n)"),
    ("log(1 + sum(exp(A*x + b)))", "x", LINE),
    ("sum(sqrt(1 + (A*x - b).^2))", "x", LINE),
    ("tr(S*logm(S))", "S", P),
    ("tr(expm(S))", "S", S),
    ("-tr(sqrtm(S))", "S", P),
]  # fmt: skip

NOT_CONVEX = [
    ("norm2(M - U*V')^2", "U V", "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k)"),
    ("logdet(S) + tr(inv(S)*C)", "S", P + "; C: matrix(n, n) psd"),
    ("x'*A*x", "x", "A: matrix(n, n) symmetric; x: vector(n)"),
    ("norm2(X'*X - A)^2", "X", "X: matrix(m, n); A: matrix(n, n) symmetric"),
    ("det(X)", "X", "X: matrix(n, n)"),
    ("(1 - x)^2 + 100*(y - x^2)^2", "x y", "x: scalar; y: scalar"),
    ("sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "w", FIT + "; lam: scalar"),
    ("w'*tanh(W*x)", "w W", "w: vector(m); W: matrix(m, n); x: vector(n)"),
    ("sin(x)", "x", "x: scalar"),
    ("x^3", "x", "x: scalar"),
    ("prod(x)", "x", POSITIVE),
    ("abs(x'*x - 1)", "x", "x: vector(n)"),
    ("-log(x'*x)", "x", "x: vector(n)"),
    ("sum(1./x.^2)", "x", "x: vector(n)"),
    ("x'*x/t", "x t", "x: vector(n); t: scalar"),
    ("(x'*A*x)/t", "x t", "A: matrix(n, n) symmetric; x: vector(n); t: scalar positive"),
    ("x'*inv(S)*y", "x S", P + "; x: vector(n); y: vector(n)"),
    ("(x'*x)/t^2 - t", "x t", "x: vector(n); t: scalar positive"),
    ("sqrt(x'*x + t)", "x t", "x: vector(n); t: scalar positive"),
    ("tr(S*S*A)", "S", S + "; A: matrix(n, n)"),
    ("tr(A*X*A*X)", "X", "A: matrix(n, n) spd; X: matrix(n, n)"),
    ("sum(x.*log(x.*y))", "x y", "x: vector(n) positive; y: vector(n) positive"),
    ("sum(exp(x).*y)", "x y", "x: vector(n); y: vector(n) positive"),
    ("t*sin(x/t)", "x t", "x: scalar; t: scalar positive"),
    ("sqrt(1 + x*y)", "x y", "x: scalar positive; y: scalar positive"),
    ("sum(sqrt(1 + x.*y))", "x y", "x: vector(n) positive; y: vector(n) positive"),
    ("w'*relu(V*x)", "x", "w: vector(m); V: matrix(m, n); x: vector(n)"),
    ("norm2(W*relu(V*x) - y)^2", "W V", "W: matrix(k, m); V: matrix(m, n); x: vector(n); y: vector(k)"),
]

CONCAVE_ONES = [
    ("log(x)", "x", "x: scalar positive"),
    ("sqrt(x)", "x", "x: scalar positive"),
    ("logdet(S)", "S", P),
    ("min(x)", "x", "x: vector(n)"),
    ("-norm2(x)", "x", "x: vector(n)"),
    ("sum(entr(x))", "x", POSITIVE),
    ("1/sum(1./x)", "x", POSITIVE),
    ("x*y/(x + y)", "x y", "x: scalar positive; y: scalar positive"),
    ("sqrt(x*y)", "x y", "x: scalar positive; y: scalar positive"),
    ("t*log(x/t)", "x t", "x: scalar positive; t: scalar positive"),
]
SIZES = {"m": 4, "n": 3, "k": 2}


def ids(cases):
    return [case[0] for case in cases]


def value(text, data, sizes):
    return evaluate(text, data, sizes).item()


@pytest.mark.parametrize(("text", "wrt", "let"), CONVEX, ids=ids(CONVEX))
@pytest.mark.sampled(54)
def test_convex(text, wrt, let):
    found = mc.convex(text, wrt.split(), let)
    assert found, str(found)
    assert found.verdict == "convex"
    assert found.steps
    assert str(found).startswith(f"convex in {', '.join(wrt.split())}, proved:\n1. ")
    for seed in range(5):
        one, other = make(let, seed, sizes=SIZES), make(let, seed + 50, sizes=SIZES)
        middle = {**one, **{x: (one[x] + other[x]) / 2 for x in wrt.split()}}
        other = {**one, **{x: other[x] for x in wrt.split()}}
        with np.errstate(invalid="ignore"):
            a, m, b = (value(text, data, SIZES) for data in (one, middle, other))
        if np.isfinite(a) and np.isfinite(b):
            assert m <= (a + b) / 2 + 1e-9 * max(abs(a), abs(b))


def check_bend(found, text, wrt):
    """Check that the function is above the mean of its values on both sides, as the report states."""
    data, sizes = {**found.at}, dict(found.bend.sizes)
    sides = []
    for t in (-found.bend.step, 0.0, found.bend.step):
        moved = {x: data[x] + t * found.direction[x] for x in wrt.split()}
        sides.append(value(text, {**data, **moved}, sizes))
    assert sides == pytest.approx(found.values, rel=1e-9, abs=1e-12)
    assert sides[1] > (sides[0] + sides[2]) / 2


@pytest.mark.parametrize(("text", "wrt", "let"), NOT_CONVEX, ids=ids(NOT_CONVEX))
@pytest.mark.sampled(32)
def test_not_convex(text, wrt, let):
    found = mc.convex(text, wrt.split(), let)
    assert found.verdict == "not convex"
    assert not found
    assert str(found).startswith(f"not convex in {', '.join(wrt.split())}\nat ")
    check_bend(found, text, wrt)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("text", "wrt", "let"), NOT_CONVEX + CONCAVE_ONES, ids=ids(NOT_CONVEX + CONCAVE_ONES))
def test_nothing_false_is_proved(text, wrt, let):
    """The prover alone, without the numbers that come first."""
    e = mc.expression(text, let)
    assert proof(e.node, e.symbols_of(wrt.split())) is None


def test_what_is_singular_between_is_not_proved():
    """For n = 1 the function is -log(x^2), which has a pole at 0."""
    e = mc.expression("-logdet(x*x')", "x: vector(n)")
    assert proof(e.node, e.symbols_of("x")) is None


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "wrt", "let"), NOT_CONVEX, ids=ids(NOT_CONVEX))
def test_nothing_false_is_proved_concave(text, wrt, let):
    e = mc.expression(text, let)
    assert proof(e.node, e.symbols_of(wrt.split()), CONCAVE) is None


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("text", "wrt", "let"), CONCAVE_ONES, ids=ids(CONCAVE_ONES))
def test_concave(text, wrt, let):
    found = mc.convex(text, wrt.split(), let)
    assert found.verdict == "not convex"
    check_bend(found, text, wrt)
    assert "it is concave" in str(found)


JUMPS = [
    ("step(x^2)", "x: scalar"),
    ("sign(abs(x))", "x: scalar"),
    ("where(x == 0, 1, 0)", "x: scalar"),
    ("sum(abs(sign(x)))", "x: vector(n)"),
    ("exp(where(x == 0, 1, 0))", "x: scalar"),
    ("exp(sign(x))", "x: scalar"),
    ("sign(x)^2", "x: scalar"),
    ("step(x)^2", "x: scalar"),
    ("where(x == 2, 5, x^2)", "x: scalar"),
    ("where(x == 2, 3, x^2)", "x: scalar"),
    ("where(x > 3, 1, 0)", "x: scalar"),
    ("norm2(x)^2 + step(sum(x) - 5)", "x: vector(n)"),
    ("where(norm2(x) > 1, 1, 0)", "x: vector(n)"),
    ("step(x - y)", "x: scalar; y: scalar"),
]


@pytest.mark.parametrize(("text", "let"), JUMPS, ids=ids(JUMPS))
@pytest.mark.sampled(4)
def test_what_is_constant_in_pieces_is_not_affine(text, let):
    e = mc.expression(text, let)
    assert proof(e.node, e.symbols_of("x")) is None
    assert proof(e.node, e.symbols_of("x"), CONCAVE) is None
    found = mc.convex(text, "x", let)
    assert found.verdict == "not convex"
    check_bend(found, text, "x")


def test_an_undecided_jump_is_said():
    found = mc.convex("x*step(x)", "x", "x: scalar")
    assert (found.verdict, "or where it jumps" in found.note) == ("undecided", True)


def test_counterexamples_are_small():
    found = mc.convex("norm2(M - U*V')^2", ["U", "V"])
    assert dict(found.bend.sizes) == {"m": 1, "n": 1, "k": 1}
    assert str(found).splitlines()[-1] == "the value is 1, above the mean of 0 and 0 on both sides"


def test_sizes_that_are_given():
    assert mc.convex("norm2(X - A)^2", "X", "X: matrix(30, 30); A: matrix(30, 30)")
    assert not mc.convex("x'*A*x", "x", "x: vector(3); A: matrix(3, 3)")


def test_undecided():
    found = mc.convex("tr(A*Q)", "Q", "A: matrix(n, n); Q: matrix(n, n) orthogonal")
    assert (found.verdict, bool(found)) == ("undecided", False)
    assert "Q is orthogonal" in str(found)


def test_faults():
    with pytest.raises(mc.ShapeError, match="only a scalar"):
        mc.convex("A*x", "x")
    with pytest.raises(mc.UnknownName):
        mc.convex("x'*x", "z")
    with pytest.raises(mc.ShapeError, match="no random data"):
        mc.convex("log(-exp(x))", "x", "x: scalar")


def test_command(capsys):
    assert cli.main(["convex", "norm2(X*w - y)^2", "--wrt", "w"]) == 0
    assert "a sum of squares" in capsys.readouterr().out
    assert cli.main(["convex", "norm2(M - U*V')^2", "--wrt", "U,V"]) == 1
    assert "along dU = [1], dV = [-1]" in capsys.readouterr().out
