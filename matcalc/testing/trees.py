"""Writes trees of forms as text: an expression, the declarations of its symbols, and formulas into their domains.

A tree is a form with a tree or None in each slot; None is a new symbol. An operand that may lack a required fact, or
lie outside the domain, is mapped into it by the slot's `inside` or the fact's sampler: `log` of any `x` is written
`log(abs(x) + 1/10)`. A symbol is instead declared with the facts, and its data are mapped.

Every form has its own size names. A name that must equal a size is replaced by it. If two polynomials must be equal
(`m*n` and `p*q`), their names are matched; if only numbers fit (`m + n - 1` and `3`), small ones are tried.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from matcalc.evidence.numeric.sampling import interior
from matcalc.rulebook.load import Rulebook
from matcalc.tensor.sizes.size import Size
from matcalc.testing.forms import Form, Shape, Slot

LENGTHS = (2, 3, 4, 1, 5, 6)
"""The numbers tried for names, in this order."""
MOST = 4
"""The most names for which numbers are tried at once."""


class Fit:
    """The values of size names. `unify` either makes two shapes equal or changes nothing."""

    def __init__(self, known: dict[str, Size] | None = None) -> None:
        self.known = dict(known or {})

    def of(self, size: Size) -> Size:
        """Return a size with the known values of its names substituted."""
        while any(name in self.known for name in size.names):
            size = size.substitute({name: self.known[name] for name in size.names if name in self.known})
        return size

    def unify(self, one: Shape, other: Shape) -> bool:
        """Make two shapes equal if possible; return whether they are."""
        if len(one) != len(other):
            return False
        before = dict(self.known)
        if all(self._equal(a, b) for a, b in zip(one, other, strict=True)):
            return True
        self.known = before
        return self._numbered(list(zip(one, other, strict=True)))

    def _equal(self, a: Size, b: Size) -> bool:
        a, b = self.of(a), self.of(b)
        if a == b:
            return True
        for name, size in ((a, b), (b, a)):
            if name.is_name and str(name) not in size.names:
                self.known[str(name)] = size
                return True
        return self._matched(a, b)

    def _matched(self, a: Size, b: Size) -> bool:
        """Match the names of two sizes one by one, as those of `p*q` with those of `m*n`."""
        if not len(a.names) == len(b.names) <= MOST or not b.names or set(a.names) & set(b.names):
            return False
        for order in itertools.permutations(a.names):
            trial = dict(zip(b.names, map(Size.of, order), strict=True))
            if b.substitute(trial) == a:
                self.known |= trial
                return True
        return False

    def _numbered(self, equations: Sequence[tuple[Size, Size]]) -> bool:
        pairs = [(self.of(a), self.of(b)) for a, b in equations]
        names = sorted({name for pair in pairs for size in pair for name in size.names})
        if len(names) > MOST:
            return False
        for lengths in itertools.product(LENGTHS, repeat=len(names)):
            values = dict(zip(names, lengths, strict=True))
            if all(a.evaluate(values) == b.evaluate(values) for a, b in pairs):
                self.known |= {name: Size.of(length) for name, length in values.items()}
                return True
        return False


MATRICES = ("A", "B", "D", "F", "H", "M", "P", "R", "S", "V", "W", "X", "Y", "Z")
VECTORS = ("x", "y", "z", "u", "v", "w", "f", "d")
SCALARS = ("a", "b", "c", "alpha", "beta", "mu", "tau", "rho")
SIZES = ("n", "m", "p", "q", "r", "s", "t", "h", "g")
NAMES = (SCALARS, VECTORS, MATRICES, ("T", "U", "E"))
"""Names of symbols by rank, and of sizes; further names get a number. Indices are i, j, k, l."""


def _names(rank: int) -> tuple[str, ...]:
    """Return the names of symbols of a rank; those of rank 3 and above share names."""
    return NAMES[min(rank, len(NAMES) - 1)]


@dataclass(frozen=True)
class Child:
    """The content of a slot: a tree, mapped into the domain (`is_led`) or unchanged."""

    tree: Tree
    is_led: bool = True


@dataclass(frozen=True)
class Tree:
    """A form with the content of each slot; None is a symbol."""

    form: Form
    children: tuple[Child | None, ...]


@dataclass(frozen=True)
class Leaf:
    """A symbol: its name, shape and facts, and the formula that maps normal data into the domain."""

    name: str
    shape: Shape
    facts: tuple[str, ...]
    inside: str | None
    sizes: Mapping[str, Size]

    @property
    def declaration(self) -> str:
        kind = ("scalar", "vector", "matrix")[len(self.shape)] if len(self.shape) < 3 else "tensor"
        sizes = f"({', '.join(map(str, self.shape))})" if self.shape else ""
        return " ".join([f"{self.name}: {kind}{sizes}", *self.facts])


@dataclass(frozen=True)
class Written:
    """An expression: its text, its symbols in order of appearance, its shape and the names of its sizes.

    `assumed` are the operands that were not mapped, with the facts that their slots require.
    """

    text: str
    leaves: tuple[Leaf, ...]
    shape: Shape
    sizes: tuple[str, ...]
    assumed: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def declarations(self) -> str:
        return "; ".join(leaf.declaration for leaf in self.leaves)


def fitted(tree: Tree) -> Fit | None:
    """Return the sizes at which a tree fits together, or None."""
    fit = Fit()
    return fit if fits(tree, fit, "") else None


def fits(tree: Tree, fit: Fit, mark: str) -> bool:
    """Whether a tree fits together, with its size names marked; the values of the names are added to `fit`."""
    for index, (slot, child) in enumerate(zip(tree.form.slots, tree.children, strict=True)):
        if child is None:
            continue
        below = f"{mark}{index}"
        if not fit.unify(marked(slot.shape, mark), marked(child.tree.form.shape, below)):
            return False
        if not fits(child.tree, fit, below):
            return False
    return True


def marked(shape: Shape, mark: str) -> Shape:
    """Return a shape of a form with the size names of one use of it."""
    return tuple(size.substitute({name: Size.of(f"{name}_{mark}") for name in size.names}) for size in shape)


def write(tree: Tree, book: Rulebook) -> Written | None:
    """Return a tree as text with its declarations; None if sizes do not fit."""
    fit = fitted(tree)
    return None if fit is None else Writer(book, fit).written(tree)


class Writer:
    """Writes a tree; records the names and symbols used so far."""

    def __init__(self, book: Rulebook, fit: Fit) -> None:
        self.book, self.fit = book, fit
        self.leaves: list[Leaf] = []
        self.assumed: list[tuple[str, tuple[str, ...]]] = []
        self.sizes: dict[str, Size] = {}
        self.index_forms = 0

    def written(self, tree: Tree) -> Written:
        text = self.tree(tree, "")
        shape = self.shape(tree.form.shape, "")
        sizes = tuple(str(size) for size in self.sizes.values())
        return Written(text, tuple(self.leaves), shape, sizes, tuple(self.assumed))

    def tree(self, tree: Tree, mark: str) -> str:
        operands = {}
        for index, (slot, child) in enumerate(zip(tree.form.slots, tree.children, strict=True)):
            if child is None:
                operands[slot.name] = self.leaf(slot, tree.form, mark)
                continue
            text = self.tree(child.tree, f"{mark}{index}")
            operands[slot.name] = f"({self.led(text, slot, tree.form, mark)})" if child.is_led else f"({text})"
            if not child.is_led and (slot.facts or slot.inside is not None):
                self.assumed.append((text, slot.facts))
        text = re.sub(r"<(\w+)>", lambda found: self.number(found[1], mark), self.with_indices(tree.form.text))
        return re.sub(r"\{(\w+)\}", lambda found: operands[found[1]], text)

    def with_indices(self, text: str) -> str:
        """Return the text of a form with unique index names, since outer indices are visible inside."""
        if not text.startswith("{") or ":" not in text:
            return text
        self.index_forms += 1
        return text if self.index_forms == 1 else re.sub(r"\b([ijkl])\b(?!\})", rf"\g<1>{self.index_forms}", text)

    def number(self, name: str, mark: str) -> str:
        text = str(self.size(Size.of(name), mark))
        return text if text.isalnum() else f"({text})"

    def leaf(self, slot: Slot, form: Form, mark: str) -> str:
        pool = _names(slot.rank)
        count = sum(_names(len(leaf.shape)) is pool for leaf in self.leaves)
        name = pool[count] if count < len(pool) else f"{pool[count % len(pool)]}{count // len(pool)}"
        sizes = {n: self.size(Size.of(n), mark) for n in form.sizes}
        inside = None if slot.inside is None else renamed(slot.inside, {slot.name: name})
        self.leaves.append(Leaf(name, self.shape(slot.shape, mark), slot.facts, inside, sizes))
        return name

    def led(self, text: str, slot: Slot, form: Form, mark: str) -> str:
        """Return an operand mapped into the domain by the slot's own formula, else by the samplers of its facts."""
        sizes = {n: self.number(n, mark) for n in form.sizes}
        if slot.inside is not None:
            return renamed(slot.inside, {slot.name: f"({text})", **sizes})
        for fact in ordered(slot.facts, self.book):
            sampler = self.book.facts[fact].sample
            if sampler is not None:
                axes = zip(("m", "n") if slot.rank == 2 else ("n",), slot.shape, strict=False)
                lengths = {name: f"({self.size(size, mark)})" for name, size in axes}
                text = renamed(sampler, {"M": f"({text})", **lengths})
        return text

    def shape(self, shape: Sequence[Size], mark: str) -> Shape:
        return tuple(self.size(size, mark) for size in shape)

    def size(self, size: Size, mark: str) -> Size:
        """Return a size of one use of a form in terms of the expression's size names."""
        found = self.fit.of(marked((size,), mark)[0])
        for name in found.names:
            if name not in self.sizes:
                at = len(self.sizes)
                spelled = SIZES[at] if at < len(SIZES) else f"n{at}"
                self.sizes[name] = Size.of(spelled)
        return found.substitute({name: self.sizes[name] for name in found.names})


def ordered(facts: Sequence[str], book: Rulebook) -> list[str]:
    """Return facts ordered from general to special; those that allow a boundary are made strict."""
    return sorted(interior(facts), key=lambda name: (len(book.closure([name])), name))


def renamed(formula: str, names: Mapping[str, str]) -> str:
    """Return a formula with whole names replaced simultaneously."""
    return re.sub(r"(?<![\w.])[A-Za-z_]\w*(?!\w*\()", lambda found: names.get(found[0], found[0]), formula)


def as_is(tree: Tree) -> Tree:
    """Return a tree in which no operand is mapped into its domain."""
    children = tuple(None if c is None else Child(as_is(c.tree), False) for c in tree.children)
    return replace(tree, children=children)
