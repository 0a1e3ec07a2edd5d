r"""Reads the looks of operations in LaTeX: layouts with holes, and the calls that they denote.

The looks are fields of rules: calls are written by `latex`; those of `from_latex` are also read. The grammar of
formulas reads the templates too, with arguments as holes; formulas are then matched by comparing layouts. If
several calls look alike, the kinds of their operands decide; if these do not, the formula is ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from matcalc.language.latex.layout.latex_layout import lines_of, unbraced
from matcalc.language.latex.layout.latex_names import COMMANDS, LETTERS
from matcalc.language.syntax import Ast, walk

Kinds = frozenset[str]
ENTRY = "[]"
"""The kind of a look of an entry of a call."""
SIZE = "size"
"""The kind of a parameter that takes an integer."""
_HOLE = re.compile(r"(?<![A-Za-z_^])\{(\d)\^?\}")
TOPS = ("open", "bracket", "set")


@dataclass(frozen=True, slots=True)
class Look:
    """A template, its call, and the kind of its first operand outside of subscripts ("" for all)."""

    spelling: str
    template: str
    kind: str = ""


@dataclass(frozen=True)
class LatexNames:
    """The looks and spellings of a rulebook in LaTeX.

    looks: all templates. parameters: by spelling, the allowed kinds of each position, of all overloads.
    results: by spelling, the kind of the value: "same" as the operands, "" for unknown.
    counts: the least number of operands. canonical: spellings of aliases. roles: spellings by role. by_count: kinds of
    values by the number of operands, of spellings whose kind depends on it. solving: of a function f, the g of
    f(g(t)) = t.
    """

    looks: tuple[Look, ...]
    parameters: Mapping[str, tuple[Kinds, ...]]
    results: Mapping[str, str]
    counts: Mapping[str, int]
    canonical: Mapping[str, str]
    roles: Mapping[str, str]
    by_count: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    solving: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> frozenset[str]:
        """The words of functions in calls and looks."""
        return _words(self)

    @property
    def commands(self) -> frozenset[str]:
        """The words that are commands of LaTeX."""
        return COMMANDS

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A look as layouts side by side; `weight` is its number of nodes without holes, larger for more special looks."""

    look: Look
    items: tuple[Ast, ...]
    holes: tuple[int, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class Found:
    """A look found in a formula: the call, its operands by position, and its number of items."""

    pattern: Pattern
    operands: Mapping[int, Ast]
    length: int


@lru_cache(maxsize=8)
def patterns(names: LatexNames) -> Mapping[str, tuple[Pattern, ...]]:
    """Return the patterns of looks by the key of their first layout."""
    found: dict[str, list[Pattern]] = {}
    for look in dict.fromkeys(names.looks):
        pattern = _pattern(look)
        first = unbraced(pattern.items[0])
        if first.head != "hole" and not _holds_base(first):
            found.setdefault(_key(first), []).append(pattern)
    return {key: tuple(sorted(ones, key=lambda p: (-len(p.items), -p.weight))) for key, ones in found.items()}


@lru_cache(maxsize=8)
def _words(names: LatexNames) -> frozenset[str]:
    """Return the words of functions, which papers often set in italics: `tr(A)`."""
    firsts = {key for key in patterns(names) if len(key) > 1 and key.isalpha()}
    plain = {name for name in names.parameters if name.isalpha() and len(name) > 1}
    return frozenset((firsts | plain) - set(LETTERS))


@lru_cache(maxsize=8)
def infixes(names: LatexNames) -> Mapping[str, tuple[Look, ...]]:
    r"""Return the looks that are between two operands, such as \otimes, by their sign."""
    found: dict[str, list[Look]] = {}
    for look in dict.fromkeys(names.looks):
        layout = _layout(look.template)
        items = list(layout.args)
        if layout.head == "infix":
            items.insert(1, Ast("operator", (), layout.value[0]))  # type: ignore[index]
        if len(items) == 3 and [unbraced(x).head for x in items] == ["hole", "operator", "hole"]:
            found.setdefault(str(items[1].value), []).append(look)
    return {sign: tuple(looks) for sign, looks in found.items()}


@lru_cache(maxsize=8)
def raised(names: LatexNames) -> Mapping[str, str]:
    r"""Return the calls of lone superscripts: + for the pseudoinverse."""
    found: dict[str, str] = {}
    for look in names.looks:
        layout = _layout(look.template)
        if layout.head == "script" and layout.value == ("^",) and unbraced(layout.args[0]).head == "hole":
            above = unbraced(layout.args[1])
            if above.head in ("lone", "mark"):
                found[str(above.value)] = look.spelling
    return found


@lru_cache(maxsize=8)
def lowered(names: LatexNames) -> Mapping[str, str]:
    r"""Return the calls of lone subscripts of parentheses: + for the positive part, (x)_+."""
    found: dict[str, str] = {}
    for look in names.looks:
        layout = _layout(look.template)
        if layout.head == "script" and layout.value == ("_",) and unbraced(layout.args[0]).head == "fence":
            below = unbraced(layout.args[1])
            if below.head == "lone":
                found[str(below.value)] = look.spelling
    return found


@lru_cache(maxsize=1024)
def _layout(template: str) -> Ast:
    def hole(found: re.Match[str]) -> str:
        return "{\x1a" + found[1] + "}"

    lines = lines_of(_HOLE.sub(hole, template))
    return lines[0][0]


def _pattern(look: Look) -> Pattern:
    layout = _layout(look.template)
    items = layout.args if layout.head == "row" else (layout,)
    nodes = [node for item in items for node in walk(item) if not (node.head == "fence" and node.value == "brace")]
    holes = tuple(sorted({int(str(node.value)) for node in nodes if node.head == "hole"}))
    return Pattern(look, items, holes, sum(node.head != "hole" for node in nodes))


def _holds_base(layout: Ast) -> bool:
    return layout.head == "script" and unbraced(layout.args[0]).head == "hole"


def _key(layout: Ast) -> str:
    """Return a key that is the same for all equal layouts."""
    layout = unbraced(layout)
    while layout.head == "script":
        layout = unbraced(layout.args[0])
    if layout.head in ("letter", "word", "number", "fence", "matrix"):
        value = layout.value
        if layout.head == "matrix":
            return "cases" if str(value).endswith("cases") else "matrix"
        if layout.head == "fence":
            return "fence" if value in TOPS else f"fence {value}"
        return str(value[-1] if layout.head == "number" else value[0])  # type: ignore[index]
    return layout.head


def candidates(names: LatexNames, layout: Ast) -> tuple[Pattern, ...]:
    """Return the patterns that may begin with a layout, the longest and most special first."""
    return patterns(names).get(_key(layout), ())


def found_at(pattern: Pattern, items: Sequence[Ast]) -> Found | None:
    r"""Return a look found at the beginning of a row, else None; its last item may have a further superscript.

    A superscript raises a call, \tr(A)^2, but of \log|A|^2 and \log\det(A)^2 only what the logarithm is taken of.
    """
    count = len(pattern.items)
    last = pattern.items[-1]
    raises = last.head != "fence" or count == 1 or (count == 2 and last.value in TOPS)
    if len(items) < count:
        return None
    operands: dict[int, Ast] = {}
    for k, (one, item) in enumerate(zip(pattern.items, items, strict=False)):
        shown = without_top(item)[0] if k == count - 1 and raises else item
        if not (_matches(one, item, operands) or (shown is not item and _matches(one, shown, operands))):
            return None
    return Found(pattern, operands, count)


def without_top(item: Ast) -> tuple[Ast, tuple[tuple[str, Ast | None], ...]]:
    """Return a layout without its superscripts and primes, and these in order."""
    if item.head != "script":
        return item, ()
    marks = list(item.value)  # type: ignore[call-overload]
    operands = iter(item.args[1:])
    pairs = [(mark, None if mark == "'" else next(operands)) for mark in marks]
    below = [(mark, x) for mark, x in pairs if mark == "_"]
    above = tuple((mark, x) for mark, x in pairs if mark != "_")
    if not above:
        return item, ()
    if not below:
        return item.args[0], above
    low = below[0][1]
    assert low is not None
    return Ast("script", (item.args[0], low), ("_",), (item.span[0], low.span[1]), item.at), above


def _matches(pattern: Ast, layout: Ast, operands: dict[int, Ast]) -> bool:
    """Return whether a layout matches a pattern; the contents of its holes are added to `operands`."""
    pairs = [(pattern, layout)]
    found: dict[int, Ast] = {}
    while pairs:
        one, other = pairs.pop()
        one, other = unbraced(one), unbraced(other)
        if one.head == "hole":
            number = int(str(one.value))
            if other.head == "fence" and other.value == "brace" or number in found or number in operands:
                return False
            found[number] = other
            continue
        if one.head != other.head or _label(one) != _label(other) or len(one.args) != len(other.args):
            return False
        pairs.extend(zip(one.args, other.args, strict=True))
    operands.update(found)
    return True


def same_layout(pattern: Ast, layout: Ast) -> bool:
    """Return whether a layout matches a pattern without holes."""
    return _matches(pattern, layout, {})


def _label(layout: Ast) -> object:
    value = layout.value
    if layout.head == "fence":
        return "" if value in TOPS else value
    if layout.head in ("letter", "word"):
        return value[0]  # type: ignore[index]
    if layout.head == "number":
        name = value[1]  # type: ignore[index]
        return value[2], bool(name)  # type: ignore[index]
    if layout.head == "matrix":
        return str(value).endswith("cases")
    if layout.head == "if":
        return ""
    return value


def fitting(names: LatexNames, looks: Iterable[Look], kinds: Sequence[str]) -> Iterator[Look]:
    """Yield the looks, one for each call, whose call takes operands of these kinds ("" is any)."""
    yielded: set[str] = set()
    for look in looks:
        own = kinds[min(_main(look.template), len(kinds) - 1)] if kinds else ""
        if look.kind not in ("", ENTRY, own) and own and not (look.kind == "vector" and own == "row"):
            continue
        if look.spelling not in yielded and takes(names, look.spelling, kinds):
            yielded.add(look.spelling)
            yield look


@lru_cache(maxsize=1024)
def _main(template: str) -> int:
    """Return the number of the first operand outside of subscripts: 1 for J_k(x)."""
    below = set(re.findall(r"_\{\{(\d)\^?\}", template))
    return min((int(n) for n in _HOLE.findall(template) if n not in below), default=0)


def takes(names: LatexNames, spelling: str, kinds: Sequence[str]) -> bool:
    """Return whether a call may have operands of these kinds."""
    parameters = names.parameters.get(spelling, ())
    for kind, takes_ in zip(kinds, parameters, strict=False):
        plain = "vector" if kind == "row" else kind
        if plain and not takes_ & {plain, "any", SIZE}:
            return False
    return True
