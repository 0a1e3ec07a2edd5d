"""Reads named parts: `K = A*A' + c*eye(n); y'*inv(K)*y` and `y'*inv(K)*y where K = A*A' + c*eye(n)`.

A named part is one tree, `shared`, wherever its name occurs. So reading, elaboration and writing process it once, and
a text grows with the nodes of the formula, not with its tree. The meaning of a text is its formula with the names
replaced. A name in the part may be bound around an occurrence (an index, the parameter of a function). Then the part is
written out there, since its meaning differs at each such occurrence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple, cast

from matcalc.errors import ParseError
from matcalc.language import recurrences
from matcalc.language.identifiers import identifier
from matcalc.language.index_sums import listed, sums_in
from matcalc.language.syntax import (
    BINDERS,
    Ast,
    children,
    definition,
    exchanged,
    index_sum,
    part_name,
    parts_in,
    shared,
)

NONE: frozenset[str] = frozenset()
_NAME = r"(?:[^\W\d]\w*)"
_FIRST = re.compile(rf"\s*({_NAME})\s*(?:\[([^\[\]]*)\]\s*)?=(?![=>])")
_LIMIT = re.compile(rf"\s*({_NAME})\s*<(?!=)")
_WHERE = re.compile(rf"(?<!\w)where(?=\s+{_NAME}\s*(?:\[[^\[\]]*\]\s*)?=(?![=>]))")
_MARK = re.compile(r"[()\[\]{};,\n]|(?<!\w)where(?!\w)")
_OPEN_LINE = re.compile(r"[-+*/\\%^.=∘⊙⊘·⋅−@,<>≤≥≠]\s*$")
_REMARK = re.compile(rf'(?<!\w){_NAME}\([^()"]*\)\s*=\s*"[^"]*"\s*[,;]?')
_NOTHING_NAMED = re.compile(r"(?:[,;\s]|(?<!\w)where(?!\w))+\Z")
_NEXT_LINE = re.compile(r"\s*(?:[+*/\\%^.∘⊙⊘·⋅@,<>≤≥≠=ᵀ’′;]|'|where(?!\w))")


class Segment(NamedTuple):
    """A formula in a text, `text[begin:end]`, its name and the name's position; the last formula has no name.

    An equation of a recurrence has a `subscript`, a range of the text; the limit `t < T` has the `name` t.
    """

    name: str
    at: int
    begin: int
    end: int
    subscript: tuple[int, int] | None = None
    is_limit: bool = False


def without_remarks(text: str) -> str:
    """Return a text with spaces for its remarks, `leads(x, y) = "1 where x > y"`: words about an operation.

    Positions remain those of the text.
    """
    plain = _REMARK.sub(_blank, text) if '"' in text else text
    return text if plain == text else _NOTHING_NAMED.sub(_blank, plain)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def segments(text: str) -> list[Segment]:
    """Return the named parts of a text as they are written, then the formula itself.

    Raises: ParseError for a name that is used twice, or a text without a formula.
    """
    if "=" not in text:
        return []
    where = next((begin for mark, begin, _ in _marks(text) if mark == "where" and _WHERE.match(text, begin)), -1)
    if where >= 0:
        found = [*_cut(text, where + len("where"), len(text), ",;"), (0, where)]
    elif _FIRST.match(text):
        found = _cut(text, 0, len(text), ";")
        if len(found) == 1:
            return []
    else:
        return []
    last = len(found) - 1
    return _checked(text, [_segment(text, begin, end, k == last) for k, (begin, end) in enumerate(found)])


def _marks(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the possible separators of formulas outside brackets, with their positions."""
    depth = 0
    for found in _MARK.finditer(text):
        if found[0] in "([{":
            depth += 1
        elif found[0] in ")]}":
            depth -= 1
        elif not depth:
            yield found[0], found.start(), found.end()


def _cut(text: str, begin: int, end: int, separators: str) -> list[tuple[int, int]]:
    """Return the ranges between separators and line ends, without empty ones."""
    found = []
    first = begin
    for mark, left, right in _marks(text):
        if begin <= left and (mark in separators or (mark == "\n" and _ends_line(text, first, left, end))):
            found.append((first, left))
            first = right
    found.append((first, end))
    return [(a, b) for a, b in found if text[a:b].strip()]


def _ends_line(text: str, begin: int, at: int, end: int) -> bool:
    """Return whether a named part ends with its line: neither this line nor the next shows a continuation."""
    if not _FIRST.match(text, begin, at) and not _LIMIT.match(text, begin, at):
        return False
    start = max(begin, text.rfind("\n", 0, at))
    return not _OPEN_LINE.search(text, start, at) and not _NEXT_LINE.match(text, at, end)


def _segment(text: str, begin: int, end: int, is_last: bool) -> Segment:
    found = _FIRST.match(text, begin, end)
    limit = None if found or is_last else _LIMIT.match(text, begin, end)
    if limit is not None:
        return Segment(identifier(limit[1], "a step index"), limit.start(1), limit.end(), end, None, True)
    if found is None:
        return Segment("", begin, begin, end)
    name = identifier(found[1], "the name of a part")
    return Segment(name, found.start(1), found.end(), end, None if found[2] is None else found.span(2))


def _checked(text: str, found: list[Segment]) -> list[Segment]:
    names: set[str] = set()
    for segment in found[:-1]:
        if not segment.name:
            hint = "write  K = A*A'; tr(inv(K)), the formula last"
            at = segment.end - len(text[segment.begin : segment.end].lstrip())
            raise ParseError("a formula before the last has no name", text=text, at=at, hint=hint)
        if segment.subscript is not None or segment.is_limit:
            continue
        if segment.name in names:
            hint = "a name stands for one formula: give the second another name"
            raise ParseError(f"the part '{segment.name}' is named twice", text=text, at=segment.at, hint=hint)
        names.add(segment.name)
    if found[-1].name:
        hint = "end with the formula, as in  K = A*A'; tr(inv(K))"
        raise ParseError("the last named part is not followed by a formula", text=text, at=found[-1].at, hint=hint)
    return found


class Open(NamedTuple):
    """The names that a tree does not bind, and those of them that are subscripts outside index form."""

    names: frozenset[str]
    subscripts: frozenset[str]

    def means_otherwise(self, bound: frozenset[str]) -> bool:
        """Return whether the tree has another meaning if these names are bound around it ("{": by an index form)."""
        return bool(self.names & bound) or ("{" in bound and bool(self.subscripts))


class Unit(NamedTuple):
    """A named part, or the recurrences that are complete at a line, with the names that it defines."""

    tree: Ast
    names: frozenset[str]


def with_parts(segments_: list[Segment], parse: Callable[[int, int], Ast]) -> Ast:
    """Return the last formula of a text with the names of the others replaced by their formulas.

    Raises: ParseError for a part that uses itself, directly or through others.
    """
    units = _units(segments_, parse)
    return _put_units(units, parse(segments_[-1].begin, segments_[-1].end), {})


def without_inner(tree: Ast) -> Ast:
    """Return the formula of a tree `inner_where`, with its systems around the names of their states.

    Raises: ParseError as `with_parts`.
    """
    opens: dict[Ast, Open] = {}
    for part in parts_in(tree):
        opens[definition(part)] = _open_names(definition(part), opens)
    return _put_units([Unit(system, recurrences.defined_in(system)) for system in tree.args[1:]], tree.args[0], opens)


def _put_units(units: list[Unit], formula: Ast, opens: dict[Ast, Open]) -> Ast:
    parts: dict[str, Ast] = {}
    later = {name for unit in units for name in unit.names}
    for unit in _by_use(units, opens):
        is_system = unit.tree.head == recurrences.SYSTEM
        tree = _replaced(unit.tree, parts, opens, later - unit.names if is_system else later)
        opens[tree] = _open_names(tree, opens)
        made = recurrences.state if is_system else shared
        parts.update((name, made(name, tree)) for name in unit.names)
        later -= unit.names
    return _replaced(formula, parts, opens, NONE)


def _units(segments_: list[Segment], parse: Callable[[int, int], Ast]) -> list[Unit]:
    """Return the parts and recurrences of a text in its order; a recurrence has the place of its last line.

    Raises: ParseError for a name that is a part and has steps.
    """
    found: list[tuple[int, Unit]] = []
    lines: list[recurrences.Line] = []
    for s in segments_[:-1]:
        tree = parse(s.begin, s.end)
        if s.subscript is None and not s.is_limit:
            found.append((s.at, Unit(tree, frozenset([s.name]))))
        else:
            lines.append(recurrences.Line(s.name, s.at, parse(*s.subscript) if s.subscript else None, tree))
    plain = {name for _, unit in found for name in unit.names}
    for system in recurrences.systems_of(lines) if lines else ():
        names = recurrences.defined_in(system)
        if names & plain:
            message = f"the part '{min(names & plain)}' is named twice"
            raise ParseError(message, at=system.caret, hint="give one another name")
        place = max(line.at for line in lines if line.name in names and line.subscript is not None)
        found.append((place, Unit(system, names)))
    return [unit for _, unit in sorted(found, key=lambda one: one[0])]


def _by_use(units: list[Unit], opens: Mapping[Ast, Open]) -> Iterator[Unit]:
    """Yield parts, each behind those that it uses; parts that use each other come in the order of the text."""
    uses = {unit.names: _open_names(unit.tree, opens).names for unit in units}
    left = list(units)
    while left:
        missing = {name for unit in left for name in unit.names}
        ready = next((unit for unit in left if uses[unit.names].isdisjoint(missing)), left[0])
        left.remove(ready)
        yield ready


def _replaced(root: Ast, parts: Mapping[str, Ast], opens: dict[Ast, Open], later: Collection[str]) -> Ast:
    """Return a tree with the names of parts replaced, unless they are bound as indices or parameters."""
    made: list[Ast] = []
    stack: list[tuple[Ast, frozenset[str], bool]] = [(root, NONE, False)]
    while stack:
        ast, bound, entered = stack.pop()
        inner = children(ast)
        if entered:
            count = len(made) - len(inner)
            made[count:] = [_over_steps(exchanged(ast, made[count:]), parts)]
        elif ast.head == "name" and ast.value not in bound:
            made.append(_put_in(ast, parts, opens, bound, later))
        else:
            bound |= _bound_in(ast)
            stack.append((ast, bound, True))
            stack.extend((child, bound, False) for child in reversed(inner))
    return made[0]


def _over_steps(tree: Ast, parts: Mapping[str, Ast]) -> Ast:
    """Return a sum over the index of a recurrence as a sum over its steps; any other tree unchanged."""
    states = [part for part in parts.values() if part.head == recurrences.STATE]
    systems = {recurrences.index_of(s): s for s in map(recurrences.system_of, states)}
    if not recurrences.is_over(tree, systems):
        return tree
    names = cast("tuple[str, ...]", tree.value)
    index = next(name for name in names if name in systems)
    rest = tuple(name for name in names if name != index)
    body = index_sum(rest, tree.args[0]) if rest else tree.args[0]
    return recurrences.step_sum(systems[index], body, tree.span)


def _put_in(
    name: Ast, parts: Mapping[str, Ast], opens: dict[Ast, Open], bound: frozenset[str], later: Collection[str]
) -> Ast:
    """Return the replacement of a name: its part, or the part's tree if the bound names change its meaning."""
    if name.value in later:
        hint = "give one of them another name, or write an iteration as a recurrence"
        raise ParseError(f"the part '{name.value}' uses itself, directly or through others", at=name.caret, hint=hint)
    part = parts.get(str(name.value))
    if part is None:
        return name
    if part.head == recurrences.STATE:
        system = recurrences.system_of(part)
        _check_system(str(name.value), system, opens, bound, name.caret)
        return recurrences.state(str(name.value), system, name.span)
    if opens[definition(part)].means_otherwise(bound):
        return written_out(part, opens, bound)
    return shared(str(name.value), definition(part), name.span)


def opened(root: Ast, bound: Collection[str]) -> Ast:
    """Return a tree in which the parts that contain any of these names are written out."""
    opens: dict[Ast, Open] = {}
    for part in parts_in(root):
        opens[definition(part)] = _open_names(definition(part), opens)
    return written_out(shared("", root), opens, frozenset(bound)) if opens else root


def written_out(part: Ast, opens: dict[Ast, Open], bound: frozenset[str]) -> Ast:
    """Return the tree of a part; parts in it are also written out if the bound names change their meaning.

    An index form and a recurrence without bound names are read by themselves, as in the part: an outer index does not
    become theirs.

    Raises: ParseError for a recurrence with a bound name, and for an index form that also sums one.
    """
    made: dict[Ast, Ast] = {}
    stack = [(definition(part), False)]
    while stack:
        ast, entered = stack.pop()
        if ast in made:
            continue
        if ast.head in BINDERS and "{" in bound and not entered and _is_closed(ast, part, opens, bound):
            made[ast] = shared(part_name(part), ast, ast.span)
            continue
        is_open = ast.head == "shared" and opens[definition(ast)].means_otherwise(bound)
        if is_open and definition(ast).head == recurrences.SYSTEM:
            _check_system(str(definition(ast).args[-1].value), definition(ast), opens, bound, part.caret)
            is_open = False
        inner = (definition(ast),) if is_open else children(ast)
        if not entered and inner:
            stack.append((ast, True))
            stack.extend((child, False) for child in inner)
        else:
            made[ast] = made[inner[0]] if is_open else exchanged(ast, [made[child] for child in inner])
    return made[definition(part)]


def _is_closed(form: Ast, part: Ast, opens: dict[Ast, Open], bound: frozenset[str]) -> bool:
    """Return whether an index form in a part has no name that is bound where the part is used.

    Raises: ParseError if it has one, and sums another one.
    """
    own = _open_names(form, opens)
    if not own.names & bound:
        opens[form] = own
        return True
    met = sorted(NONE.union(*sums_in(form).values()) & bound)
    if met:
        hint = f"give the index {met[0]} in it, or around it, another name"
        raise ParseError(f"the part '{part_name(part)}' sums over {met[0]}", at=part.caret, hint=hint)
    return False


def _check_system(state: str, system: Ast, opens: dict[Ast, Open], bound: frozenset[str], at: int) -> None:
    """Raise ParseError for a recurrence with a name that is bound where one of its states is read."""
    met = sorted(opens[system].names & bound)
    if met:
        hint = f"give the index or parameter {met[0]} another name"
        raise ParseError(f"the recurrence of '{state}' contains {met[0]}", at=at, hint=hint)


def _open_names(tree: Ast, known: Mapping[Ast, Open]) -> Open:
    """Return the open names of a tree; `known` has those of the parts in it."""
    names: set[str] = set()
    subscripts: set[str] = set()
    sums: dict[Ast, frozenset[str]] = {}
    stack = [(tree, NONE)]
    while stack:
        ast, bound = stack.pop()
        if ast.head == "shared":
            names |= known[definition(ast)].names
            subscripts |= known[definition(ast)].subscripts
        if ast.head == "name" and ast.value not in bound:
            names.add(str(ast.value))
        if ast.head == "part" and "{" not in bound:
            subscripts.update(str(s.value) for s in ast.args[1:] if s.head == "name" and s.value not in bound)
        if ast.head in BINDERS:
            sums.update({} if "{" in bound else sums_in(ast))
            bound |= sums.get(ast, NONE)
        bound |= _bound_in(ast)
        stack.extend((child, bound) for child in children(ast))
    return Open(frozenset(names), frozenset(subscripts))


def _bound_in(ast: Ast) -> frozenset[str]:
    """Return the names that a tree binds in its operands."""
    if ast.head in BINDERS:
        return listed(ast) | {"{"}
    return frozenset([str(ast.value)]) if ast.head == "function" else recurrences.bound_by(ast)
