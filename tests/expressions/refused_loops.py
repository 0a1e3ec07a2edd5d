"""Functions with loops over a symbolic number of steps that are no recurrences, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from expressions.looping_functions import MATRICES, SERIES


def breaks(y, a, b):
    for v in y:
        b = a * b + v
        if np.sum(v) > 3:
            break
    return b


def returns(y, a, b):
    for v in y:
        return a * v
    return b


def prints(y, a, b):
    for v in y:
        b = a * b + v
        print(b)
    return b


def pops(y, a, b):
    queue = [1.0, 2.0, 3.0]
    for v in y:
        b = a * b + v * queue.pop()
    return b


def changes_shape(A, x, c):
    for w in c:
        x = np.outer(x, x) * w
    return np.sum(x)


def closure(A, x, c):
    def step():
        return A @ x

    for w in c:
        x = w * step()
    return np.sum(x)


def reads_the_first_of_a_list(y, a, b):
    xs = [b]
    for v in y:
        xs.append(a * xs[0] + v)
    return np.sum(np.array(xs))


def appends_twice(y, a, b):
    xs = []
    for v in y:
        xs.append(a * v)
        xs.append(b * v)
    return np.sum(np.array(xs))


def joins_lists(y, a, b):
    xs = []
    for v in y:
        xs.append(a * v)
    return np.sum(np.array(xs + [b]))


def entry_before_the_first(y, a, b):
    for t in range(y.shape[0]):
        b = a * b + y[t - 1]
    return b


def entry_behind_the_last(y, a, b):
    for t in range(y.shape[0]):
        b = a * b + y[t + 1]
    return b


def strides(y, a, b):
    for t in range(0, y.shape[0], 2):
        b = a * b + y[t]
    return b


def other_lengths(A, x, c):
    for w, v in zip(c, x, strict=False):
        x = w * (A @ x) * v
    return np.sum(x)


def starts_with_none(y, a, b):
    last = None
    for v in y:
        last = v if last is None else a * last + v
    return last * b


def name_of_the_loop(y, a, b):
    for v in y:
        r = a * v
    return r * b


def counts_outside(y, a, b, counter=[0]):  # noqa: B006 - kept between calls
    for v in y:
        counter[0] += 1
        b = a * b + v * counter[0]
    return b


def changes_an_argument(A, x, c):
    for w in c:
        x += w * (A @ x)
    return np.sum(x)


def in_place_and_new(A, x, c):
    v = np.zeros(x.shape)
    for w in c:
        v += w * x
        v = v / 2
    return np.sum(v)


def keeps_a_step(y, a, b):
    seen = []

    def note(v):
        seen.append(v)
        return v

    for v in y:
        b = a * b + note(v)
    return b + seen[0]


def writes_inside(A, x, c):
    v = np.zeros(3)

    def first(w):
        v[0] = w
        return v

    for w in c:
        x = w * (A @ x) + np.sum(first(w))
    return np.sum(x) + v[0]


def two_names_of_a_list(A, x, c):
    xs = []
    ys = xs
    for w in c:
        xs.append(w * x)
    return np.sum(np.array(ys)) + np.sum(xs[-1])


def comprehension_with_a_condition(y, a, b):
    return sum([a * v for v in y if a is not None]) + b


def pops_in_a_comprehension(y, a, b):
    queue = [1.0, 2.0, 3.0]
    return sum([a * v * queue.pop() for v in y]) + b


def writes_to_a_part(A, x, c):
    X = np.zeros((len(c), len(x)))
    for t in range(len(c)):
        X[t] = x * c[t]
        row = X[t]
        row[0] = 5.0
    return np.sum(X)


def changes_rows(A, x, c):
    B = A + 1.0
    for row in B:
        row *= 2.0
    return np.sum(B)


def two_names_of_an_array(A, x, c):
    z = np.zeros(len(c))
    w = z
    for t in range(len(c)):
        z[t] = c[t] + np.sum(w)
    return np.sum(z)


def two_names_in_place(A, x, c):
    v = np.zeros(len(x))
    w = v
    for s in c:
        v += s * x + np.sum(w)
    return np.sum(v)


def writes_to_an_argument(A, x, c):
    for t in range(len(c)):
        x[0] = c[t]
    return np.sum(x)


def writes_and_binds(A, x, c):
    z = np.zeros(len(x))
    for w in c:
        z[0] = w
        z = A @ z
    return np.sum(z)


def writes_to_an_outer_array(A, x, c):
    z = np.zeros(len(c))

    def fill():
        for t in range(len(c)):
            z[t] = c[t]

    fill()
    return np.sum(z)


def lag_before_the_first(A, x, c):
    z = np.zeros(len(c))
    for t in range(len(c)):
        z[t] = c[t] + z[t - 1]
    return np.sum(z)


def entry_of_the_square(y, a, b):
    for t in range(y.shape[0]):
        b = a * b + y[t * t]
    return b


def raises_under_a_condition(y, a, b):
    for v in y:
        if v < 0:
            raise ValueError("negative")
        b = a * b + v
    return b


def halves_until_small(y, a, b):
    for v in y:
        while v > a:
            v = v / 2
        b = b + v
    return b


def appends_if_positive(y, a, b):
    out = []
    for v in y:
        if v > 0:
            out.append(a * v)
    return np.sum(np.array(out)) * b


def goes_around_too_far(y, a, b):
    for t in range(len(y)):
        b = b + a * y[t % (len(y) + 1)]
    return b


def appends_in_some_steps(y, a, b):
    out = []
    for t in range(len(y)):
        for k in range(t):
            out.append(a * y[k])
    return np.sum(np.array(out)) * b


def appends_under_a_condition(y, a, b):
    out = []
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j:
                out.append(a * y[i])
    return np.sum(np.array(out)) * b


def prefixes(y, a, b):
    for t in range(len(y)):
        b = b + a * np.sum(np.cumsum(y[:t]))
    return b


def maximum_of_none(y, a, b):
    for t in range(len(y)):
        b = b + a * np.max(y[:t])
    return b


def slice_and_whole(y, a, b):
    for t in range(len(y)):
        b = b + a * np.sum(y[:t] * y)
    return b


def slice_from_the_end(y, a, b):
    for t in range(len(y)):
        b = b + a * np.sum(y[: t - 1])
    return b


def beyond_the_end(y, a, b):
    for t in range(2, len(y)):
        for k in range(2):
            b = b + a * y[t - k]
        for v in range(len(y)):
            b = b + y[t + v]
    return b


REFUSED: list[tuple[Callable[..., Any], str, int, str]] = [
    (breaks, SERIES, 2, "leaves a step by break"),
    (returns, SERIES, 2, "returns inside"),
    (prints, SERIES, 2, "calls print"),
    (pops, SERIES, 3, "changes queue by pop"),
    (changes_shape, MATRICES, 2, "changes the shape"),
    (closure, MATRICES, 5, "an inner function reads x"),
    (reads_the_first_of_a_list, SERIES, 4, "an entry other than the last"),
    (appends_twice, SERIES, 3, "appends 2 entries to xs"),
    (joins_lists, SERIES, 5, "np.array(xs)"),
    (entry_before_the_first, SERIES, 3, "from entry -1 on"),
    (entry_behind_the_last, SERIES, 3, "from entry 1 on"),
    (strides, SERIES, 2, "stride 1 or -1"),
    (other_lengths, MATRICES, 2, "stops with the shorter"),
    (writes_to_a_part, MATRICES, 6, "X[...], which a loop reads, is not changed in place"),
    (changes_rows, MATRICES, 4, "is not changed in place"),
    (two_names_of_an_array, MATRICES, 4, "reads it as w"),
    (two_names_in_place, MATRICES, 4, "reads it as w"),
    (writes_to_an_argument, MATRICES, 2, "write to a copy: x = x.copy()"),
    (writes_and_binds, MATRICES, 4, "changes z in place and binds it"),
    (writes_to_an_outer_array, MATRICES, 6, "belongs to another function"),
    (lag_before_the_first, MATRICES, 4, "index -1 is the last entry"),
    (entry_of_the_square, SERIES, 3, "the number of one or two steps plus a number"),
    (raises_under_a_condition, SERIES, 4, "raises ValueError under a condition"),
    (halves_until_small, SERIES, 3, "values of data decide the number of steps of a while loop"),
    (appends_if_positive, SERIES, 3, "appends 0 entries to out"),
    (goes_around_too_far, SERIES, 3, "an axis of T entries is read"),
    (appends_in_some_steps, SERIES, 4, "uses the list out, to which it appends"),
    (appends_under_a_condition, SERIES, 4, "appends"),
    (prefixes, SERIES, 3, "for j in range(t)"),
    (maximum_of_none, SERIES, 3, "has no entries in the first or last step"),
    (slice_and_whole, SERIES, 3, "beside an array of another number of entries"),
    (slice_from_the_end, SERIES, 3, "index -1 is the last entry"),
    (beyond_the_end, SERIES, 6, "is read from entry 2 on"),
    (starts_with_none, SERIES, 3, "last, which is no array"),
    (name_of_the_loop, SERIES, 4, "'r'"),
    (counts_outside, SERIES, 2, "writes to counter, which is no array"),
    (changes_an_argument, MATRICES, 2, "the argument x is not changed in place"),
    (in_place_and_new, MATRICES, 3, "changes v in place and binds it"),
    (keeps_a_step, SERIES, 0, "a value of one step"),
    (writes_inside, MATRICES, 0, "a value of one step"),
    (two_names_of_a_list, MATRICES, 6, "the list xs has another name"),
    (comprehension_with_a_condition, SERIES, 2, "mc.scan"),
    (pops_in_a_comprehension, SERIES, 3, "another formula at each call"),
]
"""Functions, declarations, the line counted from that of `def` (1; 0 for no line), and what the error contains."""
