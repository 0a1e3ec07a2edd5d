"""Newton's method with a trust region and steps by conjugate gradients, as one compiled loop over many fits.

The iterates are those of SciPy's trust-ncg. The value of the model is updated, while SciPy computes it again.

Source: Steihaug 1983; Nocedal and Wright 2006, algorithms 4.1 and 7.2.
"""

from __future__ import annotations

import math

import numpy as np

from matcalc.solvers.loop_endings import GRADIENT_SMALL, MOST_STEPS, NO_DECREASE, PRODUCT
from matcalc.solvers.loop_pieces import advanced, copied, dot, evaluated, moved
from matcalc.solvers.packing import Integers, Matrix, Table, Vector


def crossing(z: Vector, d: Vector, radius: float) -> tuple[float, float]:
    """The two t with |z + t*d| = radius, ascending, without cancellation."""
    a, b, c = dot(d, d), 2.0 * dot(z, d), dot(z, z) - radius * radius
    root = math.sqrt(max(0.0, b * b - 4.0 * a * c))
    q = b + math.copysign(root, b)
    first, second = -q / (2.0 * a), -2.0 * c / q
    return min(first, second), max(first, second)


def stepped(
    address: int, inputs: Integers, sizes: Integers, outputs: Integers, v: Vector, product: Vector,
    g: Vector, radius: float, work: Matrix, p: Vector,
) -> tuple[int, bool, float, int]:  # fmt: skip
    """Minimise the model g'*p + p'*H*p/2 in the ball; return status, if p is on its border, model value, products."""
    r, d, Hp = work[0], work[1], work[2]
    size = math.sqrt(dot(g, g))
    tolerance = min(0.5, math.sqrt(size)) * size
    for k in range(g.size):
        p[k], Hp[k], r[k], d[k] = 0.0, 0.0, g[k], -g[k]
    if size < tolerance:
        return 0, False, 0.0, 0
    most = 20 * g.size + 20  # g.size steps are enough in exact arithmetic
    for count in range(1, most + 1):
        copied(d, v)
        status = evaluated(address, inputs, sizes, outputs, product)
        if status != 0:
            return status + PRODUCT, False, 0.0, count
        bend, squared = dot(d, product), dot(r, r)
        slope, before = dot(g, d), dot(d, Hp)
        model = dot(g, p) + dot(p, Hp) / 2.0
        if bend <= 0.0:
            back, ahead = crossing(p, d, radius)
            at_back = model + back * (slope + before + back * bend / 2.0)
            at_ahead = model + ahead * (slope + before + ahead * bend / 2.0)
            moved(p, back if at_back < at_ahead else ahead, d, p)
            return 0, True, min(at_back, at_ahead), count
        t = squared / bend
        inside = dot(p, p) + 2.0 * t * dot(p, d) + t * t * dot(d, d)
        if math.sqrt(inside) >= radius:
            _, ahead = crossing(p, d, radius)
            moved(p, ahead, d, p)
            return 0, True, model + ahead * (slope + before + ahead * bend / 2.0), count
        moved(p, t, d, p)
        moved(Hp, t, product, Hp)
        moved(r, t, product, r)
        left = dot(r, r)
        if math.sqrt(left) < tolerance or count == most:
            return 0, False, model + t * (slope + before + t * bend / 2.0), count
        for k in range(g.size):
            d[k] = -r[k] + left / squared * d[k]
    return 0, False, 0.0, most


def fits(
    address: int, inputs: Integers, strides: Integers, sizes: Integers, outputs: Integers, x: Vector, both: Vector,
    product_address: int, product_inputs: Integers, product_strides: Integers, product_sizes: Integers,
    product_outputs: Integers, v: Vector, product: Vector,
    X: Matrix, F: Vector, G: Matrix, counts: Table, options: Vector,
) -> None:  # fmt: skip
    """Minimise from each row of X, in place; counts are status, steps, calls, products.

    Options: gtol, most steps, the first and the largest radius, the least part of the predicted decrease.
    """
    n = x.size
    work, p, at, g = np.empty((3, n)), np.empty(n), np.empty(n), np.empty(n)
    for fit in range(X.shape[0]):
        copied(X[fit], x)
        copied(x, at)
        status = evaluated(address, inputs, sizes, outputs, both)
        f, radius, steps, calls, products = both[0], options[2], 0, 1, 0
        copied(both[1:], g)
        if status == 0 and math.sqrt(dot(g, g)) <= options[0]:
            status = GRADIENT_SMALL
        while status == 0:
            copied(at, x)  # products are computed at x
            status, is_far, model, used = stepped(
                product_address, product_inputs, product_sizes, product_outputs, v, product, g, radius, work, p
            )
            products += used
            if status != 0:
                break
            promised = f - (f + model)
            if not promised > 0.0:
                status = NO_DECREASE
                break
            moved(at, 1.0, p, x)
            calls += 1
            ratio = -1.0
            if evaluated(address, inputs, sizes, outputs, both) == 0:
                ratio = (f - both[0]) / promised
            if ratio < 0.25:
                radius *= 0.25
            elif ratio > 0.75 and is_far:
                radius = min(2.0 * radius, options[3])
            if ratio > options[4]:
                copied(x, at)
                copied(both[1:], g)
                f = both[0]
            steps += 1
            if math.sqrt(dot(g, g)) <= options[0]:
                status = GRADIENT_SMALL
            elif steps >= options[1]:
                status = MOST_STEPS
        copied(at, X[fit])
        copied(g, G[fit])
        F[fit] = f
        counts[fit, 0], counts[fit, 1], counts[fit, 2], counts[fit, 3] = status, steps, calls, products
        advanced(inputs, strides)
        advanced(product_inputs, product_strides)
