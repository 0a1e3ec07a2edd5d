"""The reference evaluator against NumPy: every form of the language, at several sizes, equal ones and 1 among them."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.special as sp

import matcalc as mc
from matcalc.evidence.written.reference import of_tree
from matcalc.language.read import read

DECLARED = (
    "A: matrix(m, n); B: matrix(m, n); S: matrix(n, n); P: matrix(n, n) spd; x: vector(n); z: vector(n); y: vector(m); "
    "c: scalar; T: tensor(m, n, k); i: index(p); q: index"
)
SIZES = ((2, 3, 2, 4), (3, 3, 3, 3), (1, 2, 1, 1), (2, 1, 3, 2))

CASES = {
    # operators
    "A + B": "A + B",
    "A - c + B": "A - c + B",
    "2*A/3 - 1": "2*A/3 - 1",
    "-A.^2": "-A**2",
    "A*x": "A @ x",
    "y'*A": "y @ A",
    "y'*A*x": "y @ A @ x",
    "y*x'": "np.outer(y, x)",
    "x'*z*A": "(x @ z)*A",
    "A*S*x*c": "A @ S @ x*c",
    "A.*B./(1 + A.^2)": "A*B/(1 + A**2)",
    "A ∘ B": "A*B",
    "A .* y": "A*y[:, None]",
    "A .* x'": "A*x[None, :]",
    "A .+ y .- x'": "A + y[:, None] - x[None, :]",
    "y .* x'": "np.outer(y, x)",
    "x .^ c": "np.abs(x)**c",
    "2 .^ A": "2.0**A",
    "exp(x) .^ S": "np.exp(x)[:, None] ** S",
    "exp(A) .^ (x')": "np.exp(A) ** x[None, :]",
    "exp(A) .^ y": "np.exp(A) ** y[:, None]",
    "c^3": "c**3",
    "S^2": "S @ S",
    "S^0": "np.eye(len(S))",
    "S^-2": "np.linalg.inv(S) @ np.linalg.inv(S)",
    "P^.5": "sl.sqrtm(P)",
    "P^1.5": "sl.fractional_matrix_power(P, 1.5)",
    "S^-T": "np.linalg.inv(S).T",
    "S\\z": "np.linalg.solve(S, z)",
    "A'": "A.T",
    "A^T*y": "A.T @ y",
    "(x'*S)'": "S.T @ x",
    "m*c + n - 2*k": "m*c + n - 2*k",
    "sum(x)/n": "np.mean(x)",
    "pi*c": "np.pi*c",
    "c*ones((n + 1)//2 + n % 2)": "c*np.ones((n + 1)//2 + n % 2)",
    # parts and blocks
    "x[0]": "x[0]",
    "x[-1]": "x[-1]",
    "x[n - 1]": "x[-1]",
    "A[0, :]": "A[0]",
    "A[:, -1]": "A[:, -1]",
    "A[1:, 0]": "A[1:, 0]",
    "A[:, ::-1]": "A[:, ::-1]",
    "A[0:1, :]": "A[0:1]",
    "T[0, :, :]": "T[0]",
    "x[i]": "x[i]",
    "A[:, i]": "A[:, i]",
    "S[i, i]": "S[i, i]",
    "x[q]": "x[q]",
    "[A, y; x', c]": "np.block([[A, y[:, None]], [x[None, :], np.array([[c]])]])",
    "[x; z]": "np.concatenate([x, z])",
    "[x, z]": "np.stack([x, z], axis=1)",
    "[1, 2; 3, 4]": "np.array([[1, 2], [3, 4]])",
    "[c; x]": "np.concatenate([[c], x])",
    # index forms
    "{a,b: A[a,j]*S[j,b]}": "A @ S",
    "{b,a: A[a,b]}": "A.T",
    "{: A[a,b]*B[a,b]}": "np.sum(A*B)",
    "{a: S[a,a]}": "np.diagonal(S)",
    "{: S[a,a]}": "np.trace(S)",
    "{a,b,d: x[a]*y[b]*z[d]}": "np.einsum('a,b,d->abd', x, y, z)",
    "{a: sum{b: exp(A[a,b])}}": "np.exp(A).sum(axis=1)",
    "sum{a,b: (x[a] - z[b])^2*[a <= b]}": "sum((x[a] - z[b])**2 for a in range(n) for b in range(n) if a <= b)",
    "{d: x[a]*z[b]*ones(2*n - 1)[d]*[d == a + b]}": "np.convolve(x, z)",
    "{a,b: x[a]*ones(n)[b]*[a == b]}": "np.diag(x)",
    "{d: T[a,b,d]*A[a,b]}": "np.einsum('abd,ab->d', T, A)",
    "sum{a: log((x[a] - z[a])^2)}": "np.sum(np.log((x - z)**2))",
    "sum{a,b: log((x[a] - x[b])^2)*[b >= a + 1]}": (
        "sum(np.log((x[a] - x[b])**2) for a in range(n) for b in range(n) if b > a)"
    ),
    "{t: x[i[t]]}": "x[i]",
    "{a,b: inv({e,f: S[e,f]*c + 0*x[a]})[a,b]}": "np.linalg.inv(S*c)",
    "{a: logdet({e,f: P[e,f]*exp(x[a])})}": "np.array([np.log(np.linalg.det(P*np.exp(v))) for v in x])",
    # calls
    "exp(A) + log(1 + A.^2)": "np.exp(A) + np.log(1 + A**2)",
    "sum(A, axis=0)": "A.sum(axis=0)",
    "sum(A, axis=1)": "A.sum(axis=1)",
    "max(A, axis=1)": "A.max(axis=1)",
    "softmax(A, axis=0)": "sp.softmax(A, axis=0)",
    "logsumexp(A, axis=1)": "sp.logsumexp(A, axis=1)",
    "cumsum(A, axis=0)": "A.cumsum(axis=0)",
    "var(x, ddof=0)": "np.var(x)",
    "max(x, z)": "np.maximum(x, z)",
    "max(x, 0)": "np.maximum(x, 0)",
    "max(c, 1, 2)": "max(c, 1, 2)",
    "where(x > z, x, 0)": "np.where(x > z, x, 0)",
    "where(A <= 0, A, B)": "np.where(A <= 0, A, B)",
    "clip(A, -1, 1)": "np.clip(A, -1, 1)",
    "norm(x, 1)": "np.abs(x).sum()",
    "norm(A, 'fro')": "np.linalg.norm(A)",
    "logdet(P) + det(S)": "np.linalg.slogdet(P)[1] + np.linalg.det(S)",
    "chol(P)": "np.linalg.cholesky(P)",
    "svd_s(A)": "np.linalg.svd(A, compute_uv=False)",
    "qr_R(A)": "(lambda R: np.sign(np.diag(R))[:, None]*R)(np.linalg.qr(A)[1])",
    "kron(A, x)": "np.kron(A, x[:, None])",
    "vec(A)": "A.reshape(-1, order='F')",
    "diag(x) + diag(S)*ones(n)'": "np.diag(x) + np.outer(np.diag(S), np.ones(n))",
    "tril(A, -1)": "np.tril(A, -1)",
    "eye(n)*c": "np.eye(n)*c",
    "ones(m, n)": "np.ones((m, n))",
    "matfun(x -> x^2 + 1, P)": "P @ P + np.eye(n)",
    "matfun(exp, P)": "sl.expm(P)",
    "root(w + w.^3 - x, w, start=x)": (
        "np.array([min(np.roots([1, 0, 1, -v]), key=lambda r: abs(r.imag)).real for v in x])"
    ),
    "stop(x)'*z": "x @ z",
    "D = A*S; D.*D": "(A @ S)**2",
    "tr(K) + K[0, 0] where K = S*S'": "np.trace(S @ S.T) + (S @ S.T)[0, 0]",
}


def data_at(m: int, n: int, k: int, p: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([m, n, k, p])
    R = rng.standard_normal((n, n))
    return {
        "A": rng.standard_normal((m, n)), "B": rng.standard_normal((m, n)), "S": R + 3*np.eye(n),
        "P": R @ R.T + np.eye(n), "x": rng.standard_normal(n), "z": rng.standard_normal(n),
        "y": rng.standard_normal(m), "c": np.array(0.7), "T": rng.standard_normal((m, n, k)),
        "i": rng.integers(0, n, p), "q": np.array(n - 1),
    }  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", CASES)
def test_each_form_is_what_numpy_makes_of_it(text: str) -> None:
    declared = DECLARED.replace("x: vector(n)", "x: vector(n) positive") if ".^ c" in text else DECLARED
    declared = declared.replace("T: tensor(m, n, k); ", "k: size; ") if "T" in text and "T[" not in text else declared
    e = mc.expression(text, declared)
    assert e.reference.is_written
    met = 0
    for lengths in SIZES:
        sizes = dict(zip("mnkp", lengths, strict=True))
        data = data_at(*lengths)
        if ".^ c" in text:
            data["x"] = np.abs(data["x"])
        truth = np.asarray(eval(CASES[text], {"np": np, "sl": sl, "sp": sp, **data, **sizes}))
        found = e.reference.value({name: data[name] for name in e.names.written}, sizes)
        assert found.shape == truth.shape
        np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-11)
        met += 1
    assert met >= 3


@pytest.mark.parametrize(
    "text",
    ["x[n]", "x[-n - 1]", "A[1:n + 1, :]", "x[i + 0*q]"],
)
def test_a_part_outside_is_never_clipped(text: str) -> None:
    e = mc.expression("x[q]", DECLARED)
    data = data_at(2, 3, 2, 4) | {"q": np.array(3)}
    with pytest.raises(IndexError):
        e.reference.value(data, {"m": 2, "n": 3, "k": 2, "p": 4})


def test_a_declared_letter_is_no_transpose() -> None:
    reference = of_tree(read("c^-T"))
    assert reference.value({"c": np.array(2.0), "T": np.array(3.0)}, {}) == 0.125


def test_the_rule_of_a_call_depends_on_its_arguments() -> None:
    """One name in one formula: of a vector, a row, a matrix, a number, several numbers, along an axis."""
    data, sizes = data_at(2, 3, 2, 4), {"m": 2, "n": 3, "k": 2, "p": 4}
    text = "norm(x, 1) + 10*norm(A, 1) + 100*norm(x) + max(x)*max(2, 3) + sum(sum(A, axis=1)) + sum(x') + sum(A)"
    x, A = data["x"], data["A"]
    norms = np.abs(x).sum() + 10 * np.abs(A).sum(axis=0).max() + 100 * np.linalg.norm(x)
    truth = norms + 3 * x.max() + 2 * A.sum() + x.sum()
    e = mc.expression(text, DECLARED)
    for _ in range(2):
        found = e.reference.value({name: data[name] for name in e.names.written}, sizes)
        np.testing.assert_allclose(found, truth, rtol=1e-13)


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("logdet(S)", lambda d, E: np.sum(np.linalg.inv(d["S"]).T * E)),
        ("var(x)", lambda d, E: 2 * np.mean((d["x"] - d["x"].mean()) * E)),
        ("std(x)", lambda d, E: np.mean((d["x"] - d["x"].mean()) * E) / np.std(d["x"])),
        ("var(x, ddof=1)", lambda d, E: 2 * np.sum((d["x"] - d["x"].mean()) * E) / (len(E) - 1)),
        ("sum(entr(p))", lambda d, E: np.sum((-1 - np.log(d["p"])) * E)),
    ],
)
def test_values_continue_analytically_to_complex_data(text: str, slope: Callable[..., float]) -> None:
    rng = np.random.default_rng(8)
    data = {"S": rng.standard_normal((4, 4)), "x": rng.standard_normal(5), "p": rng.random(5)}
    for flipped in (1, -1):
        data["S"][0] *= flipped  # the determinant has either sign
        e = mc.expression(text, "S: matrix(n, n); x: vector(n); p: vector(n) positive")
        (name,) = e.names.written
        E = rng.standard_normal(data[name].shape)
        at = {name: data[name]}
        found = e.reference.value({name: data[name] + 1e-30j * E}, {"n": len(E)}, at)
        np.testing.assert_allclose(found.imag / 1e-30, slope(data, E), rtol=1e-12)
        np.testing.assert_allclose(found.real, e.reference.value(at, {"n": len(E)}), rtol=1e-14)


def test_numpy_spelling_means_what_numpy_means() -> None:
    data, sizes = data_at(2, 3, 2, 4), {"m": 2, "n": 3, "k": 2, "p": 4}
    for text in ("A*B", "A @ x", "np.sum(A*x, axis=1)", "A**2 - x", "np.exp(A).T @ y", "x @ z", "A[:, 1:] + 1"):
        found = mc.expression(text, DECLARED, dialect="numpy").reference.value(data, sizes)
        np.testing.assert_allclose(found, eval(text, {"np": np, **data}), rtol=1e-13)


def test_objects_mean_what_their_operators_mean_at_arrays() -> None:
    A, x, y, c = mc.symbols("A: matrix(m, n); x: vector(n); y: vector(m); c: scalar")
    data, sizes = data_at(2, 3, 2, 4), {"m": 2, "n": 3}
    for e, truth in (
        (A @ x - y, "A @ x - y"), (-A*x + c, "-A*x + c"), (y @ A, "y @ A"), ((A.T @ y)**2/c, "(A.T @ y)**2/c"),
        (y.T @ A, "y @ A"), (y @ x.T, "np.outer(y, x)"), (np.sum(np.exp(A), axis=0), "np.exp(A).sum(axis=0)"),
        (np.where(A > 0, A, 0.0), "np.where(A > 0, A, 0)"), (A[0] + A[:, 1:].sum(), "A[0] + A[:, 1:].sum()"),
        (np.stack([x, x*2]), "np.stack([x, x*2])"), (A.shape[0]*c, "2*c"), (mc.exp(A) @ x, "np.exp(A) @ x"),
        (mc.block([[A], [x.T]]), "np.vstack([A, x])"), (A.mean(), "A.mean()"),
    ):  # fmt: skip
        assert e.reference.is_written, truth
        np.testing.assert_allclose(e.reference.value(data, sizes), eval(truth, {"np": np, **data}), rtol=1e-13)


def test_a_function_is_its_own_reference() -> None:
    def loss(A: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.mean((A @ x - y) ** 2)

    e = mc.expression(loss, "A: matrix(m, n); x: vector(n); y: vector(m)")
    data = data_at(2, 3, 2, 4)
    assert e.reference.value(data, {"m": 2, "n": 3}) == loss(data["A"], data["x"], data["y"])
