r"""Finds the formula of a passage: after `f(\theta) =` or `\min_w`, among lines that define parts and functions.

The formula is the line without a name, else the one whose name no other line uses. Lines that it needs are its parts,
in the order of their use.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, cast

from matcalc.language.latex.definitions.bound_letters import bound_in, listed_in
from matcalc.language.latex.definitions.labels import (
    by_indices,
    compound_key,
    is_label,
    solved,
    tells_entries,
    tells_positive_part,
    with_subscript_in_front,
    without_link,
)
from matcalc.language.latex.definitions.sets import set_key
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import (
    Key,
    Reading,
    fault,
    font_of,
    is_plain_number,
    key_of,
    subscript_of,
)
from matcalc.language.latex.layout.latex_patterns import TOPS, without_top
from matcalc.language.latex.names_in_lines import used, whole_key
from matcalc.language.syntax import Ast, walk

EQUAL = ("==", ":=", r"\triangleq", r"\coloneqq", r"\equiv")
EXTREMES = ("min", "max")


class Statement(NamedTuple):
    r"""A line: the layout of the name on its left side (None without one), its arguments, and the formula.

    key: that of the name. parameters: the letters in parentheses after the name, None without them. indices: the
    letters of its subscript if they are indices of the formula too, u_i = x_i^\top w. matrices: names in the formula.
    solving: the function that gives the name, exp if the formula is that of its logarithm, \log\mu_i = x_i^\top w.
    is_multiple: whether the left side is a number times the name. is_negative: whether it has a minus sign, which a
    label may have, -\log p = f.
    """

    name: Ast | None
    key: Key
    parameters: tuple[Ast, ...] | None
    formula: Ast
    indices: tuple[str, ...] = ()
    matrices: frozenset[Key] = frozenset()
    solving: str = ""
    is_multiple: bool = False
    is_negative: bool = False

    @property
    def is_put_in(self) -> bool:
        """Whether the formula replaces each use of the name, as for a function or entries."""
        return self.parameters is not None or bool(self.indices)

    @property
    def used_as(self) -> Key:
        """The key by which other lines use the name: u for u_i."""
        return key_of(cast(Ast, self.name).args[0]) or self.key if self.indices else self.key


def statement(reading: Reading, line: Ast) -> Statement:
    """Return a line as a name and its formula.

    Raises: ParseError for an equation, whose left side is more than a name.
    """
    line = _without_labels(reading, line)
    if line.head != "relation" or line.value not in [(sign,) for sign in EQUAL] or len(line.args) != 2:
        return Statement(None, (), None, line)
    side, formula = line.args
    while side.head == "big" and side.value in [(x, ("_",)) for x in EXTREMES]:
        side = side.args[-1]  # \min_D V(D) = ..., the formula of V(D)
    is_negative = side.head == "chain" and len(side.args) == 1 and side.value == ((-1,), True)
    if side.head == "chain" and len(side.args) == 1:
        side = side.args[0]
    items = list(side.args) if side.head == "row" else [side]
    is_multiple = len(items) == 2 and is_plain_number(items[0]) and whole_key(items[1]) not in (None, *reading.keys)
    if is_multiple:
        items, formula = items[1:], Ast("frac", (formula, items[0]), None, formula.span)  # 2m = ...
    solving, items = without_link(reading, items, formula)
    parameters: tuple[Ast, ...] | None = None
    items = with_subscript_in_front(items)
    if len(items) == 2:
        fence = without_top(items[1])[0]
        if fence.head == "fence" and fence.value in TOPS:
            by_entries = by_indices(reading, items[0], fence.args)
            parameters = None if by_entries else fence.args
            items = [by_entries or items[0]]
    if len(items) == 2 and _is_change(reading, items, formula):
        items = [Ast("accent", (items[1],), "change", items[1].span)]
    angle = without_top(items[0])[0]
    angle = angle.args[0] if angle.head == "script" else angle
    if len(items) == 1 and angle.head == "fence" and angle.value == "angle" and len(angle.args) == 1:
        items = [Ast("accent", angle.args, "angle", angle.span)]  # \langle E \rangle = ..., a label
    key = whole_key(items[0]) if len(items) == 1 else None
    base = without_top(items[0])[0]
    if key is None and base.head == "word" and base.value[0] not in reading.names.parameters:  # type: ignore[index]
        key = (str(base.value[0]),) if len(items) == 1 else None  # type: ignore[index]
    if key is not None and key in reading.keys and font_of(base) == "script":
        key = (*key, "script")  # F = ... F ... with a script letter on the left: a label
    if key is None:
        key, items = compound_key(reading, line), [side]
    matrices = frozenset(
        x for x in used(formula) if any(reading.kind_of(n) == "matrix" for n in reading.keys.get(x, ()))
    )
    indices = () if parameters else _indices(reading, items[0], formula)
    return Statement(items[0], key, parameters, formula, indices, matrices, solving, is_multiple, is_negative)


def _without_labels(reading: Reading, line: Ast) -> Ast:
    r"""Return L = J = f as L = f, if J is a label: undeclared names, -\log p(y), L_1 + a L_2; f does not contain it.

    Raises: ParseError for other formulas between two signs.
    """
    signs = cast("tuple[str, ...]", line.value) if line.head == "relation" else ()
    if len(signs) == 2 and signs[1] == r"\in":  # f(x) = W x \in \mathbb{R}^K
        return Ast("relation", line.args[:2], signs[:1], line.span, line.at)
    if len(signs) < 2 or len(line.args) != len(signs) + 1 or not set(signs) <= set(EQUAL):
        return line
    inside = used(line.args[-1], reading.keys)
    for side in line.args[:-1]:
        key = whole_key(side)
        if key is None and is_label(reading, side, line.args[-1]):
            continue
        if key is None or key in reading.keys or key in inside:
            hint = "write one of the formulas: only names that are not declared may stand before its ="
            raise fault("'=' between formulas", side, hint)
    return Ast("relation", (line.args[0], line.args[-1]), signs[:1], line.span, line.at)


def _is_change(reading: Reading, items: Sequence[Ast], formula: Ast) -> bool:
    r"""Return whether a left side is a change, \Delta q: a label, since nothing else here uses \Delta."""
    letter = items[0].value[0] if items[0].head == "letter" else ""  # type: ignore[index]
    free = (letter,) not in reading.keys and (letter,) not in used(formula)
    return letter in ("Delta", "delta") and free and key_of(items[1]) is not None


def _indices(reading: Reading, name: Ast, formula: Ast) -> tuple[str, ...]:
    """Return the letters of a name's subscript if all are subscripts in the formula that the formula does not bind."""
    below = subscript_of(name) if name.head == "script" else None
    if below is None or key_of(name.args[0]) is None:
        return ()
    items = [x for one in elements(below) for x in (one.args if one.head == "row" else (one,))]
    letters = tuple(str(x.value[0]) for x in items if x.head == "letter")  # type: ignore[index]
    own = [
        node for node in walk(formula) if node.head == "script" and whole_key(without_top(node)[0]) not in reading.keys
    ]
    scripts = [below for node in own if (below := subscript_of(node))]
    free = {x for below in scripts for x in letters_in(below)} - bound_in(formula, letters) - reading.known.sizes
    is_counted = key_of(name.args[0]) in reading.listed or {*letters} <= {*reading.ranges}
    data = {x for x in letters if {*reading.keys.get((x,), ())} & reading.known.indices}  # t of t_i, data of indices
    is_listed = bool(letters) and is_counted and (letters[0] in data or (letters[0],) not in reading.keys)
    if len(letters) > 1 or is_listed:  # \Sigma_{ij} = \rho^{|i - j|}, and w_k = e^{-k} in \sum_k w_k x_k
        free |= {x for x in letters_in(formula) if x in data or (x,) not in reading.keys} - bound_in(formula, letters)
    free -= _labels(reading, formula)
    arrays = [cast(Ast, subscript_of(x)) for x in own if _is_array(reading, key_of(x.args[0]))]
    if clash := [x for x in letters if x in reading.known.sizes and any(x in letters_in(s) for s in arrays)]:
        hint = "give the index another letter, or write the last entry by its own letter"
        raise fault(f"{clash[0]} is a size, and can be an index here", name, hint)
    return letters if len(letters) == len(items) and set(letters) <= free else ()


def _is_array(reading: Reading, key: Key | None) -> bool:
    return key is not None and (key in reading.keys or bool(large_of(reading, key)))


def _labels(reading: Reading, formula: Ast) -> set[str]:
    """Return the letters in the subscripts of declared numbers of a formula: A of the number R_A is no index."""
    scripts = [x for x in walk(formula) if x.head == "script" and subscript_of(x) is not None]
    numbers = [x for x in scripts if _is_number(reading, whole_key(without_top(x)[0]))]
    return {letter for x in numbers for letter in letters_in(cast(Ast, subscript_of(x)))}


def _is_number(reading: Reading, key: Key | None) -> bool:
    names = reading.keys.get(key, ()) if key is not None else ()
    return bool(names) and all(reading.kind_of(name) == "scalar" for name in names)


def defined_by(reading: Reading, constraints: Sequence[Sequence[Ast]]) -> list[list[Ast]]:
    """Return the lines after "subject to", which define names, z = A x - b, or tell the sets of symbols.

    Raises: ParseError for any other constraint: a formula is what is minimised, alone.
    """
    for one in (one for line in constraints for one in line):
        if set_key(one) is not None:
            continue
        sides = one.args if one.head == "relation" and one.value in [(sign,) for sign in EQUAL] else ()
        key = whole_key(sides[0]) if len(sides) == 2 else None
        if key is None or key in reading.keys or key[:1] in reading.keys:
            hint = "write only what is minimised; minimize(..., constraints=...) takes the constraints"
            raise fault("a constraint is not part of a formula", one, hint)
    return [list(line) for line in constraints]


class Chosen(NamedTuple):
    """The formula of a passage with its name, the parts that it needs in order, and the functions it defines."""

    formula: Statement
    parts: tuple[Statement, ...]


def chosen(reading: Reading, lines: Sequence[Ast], aside: Sequence[Ast], readers: Sequence[Ast] = ()) -> Chosen:
    """Return which of the lines is the formula, and which are its parts; `readers` are layouts that read parts too.

    Raises: ParseError if two lines can be the formula, for an equation between known names, and for cyclic parts.
    """
    reading.listed = frozenset(x for line in (*lines, *aside, *readers) for x in listed_in(line))
    lines = [
        line for line in lines if len(lines) == 1 or not (tells_positive_part(line) or tells_entries(reading, line))
    ]
    main = [statement(reading, line) for line in lines]
    aside = [line for line in aside if not (tells_positive_part(line) or tells_entries(reading, line))]
    others = [x for x in (statement(reading, line) for line in aside) if not _tells_set(reading, x)]
    for one in others:
        if one.name is None:
            raise fault("this does not define a part", one.formula, "behind 'where' stand parts, K = A A^\\top")
    every = [*main, *others]
    every = [_of_vector(reading, one, every, readers) for one in every]
    main, others = every[: len(main)], every[len(main) :]
    whole = {*reading.keys, *(one.key for one in every if one.name is not None and not one.indices)}
    uses = {id(one): used(one.formula, whole) | _of_entries(every, one, whole, reading.known.sizes) for one in every}
    read = frozenset().union(*map(used, readers))
    for one in every:
        names = {(x,) for x in one.key[1:]} if one.key[:1] == ("",) else set()
        if names & read.union(*uses.values()):
            hint = "write one formula, the right side of the ="
            raise fault("the left side of this = is more than a name", cast(Ast, one.name), hint)
    if unnamed := [one for one in main if one.name is None]:
        target = unnamed[-1]
    else:
        unused = [
            one
            for one in every
            if _names_only_itself(reading, one)
            or one.used_as not in read
            and not any(one.used_as in uses[id(x)] for x in every if x is not one)
        ]
        unused = [one for one in unused if not _is_remark(one)] or unused
        free = [one for one in main if one in unused] or (unused if len(unused) == 1 else [])
        if not main:
            raise fault("no formula is beside these equations", readers[0], "add what is computed, as  x_T")
        target = free[0] if len(free) == 1 else main[-1]
        if len(free) > 1:
            raise fault("several formulas", cast(Ast, free[1].name), "no line uses the others: give one of them alone")
    if len(unnamed) > 1:
        hint = r"a display is  K &= A A^\top \\ & \log\det K : named parts, and the formula last"
        raise fault("a line that does not name a part", unnamed[0].formula, hint)
    entries = {one.used_as for one in every if one.indices}  # L = \sum_i L_i
    _check_label(reading, target, uses[id(target)] - entries)
    others = [
        one
        for one in every
        if one is not target and not (_is_remark(one) and one.used_as not in read.union(*uses.values()))
    ]
    parts = _in_order(others, uses)
    _check_used(parts, uses, uses[id(target)] | read)
    return Chosen(_as_entries(reading, target), tuple(map(_solved, parts)))


def _names_only_itself(reading: Reading, one: Statement) -> bool:
    """Return whether uses of a name are those of a declared symbol: p in \\log p(y) = ... of a size p."""
    return one.used_as in reading.keys and all(key_of(x) in {None, *reading.keys} for x in one.parameters or ())


def _solved(one: Statement) -> Statement:
    """Return a part whose formula is that of the name alone, without a sign or a function in front of it."""
    if one.is_negative:
        one = one._replace(formula=Ast("chain", (one.formula,), ((-1,), True), one.formula.span))
    return one._replace(formula=solved(one.formula, one.solving)) if one.solving else one


def _is_remark(one: Statement) -> bool:
    r"""Return whether a line only tells the parts of a name, of which no formula is made.

    Such are x = (a, b), \theta = \{W, b\} and D = \{(x_i, y_i)\}_{i=1}^n.
    """
    fence, *words = one.formula.args if one.formula.head == "row" else (one.formula,)
    fence = fence.args[0] if fence.head == "script" else fence
    is_list = fence.head == "fence" and (fence.value == "set" or fence.value == "open" and len(fence.args) > 1)
    return is_list and all(x.head == "word" and x.value[1] == "text" for x in words)  # type: ignore[index]


def _as_entries(reading: Reading, one: Statement) -> Statement:
    r"""Return a formula f_i(x) of declared arguments as that of the entries f_i."""
    if one.parameters is None or any(key_of(x) not in reading.keys for x in one.parameters):
        return one
    indices = _indices(reading, cast(Ast, one.name), one.formula)
    return one._replace(parameters=None, indices=indices) if indices else one


def _of_vector(reading: Reading, one: Statement, every: Sequence[Statement], readers: Sequence[Ast]) -> Statement:
    r"""Return a function a_k(\theta) that is used as a whole, a(\theta), or at another index, as that of a vector."""
    if one.name is None or not one.parameters or one.name.head != "script":
        return one
    base = key_of(one.name.args[0])
    layouts = [*(x.formula for x in every), *readers]
    uses = frozenset().union(*map(used, layouts))
    scripts = [x for y in layouts for x in walk(y) if x.head == "script" and key_of(x.args[0]) == base]
    others = {whole_key(without_top(x)[0]) for x in scripts} - {x.key for x in every}
    is_whole = base in uses and (one.key not in uses or others)
    indices = _indices(reading, one.name, one.formula) if is_whole else ()
    return as_whole(one._replace(indices=indices))._replace(parameters=one.parameters) if indices else one


def _of_entries(
    every: Sequence[Statement], line: Statement, whole: Collection[Key], sizes: Collection[str]
) -> set[Key]:
    """Return the keys of matrices that other lines define and whose entries, h_{ii} of H, a line reads."""
    small = {
        (one.key[0].lower(), *one.key[1:]): one.key
        for one in every
        if one is not line and one.key and one.key[0].isupper()
    }
    scripts = (node for node in walk(line.formula) if node.head == "script" and subscript_of(node) is not None)
    whole = {*whole} - {(size,) for size in sizes}
    scripts = (node for node in scripts if whole_key(without_top(node)[0]) not in whole)  # u_LJ(r) beside U
    keys = {key for node in scripts if (key := key_of(node.args[0])) is not None and key not in whole}
    return {small[key] for key in keys if key in small}


def _check_used(parts: Sequence[Statement], uses: Mapping[int, frozenset[Key]], read: frozenset[Key]) -> None:
    """Raise ParseError for a part that neither the formula nor a part of it uses; `parts` are in order."""
    for one in reversed(parts):
        if one.used_as not in read:
            shown = "_".join(one.used_as)
            hint = f"leave it out, or use {shown} in the formula"
            raise fault(f"{shown} is defined, and no formula uses it", cast(Ast, one.name), hint)
        read |= uses[id(one)]


def _tells_set(reading: Reading, one: Statement) -> bool:
    r"""Return whether a line only declares the set of a known symbol, X \in \mathbb{R}^{m \times n}."""
    return one.name is None and set_key(one.formula) in reading.keys


def _check_label(reading: Reading, target: Statement, used: frozenset[Key]) -> None:
    """Raise ParseError if a formula with a name is an equation: the name is known, or occurs in the formula."""
    if target.name is None:
        return
    names = set(reading.keys.get(target.key, ()))
    if target.parameters is not None or target.key not in used:
        names -= set(reading.known.sizes)  # p = ..., beside x: vector(p)
    if target.is_multiple:
        raise fault("the left side of this = is more than a name", target.name, "write the name alone on the left")
    is_known = names or (target.parameters is None and target.key in used)
    if is_known:
        hint = "write one formula, the right side of the ="
        raise fault(f"'=' after {'_'.join(target.key)} is an equation", target.name, hint)


def _in_order(parts: Sequence[Statement], uses: Mapping[int, frozenset[Key]]) -> tuple[Statement, ...]:
    """Return parts in an order in which each follows those that it uses.

    Raises: ParseError if that is impossible.
    """
    done: list[Statement] = []
    left = list(parts)
    while left:
        ready = [one for one in left if not any(x.used_as in uses[id(one)] for x in left)]
        if not ready and (own := [one for one in left if one.indices and one.used_as in uses[id(one)]]):
            shown = "_".join(own[0].key)
            hint = "give what is defined another letter: a letter with one and with two subscripts is one array"
            raise fault(f"{shown} is defined by entries of the same letter", cast(Ast, own[0].name), hint)
        if not ready:
            raise fault("these parts are defined by each other", cast(Ast, left[0].name))
        done += ready
        left = [one for one in left if one not in ready]
    return tuple(done)


def as_whole(one: Statement) -> Statement:
    """Return the statement of the vector or matrix whose entries a statement defines."""
    if not one.indices:
        return one
    name = cast(Ast, one.name)
    fence = Ast("fence", (one.formula,), "bracket", one.formula.span)
    form = Ast("script", (fence, cast(Ast, subscript_of(name))), ("_",), one.formula.span, one.formula.caret)
    return Statement(name.args[0], one.used_as, None, form)
