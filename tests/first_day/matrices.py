"""Tasks of linear algebra, control and mechanics: textbook gradients, equations, rotations, tensors, SymPy."""

import numpy as np
import scipy.linalg
from first_day.tasks import task


@task(
    "tr(A*X*B*X'*C)",
    "X: matrix(m, n); B: matrix(n, n)",
    latex=r"\operatorname{tr}(A X B X^\top C)",
    traced=True,
    X="A'*C'*X*B' + C*A*X*B",
)
def trace_of_a_product(A, X, B, C):
    return np.trace(A @ X @ B @ X.T @ C)


@task("a'*inv(X)*b", latex=r"a^\top X^{-1} b", traced=True, X="-inv(X)'*a*b'*inv(X)'")
def entry_of_the_inverse(a, X, b):
    return a @ np.linalg.inv(X) @ b


@task("tr(X^3)", latex=r"\operatorname{tr}(X^3)", traced=True, X="3*X'^2")
def cube(X):
    return np.trace(X @ X @ X)


@task("det(X)", latex=r"\det(X)", traced=True, X="adj(X)'")
def determinant(X):
    return np.linalg.det(X)


@task("log(det(X'*X))", traced=True, X="2*X*inv(X'*X)")
def gram_determinant(X):
    return np.log(np.linalg.det(X.T @ X))


@task("norm(A - X, 'fro')", latex=r"\|A - X\|_F", traced=True, X="normalize(X - A)")
def frobenius_distance(A, X):
    return np.sqrt(np.sum((A - X) ** 2))


@task("norm(X, 2)", latex=r"\|X\|_2", X="svd_top(X)")
def spectral_norm(X):
    return np.linalg.svd(X, compute_uv=False)[0]


@task("norm(X, 'nuc')", latex=r"\|X\|_*", X="polar_U(X)")
def nuclear_norm(X):
    return np.linalg.svd(X, compute_uv=False).sum()


@task("norm(A*x - b)", latex=r"\|Ax - b\|_2", traced=True, x="A'*normalize(A*x - b)")
def residual(A, x, b):
    return np.sqrt(np.sum((A @ x - b) ** 2))


@task(
    "(x'*A*x)^2",
    "A: matrix(n, n) symmetric",
    derivative="hessian",
    latex=r"(x^\top A x)^2",
    traced=True,
    x="8*A*x*x'*A + 4*(x'*A*x)*A",
)
def quartic(x, A):
    return (x @ A @ x) ** 2


@task("sum(x.^4) + x'*A*x", derivative="hessian", traced=True, x="A + A' + 12*diag(x.^2)")
def separable_quartic(x, A):
    return np.sum(x**4) + x @ A @ x


@task(
    "tr(A) + tr(S) - 2*tr(sqrtm(sqrtm(A)*S*sqrtm(A)))",
    "A: matrix(n, n) spd; S: matrix(n, n) spd",
    latex=r"\operatorname{tr}(A) + \operatorname{tr}(S) - 2\operatorname{tr}((A^{1/2} S A^{1/2})^{1/2})",
    traced=True,
    S="eye(n) - sqrtm(A)*(sqrtm(A)*S*sqrtm(A))^-0.5*sqrtm(A)",
)
def bures(A, S):
    w, V = np.linalg.eigh(A)
    root = V * np.sqrt(w) @ V.T
    return np.trace(A) + np.trace(S) - 2 * np.sum(np.sqrt(np.linalg.eigvalsh(root @ S @ root)))


@task("eigvalsh(S)[0]", "S: matrix(n, n) symmetric", traced=True, S="eig_top(-S, 1)")
def least_eigenvalue(S):
    return np.linalg.eigvalsh(S)[0]


@task("norm2(expm(A)*x - y)^2", A="2*expm(A, x*(expm(A)*x - y)')'")
def flow(A, x, y):
    return np.sum((scipy.linalg.expm(A) @ x - y) ** 2)


@task("norm2(expm(W)*X - Y)^2", "W: matrix(n, n) skew", W="2*skew(expm(W', (expm(W)*X - Y)*X'))")
def rotation(W, X, Y):
    return np.sum((scipy.linalg.expm(W) @ X - Y) ** 2)


@task(
    "v = q[1:]; x + 2*cross(v, cross(v, x) + q[0]*x)",
    "q: vector(4); x: vector(3)",
    derivative="jacobian",
    x="2*q[0]*cross(eye(3), q[1:], axis=1) + 2*cross(cross(eye(3), q[1:], axis=1), q[1:], axis=1) + eye(3)",
)
def quaternion(q, x):
    v = q[1:]
    return x + 2 * np.cross(v, np.cross(v, x) + q[0] * x)


@task(
    "norm2([cos(theta), -sin(theta); sin(theta), cos(theta)]*x - y)^2",
    theta="2*x'*[a, -b; b, a]*(y - [b, -a; a, b]*x) where a = sin(theta), b = cos(theta)",
)
def plane_rotation(theta, x, y):
    return np.sum((np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]]) @ x - y) ** 2)


@task(
    "norm2(sylvester(A, B, C))^2",
    "A: matrix(m, m); B: matrix(n, n); C: matrix(m, n)",
    C="2*sylvester(A', B', sylvester(A, B, C))",
)
def sylvester(A, B, C):
    return np.sum(scipy.linalg.solve_sylvester(A, B, C) ** 2)


@task(
    "tr(C*lyapunov(A, Q))",
    "A: matrix(n, n); Q: matrix(n, n) symmetric; C: matrix(n, n) symmetric",
    Q="lyapunov(A', C)",
    A="-2*lyapunov(A', C)*lyapunov(A, Q)",
)
def lyapunov(A, Q, C):
    return np.trace(C @ scipy.linalg.solve_continuous_lyapunov(A, Q))


@task(
    "x'*dare(A, B, Q, R)*x",
    "Q: matrix(n, n) spd; R: matrix(p, p) spd; A: matrix(n, n); B: matrix(n, p)",
    Q="dlyapunov(A - B*inv(B'*dare(A, B, Q, R)*B + R)*B'*dare(A, B, Q, R)*A, x*x')",
)
def regulator(x, A, B, Q, R):
    return x @ scipy.linalg.solve_discrete_are(A, B, Q, R) @ x


@task("sum{i: (X[i, :]'*A*X[i, :])^2}", "A: matrix(n, n) symmetric; X: matrix(m, n)", X="4*diag(diag(X*A*X'))*X*A")
def batched_quadratic_forms(X, A):
    return sum((x @ A @ x) ** 2 for x in X)


@task(
    "{: T[i,j,k]*u[i]*v[j]*w[k]}",
    "u: vector(m); v: vector(n); w: vector(p)",
    latex=r"\sum_{i,j,k} T_{ijk} u_i v_j w_k",
    traced=True,
    u="{i: T[i,k,j]*w[j]*v[k]}",
    T="{i,j,k: u[i]*v[j]*w[k]}",
)
def trilinear(T, u, v, w):
    return np.einsum("ijk,i,j,k->", T, u, v, w)


@task("sum(cumprod(x))", x="sum(tril(prod_others(triu(ones(m, m), 1) + tril(ones(m, m))*diag(x), axis=1)), axis=0)")
def cumulative_products(x):
    return sum(np.prod(x[: k + 1]) for k in range(len(x)))


@task(
    "sum(100*(x[1:] - x[:-1].^2).^2 + (1 - x[:-1]).^2)",
    traced=True,
    x="200*(2*diag(x)*eye(m)[:, :-1] - eye(m)[:, 1:])*((x.^2)[:-1] - x[1:]) + 2*[x[:-1] - 1; 0]",
)
def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@task("q[0] + q[1]", "q: vector(2)", traced=True, q="[1; 1]")
def sum_of_entries(q):
    return q[0] + q[1]


def rosenbrock_in_sympy():
    import sympy

    x, y = sympy.symbols("x y")
    return 100 * (y - x**2) ** 2 + (1 - x) ** 2


@task(rosenbrock_in_sympy, traced=True, x="400*x*(x^2 - y) + 2*x - 2", y="200*(y - x^2)")
def rosenbrock_of_scalars(x, y):
    return 100 * (y - x**2) ** 2 + (1 - x) ** 2


def arm_in_sympy():
    import sympy

    q1, q2, a, b = sympy.symbols("q1 q2 a b")
    return sympy.Matrix([a * sympy.cos(q1) + b * sympy.cos(q1 + q2), a * sympy.sin(q1) + b * sympy.sin(q1 + q2)])


@task(
    arm_in_sympy,
    derivative="jacobian",
    traced=True,
    q1="[-(a*sin(q1) + b*sin(q1 + q2)); a*cos(q1) + b*cos(q1 + q2)]",
    q2="b*[-sin(q1 + q2); cos(q1 + q2)]",
)
def robot_arm(q1, q2, a, b):
    return np.array([a * np.cos(q1) + b * np.cos(q1 + q2), a * np.sin(q1) + b * np.sin(q1 + q2)])
