"""Functions with conditions on data outside of loops: guards, branches that assign, helpers, checks."""

# ruff: noqa: SIM103, SIM108

from __future__ import annotations

import math

import numpy as np


def guarded(x, a, b):
    if a <= 0:
        return np.inf
    return np.sum(x**2) / a + np.log(a) + b


def guarded_below(x, a, b):
    if a <= 0 or b <= -1:
        return -np.inf
    return np.sum(x) * np.log(a) + np.log1p(b)


def guarded_by_a_large_number(x, a, b):
    if not 0 < a < 2:
        return 1e10
    if not np.all(np.isfinite(x)):
        return 1e10
    return np.sum(x) * math.sqrt(a) - b


def guarded_by_an_array(x, a, b):
    if np.any(x <= 0) and a > 0:
        return np.inf
    if x.min() < 0.1:
        return b
    return np.log(x).sum() * a


def assigns(x, a, b):
    if a > b:
        z = np.sin(a) * x
    else:
        z = b * np.cos(x)
    return z @ x


def assigns_in_a_chain(x, a, b):
    if a < -0.5:
        z, w = x, 1.0
    elif a < 0.5:
        z, w = x**2, b
    elif a < 1.5:
        z, w = x**3, b**2
    else:
        z, w = x**4, b**3
    return w * z.sum()


def small_angle(x, a, b):
    theta = np.linalg.norm(x)
    if theta < 1e-8:
        s = 1.0
    else:
        s = np.sin(theta) / theta
    return s * a + b * np.sum(x)


def equal_sides(x, a, b):
    if a == b:
        return np.sum(x) * np.exp(-a)
    return np.sum(x) * (np.exp(-a) - np.exp(-b)) / (b - a)


def smooth_step(v):
    if v < 0:
        return 0.0
    if v > 1:
        return 1.0
    return 3 * v**2 - 2 * v**3


def helper_of_each(x, a, b):
    return smooth_step(a) * np.sum(x) + smooth_step(b) * np.sum(x**2)


def several_in_a_row(x, a, b):
    total = np.sum(x)
    if a > 0:
        total = total * a
    if b > 0:
        total = total + b
    if total > 1:
        total = np.log(total)
    if a + b < 0:
        total -= a * b
    return total


def writes_under_a_condition(x, a, b):
    z = x.copy()
    if a > 0:
        z[0] = a
    else:
        z *= b
    return np.sum(np.exp(z))


def conditional_expression(x, a, b):
    return (np.sum(x) if a > b else x @ x) * (a if b > 0 else -a)


def minimum_of_python(x, a, b):
    cap = a if a < b else b
    return np.sum(np.minimum(x, cap)) + max(a, b, 0.2)


def condition_beside_a_loop(x, a, b):
    if b < 0:
        return 1e6
    level, total = a, 0.0
    for v in x:
        if v > level:
            total += v * b
        level = 0.5 * level + 0.5 * v
    if total > 1:
        total = 1 + np.log(total)
    return total


def truth_of_a_number(x, a, b):
    if not a:
        return b
    return np.sum(x) / a


def nested(x, a, b):
    if a > 0:
        if b > a:
            return np.sum(x) * b
        scale = a - b
    else:
        scale = -a
    return scale * np.sum(x**2)


def not_a_number(x, a, b):
    if math.isnan(b) or not math.isfinite(a):
        return np.inf
    return np.sum(x**2) * a + b


def prior(v):
    if 0 < v < 1.5:
        return np.log(v)
    return -np.inf


def log_posterior(x, a, b):
    lp = prior(a)
    if not np.isfinite(lp):
        return -np.inf
    return lp - np.sum(x**2) * b


FUNCTIONS = [
    not_a_number,
    log_posterior,
    guarded,
    guarded_below,
    guarded_by_a_large_number,
    guarded_by_an_array,
    assigns,
    assigns_in_a_chain,
    small_angle,
    equal_sides,
    helper_of_each,
    several_in_a_row,
    writes_under_a_condition,
    conditional_expression,
    minimum_of_python,
    condition_beside_a_loop,
    truth_of_a_number,
    nested,
]


def raises(x, a, b):
    if a <= 0:
        raise ValueError("a must be positive")
    return np.sum(x) / a + b


def asserts(x, a, b):
    assert a > 0, "a must be positive"
    return np.sum(x) * np.log(a) + b


def raises_for_an_entry(x, a, b):
    if x[0] < 0 or x[1] <= 0:
        raise ValueError("x must be positive")
    return np.log(x).sum() * a + b


def raises_for_any_entry(x, a, b):
    if np.any(x <= 0) or not (x > 0).all():
        raise ValueError("x must be positive")
    return np.log(x).sum() * a + b


CHECKING = [raises_for_any_entry, raises, asserts, raises_for_an_entry]


def while_on_data(x, a, b):
    while b > a:
        b = b / 2
    return b * np.sum(x)


def another_shape(x, a, b):
    if a > 0:
        return x
    return np.sum(x)


def nothing_in_one_case(x, a, b):
    if a > 0:
        return np.sum(x)


def too_many(x, a, b):
    total = 0.0
    for k in range(14):
        if x[0] > a * k * b:
            total = total * b + k
            if total > b:
                return total
    return total


REFUSED = [
    (while_on_data, "values of data decide the number of steps of a while loop: line 2 of", "for _ in range"),
    (another_shape, "a value has another shape where a condition on data holds: line 2 of", "np.where"),
    (nothing_in_one_case, "a value is of another kind where a condition on data holds: line 2 of", "np.where"),
]
