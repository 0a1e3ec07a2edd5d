"""Compiles the rewrites of the rulebook to patterns: nodes over the variables of each side.

`array` variables match scalars, vectors and matrices, and, if the left side reduces a vector, also the rows of a
matrix: then the right side has a batch axis. Right sides and conditions are built when a left side first matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol

from matcalc.cached import cached_property
from matcalc.calculus.function_bodies import derivative
from matcalc.calculus.simplify.abstraction import NUMBERS, function_variable, is_function_variable
from matcalc.formula.elaborate.rule_formula import RewriteSides
from matcalc.language.declare import Declaration
from matcalc.language.syntax import name
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rewrite
from matcalc.tensor.constructors import symbol, transpose
from matcalc.tensor.nodes.named_parts import without_order
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, spread

ARRAYS = {"scalar": (), "vector": (name("n_"),), "matrix": (name("m_"), name("n_"))}
"""The kinds and sizes of an `array` variable in the patterns of a rewrite."""
NAME = re.compile(r"[^\W\d]\w*")

ROWS = "rows"
"""A vector variable as the rows of a matrix."""
RANKS = {"scalar": 0, "vector": 1, ROWS: 2, "matrix": 2}
"""The readings of an `array` variable, each with the rank of the variable in the pattern."""

Others = tuple[tuple[str, Node | Fraction], ...]
Conditions = tuple[tuple[str, Node], ...]


class Sides(Protocol):
    """Both sides of a rewrite, and the facts that nodes must have."""

    @property
    def left(self) -> Node: ...
    @property
    def right(self) -> Node: ...
    @property
    def conditions(self) -> Conditions: ...


class Pattern(NamedTuple):
    """A compiled rewrite: nodes over variables, and facts that nodes over them must have.

    Its right side and conditions are built when its left side first matches. `others` are its function and number
    variables, each with its value in the pattern. The right side is then rebuilt for their bindings, over the tensors
    `declared`.
    """

    left: Node
    sides: Sides
    rewrite: Rewrite
    declared: tuple[Declaration, ...] = ()
    others: Others = ()

    @property
    def right(self) -> Node:
        """The right side."""
        return self.sides.right

    @property
    def conditions(self) -> Conditions:
        """The facts that nodes over the variables must have, each with its node."""
        return self.sides.conditions


@lru_cache(maxsize=256)
def sides(rewrite: Rewrite, declared: tuple[Declaration, ...], others: Others, book: Rulebook) -> RewriteSides:
    """Return both sides and the conditions of a rewrite with `others` as its functions and numbers."""
    bodies = {name: value for name, value in others if isinstance(value, Node)}
    functions = dict(bodies)
    used = _names_in(rewrite.right)
    for function, body in bodies.items():
        for order in (1, 2):
            known = "d" * order + function
            if known not in used:
                continue
            functions[known] = function_variable(known) if is_function_variable(body) else derivative(body, order)
    numbers = {name: Size.of(value) for name, value in others if not isinstance(value, Node)}
    return RewriteSides(rewrite, declared, book, functions, numbers)


def _names_in(text: str) -> frozenset[str]:
    """Return the names in a formula, of operations and of variables."""
    return frozenset(NAME.findall(text))


def compiled(rewrite: Rewrite, book: Rulebook) -> tuple[Pattern, ...]:
    """Return the patterns of a rewrite, one for each rank that its array variables may have."""
    return tuple(pattern for kind in kinds(rewrite) for pattern in compiled_as(rewrite, kind, book))


def kinds(rewrite: Rewrite) -> tuple[str, ...]:
    """Return the readings of the array variables of a rewrite; one empty text if it has none."""
    return tuple(RANKS) if any(d.kind == "array" for d in rewrite.variables) else ("",)


@lru_cache(maxsize=4096)
def compiled_as(rewrite: Rewrite, kind: str, book: Rulebook) -> tuple[Pattern, ...]:
    """Return the pattern of a rewrite with its array variables in one reading; none if that is not useful."""
    if kind == ROWS:
        return tuple(lifted for pattern in compiled_as(rewrite, "vector", book) for lifted in _by_rows(pattern))
    sizes = ARRAYS.get(kind, ())
    declared = [replace(d, kind=kind, sizes=sizes) if d.kind == "array" else d for d in rewrite.variables]
    pattern = _pattern(rewrite, declared, book)
    required = _names_in(rewrite.right) & {d.name for d in pattern.declared} if kind else set()
    if not required <= {v.name for v in _variables(pattern.left)}:
        return ()  # with a scalar the left side may be a number: exp(x)/sum(exp(x))
    return (pattern,)


def _by_rows(pattern: Pattern) -> Iterator[Pattern]:
    """Yield the patterns with vectors as rows of a matrix, and as its columns; scalars are common or one for each row.

    There is none if the left side has no operation along a vector.
    """
    if pattern.left.shape and not any(map(_reduces, toposort([pattern.left]))):
        return
    has_scalars = any(not v.shape for v in _variables(pattern.left))
    layouts = [(0, False), (0, True), (1, True)] if pattern.left.rank else [(0, False), (1, False)]
    known = set[Node]()
    for has_one_each in (False, True)[: 1 + has_scalars]:
        for axis, is_turned in layouts:
            lifted = ByRows(pattern.sides, has_one_each, axis, is_turned)
            if without_order(lifted.left)[0] is not lifted.left:
                lifted = ByRows(pattern.sides, has_one_each, axis, not is_turned)
            if lifted.left not in known:
                known.add(lifted.left)
                yield pattern._replace(left=lifted.left, sides=lifted)


def _reduces(node: Node) -> bool:
    """Whether a node is an operation, or a product that sums over an index."""
    return node.kind == "op" or (node.kind == "product" and not {i for at in node.indices for i in at} <= set(node.out))


def _pattern(rewrite: Rewrite, declared: Sequence[Declaration], book: Rulebook) -> Pattern:
    numbers = iter(NUMBERS)
    others = tuple(
        (d.name, function_variable(d.name) if d.kind == "function" else next(numbers))
        for d in declared
        if d.kind in ("function", "number")
    )
    tensors = tuple(d for d in declared if d.kind not in ("function", "number"))
    found = sides(rewrite, tensors, others, book)
    return Pattern(found.left, found, rewrite, tensors, others)


class ByRows:
    """The sides of a rewrite with its vector variables as the rows of matrices.

    The rows lie along `axis` of a variable; if it is 1, they are columns. If it `is_turned`, sides that are matrices
    are transposed. With `has_one_each` its scalar variables are the entries of vectors, one for each row.
    """

    def __init__(self, sides: Sides, has_one_each: bool, axis: int, is_turned: bool) -> None:
        rows = Size.of("b_")
        self._sides, self._rows, self._is_turned = sides, rows, is_turned
        self._bound = {
            v: _along(v, rows, axis if v.shape else 0) for v in _variables(sides.left) if v.shape or has_one_each
        }
        self.left: Node = self._turned(sides.left)

    @cached_property
    def right(self) -> Node:
        """The right side."""
        return self._turned(self._sides.right)

    @cached_property
    def conditions(self) -> Conditions:
        """The facts that the rewrite requires, each with its node."""
        return tuple((fact, self._lifted(node)) for fact, node in self._sides.conditions)

    def _turned(self, node: Node) -> Node:
        lifted = self._lifted(node)
        return transpose(lifted) if self._is_turned else lifted

    def _lifted(self, node: Node) -> Node:
        return spread(instantiate(node, self._bound, {}, (self._rows,)), (0,), (self._rows,))


def _along(variable: Node, rows: Size, axis: int) -> Batched:
    """Return a variable with an axis of rows."""
    shape = (*variable.shape[:axis], rows, *variable.shape[axis:])
    made = symbol(variable.name, shape, tuple(variable.data[1]))
    return Batched(transpose(made) if axis else made, (0,))


def _variables(root: Node) -> list[Node]:
    return [node for node in toposort([root]) if node.kind == "symbol"]
