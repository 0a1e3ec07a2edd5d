r"""Reads indices in parentheses behind a declared array as subscripts: V(s_{t+1}), Q(s, a), x[n-k].

An array has no product with an index, so nothing else can be meant. In parentheses each argument is one index, since
x(i + 1) can be a product and is refused; in brackets it may be computed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from matcalc.language.latex.definitions.bound_letters import bound_in
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Reading, fault, font_of, key_of, key_of_subscript, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import same_layout, without_top
from matcalc.language.syntax import Ast, rebuild, walk


def with_subscripts(reading: Reading, line: Ast, outer: Collection[str] = ()) -> Ast:
    """Return a line in which the indices behind declared arrays are subscripts; `outer` are bound around it."""
    bound = bound_in(line) | {*outer}
    line = _with_indices_above(reading, line, bound)
    own = _own_indices(reading, line, bound)
    bound |= {*own}

    def change(node: Ast) -> Ast:
        return _row(reading, node, bound) if node.head == "row" else node

    made = rebuild(line, change)
    if not own:
        return made
    name, fence = line.args[0].args
    below = Ast("fence", fence.args, "brace", fence.span)
    return replace(made, args=(Ast("script", (name, below), ("_",), line.args[0].span, fence.span[0]), made.args[1]))


def without_own_arguments(lines: Sequence[Ast]) -> list[Ast]:
    """Return lines in which entries stand for functions whose arguments tell nothing: u_i for u_i(x_i).

    Each use of such a function has the arguments of its definition, with the subscripts of the use.
    """
    done = list(lines)
    for line in lines:
        row = line.args[0] if line.head == "relation" and len(line.args) == 2 else line
        if row.head != "row" or len(row.args) != 2 or not _has_own_argument(*row.args):
            continue
        name, fence = row.args
        uses = [
            (item, after)
            for one in done
            for row_ in walk(one)
            if row_.head == "row"
            for item, after in pairwise(row_.args)
            if item.head == "script" and key_of(item.args[0]) == key_of(name.args[0])
            if without_top(after)[0].head == "fence"
        ]
        if all(_is_use(name, fence, item, after) for item, after in uses):
            dropped = {(item, after) for item, after in uses}
            done = [rebuild(one, lambda x, dropped=dropped: _without_arguments(x, dropped)) for one in done]  # type: ignore[misc]
    return done


def _has_own_argument(name: Ast, fence: Ast) -> bool:
    """Return whether a name with an index has letters as arguments, one of them with the same index."""
    if name.head != "script" or name.value != ("_",) or name.args[1].head != "letter" or key_of(name.args[0]) is None:
        return False
    own = [x for x in fence.args if x.head == "script" and key_of(x.args[0]) and same_layout(x.args[1], name.args[1])]
    letters = all(x.head == "letter" or x in own for x in fence.args)
    return fence.head == "fence" and fence.value == "open" and bool(own) and letters


def _is_use(name: Ast, fence: Ast, item: Ast, after: Ast) -> bool:
    """Return whether a use has the arguments of the definition with its own subscript."""
    below = subscript_of(item)
    letter = name.args[1].value
    made = rebuild(fence, lambda x: below if x.head == "letter" and x.value == letter and below is not None else x)
    return item.value == ("_",) and below is not None and same_layout(made, without_top(after)[0])


def _without_arguments(row: Ast, dropped: Collection[tuple[Ast, Ast]]) -> Ast:
    if row.head != "row":
        return row
    items: list[Ast] = []
    for k, item in enumerate(row.args):
        if not k or (row.args[k - 1], item) not in dropped:
            items.append(item)
        elif item.head == "script":
            base = items[-1]
            marks = ("_", *(mark for mark, _ in without_top(item)[1]))
            items[-1] = Ast("script", (*base.args, *item.args[1:]), marks, base.span, base.at)
    return items[0] if len(items) == 1 else Ast("row", tuple(items), None, row.span, row.at)


def _with_indices_above(reading: Reading, line: Ast, bound: Collection[str]) -> Ast:
    r"""Return a line in which a bound index above a declared vector is its subscript, x^t: a vector has no power."""

    def change(node: Ast) -> Ast:
        shown, above = without_top(node) if node.head == "script" else (node, ())
        layout = unbraced(above[0][1]) if above and above[0][1] is not None else None
        if layout is None or layout.head != "letter" or layout.value[0] not in bound:  # type: ignore[index]
            return node
        base, below = (shown.args[0], subscript_of(shown)) if shown.head == "script" else (shown, None)
        key, added = key_of(base), key_of_subscript(below) if below is not None else ()
        names = reading.keys.get((*key, *added), ()) if key is not None and added is not None else ()
        if len(names) != 1 or len(reading.known.shapes.get(names[0], ())) != 1 or any(x in bound for x in added or ()):
            return node
        for part in added or ():
            base = Ast("accent", (base,), part, base.span)
        marks = ("_", *(mark for mark, _ in above[1:]))
        return Ast("script", (base, layout, *(x for _, x in above[1:] if x is not None)), marks, node.span, node.at)

    return rebuild(line, change)


def _own_indices(reading: Reading, line: Ast, bound: Collection[str]) -> tuple[str, ...]:
    r"""Return the arguments of a name on the left that are only indices of arrays, beside bound ones: s of V(s)."""
    if line.head != "relation" or len(line.args) != 2 or line.args[0].head != "row" or len(line.args[0].args) != 2:
        return ()
    name, fence = line.args[0].args
    letters = {str(x.value[0]) for x in fence.args if x.head == "letter"}  # type: ignore[index]
    is_open = fence.head == "fence" and fence.value == "open" and len(letters) == len(fence.args)
    if not is_open or key_of(name) is None or any((x,) in reading.keys for x in letters):
        return ()
    calls = [
        after
        for row in walk(line.args[1])
        if row.head == "row"
        for item, after in pairwise(row.args)
        if (array := _array(reading, item))
        and after.head == "fence"
        and _are_indices(reading, array, after, {*bound, *letters})
    ]
    inside = {x for call in calls for x in walk(call)}
    free = [x for x in walk(line.args[1]) if x.head == "letter" and x.value[0] in letters and x not in inside]  # type: ignore[index]
    beside = {x for call in calls if set(letters_in(call)) & {*bound} for x in letters_in(call)}
    return tuple(letters) if letters <= beside and not free else ()


def _row(reading: Reading, node: Ast, bound: Collection[str]) -> Ast:
    items: list[Ast] = []
    for item in node.args:
        shown, above = without_top(item)
        name = _array(reading, items[-1]) if items else ""
        if name and shown.head == "fence" and font_of(items[-1]) != "script":
            _check_count(reading, name, shown, bound)
        if not name and items and (below := _with_data(reading, items[-1], shown, bound)) is not None:
            items[-1] = Ast(
                "script", (items[-1].args[0], below), ("_",), (items[-1].span[0], item.span[1]), shown.span[0]
            )
            items[-1] = (
                items[-1] if item is shown else Ast("script", (items[-1], *item.args[1:]), item.value, item.span)
            )
            continue
        if not name or shown.head != "fence" or not _are_indices(reading, name, shown, bound):
            items.append(item)
            continue
        below = Ast("fence", shown.args, "brace", shown.span)
        base = items[-1]
        marks = ("_", *(mark for mark, _ in above))
        scripts = [x for _, x in above if x is not None]
        items[-1] = Ast("script", (base, below, *scripts), marks, (base.span[0], item.span[1]), shown.span[0])
    return items[0] if len(items) == 1 else Ast("row", tuple(items), None, node.span, node.at)


def _with_data(reading: Reading, item: Ast, fence: Ast, bound: Collection[str]) -> Ast | None:
    """Return both subscripts of b_j(o_t), the entry of a declared B at an index and at data; None for anything else."""
    is_name = item.head == "script" and item.value == ("_",) and item.args[1].head == "letter"
    key = key_of(item.args[0]) if is_name else None
    large = large_of(reading, key) if key is not None and key not in reading.keys else ""
    if not large or fence.head != "fence" or fence.value != "open" or len(fence.args) != 1:
        return None
    is_entry = len(reading.known.shapes.get(large, ())) == 2 and item.args[1].value[0] in bound  # type: ignore[index]
    one = fence.args[0]
    is_data_ = one.head == "script" and {*reading.keys.get(key_of(one.args[0]) or (), ())} & reading.known.indices
    return Ast("fence", (item.args[1], one), "brace", fence.span) if is_entry and is_data_ else None


def _array(reading: Reading, item: Ast) -> str:
    """Return the declared array that an item without subscripts is, "" if it is none."""
    key = key_of(item)
    names = reading.keys.get(key, ()) if key is not None else ()
    return names[0] if len(names) == 1 and names[0] in reading.known.shapes else ""


def _are_indices(reading: Reading, name: str, fence: Ast, bound: Collection[str]) -> bool:
    shape = reading.known.shapes[name]
    if fence.value not in ("open", "bracket") or len(fence.args) != len(shape) or not shape:
        return False
    return all(_is_index(reading, x, bound, fence.value == "bracket") for x in fence.args)


def _check_count(reading: Reading, name: str, fence: Ast, bound: Collection[str]) -> None:
    """Raise ParseError for fewer or more indices than an array has axes: q(t) beside q(t, x)."""
    shape = reading.known.shapes[name]
    if fence.value != "open" or not shape or len(fence.args) == len(shape):
        return
    if fence.args and all(_is_index(reading, x, bound, True) for x in fence.args):
        count = f"{len(fence.args)} {'index' if len(fence.args) == 1 else 'indices'}"
        hint = f"give the other quantity another letter; a product with an index is written i {name}"
        raise fault(f"{count} for {name}, which has {len(shape)} axes", fence, hint)


def _is_index(reading: Reading, layout: Ast, bound: Collection[str], may_be_computed: bool) -> bool:
    """Return whether an argument is a bound index, data of indices, or computed from them.

    Raises: ParseError for a computed one in parentheses.
    """
    if layout.head in ("letter", "script"):
        key = key_of(layout.args[0]) if layout.head == "script" else key_of(layout)
        return key is not None and (key[0] in bound or bool({*reading.keys.get(key, ())} & reading.known.indices))
    letters = set(letters_in(layout))
    is_computed = bool(letters & {*bound}) and letters <= {*bound, *reading.known.sizes}
    if is_computed and not may_be_computed:
        hint = "write a subscript, x_{i+1}, for the entry, or the number first, (i + 1) x, for the product"
        raise fault("this can be an entry or a product", layout, hint)
    return is_computed
