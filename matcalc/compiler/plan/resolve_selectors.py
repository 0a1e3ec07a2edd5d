"""Replaces selectors by indexing: a product with selectors becomes one without, with arithmetic on its indices.

Every selector is an equation between indices, such as p = i*n + j. The equation is solved for one index, which is
replaced in operands and output; an equation that cannot be solved becomes a guard. An operand axis replaced by a rank
of several indices is a reshaped view. One replaced by an index plus an offset is a slice, any other a gathered read. An
output axis determines likewise where entries of the result are stored. No selector is ever formed. A guard restricts
every replaced index to its range, unless a proof shows that it stays there. Summed indices are replaced before those of
the output, so that results are gathered and not scattered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from matcalc.compiler.entrywise import Guard
from matcalc.compiler.verify.entries import entry
from matcalc.compiler.verify.inequalities import Known
from matcalc.errors import NotSupported
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size


@dataclass(frozen=True, slots=True)
class Rank:
    """The row-major rank of several indices, as one axis."""

    indices: tuple[int, ...]


At = int | Rank | Size  # an index, a rank of indices, or arithmetic on tokens of indices


@dataclass(slots=True)
class Indexed:
    """A product without selectors: operands and output with an index expression for each axis, and guards.

    `known` are facts about sizes; `replaced` are the indices that were replaced.
    """

    operands: list[tuple[Node, list[At]]]
    out: list[At]
    sizes: dict[int, Size]
    known: Known
    guards: list[Guard] = field(default_factory=list)
    replaced: set[int] = field(default_factory=set)

    def point(self, *sizes: Size) -> Known:
        """Return the known facts about the indices in some sizes, with the guards on these indices alone.

        A guard on further indices may be attached to another operand.
        """
        names = {n for size in sizes for n in size.names if n.startswith("#")}
        guards = [g for g in self.guards if {n for n in g.size.names if n.startswith("#")} <= names]
        return self.known.at({n: self.sizes[int(n[1:])] for n in sorted(names)}, guards)


def token(index: int) -> str:
    return f"#{index}"


def resolve(node: Node, known: Known) -> Indexed:
    """Return the product `node` with its selectors replaced by indexing."""
    sizes = node.sizes
    state = Indexed([], list(node.out), sizes, known)
    waiting: list[tuple[Node, list[At]]] = []
    for arg, indices in node.operands:
        if arg.kind == "selector":
            waiting.append((arg, list(indices)))
        else:
            state.operands.append((arg, list(indices)))
    waiting.sort(key=lambda item: -1 if item[0].args else SOLVE[item[0].selector.kind][0])  # data first
    for number, (selector, at) in enumerate(waiting):
        later = [indices for _, indices in waiting[number + 1 :]]
        solve(state, selector, at, later)
    return state


def solve(state: Indexed, node: Node, at: list[At], later: Sequence[list[At]]) -> None:
    """Replace one index of a selector, or turn the selector into a guard."""
    if node.args:
        _look_up(state, node.args[0], at, later)
    else:
        SOLVE[node.selector.kind][1](state, node.selector, at, later)


def _look_up(state: Indexed, index_array: Node, at: list[At], later: Sequence[list[At]]) -> None:
    """Replace the axis of a lookup by an entry of data."""
    found = entry_of(index_array, [as_size(a, state.sizes) for a in at[1:]], state.known)
    if isinstance(at[0], int) and at[0] not in indices_of(found):
        _replace(state, later, at[0], found)
    else:
        _equation(state, as_size(at[0], state.sizes), found)


def entry_of(index_array: Node, at: Sequence[Size], known: Known) -> Size:
    """Return an entry of an index array as an index: of a symbol, or of one read through selectors.

    Raises: NotSupported if the index array is computed.
    """
    if index_array.kind == "symbol":
        return entry(Size.of(index_array.name), *at)
    if index_array.kind == "product" and index_array.coef == 1:
        inner = resolve(index_array, known)
        out = [i for i in inner.out if isinstance(i, int)]
        if len(inner.operands) == 1 and len(out) == len(at) == len(set(out)) and not inner.guards:
            (symbol, spots), names = inner.operands[0], dict(zip(map(token, out), at, strict=True))
            names.update({token(i): Size.of(0) for i, s in inner.sizes.items() if s == 1 and token(i) not in names})
            return entry_of(symbol, [as_size(spot, inner.sizes).substitute(names) for spot in spots], known)
    raise NotSupported("an index array that is computed", hint="pass it as an argument of its own")


def as_size(at: At, sizes: dict[int, Size]) -> Size:
    """Return an index as arithmetic on tokens."""
    if isinstance(at, int):
        return Size.of(token(at))
    if isinstance(at, Size):
        return at
    total = Size.of(0)
    for index in at.indices:
        total = total * sizes[index] + Size.of(token(index))
    return total


def indices_of(at: At) -> tuple[int, ...]:
    """Return the index numbers that occur in `at`."""
    if isinstance(at, int):
        return (at,)
    if isinstance(at, Rank):
        return at.indices
    return tuple(int(name[1:]) for name in at.names if name.startswith("#"))


def _replace(state: Indexed, later: Sequence[list[At]], index: int, value: At) -> None:
    """Substitute `value` for `index` everywhere, guarded to stay in the range of `index`."""
    name = {token(index): as_size(value, state.sizes)}
    state.replaced.add(index)
    if not isinstance(value, int):
        _within(state, name[token(index)], state.sizes[index])

    def swap(at: At) -> At:
        if at == index and isinstance(at, int):
            return value
        if isinstance(at, int) or index not in indices_of(at):
            return at
        if isinstance(value, int) and isinstance(at, Rank):
            return Rank(tuple(value if i == index else i for i in at.indices))
        return as_size(at, state.sizes).substitute(name)

    for ats in (state.out, *(at for _, at in state.operands), *later):
        ats[:] = [swap(at) for at in ats]
    state.guards[:] = [Guard(g.relation, g.size.substitute(name)) for g in state.guards]


def _within(state: Indexed, value: Size, size: Size) -> None:
    """Add guards for 0 <= value < size, unless proved."""
    known = state.point(value)
    for condition in (value, size - 1 - value):
        if not known.is_nonnegative(condition):
            state.guards.append(Guard(">=", condition))


def _plain(*ats: At) -> bool:
    """Whether all are plain indices and distinct."""
    numbers = [a for a in ats if isinstance(a, int)]
    return len(numbers) == len(ats) and len(set(numbers)) == len(ats)


def _equation(state: Indexed, left: Size, right: Size) -> None:
    if left is not right:
        state.guards.append(Guard("==", left - right))


def _merge(state: Indexed, selector: Selector, at: list[At], later: Sequence[list[At]]) -> None:
    whole, parts = at[0], at[1:]
    if isinstance(whole, int) and _plain(*parts) and whole not in parts:
        _replace(state, later, whole, Rank(tuple(p for p in parts if isinstance(p, int))))
        return
    if isinstance(whole, Rank) and len(whole.indices) == len(parts):
        same = [state.sizes[i] == s for i, s in zip(whole.indices, selector.shape[1:], strict=True)]
        if all(same):
            for index, part in zip(whole.indices, parts, strict=True):
                _unify(state, later, index, part)
            return
    rank = Size.of(0)
    for part, size in zip(parts, selector.shape[1:], strict=True):
        rank = rank * size + as_size(part, state.sizes)
    if isinstance(whole, int) and whole not in {i for p in parts for i in indices_of(p)}:
        _replace(state, later, whole, rank)
        return
    if _plain(*parts) and not set(indices_of(whole)) & {i for p in parts for i in indices_of(p)}:
        rest = as_size(whole, state.sizes)
        for part, size in reversed(list(zip(parts, selector.shape[1:], strict=True))):
            assert isinstance(part, int)
            _replace(state, later, part, rest % size if part != parts[0] else rest)
            rest = rest // size
        return
    _equation(state, as_size(whole, state.sizes), rank)


def _unify(state: Indexed, later: Sequence[list[At]], index: int, part: At) -> None:
    if isinstance(part, int):
        if index != part:
            _replace(state, later, part, index)
        return
    _replace(state, later, index, part)


def _slice(state: Indexed, selector: Selector, at: list[At], later: Sequence[list[At]]) -> None:
    offset, (outer, inner) = selector.offset, selector.shape
    i, j = at
    fits = state.known.is_nonnegative(offset) and state.known.is_nonnegative(outer - inner - offset)
    outer_at, inner_at = as_size(i, state.sizes), as_size(j, state.sizes) + offset
    options = [(i, inner_at)] if fits or i not in state.out or not isinstance(j, int) else []
    if not _is_solved(state, later, [*options, (j, outer_at - offset)]):
        _equation(state, outer_at, inner_at)


def _mask(state: Indexed, selector: Selector, at: list[At], later: Sequence[list[At]]) -> None:
    i, j = (as_size(a, state.sizes) for a in at)
    state.guards.append(Guard(">=", i - j - selector.offset))


def _flip(state: Indexed, selector: Selector, at: list[At], later: Sequence[list[At]]) -> None:
    last = selector.shape[0] - 1
    i, j = (as_size(a, state.sizes) for a in at)
    if not _is_solved(state, later, _summed_first(state, [(at[0], last - j), (at[1], last - i)])):
        _equation(state, i + j, last)


def _shift(state: Indexed, selector: Selector, at: list[At], later: Sequence[list[At]]) -> None:
    n, offset = selector.shape[1], selector.offset
    i, j = (as_size(a, state.sizes) for a in at)
    if not _is_solved(state, later, _summed_first(state, [(at[0], (j + offset) % n), (at[1], (i - offset) % n)])):
        _equation(state, i, (j + offset) % n)


Options = Sequence[tuple[At, Size]]
"""Indices of an equation, each with its solution in terms of the others."""


def _summed_first(state: Indexed, options: Options) -> Options:
    """Return options with summed indices before those of the output."""
    return sorted(options, key=lambda option: option[0] in state.out)


def _is_solved(state: Indexed, later: Sequence[list[At]], options: Options) -> bool:
    """Replace the first index that an option solves for; return whether there is one."""
    for mine, value in options:
        if isinstance(mine, int) and mine not in indices_of(value):
            _replace(state, later, mine, value)
            return True
    return False


def _conv(state: Indexed, selector: Selector, at: list[At], later: Sequence[list[At]]) -> None:
    k, i, j = (as_size(a, state.sizes) for a in at)
    values = (i + j + selector.offset, k - j - selector.offset, k - i - selector.offset)
    if not _is_solved(state, later, _summed_first(state, list(zip(at, values, strict=True)))):
        _equation(state, k, values[0])


def _triangle(state: Indexed, selector: Selector, at: list[At], later: Sequence[list[At]]) -> None:
    p, i, j = at
    row, column = as_size(i, state.sizes), as_size(j, state.sizes)
    rank = row + column * selector.shape[1] - column * (column + 1) * Fraction(1, 2)
    state.guards.append(Guard(">=", row - column))
    if not _is_solved(state, later, [(p, rank)]):
        _equation(state, as_size(p, state.sizes), rank)


Solver = Callable[[Indexed, Selector, list[At], Sequence[list[At]]], None]
SOLVE: dict[str, tuple[int, Solver]] = {  # views first, guards last
    "merge": (0, _merge),
    "slice": (1, _slice),
    "flip": (2, _flip),
    "shift": (3, _shift),
    "conv": (4, _conv),
    "triangle": (5, _triangle),
    "mask": (6, _mask),
}
