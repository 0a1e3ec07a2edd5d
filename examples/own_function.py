"""The pullback of a matrix function in two passes, as other systems of automatic differentiation call it.

`forward` returns the value and the intermediate results saved for `backward`. `backward` maps a cotangent of the value
to cotangents of the arguments.
"""

import numpy as np

import matcalc as mc

# The Cayley transform, which maps skew matrices to rotations. It is defined for square W with I - W nonsingular.
CAYLEY = "inv(eye(n) - W)*(eye(n) + W)"

print("differential:", mc.differential(CAYLEY, "W", declarations="W: matrix(n, n)"))
print("pullback of G:", mc.vjp(CAYLEY, "W", declarations="W: matrix(n, n)"))

cayley = mc.pullback(CAYLEY, "W", declarations="W: matrix(n, n)")
rng = np.random.default_rng(2)
W, G, step = (0.3 * rng.standard_normal((4, 4)) for _ in range(3))
value, saved = cayley.forward(W)
cotangent = cayley.backward(saved, G)

h = 1e-5
moved = (cayley.forward(W + h * step)[0] - cayley.forward(W - h * step)[0]) / (2 * h)
print("<G, dY> =", np.sum(G * moved), "  <W_bar, dW> =", np.sum(cotangent * step))
assert np.isclose(np.sum(G * moved), np.sum(cotangent * step), rtol=1e-8)

# A batch of cotangents gives a Jacobian: one row for each unit vector.
curve = mc.pullback("[x^2; x*y; y^2]", ["x", "y"], declarations="x: scalar; y: scalar")
point, saved = curve.forward(3.0, 5.0)
by_x, by_y = curve.backward(saved, np.eye(3))
print("(x^2, x*y, y^2) at (3, 5):", point)
print("its Jacobian:", np.column_stack([by_x, by_y]).tolist())
assert np.array_equal(np.column_stack([by_x, by_y]), [[6.0, 0.0], [5.0, 3.0], [0.0, 10.0]])
