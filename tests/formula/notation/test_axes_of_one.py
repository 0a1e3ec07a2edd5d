"""Axes whose length is the number 1 read back: rows, columns and single entries in every operation, and in pairs.

Such an axis has one index, which factors may share or not with the same meaning. Printed text must be read as the one
node that was chosen. Each form of the vocabulary and the language is tested with each set of its sizes 1. A share of
the pairs of forms that re-index is nested, with parts of length 1 among them.
"""

import itertools
import zlib
from functools import cache

import pytest

import matcalc as mc
from benchmarks.pairs.table import chosen
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.sizes.size import Size
from matcalc.testing.forms import own_forms
from matcalc.testing.trees import Child, Fit, Tree, Writer, fits

COTANGENT = "G_"
PARTS = 12
RE_INDEX = {
    "block", "blkdiag", "circshift", "conv", "diag", "flip", "khatri_rao", "kron", "mean", "outer", "repmat", "roll",
    "sum", "tile", "toeplitz", "tril", "triu", "vec", "vech",
}  # fmt: skip
SHARE, FEWEST = 480, 80


@cache
def forms():
    return chosen(default_rulebook(), with_auxiliaries=False)


def lengths(form, mark, given=(None, 1)):
    """Yield lengths for the sizes of a form, of all sizes or of at most one; a size without a length stays a name."""
    names = [f"{name}_{mark}" for name in form.sizes]
    for chosen_lengths in itertools.product(given, repeat=len(names)):
        known = {name: Size.of(n) for name, n in zip(names, chosen_lengths, strict=True) if n is not None}
        is_of_all = len(known) == len(names) and not form.is_entrywise
        if len(known) < 2 or is_of_all:
            yield known


def written(tree, known):
    """Return a tree as text at these lengths; None where its shapes do not fit."""
    fit = Fit(known)
    return Writer(default_rulebook(), fit).written(tree) if fits(tree, fit, "") else None


def misread(found):
    """Return the faults in the texts of an expression and its derivatives; None if it is rejected."""
    try:
        e = mc.expression(found.text, found.declarations)
        made = [e, *(e.vjp([leaf.name for leaf in found.leaves], cotangent=COTANGENT) if found.leaves else ())]
    except (mc.ShapeError, mc.NotSupported, mc.NotDifferentiable):  # `x[:2]` of one entry, var(A, ddof=1) of one row
        return None
    faults = []
    for one in made:
        back = mc.expression(str(one), one.declarations)
        if back.node is not one.node:
            faults.append(f"{found.text} with {found.declarations}: {one} reads as {back}")
    return faults


@pytest.mark.thinned(2)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.whole
def test_every_form_with_axes_of_one(part):
    tried, faults = 0, []
    for form in forms()[part::PARTS]:
        tree = Tree(form, (None,) * len(form.slots))
        for known in lengths(form, ""):
            found = written(tree, known) if known else None
            if found is not None and (wrong := misread(found)) is not None:
                tried += 1
                faults += wrong
    assert tried
    assert not faults, "\n".join(faults)


def pairs():
    """Yield a share of the pairs of forms that re-index, with lengths: parts of 2 entries too, of which 1 remains."""
    turning = [form for form in forms() if form.operation in RE_INDEX or form in own_forms()]
    for outer, inner in itertools.product(turning, turning):
        for place, slot in enumerate(outer.slots):
            order = zlib.crc32(f"{outer.key} {place} {inner.key}".encode())
            if slot.rank != inner.rank or not inner.rank or order % SHARE:
                continue
            children = [None] * len(outer.slots)
            children[place] = Child(Tree(inner, (None,) * len(inner.slots)), is_led=False)
            for inside in lengths(inner, str(place), (None, 1, 2) if "[" in inner.text else (None, 1)):
                yield Tree(outer, tuple(children)), inside


@pytest.mark.whole
def test_pairs_of_forms_with_axes_of_one():
    tried, faults = set(), []
    for tree, known in pairs():
        found = written(tree, known) if known else None
        if found is None or (found.text, found.declarations) in tried or (wrong := misread(found)) is None:
            continue
        tried.add((found.text, found.declarations))
        faults += wrong
    assert len(tried) > FEWEST
    assert not faults, "\n".join(faults)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "declarations"),
    [
        ("tile(A, 2)", "A: matrix(1, n)"),
        ("tile(A[1:, :-1], 2)", "A: matrix(2, n)"),
        ("kron(ones(2)', A[1:, :-1])", "A: matrix(2, n)"),
        ("kron(ones(2)', A[1:, :], B)", "A: matrix(2, n); B: matrix(1, m)"),
        ("kron(ones(3), A[:, 1:])", "A: matrix(n, 2)"),
        ("toeplitz(x, tile(y, 2))", "x: vector(1); y: vector(1)"),
        ("[A[:, :1], B/(1 + sum(B.^2))]", "A: matrix(1, 2); B: matrix(1, 1)"),
        ("[A, F[1:, :]/(1 + sum(F[1:, :].^2))]", "A: matrix(1, 1); F: matrix(2, 1)"),
        ("tr(A[:, :1])", "A: matrix(1, 2)"),
        ("A[:, :1]*B*A[1:, :1]'", "A: matrix(2, n); B: matrix(1, 1)"),
        ("x[:1]'*A + y[1:]'*A", "A: matrix(1, n); x: vector(2); y: vector(2)"),
    ],
)
def test_one_place_of_several(text, declarations):
    e = mc.expression(text, declarations)
    for one in (e, *e.vjp(list(e.symbols), cotangent=COTANGENT)):
        assert mc.expression(str(one), one.declarations).node is one.node, one
