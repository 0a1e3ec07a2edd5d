"""Shapes of formulas, and the sizes that unification finds for undeclared symbols."""

import pytest
from formula.elaborate.reading import shape

from matcalc.formula.elaborate.texts import elaborate

MATRICES = "A: matrix(m, n); B: matrix(n, p); S: matrix(n, n); x: vector(m); y: vector(n); z: vector(n); s: scalar"

SHAPES = [
    ("A*B", "m x p"), ("A*y", "m"), ("x'*A", "n'"), ("x'*A*y", ""), ("y'*z", ""), ("x*y'", "m x n"),
    ("x*y'*z", "m"), ("y'*z*x", "m"), ("s*A", "m x n"), ("A*s*B", "m x p"), ("x*s", "m"), ("A@B", "m x p"),
    ("A.*A", "m x n"), ("s.*A", "m x n"), ("A./s", "m x n"), ("y./z", "n"), ("1./y", "n"), ("A/s", "m x n"),
    ("S\\y", "n"), ("S\\B", "n x p"), ("s\\y", "n"), ("S^2", "n x n"), ("S^-1", "n x n"), ("S^-T", "n x n"),
    ("S^.5", "n x n"), ("S^0", "n x n"), ("S^20", "n x n"), ("S^.3", "n x n"), ("s^2", ""), ("s^s", ""),
    ("y.^2", "n"), ("A.^s", "m x n"), ("s.^y", "n"), ("A'", "n x m"), ("x'", "m'"), ("x''", "m"),
    ("(A*B)'", "p x m"), ("-A", "m x n"), ("A + s", "m x n"), ("s + y", "n"), ("y + z", "n"),
    ("y' + z'", "n'"), ("A[0, 1]", ""), ("A[0]", "n"), ("A[:, 0]", "m"), ("A[1:3, :]", "2 x n"),
    ("A[1:, ::-1]", "m - 1 x n"), ("x[-1]", ""), ("x[1:-1]", "m - 2"), ("x[::-1]", "m"), ("A'[:, -1]", "n"),
    ("x[:n]", "n"), ("x'[1:]", "m - 1'"), ("A[::-1, 2:5]", "m x 3"), ("A[1:3, 0:1]", "2 x 1"),
    ("[A, x]", "m x n + 1"), ("[x; y]", "m + n"), ("[y, z]", "n x 2"), ("[y'; z']", "2 x n"),
    ("[y', z']", "1 x 2*n"), ("[1, 2; 3, 4]", "2 x 2"), ("[1; 2; 3]", "3"), ("[1, 2, 3]", "1 x 3"),
    ("[s; y]", "n + 1"), ("[S, B; B', 1]", None), ("[S, y; y', s]", "n + 1 x n + 1"), ("[A; B']", None),
    ("[s, s]", "1 x 2"), ("{i,j: A[i,k]*B[k,j]}", "m x p"), ("{: x[i]*x[i]}", ""),
    ("{j,i: A[i,j]}", "n x m"), ("{i,j,k: A[i,j]*y[k]}", "m x n x n"), ("{i: A[i,0]}", "m"),
    ("{i: A[i,:][0]}", "m"), ("sum(A)", ""), ("sum(A, axis=0)", "n"), ("sum(A, axis=1)", "m"),
    ("sum(A, axis=-1)", "m"), ("softmax(A, axis=0)", "m x n"), ("logsumexp(A, axis=1)", "m"),
    ("var(A, axis=0, ddof=1)", "n"), ("exp(A)", "m x n"), ("exp(x')", "m'"), ("max(y, z)", "n"),
    ("max(y, 0)", "n"), ("max(A)", ""), ("max(m, n)", ""), ("where(y > z, y, 0)", "n"),
    ("clip(y, -1, 1)", "n"), ("hypot(s, y)", "n"), ("inv(S)", "n x n"), ("pinv(A)", "n x m"),
    ("diag(y)", "n x n"), ("diag(S)", "n"), ("tr(S)", ""), ("kron(A, B)", "m*n x n*p"),
    ("kron(x', y)", "n x m"), ("kron(x, y)", "m*n"), ("vec(A)", "m*n"), ("unvec(x, 2, 3)", None),
    ("eye(n)", "n x n"), ("eye(2*n - 1)", "2*n - 1 x 2*n - 1"), ("ones(m, n)", "m x n"),
    ("svd_U(A)", "m x min(m, n)"), ("qr_R(A)", "min(m, n) x n"), ("svdvals(A)", "min(m, n)"),
    ("toeplitz(x)", "m x m"), ("vech(S)", "(n*n + n)//2"), ("commutation(m, n)", "m*n x m*n"),
    ("expm(S, S)", "n x n"), ("pi*y", "n"), ("stop(A)", "m x n"), ("n*y", "n"), ("sum(y)/n", ""),
    ("n^2*y", "n"), ("y*2^-3", "n"), ("norm(A*y - x)^2", ""), ("dd(exp, y, z)", "n"),
    ("repmat(y', 3, 1)", "3 x n"), ("blkdiag(A, x)", "2*m x n + 1"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "expected"), [case for case in SHAPES if case[1] is not None])
def test_shape_of_declared(text: str, expected: str) -> None:
    assert shape(text, MATRICES) == expected


INFERRED = [
    ("x'*A*x", "x: vector(m); A: matrix(m, m)"),
    ("A*B*x", "A: matrix(m, n); B: matrix(n, k); x: vector(k)"),
    ("sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w", "y: vector(m); X: matrix(m, n); w: vector(n); lam: scalar"),
    ("logdet(eye(n) + x*x')", "x: vector(n)"),
    ("unvec(x, 2, 3)", "x: vector(6)"),
    ("vec(A) + x", "A: matrix(m, n); x: vector(m*n)"),
    ("[A, B; C, D]", "A: matrix(m, n); B: matrix(m, k); C: matrix(p, n); D: matrix(p, k)"),
    ("[x; y] + z", "x: vector(m); y: vector(n); z: vector(m + n)"),
    ("λ*β*x", "λ: scalar; β: scalar; x: vector(m)"),
    ("beta0*mu_1*Lambda", "beta0: scalar; mu_1: scalar; Lambda: matrix(m, n)"),
    ("m'*A*n", "m: vector(k); A: matrix(k, p); n: vector(p)"),
    ("x[:k] + y", "x: vector(m); y: vector(k)"),
    ("n*x + m*0", None),
    ("A*A", "A: matrix(m, m)"),
    ("kron(A, B)*x", "A: matrix(m, n); B: matrix(k, p); x: vector(n*p)"),
    ("{i: T1[i,j]*x[j]}", "T1: matrix(m, n); x: vector(n)"),
    ("pi*x", "x: vector(m)"),
    ("lambda*x", "lambda: scalar; x: vector(m)"),
]


@pytest.mark.parametrize(("text", "expected"), [case for case in INFERRED if case[1] is not None])
def test_inferred_declarations(text: str, expected: str) -> None:
    assert elaborate([text]).scope.declarations == expected


def test_declared_sizes_are_kept_and_new_ones_skip_them() -> None:
    scope = elaborate(["A*x + B*y"], "x: vector(n)").scope
    assert scope.declarations == "x: vector(n); A: matrix(m, n); B: matrix(m, k); y: vector(k)"
    assert scope.undeclared == ("A", "B", "y")


def test_texts_share_a_scope() -> None:
    read = elaborate(["A*x", "B*x + c"], "c: vector(3)")
    assert read.scope.declarations == "c: vector(3); A: matrix(m, n); x: vector(n); B: matrix(3, n)"
    assert [str(node.shape[0]) for node in read.nodes] == ["m", "3"]


def test_declared_symbols_that_do_not_occur_are_in_the_scope() -> None:
    assert list(elaborate(["1"], "X: matrix(m, n); y: vector(m)").scope.symbols) == ["X", "y"]


def test_symbols_may_be_given_as_nodes() -> None:
    first = elaborate(["A*x"], "A: matrix(m, n) positive")
    again = elaborate(["A*x"], symbols=first.scope.symbols)
    assert again.nodes == first.nodes


NUMPY = [
    ("x @ y", ""), ("w @ A", "n"), ("A @ y", "m"), ("x.T @ y", ""), ("A * A", "m x n"), ("A.T", "n x m"),
    ("y + w @ A", "n"), ("np.sum(A, axis=0)", "n"), ("A @ A.T", "m x m"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), NUMPY)
def test_numpy_vectors_have_no_rows(text: str, expected: str) -> None:
    declarations = "A: matrix(m, n); x: vector(n); y: vector(n); w: vector(m)"
    read = elaborate([text], declarations, dialect="numpy")
    assert " x ".join(map(str, read.nodes[0].shape)) == expected
    assert read.rows == (False,)


SOLVED = [
    ("[A; B]*x", "A: matrix(m, n); B: matrix(p, n)", "x: vector(n)"),
    ("C'*[A; B]", "A: matrix(m, n); B: matrix(p, n)", "C: matrix(m + p, k)"),
    ("X'*Y", "X: matrix(2*n, n)", "Y: matrix(2*n, m)"),
    ("x[1:] - x[:-1] + y", "y: vector(n - 1)", "x: vector(n)"),
    ("conv(x, y) + z", "x: vector(m); z: vector(m + n - 1)", "y: vector(n)"),
    ("kron(A, B)*z", "A: matrix(m, m); z: vector(m*n)", "B: matrix(k, n)"),
    ("kron(A, A)*z", "z: vector(n*n)", "A: matrix(m, n)"),
    ("kron([A; B], C)*x + z", "A: matrix(m, n); B: matrix(p, n); z: vector(m*q + p*q)", "C: matrix(q, k)"),
    ("[x; x; y; y; y]'*z + [x; x; x; y]'*w", "z: vector(12); w: vector(11)", "x: vector(3); y: vector(2)"),
    ("[x; y]'*z", "z: vector(0)", "x: vector(0); y: vector(0)"),
    ("vech(S)'*x", "x: vector(6)", "S: matrix(3, 3)"),
    ("(A*B - C)*[x; 1]", "x: vector(n); A: matrix(m, n)", "B: matrix(n, n + 1); C: matrix(m, n + 1)"),
]


@pytest.mark.parametrize(("text", "declared", "found"), SOLVED, ids=[text for text, *_ in SOLVED])
def test_inferred_sizes_solve_equations(text: str, declared: str, found: str) -> None:
    assert found in elaborate([text], declared).scope.declarations
