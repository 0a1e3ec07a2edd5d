"""Names the repeated parts of a formula that make its text shortest, the largest saving first.

A part is a subformula, or a run of factors in a product. Inside an index form only subformulas without open indices are
parts. The caller decides whether the text with parts has the same meaning: a run of factors may have none by
itself, and a size is not a value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from typing import cast

from matcalc.language.index_sums import held_in, listed, sums_in
from matcalc.language.recurrences import bound_by
from matcalc.language.syntax import (
    BINDERS,
    Ast,
    call_keywords,
    call_name,
    children,
    definition,
    part_name,
    parts_in,
    product,
    rebuilt,
    renamed,
    shared,
    walk,
    whole,
)
from matcalc.language.write import text

CLOSED = ("function", "slice", "condition")
"""Heads whose operands are never parts."""
VALUES = ("sum", "product", "power", "call", "part", "block", *BINDERS)
"""Heads of possible parts. A transpose is none: its operand becomes the part."""
WHOLE = slice(None)
"""A whole node, not a run of its factors."""
FIRST, FURTHER = len(" where a = "), len(", a = ")
"""Characters that a part takes in addition to its formula."""

Key = tuple[object, ...]
"""The content of a formula; a run of factors has the key of their product, `("product", operators, *factors)`."""


def with_parts(root: Ast, is_same: Callable[[Ast], bool], symbols: Set[str]) -> Ast:
    """Return a tree with repeated formulas as shared parts, named by numbers; `is_same` must accept each new tree.

    `symbols` are the names of symbols: `eye(n)` in an index form is no part.
    """
    for tree in dict.fromkeys((_with_equal_forms(root), root)):
        made = _shortened(tree, lambda tree: True, symbols)
        if is_same(made):
            return made
    return _shortened(root, is_same, symbols)


def _with_equal_forms(root: Ast) -> Ast:
    """Return a tree in which index forms that differ in the names of their indices alone are one tree."""
    first: dict[str, Ast] = {}
    again: set[Ast] = set()

    def change(node: Ast, new: Ast) -> Ast:
        names = _own_indices(new) if node.head in BINDERS else {}
        found = first.setdefault(text(renamed(new, names)), new) if names else new
        again.update([found] if found is not new else [])
        return found

    made = with_changed_parts(root, change)
    return made if again else root


def _own_indices(form: Ast) -> dict[str, str]:
    """Return standard names for all indices in an index form; nothing if it has indices of an outer form."""
    open_indices = held_in(form, lambda _: True)
    sums = sums_in(form)
    if open_indices.names[form] - sums[form]:
        return {}
    bound = frozenset().union(*sums.values(), *(listed(node) for node in walk(form) if node.head in BINDERS))
    met = (name for node in walk(form) for name in _names_at(node) if name in bound)
    return {name: f"index{k}" for k, name in enumerate(dict.fromkeys(met))}


def _names_at(node: Ast) -> tuple[str, ...]:
    """Return the names that a node of a tree holds itself."""
    return cast(tuple[str, ...], node.value) if node.head in BINDERS else (str(node.value),) * (node.head == "name")


def _shortened(root: Ast, is_same: Callable[[Ast], bool], symbols: Set[str]) -> Ast:
    """Return a tree with parts shared, the largest saving first, until no further part shortens the text."""
    rejected: set[Key] = set()
    keys = _Keys(symbols)
    while True:
        counts = Counter(key for tree in _trees(root) for key, _, _ in _candidates(tree, keys))
        frame = FURTHER if parts_in(root) else FIRST
        savings = {key: keys.saving(key, n) - frame for key, n in counts.items() if n > 1 and key not in rejected}
        best = max(savings, key=lambda key: savings[key], default=None)
        if best is None or savings[best] <= 0:
            return root
        made = _put_in(root, keys, best, shared(str(len(parts_in(root)) + 1), keys.formulas[best]))
        if is_same(made):
            root = made
        else:
            rejected.add(best)


def _trees(root: Ast) -> list[Ast]:
    return [root, *map(definition, parts_in(root))]


class _Keys(dict[Ast, Key]):
    """Maps trees to keys of their content, with operands as numbers, and stores a formula for each key."""

    def __init__(self, symbols: Set[str]) -> None:
        self.symbols = symbols
        self.numbers: dict[Key, int] = {}
        self.formulas: dict[Key, Ast] = {}
        self.lengths: dict[Key, int] = {}

    def __missing__(self, root: Ast) -> Key:
        for node in walk(root):
            if node not in self:
                self[node] = self.key(node, children(node), node.value)
        return self[root]

    def saving(self, key: Key, count: int) -> int:
        """Return the characters saved by a one-letter name for a formula that occurs `count` times."""
        formula = self.formulas[key]
        if key not in self.lengths:
            self.lengths[key] = len(text(formula))
        brackets = 2 if formula.head == "sum" else 0
        return count * (self.lengths[key] + brackets - 1) - self.lengths[key]

    def key(self, node: Ast, operands: Sequence[Ast], value: object) -> Key:
        """Return the key of a formula with this head over operands that have keys."""
        if node.head == "shared":
            value = definition(node)
        elif node.head == "call":
            value = call_name(node), tuple(key for key, _ in call_keywords(node))
        key = (node.head, value, *(self.numbers[self[child]] for child in operands))
        self.numbers.setdefault(key, len(self.numbers))
        return key


def _candidates(tree: Ast, keys: _Keys) -> Iterator[tuple[Key, Ast, slice]]:
    """Yield each possible part by its content, with its node and the slice of its factors."""
    for node in _without_indices(tree, keys.symbols):
        if node.head not in VALUES or node is tree:
            pass
        elif keys.formulas.setdefault(keys[node], node):
            yield keys[node], node, WHOLE
        for run in _runs(node):
            factors = node.args[run]
            made = product(factors, cast(tuple[str, ...], node.value)[run.start : run.stop - 1])
            if all(factor in keys or keys[factor] for factor in factors):
                key = keys.key(made, factors, made.value)
                keys.formulas.setdefault(key, made)
                yield key, node, run


def _without_indices(tree: Ast, symbols: Set[str]) -> Iterator[Ast]:
    """Yield the nodes of a tree without open indices; inside an index form only those with a symbol.

    In the steps of a recurrence the step index and the names of states are open.
    """
    steps = _open_in_steps(tree)
    for node in walk(tree, (*BINDERS, *CLOSED)):
        if node.head in BINDERS:
            open_indices = held_in(node, lambda _: True).names
            inside = (part for part in walk(node, CLOSED) if part is not node and not open_indices[part])
            yield from (part for part in inside if names_in(part) & symbols and part not in steps)
        if node not in steps:
            yield node


def _open_in_steps(tree: Ast) -> set[Ast]:
    """Return the nodes of a tree that hold a name which a recurrence or a sum over its steps around them binds."""
    bound = frozenset().union(*map(bound_by, walk(tree)))
    held: dict[Ast, frozenset[str]] = {}
    for node in walk(tree) if bound else ():
        own = {str(node.value)} & bound if node.head == "name" else ()
        held[node] = frozenset().union(own, *(held[child] for child in children(node))) - bound_by(node)
    return {node for node, names in held.items() if names}


def _runs(node: Ast) -> Iterator[slice]:
    """Yield the proper runs of factors in a product of matrices, the longest first."""
    if node.head != "product" or {*cast(tuple[str, ...], node.value)} != {"*"}:
        return
    count = len(node.args)
    for length in range(count - 1, 1, -1):
        for start in range(count - length + 1):
            if all(factor.head != "number" for factor in node.args[start : start + length]):
                yield slice(start, start + length)


def _put_in(root: Ast, keys: _Keys, key: Key, part: Ast) -> Ast:
    """Return a tree with each occurrence of a formula replaced by its part, also inside other parts."""
    runs: dict[Ast, list[slice]] = {}
    for tree in _trees(root):
        for found, node, run in _candidates(tree, keys):
            before = runs.setdefault(node, [])
            if found == key and not any(_meet(run, one) for one in before):
                before.append(run)

    def change(node: Ast, new: Ast) -> Ast:
        for run in sorted(runs.get(node, ()), key=lambda run: -(run.start or 0)):
            if run == WHOLE:
                return part
            operators = cast(tuple[str, ...], new.value)
            factors = (*new.args[: run.start], part, *new.args[run.stop :])
            new = product(factors, (*operators[: run.start], *operators[run.stop - 1 :]))
        return new

    return with_changed_parts(root, change)


def _meet(run: slice, other: slice) -> bool:
    return WHOLE in (run, other) or (run.start < other.stop and other.start < run.stop)


def with_changed_parts(root: Ast, change: Callable[[Ast, Ast], Ast]) -> Ast:
    """Return a tree with its parts, each node changed by `change(node, new)`; `new` has changed operands."""
    definitions: dict[Ast, Ast] = {}

    def changed(node: Ast, new: Ast) -> Ast:
        if node.head == "shared" and definitions[definition(node)] is not definition(node):
            new = shared(part_name(node), definitions[definition(node)])
        return change(node, new)

    for part in parts_in(root):
        definitions[definition(part)] = rebuilt(definition(part), changed)
    return rebuilt(root, changed)


def renamed_parts(root: Ast, name_of: Callable[[Ast], str]) -> Ast:
    """Return a tree whose shared parts have the names that `name_of` returns."""
    return with_changed_parts(
        root, lambda node, new: shared(name_of(node), definition(new)) if node.head == "shared" else new
    )


def names_in(root: Ast) -> set[str]:
    """Return all names in a tree, including those that binders list and those of its parts."""
    found: set[str] = set()
    for node in whole(root):
        if node.head == "name":
            found.add(str(node.value))
        elif node.head in BINDERS:
            found.update(cast(tuple[str, ...], node.value))
    return found
