r"""Reads the recurrences of a passage: their starts, their steps, and the numbers from which subscripts count.

In LaTeX the steps may be `t = 1, \dots, T` or `t = 0, \dots, T - 1`; in the tree they count from 0. The first subscript
of a state is that of its first start. Sequences that are read at steps count like the steps, from 0 or from 1, unless
their length or the subscript 0 shows the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

from matcalc.errors import ParseError
from matcalc.language.latex.latex_scope import (
    Index,
    Reading,
    Scope,
    Value,
    declared_keys,
    fault,
    key_of,
    name_of,
    needed,
)
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.latex.recurrences.first_subscripts import bounds_of, constant, place_sequences
from matcalc.language.latex.recurrences.steps import Equation, Found, Range, reads
from matcalc.language.named_parts import Segment
from matcalc.language.one_based import added
from matcalc.language.syntax import Ast, call, name, number, walk
from matcalc.language.write import text as written

Read = Callable[[Reading, Ast, Scope], Ast]
"""Reads a layout in a scope."""
UNKNOWN = "?"
"""The length of a state if the number of its steps is not written."""
KINDS = ("scalar", "vector", "matrix", "tensor")


@dataclass
class State:
    """A name of a recurrence: its step, its starts by subscript, its direction, and the number of its first entry.

    lag: the number of its starts; 0 for a quantity of the step.
    """

    name: str
    step: Equation
    starts: dict[str, tuple[Ast, Equation]] = field(default_factory=dict)
    backward: bool = False
    lag: int = 0
    first: int = 0


@dataclass
class Recurrences:
    """The recurrences of a passage: names, and the number of steps by index."""

    states: dict[str, State]
    counts: dict[str, Ast | None]


def begun(reading: Reading, found: Found, rest: Sequence[Ast], read_one: Read) -> Recurrences:
    """Return the recurrences of a passage, and enter their names into the reading.

    Raises: ParseError for a name with two steps, starts that do not precede the steps, and indices that are declared.
    """
    ranges = {letter: _range_of(reading, letter, found.ranges, read_one) for letter in _letters(found)}
    states = _states(reading, found)
    counts: dict[str, Ast | None] = {}
    for letter, (low, high) in ranges.items():
        own = [state for state in states.values() if state.step.letter == letter]
        for state in own:
            _direct(state, found)
        begin = low if low is not None else _implied_begin(reading, own)
        counts[letter] = added(high, 1 - begin) if high is not None else _count_of_sums(rest, letter, begin, own)
        reading.steps.begins[letter] = begin
        count = counts[letter]
        reading.steps.counts[letter] = written(count) if count is not None else ""
        _enter_sizes(reading, count)
        for state in own:
            _place(reading, state, begin, counts[letter])
    for state in states.values():
        reading.steps.firsts[state.name, 0] = state.first
    place_sequences(reading, found, rest)
    return Recurrences(states, counts)


def _letters(found: Found) -> list[str]:
    return list(dict.fromkeys([x.letter for x in found.equations if x.letter] + [x.letter for x in found.ranges]))


def _range_of(reading: Reading, letter: str, ranges: Sequence[Range], read_one: Read) -> tuple[int | None, Ast | None]:
    """Return the first and the last value of a step index, None where they are not written."""
    low: int | None = None
    high: Ast | None = None
    for one in (x for x in ranges if x.letter == letter):
        if one.low is not None:
            tree = cast(Ast, needed(reading, _read(reading, one.low, read_one)).tree)
            if tree.head == "negative" and tree.args[0].head == "number":
                tree = number(-cast(Fraction, tree.args[0].value))
            if tree.head != "number" or cast(Fraction, tree.value).denominator != 1:
                raise fault(f"the first step is a number, not {written(tree)}", one.low)
            value = int(cast(Fraction, tree.value)) + one.above_low
            if low is not None and low != value:
                raise fault(f"the step index {letter} has two ranges", one.line)
            low = value
        if one.high is not None:
            last = added(cast(Ast, needed(reading, _read(reading, one.high, read_one)).tree), one.above_high)
            if high is not None and written(high) != written(last):
                raise fault(f"the step index {letter} has two ranges", one.line)
            high = last
    if reading.is_known(letter):
        line = next((x.line for x in ranges if x.letter == letter), Ast("empty"))
        raise fault(f"{letter} is declared, and the step index", line, "give the index another letter")
    return low, high


def _count_of_sums(rest: Sequence[Ast], letter: str, begin: int, states: Sequence[State]) -> Ast | None:
    """Return the number of steps by the sums over them, if these have one range.

    It begins with the first step, with what that step defines, or with a start.
    """
    found = [bounds_of(node, letter) for layout in rest for node in walk(layout) if node.head == "big"]
    begins = {begin, *(begin + state.step.offset for state in states)}
    starts = {begin - k for state in states for k in range(1, state.lag - state.step.offset + 1)} - begins
    found += [(begin, added(count, low - begin)) for low, count in found if count is not None and low in starts]
    counts = {written(count): count for low, count in found if count is not None and low in begins}
    return next(iter(counts.values())) if len(counts) == 1 else None


def _enter_sizes(reading: Reading, count: Ast | None) -> None:
    """Note that the names in a number of steps are sizes."""
    trees = walk(count) if count is not None else ()
    sizes = {str(node.value) for node in trees if node.head == "name"} - reading.known.kinds.keys()
    reading.known = replace(reading.known, sizes=reading.known.sizes | sizes)
    reading.keys = {**declared_keys({**dict.fromkeys(sizes)}), **reading.keys}


def _read(reading: Reading, layout: Ast, read_one: Read) -> Ast:
    read_one(reading, layout, Scope())
    return layout


def _states(reading: Reading, found: Found) -> dict[str, State]:
    states: dict[str, State] = {}
    for one in (x for x in found.equations if x.letter):
        own = name_of(one.key, one.line.args[0].caret)
        if own in states:
            raise fault(f"{own} has two equations for one step", one.line)
        if one.key in reading.keys or reading.is_known(own):
            hint = "declare only data and starts; the equations define the states"
            raise fault(f"{own} is a declared symbol, and its steps are defined", one.line, hint)
        states[own] = State(own, one)
    by_key = {state.step.key: state for state in states.values()}
    for one in (x for x in found.equations if not x.letter):
        state = by_key[one.key]
        at = written(constant(one.subscript))
        if at in state.starts:
            raise fault(f"{state.name}_{at} has two equations", one.line)
        if whole_key(one.right) == (*one.key, at) and whole_key(one.right) in reading.keys:
            continue  # x^{(0)} = x_0 with a declared x_0
        state.starts[at] = (constant(one.subscript), one)
    for key, names in reading.keys.items():
        state_ = next((s for k, s in by_key.items() if len(key) > len(k) and key[: len(k)] == k), None)
        if state_ is not None and key[-1] in state_.starts and len(key) == len(state_.step.key) + 1:
            raise fault(f"{names[0]} is declared, and {state_.name} has this start", state_.starts[key[-1]][1].line)
    return states


def _direct(state: State, found: Found) -> None:
    """Note the direction of a state, and how many starts it needs, by what the steps read of it."""
    own = state.step
    offsets = {
        offset
        for one in found.equations if one.letter == own.letter
        for node, _, axis, offset in reads(one.right, own.letter) if not axis and key_of(node.args[0]) == own.key
    }  # fmt: skip
    before, after = [x for x in offsets if x < own.offset], [x for x in offsets if x > own.offset]
    numbers = [at for at, (tree, _) in state.starts.items() if tree.head == "number"]
    mine = {o for node, _, k, o in reads(own.right, own.letter) if not k and key_of(node.args[0]) == own.key}
    if before and after and mine & set(before) and mine & set(after):
        raise fault(f"{state.name} is read before and after its own step", own.line)
    state.backward = bool(after) and not mine & set(before) and not numbers
    state.backward = state.backward or (not before and bool(state.starts) and not numbers)
    lag = own.offset - min(mine & set(before), default=own.offset)
    if not state.backward and 0 < lag < len(state.starts):
        last = list(state.starts.values())[-1][1]
        raise fault(f"{state.name} has {len(state.starts)} starts, and its step needs {lag}", last.line)
    if state.backward:
        state.lag = max([len(state.starts), *(x - own.offset for x in after)])
    else:
        state.lag = max([len(state.starts), *(own.offset - x for x in before)])


def _implied_begin(reading: Reading, states: Sequence[State]) -> int:
    """Return the first step if no range is written: the starts, also declared ones such as x_1, precede it."""
    for state in states:
        numbers = [int(cast(Fraction, tree.value)) for tree, _ in state.starts.values() if tree.head == "number"]
        if numbers and not state.backward:
            return min(numbers) + state.lag - state.step.offset
    forward = [state for state in states if state.lag and not state.backward]
    firsts = {k for state in forward for k in (0, 1) if not state.starts and (*state.step.key, str(k)) in reading.keys}
    if firsts == {1}:
        return max(1 + state.lag - state.step.offset for state in forward)
    if forward:
        return max(state.lag - state.step.offset for state in forward)
    return max([0, *(-state.step.offset for state in states)])


def _place(reading: Reading, state: State, begin: int, count: Ast | None) -> None:
    """Note the number of the first entry of a state, and the declared symbols that are its starts.

    Raises: ParseError for a start that no step follows.
    """
    own = state.step
    state.first = begin + own.offset - (0 if state.backward else state.lag)
    if state.backward:
        end = added(count, state.first) if count is not None else None
        needed_at = [added(end, k) for k in range(state.lag)] if end is not None else []
    else:
        needed_at = [number(state.first + k) for k in range(state.lag)]
    allowed = [written(tree) for tree in needed_at]
    for at, (_, start) in state.starts.items():
        if at not in allowed and (count is not None or not state.backward):
            first = written(added(number(begin), own.offset))
            hint = f"the steps define {state.name}_{first} first" if not state.backward else (
                f"the steps begin at {state.name}_{allowed[0]}")  # fmt: skip
            raise fault(f"{state.name}_{at} is no start of these steps", start.line, hint)
    for at, tree in zip(allowed, needed_at, strict=True):
        declared = reading.keys.get((*own.key, at.replace(" ", "")))
        if at not in state.starts and declared:
            symbol = Ast("letter", (), (at, ""), own.line.span)
            state.starts[at] = (tree, own._replace(letter="", right=symbol, name=Ast("name", (), declared[0])))
        elif at in state.starts and declared:
            raise fault(f"{declared[0]} is declared, and {state.name} has this start", state.starts[at][1].line)
        elif at not in state.starts:
            shown = f"{state.name}_{at}" if len(at) == 1 else f"{state.name}_{{{at}}}"
            hint = f"add  {shown} = ..., or declare it"
            raise fault(f"the state {state.name} has no start {shown}", own.line, hint)
    if state.backward and not state.starts:
        hint = f"add its value after the last step, and the range, {own.letter} = 0, \\dots, T - 1"
        raise fault(f"the state {state.name} has no start", own.line, hint)


# Right sides.


def lines_of(reading: Reading, found: Recurrences, trees: list[Ast], read_one: Read) -> list[Segment]:
    """Return the lines of recurrences, whose trees are appended to `trees`; the names enter the reading.

    A start of 0 is an array of zeros if the step of its state is an array.
    """
    zeros = {state.name for state in found.states.values() if any(_is_zero(x.right) for _, x in state.starts.values())}
    arrays: dict[str, str] = {}
    tried: list[dict[str, str]] = []
    untried = ["vector", "matrix"] if zeros else []
    while True:
        made = list(trees)
        try:
            segments, kinds = _lines(reading, found, made, read_one, arrays)
            others = {own: kinds[own] for own in zeros if kinds[own] not in ("scalar", "", arrays.get(own))}
            # W e + g of a number e has a matrix and a vector, so a vector is tried first.
            others = {own: kind if own in arrays else "vector" for own, kind in others.items()}
        except ParseError:
            if not untried:
                raise
            others = dict.fromkeys(zeros, untried.pop(0))
        if not others or {**arrays, **others} in tried:
            trees[:] = made
            return segments
        arrays = {**arrays, **others}
        tried.append(arrays)


def _is_zero(layout: Ast) -> bool:
    return layout.head == "number" and layout.value == (0, "", "0")


def _zeros(reading: Reading, kind: str) -> Value:
    """Return zeros whose sizes follow from the steps."""
    sizes = [Ast("empty")] * max(KINDS.index(kind), 1) if kind in KINDS else [Ast("empty")]
    return Value(call(reading.names.roles["all_zeros"], *sizes), kind)


def _lines(
    reading: Reading, found: Recurrences, trees: list[Ast], read_one: Read, arrays: Mapping[str, str]
) -> tuple[list[Segment], dict[str, str]]:
    """Return the lines of recurrences and the kinds of their steps; `arrays` are the kinds of starts of 0."""
    segments: list[Segment] = []
    kinds: dict[str, str] = {}

    def line(own: str, at: int, subscript: Ast | None, right: Ast) -> None:
        place = None
        if subscript is not None:
            place = (len(trees), 0)
            trees.append(subscript)
        segments.append(Segment(own, at, len(trees), 0, place, subscript is None))
        trees.append(right)

    for state in found.states.values():
        for tree, start in state.starts.values():
            is_array = state.name in arrays and _is_zero(start.right)
            value = _zeros(reading, arrays[state.name]) if is_array else _right(reading, start, read_one)
            line(state.name, start.line.span[0], added(tree, -state.first), cast(Ast, value.tree))
            _enter(reading, state, value.kind, found)
    for state in _by_use(found.states.values()):
        value = _right(reading, state.step, read_one)
        index = name(state.step.letter)
        place = index if state.backward or not state.lag else added(index, state.lag)
        line(state.name, state.step.line.span[0], place, cast(Ast, value.tree))
        kinds[state.name] = value.kind
        if not state.starts:
            _enter(reading, state, value.kind, found)
    for letter, count in found.counts.items():
        if count is not None:
            line(letter, min(s.step.line.span[0] for s in found.states.values()), None, count)
    return segments, kinds


def _enter(reading: Reading, state: State, kind: str, found: Recurrences) -> None:
    """Enter a state into the reading, with the kind of one step."""
    rank = KINDS.index(kind) if kind in KINDS else 1 if kind == "row" else None
    reading.steps.states[state.name] = kind or "matrix"
    count = found.counts[state.step.letter]
    length = written(added(count, state.lag)) if count is not None else UNKNOWN
    if rank is not None:
        shapes = {**reading.known.shapes, state.name: (length, *[""] * rank)}
        reading.known = replace(reading.known, shapes=shapes)
        reading.parts[state.name] = KINDS[min(rank + 1, 3)]
    else:
        reading.parts[state.name] = "tensor"
    reading.ranks.pop(state.name, None)
    reading.keys = {**reading.keys, state.step.key: (state.name,)}


def _by_use(states: Iterable[State]) -> Iterator[State]:
    """Yield quantities in an order in which each follows those that it reads, then the states.

    Raises: ParseError if quantities need each other.
    """
    left = list(states)
    while left:
        keys = {state.step.key for state in left if not state.starts}
        ready = next((state for state in left if keys.isdisjoint(_keys(state))), None)
        if ready is None:
            names = [state.name for state in left if not state.starts]
            shown = f"{', '.join(names)} need each other" if len(names) > 1 else f"{names[0]} needs itself"
            raise fault(f"{shown} in one step", next(s for s in left if not s.starts).step.line)
        left.remove(ready)
        yield ready


def _keys(state: State) -> Iterator[object]:
    own = state.step
    yield from (key_of(node.args[0]) for node, *_ in reads(own.right, own.letter))


def _right(reading: Reading, one: Equation, read_one: Read) -> Value:
    """Return the value of a right side; an equation of entries is that of the whole vector."""
    if one.name.head == "name":
        own = str(one.name.value)
        return Value(Ast("name", (), own, one.line.span), reading.kind_of(own))
    indices = {}
    if one.letter:
        begin = number(reading.steps.begins[one.letter])
        indices = {one.letter: Index(one.letter, low=begin, is_step=True)}
    layout = one.right
    if one.others:
        fence = Ast("fence", (layout,), "bracket", layout.span)
        below = Ast("fence", one.others, "brace", one.line.span)
        layout = Ast("script", (fence, below), ("_",), layout.span, layout.caret)
    read_one(reading, layout, Scope(indices))
    return needed(reading, layout)
