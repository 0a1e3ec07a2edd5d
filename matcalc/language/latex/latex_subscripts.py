r"""Reads subscripts in LaTeX: names, entries, rows, and the indices of sums.

`x_1` is the first entry of a declared vector x, else a name. Inside a sum over i, `x_i` is an entry of x, or row or
column i of a declared matrix X, if the bound of the sum is the length of one axis only. Subscripts count from 1, and
ranges include both ends: x_{2:3} is x[1:3]. A sum from 2 to n - 1 is a sum over parts, so x_{i+1} needs no own rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from matcalc.language.latex.latex_applied import sides_of
from matcalc.language.latex.latex_axes import (
    axes_in,
    axis_of,
    counts,
    elements,
    from_zero,
    is_data,
    letters_in,
    offset_of,
    sum_of,
    whole_axis,
)
from matcalc.language.latex.latex_computed_rows import computed_row
from matcalc.language.latex.latex_data_indices import axis_below_limit
from matcalc.language.latex.latex_large_letters import data_beside_number, has_rows, is_beside_rows, large_of
from matcalc.language.latex.latex_marginals import check_not_marginal, check_not_summed
from matcalc.language.latex.latex_partial import LEAST, axes_by_ranges, given_axes
from matcalc.language.latex.latex_rows_of_matrices import part_at, row_at, row_of
from matcalc.language.latex.latex_scope import (
    Key,
    Reading,
    Scope,
    Value,
    fault,
    font_of,
    key_of,
    key_of_subscript,
    name_of,
    needed,
)
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_names import REFUSED
from matcalc.language.one_based import added
from matcalc.language.read import read
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import text as written

_RANKS = {"scalar": 0, "vector": 1, "row": 1, "matrix": 2}


def named(reading: Reading, layout: Ast, below: Ast | None, scope: Scope, raised: bool = False) -> Value:
    """Return the symbol, the entry or the row that a letter with a subscript denotes.

    Raises: ParseError if it is ambiguous.
    """
    key = cast(Key, key_of(layout))
    if below is None:
        if len(key) == 1 and (key[0] in scope.indices or key[0] in scope.parameters):
            return Value(_number_of(key[0], scope, layout), "scalar")
        return symbol(reading, key, layout)
    added = key_of_subscript(below)
    bound = [x for x in letters_in(below) if x in scope.indices]
    if added is not None and (*key, *added) in reading.keys:
        whole = symbol(reading, (*key, *added), layout)
        return _entry_of_named(reading, whole, below, scope, layout) if bound else whole
    if bound and (whole_ := _named_before(reading, key, below, layout, scope)) is not None:
        name, rest = whole_
        return part_of(reading, name, str(cast(Ast, name.tree).value), rest, scope, layout)
    is_part = bool(bound) or any(x.head == "slice" for x in walk(below))
    if is_part and (data := data_beside_number(reading, key)):
        return part_of(reading, Value(Ast("name", (), data, layout.span), "vector"), data, below, scope, layout)
    if key in reading.keys and not (is_part and is_beside_rows(reading, key, bound, scope)):
        base = symbol(reading, key, layout)
        if base.kind == "scalar" and not is_part and added is not None:
            return symbol(reading, (*key, *added), layout)
        if is_part or counts(reading, below) or str(cast(Ast, base.tree).value) in reading.steps.states:
            return part_of(reading, base, str(cast(Ast, base.tree).value), below, scope, layout)
        if added is None or _is_open(below, base.kind):
            hint = "an index is bound by a sum, as in \\sum_{i=1}^{n} x_i; declare any other symbol"
            raise fault(f"the subscript of {'_'.join(key)} is unknown", below, hint)
        return symbol(reading, (*key, *added), layout)
    if not is_part:
        if added is None:
            raise fault("this subscript cannot be part of a name", below)
        row = _numbered_row(reading, key, below, layout)
        return row or symbol(reading, (*key, *added), layout)
    return _of_undeclared(reading, key, below, scope, layout, bound)


def _named_before(reading: Reading, key: Key, below: Ast, layout: Ast, scope: Scope) -> tuple[Value, Ast] | None:
    """Return the declared I_x and the subscript i of I_{x,i}; None for anything else."""
    items = elements(below)
    for count in range(1, len(items)):
        added = key_of_subscript(Ast("fence", items[:count], "brace", below.span))
        rest = tuple(x for one in items[count:] for x in (one.args if one.head == "row" else (one,)))
        is_entry = all(x.head == "letter" and x.value[0] in scope.indices for x in rest)  # type: ignore[index]
        if added is not None and is_entry and (*key, *added) in reading.keys:
            return symbol(reading, (*key, *added), layout), Ast("fence", rest, "brace", below.span)
    return None


def _entry_of_named(reading: Reading, whole: Value, below: Ast, scope: Scope, layout: Ast) -> Value:
    """Return p_x inside a sum over x if p_x is declared as a vector: its entry x.

    Raises: ParseError if the name is declared or defined without an axis for each of its letters.
    """
    name = str(cast(Ast, whole.tree).value)
    axes = axes_in(below, _RANKS.get(whole.kind), scope)
    if len(axes) == _RANKS.get(whole.kind) and all(x.head == "letter" and x.value[0] in scope.indices for x in axes):  # type: ignore[index]
        return part_of(reading, whole, name, below, scope, layout)
    letter = next(x for x in letters_in(below) if x in scope.indices)
    hint = f"declare {key_of(layout)[0]} with an axis for {letter}, or give the index another letter"  # type: ignore[index]
    raise fault(f"{name} is one {whole.kind or 'value'}, and {letter} is an index here", layout, hint)


def _number_of(letter: str, scope: Scope, layout: Ast) -> Ast:
    """Return an index or a parameter as a number; the steps of a recurrence have the numbers that LaTeX gives them."""
    index = scope.indices.get(letter)
    name = Ast("name", (), index.name if index is not None else letter, layout.span)
    return sum_of(name, cast(Ast, index.low)) if index is not None and index.is_step else name


def symbol(reading: Reading, key: Key, layout: Ast) -> Value:
    """Return the symbol of a key: the declared one, else one whose name is built from the key."""
    names = reading.keys.get(key, ())
    if len(names) > 1:
        hint = f"{' and '.join(names)} look alike in LaTeX: give one of them another name"
        raise fault(f"this can be {' or '.join(names)}", layout, hint)
    base = unbraced(layout)
    if not names and len(key[0].replace("d ", "")) > 1 and base.head == "word" and font_of(layout) != "italic":
        if font_of(layout) == "roman":
            raise fault(f"{key[0]} is not declared", layout, "declare it if it is a symbol; leave a unit out")
        hint = f"declare {key[0]}, or give each letter its own font"
        raise fault(f"'{key[0]}' can be one name or a product of letters", layout, hint)
    if not names and base.head == "letter" and font_of(layout) == "script":
        hint = f"declare {key[0]} if it is a symbol; the number of elements of a set is a size, n"
        raise fault(f"the script letter {key[0]} can be a set or a symbol", layout, hint)
    if not names and base.head == "letter" and font_of(layout) == "double":
        hint = REFUSED.get(key[0], f"declare {key[0]} if it is a symbol")
        raise fault(f"the double-struck letter {key[0]} can be an operator, a set or a symbol", layout, hint)
    name = names[0] if names else name_of(key, layout.caret)
    if (
        not names
        and font_of(layout) == "bold"
        and reading.known.default(name) == "scalar"
        and name not in reading.known.sizes
    ):
        reading.ranks[name] = 1
    return Value(Ast("name", (), name, layout.span), reading.kind_of(name))


def _is_open(below: Ast, kind: str) -> bool:
    """Return whether a subscript consists of letters, at most one for each axis, as for an entry."""
    axes = axes_in(below, _RANKS.get(kind), Scope())
    return len(axes) <= _RANKS.get(kind, len(axes)) and all(x.head == "letter" for x in axes)


def _numbered_row(reading: Reading, key: Key, below: Ast, layout: Ast) -> Value | None:
    """Return x_1 as a row or column of a declared X whose x_i the formula has, if the sizes decide which.

    Raises: ParseError for x_1 and x_i if only a matrix X is declared.
    """
    large = large_of(reading, key)
    if not large or not all(x.head in ("number", "letter") for x in elements(below)):
        return None
    is_numbered = len(elements(below)) == 1 and elements(below)[0].head == "number" and has_rows(reading, key)
    if is_numbered and large in reading.known.axes:
        return row_at(reading, large, from_zero(reading, elements(below)[0]), layout)
    shown = "_".join(key)
    last = "".join(str(x.value[2 if x.head == "number" else 0]) for x in elements(below))  # type: ignore[index]
    hint = f"declare {shown}_{last} if it is a symbol; rows are {large}_{{{last},:}}, columns {large}_{{:,{last}}}"
    refused = fault(f"this can be a symbol, or a row or column of {large}", layout, hint)
    if is_numbered and len(reading.known.shapes.get(large, ())) == 2:
        refused.undecided = ((large, 0, "vector"), (large, 1, "vector"))
    raise refused


def _of_undeclared(reading: Reading, key: Key, below: Ast, scope: Scope, layout: Ast, bound: Sequence[str]) -> Value:
    """Return an entry or row of an undeclared name, if the context determines it.

    Raises: ParseError with the possible readings.
    """
    shown = "_".join(key)
    large = large_of(reading, key)
    shape = reading.known.shapes.get(large, ("",) * _RANKS.get(reading.kind_of(large), 0)) if large else ()
    axes = axes_in(below, len(shape) if large else None, scope)
    if large and len(axes) == 1 and scope.indices[bound[0]].is_step:
        return part_of(reading, Value(Ast("name", (), large, layout.span), "matrix"), large, below, scope, layout)
    kind = reading.known.default(name_of(key, layout.caret))
    if large and len(shape) >= LEAST and kind != "matrix":
        return part_of(reading, Value(Ast("name", (), large, layout.span), "tensor"), large, below, scope, layout)
    if len(shape) == 2 and len(axes) == 1 < len(bound) and not is_data(reading, axes[0]):
        made = computed_row(reading, large, axes[0], scope, layout)
        return Value(part_at(Ast("name", (), large, layout.span), made, layout), "vector")
    if large and len(axes) == 1 and (len(bound) == 1 or is_data(reading, axes[0])):
        check_not_marginal(reading, key, large, layout)
        is_row = not is_data(reading, axes[0])
        index = scope.indices[bound[0]]
        if is_row and (found := row_of(reading, large, index, layout, offset_of(reading, axes[0], bound))):
            return found
        at = cast(Ast, needed(reading, axes[0]).tree)
        is_told = large in {*reading.known.axes, *reading.stated} or axis_below_limit(reading, large, at) is not None
        if not is_row and is_told:
            return row_at(reading, large, at, layout)
        kinds = f"{large}: matrix({', '.join(shape)})"
        own = bound[0] if is_row else "".join(letters_in(axes[0])[:1]) + "_" + "".join(bound)
        hint = f"a row is {large}_{{{own},:}}, a column {large}_{{:,{own}}}; or declare {shown}: vector(n)"
        refused = fault(f"this can be row or column {own} of {kinds}, or an entry of {shown}", layout, hint)
        if len(shape) == 2:
            refused.undecided = ((large, 0, "vector"), (large, 1, "vector"))
        raise refused
    if large and len(axes) == len(shape) and kind != "matrix":
        return part_of(reading, Value(Ast("name", (), large, layout.span), "matrix"), large, below, scope, layout)
    if len(axes) == 2 and kind == "matrix" or (len(axes) == 1 and kind == "vector" and key[0] in reading.bare):
        return part_of(reading, symbol(reading, key, layout), None, below, scope, layout)
    if len(axes) == 1 and kind != "matrix":
        capital = key[0][:1].upper() + key[0][1:]
        hint = f"declare {shown}: vector(n) or {capital}: matrix(n, p), with n as the sum's bound for rows"
        raise fault(f"this can be an entry of a vector {shown}, or a row or column of a matrix {capital}", layout, hint)
    raise fault(f"{shown} has a subscript but is not declared", layout, f"declare {shown} with its sizes")


def _row_that_fits(reading: Reading, name: str, axis: Ast, scope: Scope, layout: Ast) -> Value | None:
    """Return W_j of a declared matrix W, a row or a column, if a sum or a definition binds j.

    Raises: ParseError with the readings, among which the sizes of the formula may decide.
    """
    bound = [x for x in letters_in(axis) if x in scope.indices]
    if len(reading.known.shapes.get(name, ())) != 2 or not bound or any(scope.indices[x].is_step for x in bound):
        return None
    if len(bound) > 1 and not is_data(reading, axis):
        made = computed_row(reading, name, axis, scope, layout)
        return Value(part_at(Ast("name", (), name, layout.span), made, layout), "vector") if made else None
    is_counted = name in reading.known.axes or any((name, k) in reading.zeros for k in (0, 1))
    if is_data(reading, axis):
        at = cast(Ast, needed(reading, axis).tree)
        if is_counted or axis_below_limit(reading, name, at) is not None:
            return row_at(reading, name, at, layout)
    elif is_counted:
        return row_of(reading, name, scope.indices[bound[0]], layout, offset_of(reading, axis, bound))
    row = f"{name}_{{{bound[0]},:}}"
    hint = rf"a row is {row}, its transpose {row}^\top, a column {name}_{{:,{bound[0]}}}"
    refused = fault(f"one subscript for 2 axes: {name}_{bound[0]} can be a row or column of {name}", layout, hint)
    refused.undecided = ((name, 0, "vector"), (name, 1, "vector"), (name, 0, "row"))
    raise refused


# Parts.


def part_of(reading: Reading, base: Value, name: str | None, below: Ast, scope: Scope, layout: Ast) -> Value:
    """Return entries of a value: its subscripts count from 1, ranges include both ends.

    Raises: ParseError if there are too many or too few, or one is not an index, number or size.
    """
    shape = reading.known.shapes.get(name or "", ()) if name else sides_of(reading, cast(Ast, base.tree)) or ()
    rank = len(shape) if shape else _RANKS.get(base.kind)
    if rank == 0:
        raise fault("a scalar has no entries", layout)
    axes = axes_in(below, rank, scope)
    if rank is not None and len(axes) < rank and (full := at_one_step(reading, name or "", axes, scope)):
        return _of_step(reading, base, name or "", full, scope, layout)
    if len(shape) >= LEAST and name and len(given := given_axes(reading, below, scope)) < len(shape) > len(axes):
        return _of_step(reading, base, name, axes_by_ranges(reading, name, given, scope, layout), scope, layout)
    if rank == 2 and len(axes) == 1 and name and not name[0].isupper() and not is_data(reading, axes[0]):
        bound = [x for x in letters_in(axes[0]) if x in scope.indices]
        if len(bound) == 1 and (
            row := row_of(reading, name, scope.indices[bound[0]], layout, offset_of(reading, axes[0], bound))
        ):
            return row
    if rank == 2 and len(axes) == 1 and name and (row := _row_that_fits(reading, name, axes[0], scope, layout)):
        return row
    if rank is not None and len(axes) != rank:
        shown = name or "A"
        one = "" if rank != 2 else f"; a row is {shown}_{{i,:}}, a column {shown}_{{:,i}}"
        count = "one subscript" if len(axes) == 1 else f"{len(axes)} subscripts"
        refused = fault(f"{count} for {rank} axes", below, f"write {rank}{one}")
        refused.undecided = ((shown, 0, "vector"), (shown, 1, "vector")) if name and rank == 2 else ()
        raise refused
    if ranked := [x for x in axes if x.head == "fence" and x.value == "open"]:
        hint = r"write x_i for an entry, \operatorname{sort}(x)_i for the i-th smallest"
        raise fault("a subscript in parentheses can be an entry or an order statistic", ranked[0], hint)
    if rank == 2 and name:
        check_not_summed(reading, name, axes, layout)
    made = []
    for k, axis in enumerate(axes):
        length = shape[k] if k < len(shape) else ""
        made.append(axis_of(reading, axis, length, scope, _first(reading, name or "", k, axis, scope)))
    ranges = [tree.head == "slice" for tree, _ in made]
    kinds = ("scalar", "vector", "matrix", "tensor")
    found = part_at(cast(Ast, base.tree), made, layout)
    gathered = max((_axes_of_data(reading, tree) for tree, _ in made), default=0)
    if ranges == [False, True] and not gathered and name not in reading.known.indices:
        return Value(Ast("transpose", (found,), None, layout.span, layout.caret), "row")
    return Value(found, kinds[min(sum(ranges) + gathered, 3)])


def _first(reading: Reading, name: str, k: int, axis: Ast, scope: Scope) -> int:
    """Return the number of the first entry along an axis: 1, unless it is read at the steps of a recurrence."""
    if not reading.steps.begins:
        return 0 if (name, k) in reading.zeros else 1
    letters = [x for x in letters_in(axis) if x in scope.indices and scope.indices[x].is_step]
    begin = max(min(reading.steps.begins[letters[0]], 1), 0) if letters else 1
    return reading.steps.firsts.get((name, k), begin)


def at_one_step(reading: Reading, name: str, axes: Sequence[Ast], scope: Scope) -> tuple[Ast | None, ...]:
    """Return the subscripts of all axes if these are those of a state or a sequence at one step, else nothing.

    Raises: ParseError if the axis of the steps is not known.
    """
    shape = reading.known.shapes.get(name, ())
    if name in reading.steps.states:
        rank = _RANKS.get(reading.steps.states[name], len(axes)) + 1
        return (*axes, *[None] * (rank - len(axes)))
    letters = [x for x in letters_in(axes[0]) if x in scope.indices and scope.indices[x].is_step]
    if len(axes) != 1 or not letters or not shape:
        return ()
    k = axis_of_steps(reading, name, letters[0])
    if k is None:
        hint = f"write all its subscripts, {name}_{{{letters[0]},:}} for a row"
        raise fault(f"the axis of {name} that has the steps {letters[0]} is not known", axes[0], hint)
    return (*[None] * k, axes[0], *[None] * (len(shape) - k - 1))


def axis_of_steps(reading: Reading, name: str, letter: str) -> int | None:
    """Return the axis of a declared array that has one entry for each step, or a few more; None if it is not one."""
    shape, count = reading.known.shapes[name], reading.steps.counts[letter]
    lengths = {written(added(read(count), more)) for more in range(4)} if count else set()
    found = [k for k, length in enumerate(shape) if length in lengths]
    return found[0] if len(found) == 1 else 0 if len(shape) > 2 and 0 in found else None


def _of_step(reading: Reading, base: Value, name: str, axes: Sequence[Ast | None], scope: Scope, layout: Ast) -> Value:
    """Return what has the given subscripts, and whole axes where there is none."""
    shape = (*reading.known.shapes.get(name, ()), *[""] * len(axes))
    made = [
        (whole_axis(layout), None) if axis is None
        else axis_of(reading, axis, shape[k], scope, _first(reading, name, k, axis, scope))
        for k, axis in enumerate(axes)
    ]  # fmt: skip
    rank = sum(tree.head == "slice" for tree, _ in made)
    while name in reading.steps.states and len(made) > 1 and axes[len(made) - 1] is None:
        made.pop()
    return Value(part_at(cast(Ast, base.tree), made, layout), ("scalar", "vector", "matrix", "tensor")[min(rank, 3)])


def _axes_of_data(reading: Reading, subscript: Ast) -> int:
    """Return how many axes a subscript has: those of indices that are data, or of ranges of them."""
    base, *at = subscript.args if subscript.head == "part" else (subscript,)
    if base.value not in reading.known.indices:
        return 0
    return len(reading.known.shapes[str(base.value)]) - sum(x.head != "slice" for x in at)
