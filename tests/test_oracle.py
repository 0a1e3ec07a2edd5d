"""Tests of the evaluator that judges matcalc: every reference derivative against its own formula."""

import functools

import numpy as np
import pytest

from oracle import differences
from oracle.cases import LINEAR, identities, operations
from oracle.data import SIZES, declared
from oracle.reading import Unreadable, read
from oracle.values import evaluate, shaped

CASES = identities()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_reference_is_the_derivative_of_its_text(case):
    for seed in (0, 1):
        data = case.sample(seed)
        reference = case.reference(data)
        found = numeric(case, data).reshape(reference.shape)
        bound = 1e-9 if case.id not in UNSMOOTH else 1e-7
        assert np.all(np.abs(found - reference) <= bound * (1 + np.abs(reference)))


# Eigenvectors are differentiated by real differences.
UNSMOOTH = {"mc65", "mc67", "mc68"}


def numeric(case, data):
    """Differentiate the text of the case without its reference."""
    if case.kind == "hessian":
        return differences.hessian(case.text, data, case.wrt, SIZES)
    if case.kind == "jacobian":
        return differences.jacobian(case.text, data, case.wrt, SIZES)
    if case.kind == "differential":
        return differences.along(case.text, data, case.wrt, data[case.tangent], SIZES)[0]
    if case.convention == "symmetric-independent":
        G = differences.gradient(case.text, data, case.wrt, SIZES, frozenset({"symmetric"}))
        return 2 * G - np.diag(np.diag(G))
    facts = case.facts if case.convention else frozenset()
    return differences.gradient(case.text, data, case.wrt, SIZES, facts)


def test_a_wrong_reference_is_noticed():
    case = next(c for c in CASES if c.id == "mc61")
    data = case.sample()
    wrong = evaluate(case.derivative.replace("-inv(X)'*a", "-inv(X)*a"), data, SIZES)
    assert not np.allclose(numeric(case, data), wrong, rtol=1e-3)


A = np.arange(1.0, 7.0).reshape(2, 3)
x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0, 7.0])
C = np.array([[1.0], [2.0]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-x'*x", -5.0),
        ("2^3", 8.0),
        ("-2^2", -4.0),
        ("1./x", 1 / x),
        ("x.^2'", x**2),
        ("2.*-x", -2 * x),
        ("A'[:, -1]", A[-1]),
        ("A[0, 1:3]", A[0, 1:3]),
        ("A[::-1, 0]", A[::-1, 0]),
        ("[A; A][2, 1]", 2.0),
        ("[x; y]", np.concatenate([x, y])),
        ("x*y'", np.outer(x, y)),
        ("sum(A, axis=0)", A.sum(0)),
        ("max(A, axis=1)", A.max(1)),
        ("max(x, 1.5)", np.maximum(x, 1.5)),
        ("where(x > 1, x, -x)", np.where(x > 1, x, -x)),
        ("vec(A)", A.ravel(order="F")),
        ("sum(x)/n", 1.0),
        ("{i: A[i,k]*y[k]}", A @ y),
        ("{i,j: A[i,k]*A[j,k]}", A @ A.T),
        ("{: (A*A')[i,i]*(A'*A)[j,j]}", None),
        ("{i,j,k: x[i]*A[i,j]*y[k] + eye(2)[i,i]*A[i,j]*y[k]}", None),
        ("{k: x[i]*y[j]*ones(4)[k]*[k == i + j]}", np.convolve(x, y)),
        ("{i: exp(A[i,k]*y[k])}", np.exp(A @ y)),
        ("sum{i,k: A[i,k]^2}", (A**2).sum()),
        ("{i: sum{k: exp(A[i,k])}*x[i] + sum{k: A[i,k]*y[k]}}", np.exp(A).sum(1) * x + A @ y),
        ("{: x[i]*sum{k: A[i,k]^2}}", (x @ A**2).sum()),
        ("{i,j,a,b: inv(A*A' + {p,q: eye(2)[p,a]*eye(2)[q,b]})[i,j]}", None),
    ],
)
def test_evaluator(text, expected):
    if expected is None:
        expected = SPECIAL[text]
    value = evaluate(text, {"A": A, "x": x, "y": y}, {"n": 3})
    assert np.allclose(shaped(value, np.shape(expected)), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tile(C, 2)", np.tile(C, 2)),
        ("tile(C[1:, :], 3, 2)", np.tile(C[1:], (3, 2))),
        ("tile(x, 2)", np.tile(x, 2)),
        ("tile(A[:, 0], 2)", np.tile(A[:, 0], 2)),
        ("tile(A[:, :1]*eye(1), 2)", np.tile(A[:, :1], 2)),
        ("sum(exp([C'*C, C'*x]), axis=0)", np.exp(np.array([C[:, 0] @ C[:, 0], C[:, 0] @ x]))),
        ("sum(C', axis=1)", np.array([3.0])),
    ],
)
def test_a_matrix_of_one_row_or_column_is_no_vector(text, expected):
    value = evaluate(text, {"A": A, "C": C, "x": x})
    assert np.allclose(shaped(value, np.shape(expected)), expected)
    assert [n for n in value.shape if n != 1] == [n for n in np.shape(expected) if n != 1]


def inverses():
    found = np.empty((2, 2, 2, 2))
    for a, b in np.ndindex(2, 2):
        found[:, :, a, b] = np.linalg.inv(A @ A.T + differences.unit((2, 2), (a, b)))
    return found


SPECIAL = {
    "{: (A*A')[i,i]*(A'*A)[j,j]}": (A * A).sum() ** 2,
    "{i,j,k: x[i]*A[i,j]*y[k] + eye(2)[i,i]*A[i,j]*y[k]}": np.einsum("i,ij,k->ijk", x + 1, A, y),
    "{i,j,a,b: inv(A*A' + {p,q: eye(2)[p,a]*eye(2)[q,b]})[i,j]}": inverses(),
}


@pytest.mark.parametrize("text", ["x +", "(x", "x y", "x..y", "{i x[i]}", "$"])
def test_unreadable(text):
    with pytest.raises((Unreadable, IndexError)):
        read(text)


@pytest.mark.parametrize("case", operations(), ids=lambda case: case.op)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.sampled(3)
def test_table_of_operations_is_right(case, seed):
    """The text has the value of its NumPy expression, and each adjoint is that of the value."""
    data, G = case.sample(seed), case.cotangent(seed)
    value = case.value(data)
    assert value.shape == case.out
    if case.op not in BEYOND:
        assert np.allclose(shaped(evaluate(case.text, data), case.out), value, rtol=1e-11, atol=1e-12)
    for name in case.vjp:
        for E in differences.basis(np.shape(data[name]), frozenset(declared(case.let)[name][1] & LINEAR)):
            moved = functools.partial(value_along, case, data, name, E)
            expected = (case.adjoint(name, data, G) * E).sum()
            assert abs((G * differences.extrapolated(moved)).sum() - expected) <= 2e-6 * (1 + abs(expected))


def value_along(case, data, name, direction, t):
    return case.value({**data, name: data[name] + t * direction})


# Operations that the evaluator does not know by name.
BEYOND = {"pfaffian", "multigammaln", "spectral_radius", "dare"}
