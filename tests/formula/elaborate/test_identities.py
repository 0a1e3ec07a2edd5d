"""Equal by construction: different spellings of one expression are one node."""

import pytest

from matcalc.formula.elaborate.texts import elaborate

LET = (
    "A: matrix(m, n); B: matrix(n, p); C: matrix(p, m); M: matrix(n, n); N: matrix(n, n); "
    "S: matrix(n, n) symmetric; u: vector(m); x: vector(n); y: vector(n); z: vector(n); "
    "s: scalar; t: scalar; R: matrix(1, n)"
)
SAME = [
    ("A''", "A"), ("(A*B)'", "B'*A'"), ("vec(A*M*B)", "kron(B', A)*vec(M)"), ("tr(A*B*C)", "tr(C*A*B)"),
    ("[A, E]*[x; q]", "A*x + E*q"), ("x'*M*x", "tr(M*x*x')"), ("A*eye(n)", "A"), ("x'*y", "sum(x.*y)"),
    ("x'*y", "y'*x"), ("u'*A", "A'*u"), ("inv(M*N)'", "inv(N'*M')"), ("M^-1", "inv(M)"),
    ("M^-T", "inv(M)'"), ("M'^-1", "inv(M)'"), ("M^.5", "sqrtm(M)"), ("M\\x", "inv(M)*x"), ("M^3", "M*M*M"),
    ("M^0", "eye(n)"), ("M^-2", "inv(M)*inv(M)"), ("x.^3", "x.*x.*x"), ("x./y", "x.*y.^-1"),
    ("1./x", "x.^-1"), ("sqrt(x)", "x.^.5"), ("diag(x)*y", "x.*y"), ("diag(diag(M))", "M.*eye(n)"),
    ("2*x/4", "x/2"), ("0.1*x", "x/10"), ("x - x", "0*x"), ("-(-x)", "x"), ("(x'*y)*z", "z*(y'*x)"),
    ("x'*y*z", "z*x'*y"), ("s*A*t", "t*(A*s)"), ("max(x, y)", "max(y, x)"), ("x + 1", "x + ones(n)"),
    ("A + s", "A + s*ones(m, n)"), ("x*1'", "x"), ("R*R'*A", "A*(R*R')"), ("det(M')", "det(M)"),
    ("sum(A, axis=0)", "A'*ones(m)"), ("sum(A, axis=1)", "A*ones(n)"), ("sum(A)", "ones(m)'*A*ones(n)"),
    ("mean(x)", "sum(x)/n"), ("tr(eye(n))*x", "n*x"), ("tr(kron(M, N))", "tr(M)*tr(N)"),
    ("kron(A, B)'", "kron(A', B')"), ("kron(A, M)*kron(B, N)", "kron(A*B, M*N)"),
    ("commutation(m, n)*vec(A)", "vec(A')"), ("kron(u, y)", "vec(y*u')"), ("kron(u', y)", "y*u'"),
    ("outer(u, y)", "u*y'"), ("unvec(vec(A), m, n)", "A"), ("reshape(A, m*n)", "vec(A)"),
    ("softmax(A, axis=0)", "softmax(A', axis=1)'"), ("matfun(exp, S)", "matfun(t -> exp(t), S)"),
    ("matfun(a -> a^2 + 1, S)", "matfun(b -> 1 + b^2, S)"), ("inv(2*M)", "inv(M)/2"), ("norm(x)^2", "x'*x"),
    ("where(x >= y, x, y)", "where(y <= x, x, y)"), ("cumsum(A, axis=0)", "tril(ones(m, m))*A"),
    ("[s]'", "[s]"), ("A[0]", "A[0, :]"), ("x[-1]", "x[n - 1]"), ("x[:]", "x"), ("x[::-1]", "flip(x)"),
    ("x[::-1][::-1]", "x"), ("A'[:, -1]", "A[m - 1, :]"), ("x[1:][1:]", "x[2:]"), ("[x; u][:n]", "x"),
    ("[A; M]'", "[A', M']"), ("[x, y]'", "[x'; y']"), ("blkdiag(A, B)", "[A, zeros(m, p); zeros(n, n), B]"),
    ("var(x, ddof=0)", "var(x)"), ("x.T", "x'"), ("x@y'", "x*y'"),
]  # fmt: skip
FORMS = [
    ("{i,j: A[i,k]*B[k,j]}", "A*B"), ("{j,i: A[i,j]}", "A'"), ("{: M[i,i]}", "tr(M)"),
    ("{i: M[i,i]}", "diag(M)"), ("{i: sum{j: A[i,j]}}", "A*ones(n)"),
    ("{i,j: x[i]*ones(n)[j]*[i == j]}", "diag(x)"), ("{i: exp(A[i,k]*x[k])}", "exp(A*x)"),
    ("{: exp(x[k])*ones(n)[k]}", "sum(exp(x))"), ("sum{k: x[k]} + sum{k: u[k]}", "sum(x) + sum(u)"),

    ("{: exp(sum{k: x[k]})}", "exp(sum(x))"), ("sum{k: exp(x[k])}", "sum(exp(x))"),
    ("sum{k: x[k]}^2", "sum(x)^2"), ("sum{k: x[k]^2}", "x'*x"), ("{: x[k]/y[k]}", "sum(x./y)"),
    ("{: (x[k] + y[k])*z[k]}", "(x + y)'*z"), ("2*sum{k: max(x[k], y[k])}", "2*sum(max(x, y))"),
    ("{: max(x[k]*z[k], y[k]*z[k])}", "max(x'*z, y'*z)"), ("{: x[k]*(1 + y[k])}", "sum(x.*(1 + y))"),
    ("{: (x[k]*y[k])^2}", "(x'*y)^2"), ("{: 1/(x[k]*y[k])}", "1/(x'*y)"), ("sum{i,j: A[i,j]^2}", "norm2(A)^2"),
    ("{i: sum{k: A[i,k]*u[i]}}", "u.*(A*ones(n))"), ("sum{k: s*ones(n)[k]}", "s*n"),
    ("{i: sum{i: x[i]}*x[i]}", "sum(x)*x"),
    ("{i: A[i,k]*x[k] + u[i]}", "A*x + u"), ("sum{k: -x[k]}", "-sum(x)"), ("{i: x[i]*sum{k: y[k]}}", "sum(y)*x"),
    ("{i: x[n - 1]*y[i]}", "x[-1]*y"), ("{s: x[s]}", "x"), ("{i: M[i,0]}", "M[:, 0]"),
    ("{k: x[i]*u[j]*ones(m + n - 1)[k]*[k == i + j]}", "conv(x, u)"),
    ("{i: logsumexp({j: A[i,j]})}", "logsumexp(A, axis=1)"),
    ("{i: x[j]*ones(n)[i]*[i == (j + 1) % n]}", "circshift(x, 1)"), ("{i,j: M[i,j]*[i >= j]}", "tril(M)"),
    ("{i,j: M[i,j]*[j < i]}", "tril(M, -1)"), ("{i,j: M[i,j]*[i - 1 >= j]}", "tril(M, -1)"),
    ("{q: A[i,j]*ones(m*n)[q]*[q == j*m + i]}", "vec(A)"),
    ("{q: A[i,j]*ones(m*n)[q]*[m*j == q - i]}", "vec(A)"),
    ("{i: x[j]*ones(n)[i]*[i + j == n - 1]}", "flip(x)"),
    ("{i: x[j]*ones(n - 2)[i]*[j == i + 2]}", "x[2:]"), ("{i,a: (A*{q: B[q,a]})[i]}", "A*B"),
    ("{i: sum({j: A[j,i]})}", "sum(A, axis=0)"), ("{: {i: x[i]}[k]*y[k]}", "x'*y"),
    ("{i: A[i,j]*{k: x[k]}[j]}", "A*x"), ("{i,j: M[j,k]*N[k,i]}", "(M*N)'"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_node(one: str, other: str) -> None:
    left, right = elaborate([one, other], LET + "; E: matrix(m, q0); q: vector(q0)").nodes
    assert left is right


@pytest.mark.parametrize(("one", "other"), FORMS)
def test_index_form_of_one_node(one: str, other: str) -> None:
    left, right = elaborate([one, other], LET).nodes
    assert left is right


def test_an_argument_over_outer_indices_is_a_batch() -> None:
    jacobian = "{i,j,a,b: expm(M, {r,q: eye(n)[r,a]*eye(n)[q,b]})[i,j]}"
    along = f"{{i,j: {jacobian}[i,j,a,b]*N[a,b]}}"
    one, other, applied = elaborate([jacobian, f"{{i,j,c,d: {jacobian}[i,j,c,d]}}", along], LET).nodes
    assert one is other
    assert [str(size) for size in one.shape] == ["n"] * 4 and [str(size) for size in applied.shape] == ["n"] * 2


def test_a_sum_has_one_order_of_axes() -> None:
    texts = ["{i,j,k,l: A[k,j]*M[i,l] + A[k,l]*N[i,j]}", "{i,j,k,l: A[k,l]*N[i,j] + M[i,l]*A[k,j]}"]
    swapped = "{i,j,k,l: {j,i,k,l: A[k,j]*M[i,l] + A[k,l]*N[i,j]}[j,i,k,l]}"
    one, other, third = elaborate([*texts, swapped], LET).nodes
    assert one is other is third


def test_a_definition_is_batched_too() -> None:
    one, other = elaborate(["{i: var({j: A[i,j]}, ddof=1)}", "var(A, axis=1, ddof=1)"], LET).nodes
    assert one is other
