"""Arguments outside an operation's domain: evaluated or compiled, the error names operation, argument and reason."""

import re
import warnings

import numpy as np
import pytest

import matcalc as mc

LET = """A: matrix(n, n); B: matrix(n, n); S: matrix(n, n) symmetric; P: matrix(n, n) spd; K: matrix(n, n) skew
R: matrix(m, n); x: vector(n); y: vector(m); c: scalar"""
ZERO, ONE, TURN = np.zeros((2, 2)), np.eye(2), np.array([[0.0, -1.0], [1.0, 0.0]])
SINGULAR, INDEFINITE = np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
NEGATIVE, NILPOTENT, SINGLE = -np.diag([1.0, 2.0]), np.array([[0.0, 1.0], [0.0, 0.0]]), np.ones(2)

# Formula, data, and the parts of the LinAlgError: operation, argument, reason.
DOMAIN = [
    ("inv(A)", {"A": SINGULAR}, "inv: A is singular"),
    ("A \\ x", {"A": ZERO, "x": SINGLE}, "inv: A is singular"),
    ("x'*inv(A)*x", {"A": SINGULAR, "x": SINGLE}, "inv: A is singular"),
    ("solve(A, B)", {"A": SINGULAR, "B": ONE}, "inv: A is singular"),
    ("tril(A) \\ x", {"A": NILPOTENT, "x": SINGLE}, r"inv: tril\(A\) is singular"),
    ("A^-2", {"A": SINGULAR}, "inv: A is singular"),
    ("chol(P)", {"P": INDEFINITE}, "chol: P is not positive definite"),
    ("chol(sym(A))", {"A": INDEFINITE}, r"chol: \(A \+ A'\)/2 is not positive definite"),
    ("chol(A'*A)", {"A": SINGULAR}, "chol: A'\\*A is not positive definite"),
    ("eigvalsh(S, P)", {"S": ONE, "P": INDEFINITE}, "chol: P is not positive definite"),
    ("logm(A)", {"A": NEGATIVE}, "logm: A has an eigenvalue .* negative, so no real logarithm"),
    ("logm(A*B)", {"A": NEGATIVE, "B": ONE}, "logm: A\\*B has an eigenvalue .*, so no real logarithm"),
    ("logm(A)", {"A": SINGULAR}, "logm: A has an eigenvalue that is zero"),
    ("logm(S)", {"S": INDEFINITE}, r"(logm: S has an eigenvalue|matfun: the function is not real at .*\(S\))"),
    ("sqrtm(A)", {"A": NEGATIVE}, "sqrtm: A has an eigenvalue .* negative, so no real square root"),
    ("sqrtm(A)", {"A": NILPOTENT}, "sqrtm: A has an eigenvalue that is zero"),
    ("sqrtm(S)", {"S": INDEFINITE}, r"(sqrtm: S has an eigenvalue|matfun: the function is not real at .*\(S\))"),
    ("matfun(log, S)", {"S": INDEFINITE}, "matfun: the function is not real at an e.*S"),
    ("powm(A, 1/3)", {"A": NEGATIVE}, "powm: A has an eigenvalue .* negative, so no real power"),
    ("powm(A, -1/2)", {"A": SINGULAR}, "powm: A has an eigenvalue that is zero"),
    ("signm(A)", {"A": TURN}, "signm: A has an eigenvalue on the imaginary axis"),
    ("eigvals(A)", {"A": TURN}, "eig: not all eigenvalues of A are real"),
    ("eig_V(A)", {"A": TURN}, "eig: not all eigenvalues of A are real"),
    ("sylvester(A, B, S)", {"A": TURN, "B": TURN, "S": ONE}, r"sylvester: A and -\(B\) share an eigenvalue"),
    ("lyapunov(A, S)", {"A": TURN, "S": ONE}, r"lyapunov: A and -\(A\)' share an eigenvalue"),
    ("dlyapunov(A, S)", {"A": ONE, "S": ONE}, "dlyapunov: the product of two eigenvalues of A is 1"),
    ("care(A, B, S, P)", {"A": ONE, "B": ZERO, "S": ONE, "P": ONE}, "care: no stabilising solution for A, B, S"),
    ("dare(A, B, S, P)", {"A": 2 * ONE, "B": ZERO, "S": ONE, "P": ONE}, "dare: no stabilising solution for A, B, S"),
]

# Formula, data, and the parts of the ShapeError: the argument as declared and its actual shape; the part; the call.
SHAPE = [
    ("inv(A)", {"A": np.ones((2, 3))}, r"A: matrix\(n, n\) must have shape \(2, 2\), not \(2, 3\)"),
    ("logdet(A)", {"A": np.ones((3, 2))}, r"A: matrix\(n, n\) must have shape \(3, 3\), not \(3, 2\)"),
    ("A*x", {"A": ONE, "x": np.ones(3)}, r"x: vector\(n\) must have shape \(2,\), not \(3,\) where n = 2 \(from A\)"),
    (
        "R*x + y",
        {"R": np.ones((2, 3)), "x": np.ones(3), "y": np.ones(3)},
        r"y: vector\(m\) must have shape .* m = 2 \(from R\)",
    ),
    ("A*x", {"A": SINGLE, "x": SINGLE}, r"A: matrix\(n, n\) takes an array of 2 axes, not one of shape \(2,\)"),
    ("A*x", {"A": np.ones((2, 2, 2)), "x": SINGLE}, r"A: matrix\(n, n\) takes an array of 2 axes"),
    ("c*x", {"c": SINGLE, "x": SINGLE}, r"c: scalar takes a number, not an array of shape \(2,\)"),
    ("x[:3]", {"x": SINGLE}, r"x\[:3\] is outside axis 0 of x where n = 2"),
    (
        "sum_largest_eig(S, n - m)*sum(y)",
        {"S": ONE, "y": np.ones(3)},
        "sum_largest_eig: k must be at least 0, and n - m is less",
    ),
    (
        "svd_lowrank(A, n - m)*sum(y)",
        {"A": ONE, "y": np.ones(3)},
        "svd_lowrank: k must be at least 0, and n - m is less",
    ),
    (
        "sum(ones(n - m))*sum(x)*sum(y)",
        {"x": np.ones(2), "y": np.ones(3)},
        "ones: n must be at least 0, and n - m is less",
    ),
]

# Formula, data, and the TypeError's text for data that are no real numbers.
NUMBERS = [
    ("A*x", {"A": ONE, "x": [1.0, None]}, r"x: vector\(n\) takes real numbers, not None"),
    ("A*x", {"A": ONE, "x": ["a", "b"]}, r"x: vector\(n\) takes real numbers, not entries of type"),
    ("A*x", {"A": [[1, 2], [3]], "x": SINGLE}, r"A: matrix\(n, n\) cannot be read as an array"),
]
CASES = [(error, *case) for error, cases in (
    (np.linalg.LinAlgError, DOMAIN), (mc.ShapeError, SHAPE), (TypeError, NUMBERS)
) for case in cases]  # fmt: skip

# Formula, and the error when it is read or differentiated.
READ = [
    ("inv(R)", mc.ShapeError, r"inv takes a square matrix, and R \(m x n\) is not square"),
    ("det(R)", mc.ShapeError, r"det takes a square matrix, and R \(m x n\) is not square"),
    ("logm(R)", mc.ShapeError, r"logm takes a square matrix, and R \(m x n\) is not square"),
    ("chol(A)", mc.ShapeError, "chol takes a symmetric matrix, and A is not known to be symmetric"),
    ("eigh_w(A)", mc.ShapeError, "eigh_w takes a symmetric matrix, and A is not known to be symmetric"),
    ("pfaffian(A)", mc.ShapeError, "pfaffian takes a skew matrix, and A is not known to be skew"),
    ("sylvester(A, R, B)", mc.ShapeError, r"sylvester takes a square matrix, and R \(m x n\) is not square"),
    ("cross(x, y)", mc.ShapeError, r"cross: x \(vector of n\) does not fit, 3 and n differ"),
    ("sum_largest_eig(S, -1)", mc.ShapeError, "sum_largest_eig: k must be at least 0, and -1 is less"),
    ("polygamma(-1, x)", mc.ShapeError, "polygamma: k must be at least 0, and -1 is less"),
    ("multigammaln(c, 0)", mc.ShapeError, "multigammaln: k must be at least 1, and 0 is less"),
    ("eye(-2)", mc.ShapeError, "eye: n must be at least 0, and -2 is less"),
    ("inv(A, B)", mc.ShapeError, "'inv' does not take"),
]


@pytest.mark.parametrize("target", [None, "numpy", "numba"], ids=["evaluated", "numpy", "numba"])
@pytest.mark.parametrize(("error", "text", "data", "message"), CASES, ids=[f"{c[1]}-{k}" for k, c in enumerate(CASES)])
@pytest.mark.sampled(21)
def test_arguments(error, text, data, message, target):
    formula = mc.expression(text, LET)
    call = formula if target is None else mc.compile(formula, target=target)
    with pytest.raises(error) as caught, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(**data)
    assert re.match(message, str(caught.value))


@pytest.mark.parametrize(("text", "error", "message"), READ, ids=[text for text, *_ in READ])
def test_formulas(text, error, message):
    with pytest.raises(error, match=message) as caught:
        mc.expression(text, LET)
    assert text in str(caught.value) and "^" in str(caught.value)


def test_what_has_no_derivative_says_why():
    """Each opaque entry gives the reason in the rulebook's text."""
    from matcalc.rulebook import default_rulebook

    told = 0
    for rule in default_rulebook().rules.values():
        for name in rule.opaque_in:
            call = f"{rule.name}({', '.join(p.name for p in rule.parameters)})"
            let = "; ".join(f"{p.name}: scalar" for p in rule.parameters if p.kind == "entry")
            if any(p.kind != "entry" for p in rule.parameters):
                continue
            with pytest.raises(mc.NotDifferentiable) as caught:
                mc.gradient(call, name, let)
            assert rule.spelling in str(caught.value) and name in str(caught.value)
            told += 1
    assert told
