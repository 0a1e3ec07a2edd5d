r"""Puts in the formulas of functions that a passage defines, h(r) = r^2, and of entries, u_i = x_i^\top w.

A passage with \Phi(z), the normal distribution function, means its density by \phi(z).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from matcalc.language.latex.definitions.bound_letters import bound_in
from matcalc.language.latex.definitions.running_totals import whole_totals
from matcalc.language.latex.definitions.separate_indices import with_own_indices
from matcalc.language.latex.definitions.statements import Statement
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_data_indices import is_datum
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import (
    APPLIED,
    ARRAY,
    NUMBER,
    VECTOR,
    Key,
    Reading,
    fault,
    font_of,
    is_plain_number,
    key_of,
    key_of_subscript,
    subscript_of,
)
from matcalc.language.latex.latex_superscripts import is_transposing
from matcalc.language.latex.layout.latex_layout import lines_of, unbraced
from matcalc.language.latex.layout.latex_patterns import TOPS, without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast, rebuild, walk


def with_functions(
    reading: Reading, layout: Ast, functions: Mapping[Key, Statement], around: Collection[str] = ()
) -> Ast:
    """Return a layout in which the functions of a passage are replaced by their formulas; `around` are bound outside.

    Raises: ParseError for a wrong number of arguments.
    """
    if not functions:
        return layout
    forms = (
        x for x in walk(layout) if x.head == "script" and x.args[0].head == "fence" and x.args[0].value == "bracket"
    )
    listed = {x for form in forms if (below := subscript_of(form)) is not None for x in letters_in(below)}
    outside = bound_in(layout) | listed | {*around}

    def change(node: Ast) -> Ast:
        if node.head == "script":
            return _entry(reading, node, functions, outside)
        if node.head != "row":
            return node
        items: list[Ast] = []
        for item in node.args:
            shown, above = without_top(item)
            base = shown.args[0] if shown.head == "script" else shown
            one, marks = _function_of(functions, items[-1]) if items else (None, ())
            if one is None or one.parameters is None or base.head != "fence" or base.value not in TOPS:
                items.append(item)
                continue
            put = _applied(reading, one, base, outside)
            for mark, x in marks:
                put = Ast("script", (put, x), (mark,), item.span, item.at)
                put = Ast("fence", (put,), "open", item.span, item.at) if mark == "_" else put  # \\log p_{iy}(1)
            items[-1] = put if item is base else Ast("script", (put, *item.args[1:]), item.value, item.span, item.at)
        return items[0] if len(items) == 1 else Ast("row", tuple(items), None, node.span, node.at)

    return rebuild(layout, change)


def _function_of(functions: Mapping[Key, Statement], item: Ast) -> tuple[Statement | None, Sequence[tuple[str, Ast]]]:
    r"""Return the function that an item names, with its scripts: a transpose a^\top(x), or an entry a_k(x)."""
    one = functions.get(whole_key(item) or ())
    if one is not None or item.head != "script":
        return one, ()
    shown, above = without_top(item)
    named = functions.get(whole_key(shown) or ()) if above else None
    if named is not None and all(x is not None and is_transposing(mark, x) for mark, x in above):
        return named, [(mark, x) for mark, x in above if x is not None]
    below = subscript_of(item)
    named = functions.get(key_of(item.args[0]) or ()) if below is not None and not above else None
    return named, [("_", below)] if named is not None and below is not None else []


def _entry(reading: Reading, node: Ast, functions: Mapping[Key, Statement], outside: Collection[str]) -> Ast:
    """Return the formula of an entry that the passage defines, with the subscripts and superscripts of `node`."""
    shown, above = without_top(node)
    if shown.head != "script" or subscript_of(shown) is None:
        return node
    key = key_of(shown.args[0]) or ()
    one = functions.get(key)
    mark = key_of_subscript(above[0][1]) if above and above[0][1] is not None else None
    if whole_key(shown) in reading.keys:  # r_e is a declared number beside the entries r_i
        return node
    if one is None or not one.indices or mark is not None and (*key, *mark) in reading.keys:
        return node
    below = cast(Ast, subscript_of(shown))
    items = [x for item in elements(below) for x in (item.args if item.head == "row" else (item,))]
    is_one = len(items) == 1 == len(one.indices) and items[0].head == "script" and not above
    whole = whole_totals(reading, one, outside) if is_one else None
    if whole is not None:  # S_{t_i} of S_t = \\sum_{s=1}^t x_s
        return Ast("script", (whole, below), ("_",), shown.span, shown.at)
    if len(items) < len(one.indices):
        raise fault(f"{len(items)} subscripts of {'_'.join(one.used_as)}, which has {len(one.indices)}", below)
    formula = with_own_indices(reading, one, {*outside, *letters_in(below)})
    put = dict(zip(one.indices, items, strict=False))
    data = [x for x in put.values() if is_datum(reading, x)]

    def change(x: Ast) -> Ast:
        if x.head == "big" and x.value == ("sum", ("_", "^")) and any(unbraced(x.args[1]) is datum for datum in data):
            return _up_to_datum(x)
        return put.get(str(x.value[0]), x) if x.head == "letter" else x  # type: ignore[index]

    made = Ast("fence", (rebuild(formula, change),), "open", shown.span, shown.at)
    if rest := tuple(items[len(one.indices) :]):  # s_{ij}, the entry j of the vector s_i
        made = Ast("script", (made, Ast("fence", rest, "brace", below.span)), ("_",), shown.span, shown.at)
    if not above:
        return made
    marks = tuple(mark for mark, _ in above)
    return Ast("script", (made, *(x for _, x in above if x is not None)), marks, node.span, node.at)


def _up_to_datum(total: Ast) -> Ast:
    r"""Return \\sum_{v=1}^{k}, in which data of indices are put for k, as a sum over the entries up to there.

    Data count from 0, so the bound is a position: \\sum_{v \\le y_i}.
    """
    below, above, *rest = total.args
    start = unbraced(below)
    if start.head != "relation" or start.value != ("==",) or start.args[1].head != "number":
        return total
    if start.args[0].head != "letter" or start.args[1].value[0] != 1:  # type: ignore[index]
        return total
    until = Ast("relation", (start.args[0], unbraced(above)), ("<=",), start.span, start.at)
    return Ast("big", (Ast("fence", (until,), "brace", below.span), *rest), ("sum", ("_",)), total.span, total.at)


def _applied(reading: Reading, one: Statement, fence: Ast, outside: Collection[str]) -> Ast:
    """Return the formula of a function with its parameters replaced by the arguments."""
    parameters = one.parameters or ()
    if len(parameters) != len(fence.args):
        raise fault(f"{'_'.join(one.key)} takes {len(parameters)} arguments", fence)
    formula = with_own_indices(reading, one, {*outside, *(x for y in fence.args for x in letters_in(y))})
    put: dict[Key, Ast] = {}
    data: set[Key] = set()
    for letter, argument in zip(parameters, fence.args, strict=True):
        if (entry := _of_same_array(letter, argument)) is not None:
            put[key_of(letter.args[1]) or ()] = entry
            continue
        letter, argument = _without_squares(letter, argument)
        key = _with_primes(letter)
        if key is None:
            hint = "write a letter, or an entry s_t, and call the function of entries of s alone"
            raise fault("the argument of a function is a letter", letter, hint)
        same = _with_primes(argument) == key
        if not same:
            _check_rows(reading, key, one, argument)
        is_zero = is_plain_number(argument) and argument.value[0] == 0  # type: ignore[index]
        if is_zero and key in reading.keys and _is_vector(reading, letter, one):
            argument = Ast("row", (argument, letter), None, argument.span)  # m(0) of a vector p is m(0 p)
        is_large = key[0][:1].isupper() and key not in reading.keys
        kind = ARRAY if _is_beside_array(reading, key, one) else NUMBER
        if _is_beside_entries(reading, key, one):
            data.add(key)
        elif _is_beside_rows(reading, key, one):
            data.add(key)
            kind = VECTOR
        elif _is_vector(reading, letter, one):
            kind = ARRAY if is_large or _has_two_subscripts(key, one) else VECTOR
        put[key] = argument if same else Ast("fence", (argument,), kind, argument.span, argument.at)

    bases = {
        x.args[0]
        for x in walk(formula)
        if x.head == "script"
        and (_with_primes(x) in put or whole_key(without_top(x)[0]) in reading.keys)
        and (subscript_of(x) is not None or _with_primes(x) in put)
    }
    bases |= {x.args[0] for x in walk(formula) if x.head == "script" and "_" in x.value and key_of(x.args[0]) in data}  # type: ignore[operator]
    declared = [x for x in walk(formula) if x.head == "script" and whole_key(without_top(x)[0]) in reading.keys]
    scripts = [below for x in declared if (below := subscript_of(x)) is not None]
    bases |= {x for below in scripts for x in walk(below)}  # A of a_A, a declared number
    bases |= {x for accent in walk(formula) if accent.head == "accent" for x in walk(accent) if x is not accent}

    def change(node: Ast) -> Ast:
        if node.head not in ("letter", "script", "accent") or node in bases:
            return node
        return put.get(_with_primes(node) or (), node)

    made = Ast("fence", (rebuild(formula, change),), APPLIED, fence.span, fence.at)
    return Ast("fence", (made,), "open", fence.span, fence.at)


def _of_same_array(parameter: Ast, argument: Ast) -> Ast | None:
    r"""Return the subscript u of an argument s_u if the parameter is s_t, as in \pi(a \mid s_t) = ...; else None."""
    if any(x.head != "script" or x.value != ("_",) for x in (parameter, argument)):
        return None
    key = key_of(parameter.args[0])
    is_same = key is not None and key == key_of(argument.args[0]) and parameter.args[1].head == "letter"
    return argument.args[1] if is_same else None


def _without_squares(parameter: Ast, argument: Ast) -> tuple[Ast, Ast]:
    r"""Return the parameter s of f(x, s^2) = ... and its argument, the root of the one in the place of s^2."""
    (shown, above), (inner, over) = without_top(parameter), without_top(argument)
    squares = [len(x) == 1 and x[0][1] is not None and _is_two(x[0][1]) for x in (above, over)]
    if not squares[0] or key_of(shown) is None:
        return parameter, argument
    return shown, inner if squares[1] else Ast("radical", (argument,), None, argument.span)


def _is_two(layout: Ast) -> bool:
    layout = unbraced(layout)
    return layout.head == "number" and layout.value[0] == 2  # type: ignore[index]


def _with_primes(layout: Ast) -> Key | None:
    """Return the key of a letter, or of one with primes that are part of its name, k(x, x')."""
    if layout.head == "script" and set(cast("tuple[str, ...]", layout.value)) == {"'"}:
        key = key_of(layout.args[0])
        return (*key, *["'"] * len(cast("tuple[str, ...]", layout.value))) if key is not None else None
    return key_of(layout)


def _is_vector(reading: Reading, letter: Ast, one: Statement) -> bool:
    r"""Return whether a function uses a parameter as a vector: bold, transposed, in a norm, behind a matrix, x_i."""
    formula = one.formula
    key = _with_primes(letter)
    own = {x for x in walk(formula) if _with_primes(x) == key}
    bound = bound_in(formula)
    for script in (x for x in walk(formula) if x.head == "script" and x.args[0] in own):
        below = subscript_of(script)
        is_symbol = whole_key(without_top(script)[0]) in reading.keys
        is_entry = below is not None and below.head == "number" and below.value[0] != 0 and not is_symbol  # type: ignore[index]
        if below is not None and {*letters_in(below)} & bound or is_entry:
            return True  # the vector of the entries x_i or x_1
    for row in (x for x in walk(formula) if x.head == "row"):
        if any(
            item in own
            and (_is_transposed(before) or whole_key(before) in one.matrices)
            or item.head == "fence"
            and item.value == "open"
            and len(item.args) == 1
            and whole_key(before) in one.matrices
            and any(x in own for x in _terms(item.args[0]))
            for before, item in pairwise(row.args)
        ):
            return True
    for node in walk(formula):
        is_norm = node.head == "fence" and node.value in ("double_bar", "angle")
        is_base = (
            node.head == "script"
            and node not in own
            and any(is_transposing(mark, x) for mark, x in without_top(node)[1])
        )
        inner = node if is_norm else unbraced(node.args[0]) if is_base else None
        if inner is not None and any(x in own for x in walk(inner)):
            return True
    return font_of(letter.args[0] if letter.head == "script" else letter) == "bold"


def _has_two_subscripts(key: Key, one: Statement) -> bool:
    r"""Return whether a function reads entries of a parameter with two subscripts, w_{i,j+1}, and so is a matrix."""
    own = [x for x in walk(one.formula) if x.head == "script" and _with_primes(x.args[0]) == key]
    below = [elements(s) for x in own if (s := subscript_of(x)) is not None]
    counts = {len(x.args) if x.head == "row" and len(some) == 1 else len(some) for some in below for x in some[:1]}
    return counts == {2}


def _check_rows(reading: Reading, key: Key, one: Statement, argument: Ast) -> None:
    """Raise ParseError for a function of a declared matrix Z at another one if its formula reads the rows z_i of Z."""
    small = (key[0][:1].lower() + key[0][1:], *key[1:])
    if key == small or key not in reading.keys:
        return
    for script in (x for x in walk(one.formula) if x.head == "script" and subscript_of(x) is not None):
        if whole_key(without_top(script)[0]) in reading.keys:  # a_V, a declared number
            continue
        base = script.args[0]
        while base.head == "accent":
            base = base.args[0]
        if key_of(base) == small and small not in reading.keys:
            hint = "define the function with subscripts of its argument, Z_{i,:} for a row"
            raise fault(f"this function of {key[0]} reads its rows {small[0]}", argument, hint)


def _is_beside_entries(reading: Reading, key: Key, one: Statement) -> bool:
    """Return whether a parameter x is a number beside the entries of a declared vector of its letter: K(x - x_j)."""
    names = reading.keys.get(key, ())
    if len(names) != 1 or reading.kind_of(names[0]) != "vector":
        return False
    for chain in (x for x in walk(one.formula) if x.head == "chain"):
        entries = [x for x in chain.args if x.head == "script" and x.value == ("_",) and key_of(x.args[0]) == key]
        if entries and any(_with_primes(x) == key for x in chain.args):
            return True
    return False


def _is_beside_rows(reading: Reading, key: Key, one: Statement) -> bool:
    r"""Return whether a parameter x is a vector beside the rows of a declared X: x - x_j, x^\top x_j, k(x, x_j)."""
    if key in reading.keys or not large_of(reading, key):
        return False
    for node in (x for x in walk(one.formula) if x.head in ("chain", "row", "fence")):
        items = [x.args[0] if x.head == "fence" and len(x.args) == 1 else x for x in node.args]
        if node.head == "row" and not any(map(_is_transposed, items)) or node.head == "fence" and len(items) < 2:
            continue
        entries = [x for x in items if x.head == "script" and x.value == ("_",) and key_of(x.args[0]) == key]
        if entries and any(_with_primes(without_top(x)[0]) == key for x in items):
            return True
    return False


def _terms(layout: Ast) -> tuple[Ast, ...]:
    return layout.args if layout.head == "chain" else (layout,)


def _is_beside_array(reading: Reading, key: Key, one: Statement) -> bool:
    r"""Return whether a function multiplies a parameter by a declared array entry by entry: P(Z) = W \\odot Z."""

    def is_array(layout: Ast) -> bool:
        names = reading.keys.get(whole_key(layout) or (), ())
        return bool(names) and all(reading.kind_of(x) in ("vector", "matrix") for x in names)

    products = [x for x in walk(one.formula) if x.head == "infix" and {*cast("tuple[str, ...]", x.value)} <= _ENTRYWISE]
    return any(
        any(map(is_array, x.args)) and any(_with_primes(y) == key for factor in x.args for y in walk(factor))
        for x in products
    )


def _is_transposed(node: Ast) -> bool:
    above = without_top(node)[1] if node.head == "script" else ()
    return any(is_transposing(mark, x) for mark, x in above)


_ENTRYWISE = {r"\odot", r"\circ", r"\oslash"}
_DENSITIES = {("phi",): r"\phi(z) = \operatorname{normpdf}(z)", ("varphi",): r"\varphi(z) = \operatorname{normpdf}(z)"}


def implied(reading: Reading, lines: Sequence[Ast]) -> list[Ast]:
    r"""Return the definitions that a passage implies: that of the density \phi(z) beside \Phi(z)."""
    called: set[Key | None] = set()
    for row in (node for line in lines for node in walk(line) if node.head == "row"):
        called |= {key_of(item) for item, after in pairwise(row.args) if after.head == "fence" and after.value in TOPS}
    defined = {key_of(x) for line in lines if line.head == "relation" for x in walk(line.args[0])}
    if ("Phi",) not in called - defined or ("Phi",) in reading.keys:
        return []
    found = [text for key, text in _DENSITIES.items() if key in called - defined and key not in reading.keys]
    return [nowhere(lines_of(text)[0][0]) for text in found]


def nowhere(layout: Ast) -> Ast:
    """Return a layout without positions, since it is not a part of the passage."""
    return rebuild(layout, lambda node: replace(node, span=(-1, -1), at=-1))
