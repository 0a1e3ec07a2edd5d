r"""Finds the recurrences of a passage: `x_{t+1} = A x_t + B u_t`, `x_0 = b`, `t = 0, \dots, T - 1`.

A letter is a step index if an equation defines a name at the letter plus a number, or if a name that is defined at the
letter needs itself. Such equations were unreadable as parts, so no other passage changes its meaning. Iterates
`x^{(k)}` and estimates `\hat{x}_{t|t-1}` become subscripts and accents here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, cast

from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import Key, fault, key_of, key_of_subscript
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.syntax import Ast, rebuild, walk

DOTS = ("dots", "ldots", "cdots", "dotsc")


class Equation(NamedTuple):
    """An equation of a recurrence: the name, its first subscript and others, and the right side.

    letter, offset: of a step, `t` and 1 for x_{t+1}; "" for a start.
    """

    name: Ast
    key: Key
    letter: str
    offset: int
    subscript: Ast
    others: tuple[Ast, ...]
    right: Ast
    line: Ast


class Range(NamedTuple):
    """The values of a step index: first and last as layouts, None if not written; and what is added to both."""

    letter: str
    low: Ast | None
    high: Ast | None
    above_low: int
    above_high: int
    line: Ast


@dataclass
class Found:
    """The equations and ranges of the recurrences in a passage."""

    equations: list[Equation] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)

    @property
    def keys(self) -> frozenset[Key]:
        """The keys of the names of the equations."""
        return frozenset(one.key for one in self.equations)


Lines = Sequence[Sequence[Ast]]


def step_letters(lines: Lines, others: Collection[str]) -> frozenset[str]:
    """Return the step indices of a passage; sizes, subscripts of declared numbers and letters in ranges are none."""
    defined: list[tuple[Key, str, int, Ast]] = []
    for line in (_flat(one) for some in lines for one in some):
        if (left := _left(line)) is None:
            continue
        place, key, below = _place(left), key_of(left.args[0]), _scripts(left).get("_")
        axes = map(counted, elements(below) if below is not None else ())
        if any(x is not None and x[0] in others and x[1] for x in axes):
            continue  # u_{i,n+1} = u_{i,1}, an entry behind the last one
        if place is not None and key is not None and (at := counted(place)):
            defined.append((_with_count(key, left), *at, line.args[1]))
    found = {letter for _, letter, offset, _ in defined if offset}
    for letter in {letter for _, letter, *_ in defined} - found:
        needed: dict[Key, set[Key]] = {}
        for key, own, _, right in defined:
            if own == letter:
                needed.setdefault(key, set()).update(_read_at(right, letter))
        found |= {letter} if _has_circle(needed) else set()
    found -= set(others)
    return frozenset(found - _bounding(lines, found))


def _with_count(key: Key, script: Ast) -> Key:
    r"""Return a key with the number of subscripts: \theta_{i,j} = \theta_i - \theta_j is no recurrence."""
    below = _scripts(script).get("_")
    return (*key, str(len(elements(below)) if below is not None else 1))


def _read_at(right: Ast, letter: str) -> set[Key]:
    """Return the keys of the names, with counts, that a right side reads at a subscript with a letter."""
    found: set[Key] = set()
    for node in walk(right):
        key = key_of(node.args[0]) if node.head == "script" else None
        place = _place(node) if key is not None else None
        at = counted(place) if place is not None else None
        if key is not None and at is not None and at[0] == letter:
            found.add(_with_count(key, node))
    return found


def _has_circle(needed: dict[Key, set[Key]]) -> bool:
    """Whether a name needs itself, directly or through others."""
    reached = {key: set(others) & needed.keys() for key, others in needed.items()}
    for middle in needed:
        for key in needed:
            if middle in reached[key]:
                reached[key] |= reached[middle]
    return any(key in others for key, others in reached.items())


def _bounding(lines: Lines, letters: Collection[str]) -> set[str]:
    """Return the letters in the ranges of other letters."""
    found: set[str] = set()
    for some in lines:
        waiting = list(some)
        while waiting:
            values = _range(waiting, letters)
            if values is None:
                waiting.pop(0)
                continue
            sides = [side for side in (values.low, values.high) if side is not None]
            inside = {str(x.value[0]) for side in sides for x in walk(side) if x.head == "letter"}  # type: ignore[index]
            found |= inside - {values.letter}
    return found


def separated(lines: Lines, letters: Collection[str]) -> tuple[Found, list[list[Ast]]]:
    """Return the recurrences in lines, and the other elements of each line.

    Raises: ParseError for a subscript that is no step.
    """
    lines = [[x for one in some for x in _each_start(_flat(one))] for some in lines]
    bases = {cast(Key, key_of(left.args[0])) for some in lines for one in some if (left := _left(one)) is not None
             and (place := _place(left)) and (at := counted(place)) and at[0] in letters}  # fmt: skip
    plain = [[_spelled(one, letters, bases) for one in some] for some in lines]
    names = {
        key_of(left.args[0])
        for some in plain
        for one in some
        if (left := _left(one)) is not None  # fmt: skip
        and (below := _scripts(left).get("_"))
        and (at := counted(elements(below)[0]))
        and at[0] in letters
    }
    names -= _direct([one for some in plain for one in some], names, letters)
    found, rest = Found(), []
    for some in plain:
        others: list[Ast] = []
        waiting = list(some)
        while waiting:
            values = _range(waiting, letters)
            if values is not None:
                found.ranges.append(values)
                continue
            one = waiting.pop(0)
            left = _left(one)
            if left is not None and key_of(left.args[0]) in names and left.value == ("_",):
                found.equations.append(_equation(one, left, letters))
            elif one.head == "relation" and one.value in (("<",), ("<=",)) and one.args[0].head == "letter":
                raise fault(f"no equation has the step index {one.args[0].value[0]}", one)  # type: ignore[index]
            else:
                others.append(one)
        rest.append(others)
    return found, rest


def _direct(lines: Sequence[Ast], names: Collection[Key | None], letters: Collection[str]) -> set[Key | None]:
    r"""Return the names of data at a step, e_t = y_t - \mu, that other equations read at other steps, e_{t-1}."""
    own = [(left, one) for one in lines if (left := _left(one)) is not None and key_of(left.args[0]) in names]
    at = {id(one): counted(elements(_scripts(left)["_"])[0]) for left, one in own if "_" in _scripts(left)}
    found = {key for key in names if all(at.get(id(one)) and at[id(one)][1:] == (0,) for left, one in own  # type: ignore[index]
                                         if key_of(left.args[0]) == key)}  # fmt: skip
    while (
        more := {
            key_of(left.args[0])
            for left, one in own
            if any(
                x.head in ("letter", "accent") and key_of(x) in ({*names} - found) | {key_of(left.args[0])}
                for x in walk(one.args[1])
            )
        }
        & found
    ):
        found -= more
    shifted = {key_of(x.args[0]) for one in lines for letter in letters for x, _, _, by in reads(one, letter) if by}
    return found & shifted


def _flat(root: Ast) -> Ast:
    """Return a layout in which names with subscripts, `{x_{1}}_{t}`, are letters with accents."""

    def change(node: Ast) -> Ast:
        inner = unbraced(node.args[0]) if node.head == "script" else node
        if inner is node or inner.head != "script" or inner.value != ("_",) or key_of(inner.args[0]) is None:
            return node
        base, added = inner.args[0], key_of_subscript(inner.args[1])
        if added is None:
            return node
        for part in added:
            base = Ast("accent", (base,), part, inner.span)
        return Ast("script", (base, *node.args[1:]), node.value, node.span, node.at)

    return rebuild(root, change)


def _each_start(line: Ast) -> list[Ast]:
    """Return the equations of a line of starts, m_0 = v_0 = 0; any other line is its own."""
    if line.head != "relation" or len(line.args) < 3 or {*cast("tuple[str, ...]", line.value)} != {"=="}:
        return [line]
    *names, value = line.args
    is_start = all(
        x.head == "script" and x.value == ("_",) and x.args[1].head == "number" and key_of(x.args[0]) for x in names
    )
    return [Ast("relation", (x, value), ("==",), line.span, line.at) for x in names] if is_start else [line]


def _left(line: Ast) -> Ast | None:
    """Return the left side of an equation if it is a letter with scripts."""
    if line.head != "relation" or line.value not in (("==",), (":=",)) or len(line.args) != 2:
        return None
    side = line.args[0]
    side = side.args[0] if side.head == "chain" and len(side.args) == 1 else side
    return side if side.head == "script" and key_of(side.args[0]) is not None else None


def _scripts(node: Ast) -> dict[str, Ast]:
    marks = [mark for mark in cast("tuple[str, ...]", node.value) if mark != "'"]
    return dict(zip(marks, node.args[1:], strict=True))


def _place(node: Ast) -> Ast | None:
    """Return the layout of the step in scripts: the first subscript, or the superscript in parentheses."""
    scripts = _scripts(node)
    if "_" in scripts:
        first = elements(scripts["_"])[0]
        return first.args[0] if _is_given(first) else first
    above = unbraced(scripts["^"]) if "^" in scripts else None
    if above is not None and above.head == "fence" and above.value == "open" and len(above.args) == 1:
        return above.args[0]
    return None


def _is_given(layout: Ast) -> bool:
    r"""Whether a subscript is `t \mid t - 1`."""
    return layout.head == "relation" and layout.value == (r"\mid",) and len(layout.args) == 2


def counted(layout: Ast) -> tuple[str, int] | None:
    """Return letter and number of the subscript `t + 1`; None for any other."""
    layout = unbraced(layout)
    if layout.head == "letter":
        return str(layout.value[0]), 0  # type: ignore[index]
    if layout.head != "chain" or len(layout.args) != 2:
        return None
    one, other = layout.args
    first, second = cast("tuple[int, ...]", layout.value[0])  # type: ignore[index]
    for letter, number, sign, own in ((one, other, second, first), (other, one, first, second)):
        if letter.head == "letter" and own > 0 and number.head == "number":
            value = cast(Fraction, number.value[0])  # type: ignore[index]
            return (str(letter.value[0]), sign * int(value)) if value.denominator == 1 else None  # type: ignore[index]
    return None


def _spelled(root: Ast, letters: Collection[str], bases: Collection[Key]) -> Ast:
    """Return a layout in which the steps of names are their first subscripts."""

    def change(node: Ast) -> Ast:
        key = key_of(node.args[0]) if node.head == "script" else None
        place = _place(node) if key is not None else None
        if place is None or not (key in bases or ((at := counted(place)) and at[0] in letters)):
            return node
        base, scripts = node.args[0], _scripts(node)
        primes = tuple(mark for mark in cast("tuple[str, ...]", node.value) if mark == "'")
        if "_" not in scripts:
            return Ast("script", (base, place), ("_", *primes), node.span, node.at)
        below = list(elements(scripts["_"]))
        above = [scripts["^"]] if "^" in scripts else []
        if _is_given(below[0]):
            base = Ast("accent", (base,), _estimate(below[0]), base.span)
            below[0] = place
        if above and (sign := unbraced(above[0])).head == "lone" and sign.value == "-":
            base, above = Ast("accent", (base,), "minus", base.span), []
        subscript = Ast("fence", tuple(below), "brace", scripts["_"].span)
        marks = ("_", *("^" for _ in above), *primes)
        return Ast("script", (base, subscript, *above), marks, node.span, node.at)

    return rebuild(root, change)


def _estimate(given: Ast) -> str:
    r"""Return the name of an estimate at a step, given the data up to another: `t \mid t - 1` is predicted."""
    at, until = (counted(side) for side in given.args)
    if at is None and until is None and all(side.head == "number" for side in given.args):
        ahead = given.args[0].value[0] - given.args[1].value[0]  # type: ignore[index]
    elif at is not None and until is not None and at[0] == until[0]:
        ahead = Fraction(at[1] - until[1])
    else:
        return "smoothed"
    if ahead not in (0, 1):
        raise fault("an estimate more than one step ahead is not supported", given, "name it by a letter of its own")
    return "predicted" if ahead else "filtered"


def _equation(line: Ast, left: Ast, letters: Collection[str]) -> Equation:
    base, below = left.args
    first, *others = elements(below)
    at = counted(first)
    letter, offset = at if at is not None and at[0] in letters else ("", 0)
    mixed = [x for x in walk(first) if x.head == "letter" and x.value[0] in letters]  # type: ignore[index]
    if not letter and mixed:
        raise fault("an equation defines the step t, t + 1 or t - 1", first, "shift the index")
    return Equation(base, cast(Key, key_of(base)), letter, offset, first, tuple(others), line.args[1], line)


def _range(waiting: list[Ast], letters: Collection[str]) -> Range | None:
    r"""Return the range that begins a list of elements, `t = 0, \dots, T - 1`, which it removes; None without one."""
    line = waiting[0]
    one = line.args[0] if line.head == "if" else line
    if one.head != "relation":
        return None
    signs, sides = cast("tuple[str, ...]", one.value), list(one.args)
    if len(sides) == 2 and signs[0] in ("<", "<=", ">", ">=") and _letter(sides[1], letters):
        sides, signs = sides[::-1], ({"<": ">", "<=": ">=", ">": "<", ">=": "<="}[signs[0]],)
    letter = _letter(sides[0], letters)
    if letter and len(sides) == 2:
        return _from_letter(waiting, letter, signs[0], sides[1], line)
    if len(sides) == 3 and (letter := _letter(sides[1], letters)) and set(signs) <= {"<", "<="}:
        del waiting[0]
        return Range(letter, sides[0], sides[2], int(signs[0] == "<"), -int(signs[1] == "<"), line)
    return None


def _from_letter(waiting: list[Ast], letter: str, sign: str, side: Ast, line: Ast) -> Range | None:
    if sign in ("<", "<="):
        del waiting[0]
        return Range(letter, None, side, 0, -int(sign == "<"), line)
    if sign in (">", ">="):
        del waiting[0]
        return Range(letter, side, None, int(sign == ">"), 0, line)
    inner = unbraced(side)
    if sign == "==":
        values, used = _listed([side, *waiting[1:]])
    elif sign == r"\in" and inner.head == "fence" and inner.value == "set":
        values, used = _listed(list(inner.args))
        used = 1 if used else 0
    elif sign == r"\in" and inner.head == "fence" and inner.value == "bracket" and len(inner.args) == 1:
        values, used = (Ast("number", (), (Fraction(1), "", "1"), inner.span), inner.args[0]), 1
    else:
        return None
    if not used:
        return None
    del waiting[:used]
    low, high = values
    if high is not None and high.head == "number" and not (low.head == "number" and low.value[0] < high.value[0]):  # type: ignore
        low, high = high, low
    return Range(letter, low, high, 0, 0, line)


def _listed(values: list[Ast]) -> tuple[tuple[Ast, Ast | None], int]:
    r"""Return the first and last value of `0, 1, \dots, T`, and the number of elements; 0 if there are no dots."""
    at = next((k for k, x in enumerate(values) if x.head == "word" and x.value[0] in DOTS), 0)  # type: ignore[index]
    if not at and (count := _consecutive(values)) > 1:
        return (values[0], values[count - 1]), count
    if not at or any(x.head == "relation" for x in values[:at]):
        return (values[0], None), 0
    last = values[at + 1] if at + 1 < len(values) and values[at + 1].head not in ("relation", "if") else None
    return (values[0], last), at + 1 + (last is not None)


def _consecutive(values: Sequence[Ast]) -> int:
    """Return how many numbers at the beginning of a list follow one another, 0, 1, 2."""
    if values[0].head != "number":
        return 0
    first = cast(Fraction, values[0].value[0])  # type: ignore[index]
    pairs = enumerate(values)
    return next((k for k, x in pairs if x.head != "number" or x.value[0] != first + k), len(values))  # type: ignore[index]


def _letter(layout: Ast, letters: Collection[str]) -> str:
    """Return a step index that a layout is, "" if it is none."""
    layout = unbraced(layout)
    return str(layout.value[0]) if layout.head == "letter" and layout.value[0] in letters else ""  # type: ignore[index]


def reads(layout: Ast, letter: str) -> Iterator[tuple[Ast, tuple[Ast, ...], int, int]]:
    """Yield scripts with the step index, with their subscripts, the axis of the index, and the number added to it."""
    for node in walk(layout):
        if node.head != "script" or "_" not in cast("tuple[str, ...]", node.value):
            continue
        axes = elements(_scripts(node)["_"])
        for k, axis in enumerate(axes):
            at = counted(axis)
            if at is not None and at[0] == letter:
                yield node, axes, k, at[1]
