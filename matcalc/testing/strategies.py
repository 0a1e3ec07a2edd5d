"""Provides Hypothesis strategies for typed expressions over the whole language, with data inside their domain.

A tree of forms is drawn from the root; each operand must fit the shape of its slot. Hypothesis shrinks it to fewer
forms and smaller sizes, since all choices are drawn from lists that begin with the simplest item.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from matcalc.calculus.evaluate.check_data import applied
from matcalc.errors import UnknownName
from matcalc.evidence.numeric.sampling import interior, sample
from matcalc.expressions.read_formulas import read_formulas
from matcalc.language.identifiers import nearest
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.testing.forms import Form, forms
from matcalc.testing.trees import Child, Leaf, Tree, Written, fitted, write

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from matcalc.evidence.numeric.sampling import Array


Item = TypeVar("Item")
Choose = Callable[[Sequence[Item]], Item]
"""A function that chooses an item: hypothesis's, or `random.Random(seed).choice`."""

RANKS = {"scalar": 0, "vector": 1, "matrix": 2, "tensor": 3}
SIZES = (2, 3, 1, 0, 4)
TRIES = 4
"""The number of forms tried in a slot before a symbol is used."""


@dataclass(frozen=True)
class Case:
    """An expression to test with.

    `text` and `declarations` are arguments of `mc.expression`. `data` has an array for every symbol and an integer for
    every size, by name: `e(**{name: case.data[name] for name in e.symbols})` evaluates the expression.
    """

    text: str
    declarations: str
    data: dict[str, Array | int]
    symbols: tuple[str, ...]
    sizes: tuple[str, ...]


def expressions(
    depth: int = 3,
    kind: str | None = None,
    operations: Collection[str] | None = None,
    outermost: str | None = None,
    sizes: Sequence[int] = SIZES,
    rulebook: Rulebook | None = None,
) -> SearchStrategy[Case]:
    """Return a strategy for expressions of at most `depth` nested operations.

    `kind` is the kind of the value (scalar, vector, matrix, tensor). `operations` are the operations to use, by default
    all; names are those of the rulebook, and `plus`, `times` and the like for operators. `outermost` is the outermost
    operation, such as the name of your own rule. `sizes` are the lengths from which each size is chosen.

    Raises: ImportError without hypothesis; UnknownName for an unknown operation.

    Example:
        >>> from hypothesis import given
        >>> import matcalc as mc
        >>> @given(expressions(depth=2, outermost="logdet"))
        ... def test_simplified(case):
        ...     e = mc.expression(case.text, case.declarations)
        ...     assert mc.expression(str(e), e.declarations).node is e.node
    """
    st = _hypothesis()
    book = rulebook or default_rulebook()
    pool = chosen_forms(book, operations)
    roots = _roots(pool, chosen_forms(book, None), kind, outermost)

    def case(draw: DrawFn) -> Case:
        def choose(items: Sequence[Item]) -> Item:
            found: Item = draw(st.sampled_from(items))
            return found

        return random_case(book, choose, draw(st.integers(0, 2**32 - 1)), depth, pool, roots, sizes)

    found: SearchStrategy[Case] = st.composite(case)()
    return found


def random_case(
    book: Rulebook,
    choose: Choose[Any],
    seed: int,
    depth: int,
    pool: Sequence[Form],
    roots: Sequence[Form],
    sizes: Sequence[int] = SIZES,
) -> Case:
    """Return a case by the choices of `choose`; `seed` is the seed of the data."""
    written = write(random_tree(choose, depth, pool, roots), book)
    assert written is not None
    lengths = _lengths(written, choose, sizes)
    data: dict[str, Array | int] = {**drawn(written, lengths, seed, book), **lengths}
    names = tuple(leaf.name for leaf in written.leaves)
    return Case(written.text, written.declarations, data, names, written.sizes)


def random_tree(choose: Choose[Any], depth: int, pool: Sequence[Form], roots: Sequence[Form]) -> Tree:
    """Return a tree of forms that fit one another; `roots` are the forms that may be outermost."""
    form = choose(roots)
    tree = Tree(form, (None,) * len(form.slots))
    for index, slot in enumerate(form.slots if depth > 1 else ()):
        fitting = [f for f in pool if f.rank == slot.rank]
        for _ in range(TRIES if fitting and choose((False, True)) else 0):
            below = random_tree(choose, depth - 1, pool, fitting)
            trial = replace(tree, children=(*tree.children[:index], Child(below), *tree.children[index + 1 :]))
            if fitted(trial) is not None:
                tree = trial
                break
    return tree


def chosen_forms(book: Rulebook, operations: Collection[str] | None) -> tuple[Form, ...]:
    """Return the forms of some operations, by default of all.

    Raises: UnknownName for an unknown operation.
    """
    known = forms(book)
    if operations is None:
        return known
    names = {form.operation for form in known}
    for name in operations:
        if name not in names:
            raise UnknownName(f"there is no operation '{name}'{nearest(name, names)}")
    return tuple(form for form in known if form.operation in operations)


def _roots(pool: Sequence[Form], known: Sequence[Form], kind: str | None, outermost: str | None) -> list[Form]:
    if kind is not None and kind not in RANKS:
        raise UnknownName(f"there is no kind '{kind}'{nearest(kind, RANKS)}")
    names = {form.operation for form in known}
    if outermost is not None and outermost not in names:
        raise UnknownName(f"there is no operation '{outermost}'{nearest(outermost, names)}")
    found = [form for form in known if form.operation == outermost] if outermost is not None else list(pool)
    found = [form for form in found if kind is None or form.rank == RANKS[kind]]
    if not found:
        raise UnknownName(f"no requested operation has a {kind} as its value")
    return found


def _lengths(written: Written, choose: Choose[int], sizes: Sequence[int]) -> dict[str, int]:
    """Return lengths of the sizes for which no shape is negative and all conditions hold."""
    lengths = {name: choose(sizes) for name in written.sizes}
    shapes = [written.shape, *(leaf.shape for leaf in written.leaves)]
    needed = [c.size for c in read_formulas([written.text], written.declarations)[0].names.conditions]
    while any(size.evaluate(lengths) < 0 for size in (*needed, *(size for shape in shapes for size in shape))):
        lengths = {name: length + 1 for name, length in lengths.items()}
    return lengths


def _hypothesis() -> Any:
    """Return hypothesis.strategies.

    Raises: ImportError with the command that installs it.
    """
    try:
        from hypothesis import strategies
    except ImportError:
        raise ImportError("matcalc.testing needs hypothesis: pip install 'matcalc-compiler[testing]'") from None
    return strategies


def drawn(written: Written, sizes: Mapping[str, int], seed: int, book: Rulebook) -> dict[str, Array]:
    """Return an array for each symbol, by name."""
    rng = np.random.default_rng([seed, 17])
    with np.errstate(all="ignore"):
        return {leaf.name: _drawn(leaf, sizes, rng, book) for leaf in written.leaves}


def lengths(written: Written, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the shape of each symbol at these sizes."""
    return {leaf.name: tuple(size.evaluate(sizes) for size in leaf.shape) for leaf in written.leaves}


def _drawn(leaf: Leaf, sizes: Mapping[str, int], rng: np.random.Generator, book: Rulebook) -> Array:
    shape = tuple(size.evaluate(sizes) for size in leaf.shape)
    if leaf.inside is None or 0 in shape:
        return sample(rng, shape, interior(leaf.facts))
    known = {name: size.evaluate(sizes) for name, size in leaf.sizes.items()}
    return np.asarray(applied(book, leaf.inside, np.asarray(rng.standard_normal(shape)), leaf.name, known))
