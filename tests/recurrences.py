"""Recurrences written out step by step, as objects: each step occurs several times in the next."""

import matcalc as mc


def regulator(steps):
    """The cost of a linear system with feedback."""
    x, A, B, K, Q = mc.symbols("x: vector(n); A: matrix(n, n); B: matrix(n, m); K: matrix(m, n); Q: matrix(n, n)")
    cost = 0
    for _ in range(steps):
        u = -(K @ x)
        cost = cost + x @ (Q @ x) + u @ u
        x = A @ x + B @ u
    return cost, "K"


def network(steps):
    """A recurrent network with an input at each step."""
    h, W, U, b = mc.symbols("h: vector(n); W: matrix(n, n); U: matrix(n, m); b: vector(n)")
    for x in mc.symbols("; ".join(f"x{k}: vector(m)" for k in range(steps))):
        h = mc.tanh(W @ h + U @ x + b)
    return mc.sum(h * h), "W"


def averages(steps):
    """Moving averages with one weight."""
    a, m = mc.symbols("a: scalar; m: vector(n)")
    for x in mc.symbols("; ".join(f"x{k}: vector(n)" for k in range(steps))):
        m = a * m + (1 - a) * x
    return mc.sum(m * m), "a"


def logistic(steps):
    """The logistic map."""
    x, r = mc.symbols("x: scalar; r: scalar")
    for _ in range(steps):
        x = r * x * (1 - x)
    return x, "x"


def squares(steps):
    """Squares of squares: the tree doubles at every step."""
    (x,) = mc.symbols("x: vector(n)")
    for _ in range(steps):
        x = x * x + x
    return mc.sum(x), "x"


def descent(steps):
    """Steps of gradient descent on a least squares problem."""
    x, A, b, s = mc.symbols("x: vector(n); A: matrix(m, n); b: vector(m); s: scalar")
    for _ in range(steps):
        x = x - s * (A.T @ (A @ x - b))
    return mc.sum((A @ x - b) * (A @ x - b)), "s"


def newton(steps):
    """Newton's iteration for the root of a cubic: a quotient of the step by the step."""
    x, a = mc.symbols("x: scalar; a: scalar")
    for _ in range(steps):
        x = x - (x**3 - x - a) / (3 * x**2 - 1)
    return x, "a"


def halley(steps):
    """Halley's iteration for a cube root."""
    x, a = mc.symbols("x: scalar; a: scalar")
    for _ in range(steps):
        x = x * (x**3 + 2 * a) / (2 * x**3 + a)
    return x, "a"


def reciprocal_root(steps):
    """Newton's iteration for 1/sqrt(a): the coefficient of a step is cubed in the next step."""
    x, a = mc.symbols("x: scalar; a: scalar")
    for _ in range(steps):
        x = x * (3 - a * x * x) / 2
    return x, "a"


def matrix_squares(steps):
    """Squares of matrices, whose gradient has transposed products of both orders."""
    (X,) = mc.symbols("X: matrix(n, n)")
    for _ in range(steps):
        X = X @ X + X
    return mc.tr(X), "X"


RECURRENCES = {
    f.__name__: f for f in (regulator, network, averages, logistic, squares, descent, matrix_squares)
}  # fmt: skip
QUOTIENTS = {f.__name__: f for f in (newton, halley, reciprocal_root)}
