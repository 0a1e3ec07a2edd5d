"""Proved claims about indices hold at every point: each claim against all points of small sizes."""

import itertools
import random
from fractions import Fraction

import pytest

from matcalc.compiler.entrywise import Guard
from matcalc.compiler.verify.inequalities import Known, is_evidently_injective
from matcalc.compiler.verify.integer_sets import System, is_impossible
from matcalc.errors import ShapeError
from matcalc.tensor.sizes.size import Size, maximum, minimum

i, j, k, m, n, p, q = map(Size.of, "ijkmnpq")
HALF = Size.of(Fraction(1, 2))
TRIANGLE = i + j * n - j * (j + 1) * HALF
OTHER = k + p * n - p * (p + 1) * HALF
CORNER = n * (n + 1) * HALF
ENTRIES = n * (n + 1) // 2
LOWER, BOTH = {"i": n, "j": n}, {"i": n, "j": n, "k": n, "p": n}

INSIDE = [
    (Known(axes={"i": m, "j": n}), i * n + j, m * n),
    (Known(axes={"i": m, "j": n, "k": q}), (i * n + j) * q + k, m * n * q),
    (Known(axes={"i": m, "j": n}), i + j, m + n - 1),
    (Known(axes={"i": m, "j": n}), m + n - 2 - i - j, m + n - 1),
    (Known((n - q,), axes={"i": q}), i, n),
    (Known((n - q - 1,), axes={"i": q}), i + 1, n),
    (Known((m * n - q,), axes={"p": q}), p // n, m),
    (Known((m * n - q,), axes={"p": q}), p % n, n),
    (Known(axes={"i": n}), (i + 2) % n, n),
    (Known(axes={"i": n}), (i - 2) % n, n),
    (Known((i - j,), axes={"i": n, "j": n}), TRIANGLE, n * (n + 1) * HALF),
    (Known((i - j,), axes={**LOWER, "k": m}), TRIANGLE * m + k, CORNER * m),
    (Known((i - j,), axes={**LOWER, "k": m}), TRIANGLE * m + k, ENTRIES * m),
    (Known((i - j,), axes={**LOWER, "k": m}), k * ENTRIES + TRIANGLE, m * ENTRIES),
    (Known((i - j,), axes={**LOWER, "k": m}), m * ENTRIES - 1 - k * ENTRIES - TRIANGLE, m * ENTRIES),
    (Known((i - j,), axes={**LOWER, "k": m}), TRIANGLE + k, ENTRIES + m - 1),
    (Known((i - j,), axes={**LOWER, "k": m}), (TRIANGLE * m + k) // m, ENTRIES),
    (Known((i - j, k - p), axes=BOTH), TRIANGLE * ENTRIES + OTHER, ENTRIES * ENTRIES),
    (Known((i - j, k - p), axes=BOTH), TRIANGLE + OTHER, 2 * ENTRIES - 1),
    (Known((i - j, k - p, TRIANGLE - OTHER), axes=BOTH), TRIANGLE - OTHER, ENTRIES),
    (Known((n - 1 - i - j,), axes={**LOWER, "k": m}), TRIANGLE.substitute({"i": n - 1 - i}) * m + k, ENTRIES * m),
    (Known(axes={"i": minimum(m, n)}), i, m),
    (Known(axes={"i": m}), i, maximum(m, n)),
    (Known((n - 2,)), maximum(Size.of(1), minimum(Size.of(2), n)) - 1, n),
    (Known(axes={"i": m + n}).at({}, [Guard(">=", i - m)]), i - m, n),
    (Known(axes={"i": n}).at({"j": n}, [Guard("==", i - j - 1)]), i - 1, n - 1),
]
OUTSIDE = [
    (Known(axes={"i": m, "j": n}), i * m + j, m * n),
    (Known(axes={"i": m, "j": n}), i + j, m + n - 2),
    (Known(axes={"i": m}), i + 1, m),
    (Known(axes={"i": m}), i - 1, m),
    (Known(axes={"i": q}), i, n),
    (Known(axes={"p": q}), p // n, m),
    (Known((i - j,), axes={"i": n, "j": n}), TRIANGLE, n * (n + 1) * HALF - 1),
    (Known((i - j,), axes={**LOWER, "k": m}), TRIANGLE * m + k, ENTRIES * m - 1),
    (Known((i - j,), axes={**LOWER, "k": m + 1}), TRIANGLE * m + k, ENTRIES * m),
    (Known((i - j,), axes={**LOWER, "k": m}), TRIANGLE + k, ENTRIES + m - 2),
    (Known((i - j,), axes={**LOWER, "k": m}), TRIANGLE * m + k + 1, ENTRIES * m),
    (Known((i - j, k - p), axes=BOTH), TRIANGLE - OTHER, ENTRIES),
    (Known(axes={"i": maximum(m, n)}), i, m),
]
ONCE = [
    (Known(axes={"i": m, "j": n}), (i * n + j,)),
    (Known(axes={"i": m, "j": n, "k": q}), ((i * n + j) * q + k,)),
    (Known(axes={"i": m, "j": n, "k": q, "p": m}), (((i * n + j) * q + k) * m + p,)),
    (Known(axes={"i": m}), (m - 1 - i,)),
    (Known(axes={"i": m, "j": n}), (i + j, "j")),
    (Known(axes={"i": m, "j": n}), (i + j, i - j + n)),
    (Known((i - j,), axes={"i": n, "j": n}), (TRIANGLE,)),
    (Known((i - j,), axes={**LOWER, "k": m}), (TRIANGLE * m + k,)),
    (Known((i - j,), axes={**LOWER, "k": m}), (TRIANGLE + k * ENTRIES,)),
    (Known((i - j,), axes={**LOWER, "k": m}), (TRIANGLE + k, "k")),
    (Known((i - j, k - p), axes=BOTH), (TRIANGLE * ENTRIES + OTHER,)),
    (Known(axes={"p": m * n}), (p // n, p % n)),
    (Known(axes={"i": n}), ((i + 2) % n,)),
    (Known((), (i - j,), axes={"i": n, "j": n}), ("i",)),
]
OFTEN = [
    (Known(axes={"i": m, "j": n}), (i + j,)),
    (Known(axes={"i": m, "j": n}), (n + n - 2 - i - j,)),
    (Known(axes={"i": m, "j": n}), (i * m + j,)),
    (Known(axes={"i": m, "j": n}), ("i",)),
    (Known(axes={"i": n, "j": n}), (TRIANGLE,)),
    (Known((i - j,), axes={**LOWER, "k": m}), (TRIANGLE + k,)),
    (Known(axes={**LOWER, "k": m}), (TRIANGLE * m + k,)),
    (Known((i - j, k - p), axes=BOTH), (TRIANGLE * n + OTHER,)),
    (Known(axes={"p": m * n}), (p // n,)),
    (Known(axes={"i": n}), (i % 2,)),
    (Known(axes={"i": n}), (i * (n - 1 - i),)),
]


def points(known, extra):
    """Yield all values of all names for small sizes: the sizes, and a point that satisfies the known conditions."""
    sizes = sorted({x for s in (*known.axes.values(), *extra, *known.nonnegative, *known.zero) for x in s.names})
    sizes = [x for x in sizes if x not in known.axes]
    for values in itertools.product(range(4), repeat=len(sizes)):
        at = dict(zip(sizes, values, strict=True))
        if any(not set(s.names) & set(known.axes) and s.evaluate(at) < 0 for s in known.nonnegative):
            continue
        found = []
        for where in itertools.product(*(range(max(s.evaluate(at), 0)) for s in known.axes.values())):
            point = at | dict(zip(known.axes, where, strict=True))
            holds = all(s.evaluate(point) >= 0 for s in known.nonnegative)
            if holds and all(s.evaluate(point) == 0 for s in known.zero):
                found.append(point)
        yield at, found


def inside_everywhere(known, index, length):
    found = (point for _, some in points(known, (index, length)) for point in some)
    try:
        return all(0 <= index.evaluate(point) < length.evaluate(point) for point in found)
    except ShapeError:  # a division by zero
        return False


def once_everywhere(known, at):
    for _, found in points(known, [Size.of(x) for x in at]):
        try:
            places = [tuple(Size.of(x).evaluate(point) for x in at) for point in found]
        except ShapeError:  # a division by zero
            return False
        if len(set(places)) < len(places):
            return False
    return True


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("known", "index", "length"), INSIDE, ids=lambda x: str(x) if isinstance(x, Size) else "")
def test_bounds_are_proved(known, index, length):
    assert known.is_inside(index, length)
    assert inside_everywhere(known, index, length)


@pytest.mark.parametrize(("known", "index", "length"), OUTSIDE, ids=lambda x: str(x) if isinstance(x, Size) else "")
def test_what_can_be_outside_is_not_proved(known, index, length):
    assert not inside_everywhere(known, index, length)
    assert not known.is_inside(index, length)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("known", "at"), ONCE, ids=lambda x: str([*map(str, x)]) if isinstance(x, tuple) else "")
def test_one_entry_a_point_is_proved(known, at):
    assert known.is_injective(at, list(known.axes))
    assert once_everywhere(known, at)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("known", "at"), OFTEN, ids=lambda x: str([*map(str, x)]) if isinstance(x, tuple) else "")
def test_points_that_meet_are_not_separated(known, at):
    assert not once_everywhere(known, at)
    assert not known.is_injective(at, list(known.axes))


def random_index(rng):
    """Return an index like the planner's: affine, mixed radix, quotients and remainders."""
    atoms = [i, j, m, n, Size.of(1), Size.of(2)]
    total = Size.of(rng.randint(-2, 2))
    for _ in range(rng.randint(1, 3)):
        term = rng.choice(atoms) * rng.choice([1, 1, -1, 2])
        if rng.random() < 0.3:
            term = term * rng.choice([m, n])
        total = total + term
    if rng.random() < 0.25:
        divisor = rng.choice([n, m, Size.of(2)])
        total = total % divisor if rng.random() < 0.5 else total // divisor
    return total


@pytest.mark.whole
def test_no_claim_is_wrong_of_random_indices():
    rng = random.Random(5)
    proved = 0
    for _ in range(150):
        known = Known((rng.choice([m - n, n - 1, m * n - q, i - j, n - i - j]),), axes={"i": m, "j": n})
        index, length = random_index(rng), rng.choice([m, n, m * n, m + n, m + n - 1])
        if any(not known.is_nonnegative(d - 1) for d in index.divisors):
            continue
        if known.is_inside(index, length):
            proved += 1
            assert inside_everywhere(known, index, length), (known, index, length)
        if known.is_injective((index,), ["i", "j"]):
            proved += 1
            assert once_everywhere(known, (index,)), (known, index)
    assert proved > 10


def test_a_shifted_axis_is_evidently_one_entry_a_point():
    assert is_evidently_injective(("i", j + 3), ["i", "j"])
    assert is_evidently_injective((m - 1 - i,), ["i"])
    assert not is_evidently_injective((i + j,), ["i", "j"])
    assert not is_evidently_injective((i * 2,), ["i"])  # it is, but not obviously


def test_a_point_that_a_system_holds_at_but_for_rounding_is_none():
    big = 2**60
    assert is_impossible(System((m - 1,), (m - n, (big + 1) * m - big * n)))
    assert not is_impossible(System((m - 1,), (m - n, big * m - big * n)))
