"""Sums into entries on NumPy: `np.add.at` reads out of bounds if values have fewer axes than its indices together.

Enumerated: stores into entries that several points share, with values that have all, some or no axes of the loop, with
and without a guard. The emitted text runs with an `add.at` that only accepts values of the shape of its indices, and
its result is compared with the loop written out.
"""

import dataclasses
import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from compiler.verify.test_accesses import planned

from matcalc.compiler.emit.module import emit
from matcalc.compiler.entrywise import Guard, Literal, Product, Read, Select
from matcalc.compiler.program import Loop, Store
from matcalc.compiler.verify.accesses import proved
from matcalc.tensor.sizes.size import Size

i, j, n = map(Size.of, "ijn")
ENTRIES = {"i + j": i + j, "n - 1 - i + j": n - 1 - i + j, "i": "i", "j": "j", "n - 1": n - 1}
X, Y = Read("z", ("i",)), Read("w", ("j",))
VALUES = {
    "1": Literal(Fraction(1)),
    "n": Literal(n),
    "x[i]": X,
    "y[j]": Y,
    "y[i]": Read("w", ("i",)),
    "2*x[i]": Product(Fraction(2), (X,)),
    "x[i]*y[j]": Product(Fraction(1), (X, Y)),
    "x[i] where i >= j": Select((Guard(">=", i - j),), X),
    "y[j] where i >= j": Select((Guard(">=", i - j),), Y),
}
GUARDS = {"": (), "i >= j": (Guard(">=", i - j),)}


def full(array, indices, values):
    """Add at entries; values and indices must have one shape."""
    assert np.shape(values) == np.broadcast_shapes(*map(np.shape, indices))
    np.add.at(array, indices, values)


class Checked:
    """NumPy with an `add.at` that requires values of full shape."""

    add = SimpleNamespace(at=full)

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("entry", ENTRIES)
def test_values_have_the_shape_of_their_indices(entry, value):
    for guards, length in itertools.product(GUARDS.values(), (1, 2, 4)):
        whole = Loop((("i", 2 * n - 1),), stores=(Store("a", ("i",), Literal(Fraction(0))),))
        store = Store("b", (ENTRIES[entry],), VALUES[value], onto="a")
        meeting = Loop((("i", n), ("j", n)), stores=(store,), guards=guards)
        program = planned("conv(z, w)", "z: vector(n); w: vector(n)")
        buffer_of = {**program.buffer_of, "a": "result", "b": "result"}
        program = proved(dataclasses.replace(program, steps=(whole, meeting), buffer_of=buffer_of, proof=None))
        space = {"np": Checked()}
        exec(emit(program, "f", "numpy"), space)
        x, y, found = np.arange(1.0, length + 1), np.arange(2.0, length + 2) ** 2, np.full(2 * length - 1, np.nan)
        space["f_into"](x, y, found)
        wanted = np.zeros(2 * length - 1)
        for p, q in itertools.product(range(length), repeat=2):
            if p >= q or not guards:
                wanted[Size.of(ENTRIES[entry]).evaluate({"i": p, "j": q, "n": length})] += at_point(value, x, y, p, q)
        np.testing.assert_allclose(found, wanted)


def at_point(value, x, y, p, q):
    """Return the value at a point of the loop."""
    kept = 1.0 if "where" not in value or p >= q else 0.0
    name = value.removesuffix(" where i >= j")
    numbers = {"1": 1.0, "n": len(x), "x[i]": x[p], "y[j]": y[q], "y[i]": y[p], "2*x[i]": 2 * x[p]}
    return kept * numbers.get(name, x[p] * y[q])
