"""Inferred facts of products, sums, inverses, blocks and ranges, their truth, and contradictions."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.rulebook import default_rulebook
from oracle.data import SIZES, make

LET = (
    "S: matrix(n, n) spd; R: matrix(n, n) spd; P: matrix(n, n) psd; Y: matrix(n, n) symmetric; K: matrix(n, n) skew; "
    "Q: matrix(n, n) orthogonal; A: matrix(n, n) nonsingular; B: matrix(n, n) nonsingular; M: matrix(n, n); "
    "D: matrix(n, n) diagonal; L: matrix(n, n) lower; X: matrix(m, n); U: matrix(n, k); T: matrix(m, m) spd; "
    "V: matrix(m, m) orthogonal; x: vector(n); p: vector(n) positive; q: vector(n) nonnegative; c: scalar positive; "
    "z: scalar; e: vector(n) integer; y: vector(n)"
)
INFERRED = [
    ("X'*X", "psd"),
    ("A'*A", "spd"),
    ("A'*S*A", "spd"),
    ("M'*S*M", "psd"),
    ("M'*diag(q)*M", "psd"),
    ("X'*X + c*eye(n)", "spd"),
    ("S + P", "spd"),
    ("z^2*eye(n)", "psd"),
    ("S + z^2*eye(n)", "spd"),
    ("S + diag(x.^2)", "spd"),
    ("S + c*diag(x.*q.*x)", "spd"),
    ("S + z^3*eye(n)", "symmetric"),
    ("c*S", "spd"),
    ("z*S", "symmetric"),
    ("-S", "symmetric nonsingular"),
    ("inv(S)", "spd"),
    ("inv(Y)", "symmetric"),
    ("inv(L)", "lower"),
    ("inv(S) + inv(R)", "spd"),
    ("inv(inv(S) + inv(R))", "spd"),
    ("adj(S)", "spd"),
    ("Q*S*Q'", "spd"),
    ("Q'*inv(Q)", "orthogonal"),
    ("A*B", "nonsingular"),
    ("L*L", "lower"),
    ("D*D", "diagonal"),
    ("S.*R", "spd"),
    ("S.*P", "psd"),
    ("kron(S, T)", "spd"),
    ("kron(S, P)", "psd"),
    ("kron(Q, V)", "orthogonal"),
    ("kron(A, T)", "nonsingular"),
    ("kron(L, L)", "lower"),
    ("kron(L', L')", "upper"),
    ("kron(D, D)", "diagonal"),
    ("-kron(A, T)", "nonsingular"),
    ("c*kron(S, T)", "spd"),
    ("blkdiag(S, T)", "spd"),
    ("blkdiag(Q, V)", "orthogonal"),
    ("[S, zeros(n, m); zeros(m, n), T]", "spd"),
    ("T[:2, :2]", "spd"),
    ("(X*P*X')[2:, 2:]", "psd"),
    ("Q*diag(p)*Q'", "spd"),
    ("S[2:, 2:] - S[2:, :2]*inv(S[:2, :2])*S[:2, 2:]", "spd"),
    ("T[1:3, 1:3] - T[1:3, 3:]*inv(T[3:, 3:])*T[3:, 1:3]", "spd"),
    ("S - S*inv(S + R)*S", "spd"),
    ("S - S*inv(S + P)*S", "psd"),
    ("P - P*inv(P + R)*P", "psd"),
    ("S*inv(S + R)*R", "spd"),
    ("S - S*X'*inv(X*S*X' + T)*X*S", "spd"),
    ("P - P*X'*inv(X*P*X' + T)*X*P + R", "spd"),
    ("eye(n) - U*inv(U'*U)*U'", "psd"),
    ("eye(n) - U*inv(U'*U + c*eye(k))*U'", "spd"),
    ("eye(n) - qr_Q(U)*qr_Q(U)'", "psd"),
    ("eye(n) - x*x'/(x'*x)", "psd"),
    ("eye(n) - ones(n, n)/n", "psd"),
    ("S - S*x*x'*S/(1 + x'*S*x)", "spd"),
    ("S - S*x*x'*S/(x'*S*x)", "psd"),
    ("1 - tanh(x).^2", "positive"),
    ("sigmoid(x).*(1 - sigmoid(x))", "positive"),
    ("log(1 + x.^2)", "nonnegative"),
    ("log(cosh(x))", "nonnegative"),
    ("1 - exp(-c)", "positive"),
    ("erfc(-c) - 1", "positive"),
    ("x*x'", "psd"),
    ("z^2*P", "psd"),
    ("M*(S.*P)*M'", "psd"),
    ("diag(x)*(S.*P)*diag(x)", "psd"),
    ("x'*(S.*P)*x", "nonnegative"),
    ("tr(X*P*X')", "nonnegative"),
    ("tr(P*X'*T*X)", "nonnegative"),
    ("tr(diag(q)*M*(S.*P)*M')", "nonnegative"),
    ("sum(S.*R)", "nonnegative"),
    ("tr(S*R)", "positive"),
    ("S + x*x'", "spd"),
    ("diag(p)", "spd diagonal"),
    ("M + M'", "symmetric"),
    ("M - M'", "skew"),
    ("Y*M + M'*Y", "symmetric"),
    ("K^2", "symmetric"),
    ("-K^2", "psd"),
    ("Y^2", "psd"),
    ("S^3", "spd"),
    ("expm(Y)", "spd"),
    ("sqrtm(S)", "spd"),
    ("expm(K)", "orthogonal"),
    ("chol(S)", "lower nonsingular"),
    ("exp(M)", "positive"),
    ("1 + x.^2", "positive"),
    ("softmax(x)", "positive"),
    ("M.*M", "nonnegative"),
    ("x'*P*x", "nonnegative"),
    ("1 + x'*P*x", "positive"),
    ("det(S)", "positive"),
    ("tr(S)", "positive"),
    ("tr(P)", "nonnegative"),
    ("tr(S*R)", "positive"),
    ("diag(S)", "positive"),
    ("2*e + ones(n)", "integer"),
    ("e'*e", "integer nonnegative"),
    ("sym(kron(M, T))", "symmetric"),
    ("kron(M, X*X') - kron(M, X*X')'", "skew"),
    ("kron(M, V) + kron(M', V')", "symmetric"),
    ("sym(kron(kron(M, V), L))", "symmetric"),
    ("kron(M, V)'*kron(M, V) + sym(kron(M, V))", "symmetric"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("text", "facts"), INFERRED, ids=[text for text, _ in INFERRED])
def test_inferred(text, facts):
    e = mc.expression(text, LET)
    assert set(facts.split()) <= e.facts
    data = {**SIZES, **make(LET, 5, "")}
    value = np.asarray(e(**{str(name): data[str(name)] for name in e.symbols}))
    for fact in e.facts:
        assert TRUE[fact](value), fact


TRUE = {
    "symmetric": lambda a: np.allclose(a, a.T),
    "skew": lambda a: np.allclose(a, -a.T),
    "psd": lambda a: np.linalg.eigvalsh(a).min() > -1e-9,
    "spd": lambda a: np.linalg.eigvalsh(a).min() > 1e-9,
    "orthogonal": lambda a: np.allclose(a.T @ a, np.eye(len(a))),
    "orthonormal": lambda a: np.allclose(a.T @ a, np.eye(a.shape[1])),
    "nonsingular": lambda a: np.linalg.svd(a)[1].min() > 1e-9,
    "lower": lambda a: np.allclose(a, np.tril(a)),
    "upper": lambda a: np.allclose(a, np.triu(a)),
    "diagonal": lambda a: np.allclose(a, np.diag(np.diag(a))),
    "positive": lambda a: np.all(a > 0),
    "nonnegative": lambda a: np.all(a >= 0),
    "integer": lambda a: np.allclose(a, np.round(a)),
    "constant": lambda a: True,
}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("S - R", "psd"), ("z*S", "psd"), ("A + B", "nonsingular"), ("z*A", "nonsingular"), ("S*R", "symmetric"),
        ("kron(S, Y)", "psd"), ("z*kron(Q, V)", "orthogonal"), ("2*Q", "orthogonal"), ("kron(L, M)", "lower"),
        ("M*(S.*Y)*M'", "psd"), ("tr(P*M*S*M)", "nonnegative"), ("tr(Y*M*S*M')", "nonnegative"),
        ("tr(diag(x)*M*S*M')", "nonnegative"), ("tr(X*P*X')", "positive"), ("z*tr(X*P*X')", "nonnegative"),
        ("blkdiag(S, -T)", "nonnegative"), ("tr(Y)", "nonnegative"), ("tr(S*R*P)", "nonnegative"), ("P", "nonsingular"),
        ("X*X'", "spd"), ("x.*x", "positive"), ("ones(n, n)", "lower"),
        ("eye(n) + z", "diagonal"), ("c*ones(n, n)", "nonsingular"),
        ("S - 2*S*inv(S + R)*S", "psd"), ("S - R*inv(S + R)*R", "psd"), ("S - S*inv(S + Y)*S", "psd"),
        ("eye(n) - 2*x*x'/(x'*x)", "psd"), ("eye(n) - 2*ones(n, n)/n", "psd"), ("eye(n) - U*U'", "psd"),
        ("S - S*X'*inv(X*R*X' + T)*X*S", "psd"), ("eye(n) - x*y'/(x'*y)", "psd"), ("S - S*x*x'*S/(1 + x'*R*x)", "psd"),
        ("S[1:, 1:] - S[1:, :2]*inv(S[:2, :2])*S[:2, 1:]", "spd"), ("S - z*S*inv(S + R)*S", "psd"),
        ("Q*diag(q)*Q'", "spd"), ("log(x.^2)", "nonnegative"), ("1 - exp(x)", "nonnegative"), ("P[2:, 2:]", "spd"),
        ("e/2", "integer"), ("e + e.*e/2", "integer"), ("Y.*P", "psd"), ("exp(x) - 1", "nonnegative"),
        ("kron(qr_Q(X)', qr_Q(X))", "orthonormal"),
        ("kron(M, V) + kron(M', V)", "symmetric"), ("kron(M, B) + kron(B', M')", "symmetric"),
        ("kron(M, V) - kron(M', V')", "symmetric"), ("kron(M, B) + kron(B, M)", "symmetric"),
    ],
)  # fmt: skip
def test_not_inferred(text, fact):
    assert fact not in mc.expression(text, LET).facts


def test_facts_that_follow_together():
    closure = default_rulebook().closure
    assert "spd" in closure(["psd", "nonsingular"])
    assert "diagonal" in closure(["lower", "upper"])
    assert "diagonal" in closure(["symmetric", "upper"])
    assert "spd" not in closure(["symmetric", "nonsingular"])


@pytest.mark.parametrize(
    ("let", "words"),
    [
        ("X: matrix(n, n) spd skew", "cannot be both spd and skew"),
        ("X: matrix(n, n) skew spd", "cannot be both skew and spd"),
        ("X: matrix(n, n) skew positive", "cannot be both skew and positive"),
        ("c: scalar; X: matrix(n, n) positive lower", "cannot be both positive and lower"),
    ],
)
def test_contradictions(let, words):
    with pytest.raises(mc.ShapeError, match=words) as found:
        mc.expression("sum(X)", let)
    shown = str(found.value).splitlines()
    caret = next(k for k, line in enumerate(shown) if line.strip() == "^")
    assert shown[caret - 1][shown[caret].index("^") :].startswith(words.rsplit(" ", 1)[1])


def test_what_does_not_contradict():
    facts = mc.expression("X", "X: matrix(n, n) skew nonsingular").facts
    assert {"skew", "nonsingular"} <= facts
