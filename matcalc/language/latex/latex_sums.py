r"""Reads sums in LaTeX and other operations over indices: \prod, \max_i, \min_{i,j}, with bounds and conditions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import cast

from matcalc.language import syntax
from matcalc.language.identifiers import supply
from matcalc.language.latex.latex_axes import elements, is_number, letters_in, sum_of
from matcalc.language.latex.latex_bounds import as_range, bounds_of, index_letters, members, range_of
from matcalc.language.latex.latex_data_indices import beside_datum, condition_on
from matcalc.language.latex.latex_lengths import unbounded
from matcalc.language.latex.latex_scope import (
    Index,
    Reading,
    Scope,
    Value,
    fault,
    kind_of_product,
    needed,
    subscript_of,
)
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_names import NEUTRAL, OVER, REFUSED
from matcalc.language.one_based import added, moved
from matcalc.language.read import read
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import text as written


def indices_of(reading: Reading, node: Ast, scope: Scope) -> Mapping[str, Index]:
    r"""Return the indices that \sum and the like bind, with their bounds.

    Raises: ParseError for anything that is not an index.
    """
    if node in reading.sums:
        return reading.sums[node]
    word, marks = cast("tuple[str, tuple[str, ...]]", node.value)
    if word not in reading.names.parameters:
        raise fault(f"\\{word} is not supported", node, REFUSED.get(word, ""))
    lost = [
        x
        for x in letters_in(node.args[0])
        if word in OVER and (x,) in reading.keys and x not in reading.known.sizes | reading.known.indices
    ]
    if lost and not any(
        x in lost for y in walk(node.args[-1]) if y.head == "script" and (s := subscript_of(y)) for x in letters_in(s)
    ):
        hint = f"a whole formula may begin with \\{word}_{lost[0]}; it is read without it"
        raise fault(f"the least or greatest value over {lost[0]} is not a formula", node, hint)
    scripts = dict(zip(marks, node.args, strict=False))
    if "_" not in scripts:
        raise fault(f"\\{word} without an index", node, rf"write \{word}_{{i=1}}^{{n}}")
    high = scripts.get("^")
    found: dict[str, Index] = {}
    waiting: dict[str, str] = {}
    conditions: list[Ast] = []
    for element in map(as_range, elements(scripts["_"])):
        if (beside := beside_datum(reading, element)) is not None:
            conditions.append(condition_on(reading, element, beside))
            waiting.update({beside: ""} if beside not in scope.indices and beside not in found else {})
            continue
        if _is_condition(element):
            sides = [x for side in element.args for x in index_letters(side)]
            _check_own(element, sides, scope)
            ends = [range_of(scope.indices[x]) for x in sides if x in scope.indices]
            ends += [range_of(found[x]) for x in sides if x in found]
            free = [x for x in sides if x not in scope.indices and x not in found]
            waiting.update({x: ends[0] if ends else "" for x in free})
            conditions.append(_condition_of(element))
            continue
        if element.head == "relation" and element.value == (r"\in",):
            sizes, condition = members(reading, element)
            found.update({name: Index(name, size=size) for name, size in sizes.items()})
            conditions += [] if condition is None else [condition]
            continue
        if element.head == "relation":
            letters, low, top, more = bounds_of(reading, element, high, scope)
            names = [*waiting, *letters]
            found.update({name: Index(name, low, top) for name in names})
            conditions += more
            waiting = {}
            continue
        waiting.update(dict.fromkeys(index_letters(element), ""))
    if high is not None and conditions and not found:  # \sum_{j \ne i}^{n}, \sum_{i<j}^{n}
        found = {name: Index(name, syntax.number(1), needed(reading, unbraced(high)).tree) for name in waiting}
        waiting = {}
    if high is not None and waiting:
        raise fault("a last value without a first", scripts["_"], rf"write \{word}_{{{[*waiting][0]}=1}}^{{...}}")
    for name, size in waiting.items():
        found[name] = unbounded(reading, node.args[-1], name, size)
    if conditions and word != "sum" and word not in NEUTRAL:
        hint = "write the values that are left out as a choice, with cases"
        raise fault(f"\\{word} with a condition on its indices is not supported", scripts["_"], hint)
    counted = {name for name, index in {**scope.indices, **found}.items() if not index.is_step}
    reading.conditions[node] = tuple(moved(x, counted, -1) if x.head == "condition" else x for x in conditions)
    for index in found.values():
        index.conditions = tuple(x for x in conditions if x.head == "condition")
    found = {
        name: _over_steps(reading, index) if name in reading.steps.begins else index for name, index in found.items()
    }
    if twice := [name for name in found if name in scope.indices]:
        raise fault(f"the index {twice[0]} is bound already", node, "give one of the two another letter")
    reading.sums[node] = found
    return found


def _check_own(element: Ast, sides: list[str], scope: Scope) -> None:
    r"""Raise ParseError for \sum_{i<j} in a sum over both, which would only be a condition of that one."""
    if {*sides} <= scope.indices.keys():
        hint = "write parentheses around the first sum, or give one of the two other letters"
        raise fault(f"the index {sides[0]} is bound already", element, hint)


def index_form(reading: Reading, node: Ast, names: tuple[str, ...], body: Value) -> Value:
    r"""Return the vector or matrix of an index form, \left[ A_{ik} \right]_{ij}.

    The length of an index that is no whole subscript is its range elsewhere in the passage. Vectors h_i are the rows of
    a matrix.
    """
    tree = with_first_values(cast(Ast, body.tree), {name: Index(name) for name in names})
    whole = {str(x.value) for part in walk(tree) if part.head == "part" for x in part.args[1:] if x.head == "name"}
    ones = reading.names.roles["all_ones"]
    factors = [
        syntax.part(syntax.call(ones, read(reading.ranges[name])), Ast("name", (), name, node.span))
        for name in names
        if name not in whole and name in reading.ranges
    ]
    if body.kind in ("vector", "row"):
        (axis,) = _fresh(reading, node, names, 1)
        tree = syntax.part(syntax.transpose(tree) if body.kind == "row" else tree, syntax.name(axis))
        names = (*names, axis)
    tree = syntax.product([*factors, tree], ["*"] * len(factors)) if factors else tree
    kind = {1: "vector", 2: "matrix"}.get(len(names), "tensor")
    return Value(Ast("index_form", (tree,), names, node.span), kind)


def _fresh(reading: Reading, node: Ast, names: Collection[str], count: int) -> list[str]:
    """Return letters for the axes of arrays that are summed or listed."""
    used = {*names, *reading.known.kinds, *reading.known.sizes, *letters_in(node), *letters_in(reading.root)}
    letters = supply("abcdefgh", used)
    return [next(letters) for _ in range(count)]


def _over_steps(reading: Reading, index: Index) -> Index:
    """Return the index of a sum as the index of the steps if it has all their values, else as one of another name."""
    begin, count = reading.steps.begins[index.name], reading.steps.counts[index.name]
    low, high = index.low, index.high
    if low is None or high is None:
        return Index(index.name, low=syntax.number(begin), is_step=True)
    if low.head == "number" and count == written(added(high, 1 - int(cast(Fraction, low.value)))):
        return Index(index.name, low=low, is_step=True)
    used = {
        *reading.known.kinds,
        *reading.known.sizes,
        *reading.parts,
        *reading.steps.begins,
        *letters_in(reading.root),
    }
    return Index(next(supply("ijklpq", used)), low, high)


def _is_condition(element: Ast) -> bool:
    """Return whether a subscript of a sum is a condition on its indices, i < j."""
    letters = all(x.head == "letter" for x in element.args)
    return element.head == "relation" and letters and element.value in (("<",), ("<=",), (">",), (">=",), ("!=",))


def read_sum(reading: Reading, node: Ast, bound: Mapping[str, Index], body: Value) -> Value:
    """Return a sum, a product, a largest or smallest value over indices.

    Raises: ParseError for any other operation, or if its end is ambiguous.
    """
    word = str(node.value[0])  # type: ignore[index]
    layout = node.args[-1]
    used = {name for x in walk(layout) if x.head == "script" for name in letters_in(x) if name in bound}
    used |= {name for name, index in bound.items() if index.high is not None}
    if set(bound) - used:
        lost = sorted(set(bound) - used)[0]
        raise fault(f"the index {lost} is not used as a subscript", node, f"\\{word} is over indices of entries")
    body = _chosen(reading, node, body) if word == "sum" else _or_neutral(reading, node, body, word, bound)
    steps = tuple(index.name for index in bound.values() if index.is_step)
    if steps and word != "sum":
        raise fault(f"\\{word} over the steps of a recurrence is not supported", node)
    others = {index.name: index for index in bound.values() if not index.is_step}
    body = body._replace(tree=with_first_values(cast(Ast, body.tree), others))
    factors = [_measure(reading, index) for index in others.values() if index.high is not None and not index.measured]
    tree = cast(Ast, body.tree)
    tree = syntax.product([*factors, tree], ["*"] * len(factors)) if factors else tree
    is_loose = layout.head == "row" and len(layout.args) > 1 and not _holds(layout.args[-1], bound)
    is_loose = is_loose and not (word in OVER and _begins_with_array(reading, layout, bound))
    span = node.span
    names = tuple(others)
    if word == "sum":
        found = _of_entries(reading, node, tree, body.kind, names) if names else tree
        found = Ast("index_sum", (found,), steps, span) if steps else found
        return Value(found, body.kind, unclear="sum" if is_loose else "")
    if is_loose:
        raise fault(f"the end of the operand of \\{word} is ambiguous", layout.args[-1], "write parentheses")
    if body.kind not in ("scalar", ""):
        raise fault(f"\\{word} of a {body.kind} over indices is not supported", node)
    form = Ast("index_form", (tree,), names, span)
    return Value(Ast("call", (form,), (word, ()), span), "scalar")


def _of_entries(reading: Reading, node: Ast, tree: Ast, kind: str, names: tuple[str, ...]) -> Ast:
    """Return a sum over indices; a sum of vectors or matrices becomes a sum of their entries."""
    axes = _fresh(reading, node, names, {"vector": 1, "row": 1, "matrix": 2}.get(kind, 0))
    if not axes:
        return Ast("index_sum", (tree,), names, node.span)
    column = syntax.transpose(tree) if kind == "row" else tree
    entry = syntax.part(column, *map(syntax.name, axes))
    form = Ast("index_form", (Ast("index_sum", (entry,), names, node.span),), tuple(axes), node.span)
    return syntax.transpose(form) if kind == "row" else form


def _condition_of(element: Ast) -> Ast:
    """Return a condition on indices below a sum as a tree."""
    sides = tuple(Ast("name", (), str(x.value[0]), x.span) for x in element.args)  # type: ignore[index]
    return Ast("condition", sides, str(element.value[0]), element.span, element.at)  # type: ignore[index]


def _chosen(reading: Reading, node: Ast, body: Value) -> Value:
    """Return the summand times the conditions below the sum; outside of a set that is data it is not evaluated."""
    for condition in reading.conditions[node]:
        tree = cast(Ast, body.tree)
        if condition.head == "compare":
            choice = syntax.call(reading.names.roles["choice"], condition, tree, syntax.number(0))
            body = body._replace(tree=replace(choice, span=node.span))
            continue

        def where(sign: str, tree: Ast = tree, condition: Ast = condition) -> Ast:
            return syntax.product([tree, replace(condition, value=sign)], ["*"])

        if condition.value != "!=":
            chosen = where(str(condition.value))
        elif _may_be_infinite(tree):
            chosen = syntax.add([where("<"), where(">")], [1, 1])
        else:
            chosen = syntax.add([tree, where("==")], [1, -1])
        body = body._replace(tree=chosen)
    return body


def _or_neutral(reading: Reading, node: Ast, body: Value, word: str, bound: Mapping[str, Index]) -> Value:
    """Return the operand of a product or a maximum, with a value that changes nothing where a condition fails."""
    conditions = [x for x in reading.conditions[node] if x.head == "compare"]
    conditions += [x for index in [*bound.values()][:1] for x in index.conditions]
    for condition in conditions:
        holds = replace(condition, head="compare")
        tree = syntax.call(reading.names.roles["choice"], holds, cast(Ast, body.tree), read(NEUTRAL[word]))
        body = body._replace(tree=replace(tree, span=node.span))
    return body


def _may_be_infinite(tree: Ast) -> bool:
    """Return whether a summand divides, has a power or calls a function: where indices are equal it may be infinite."""
    divides = (x.head == "product" and {*cast("tuple[str, ...]", x.value)} & {"/", "./"} for x in walk(tree))
    return any(divides) or any(x.head in ("call", "power") for x in walk(tree))


def with_first_values(tree: Ast, bound: Mapping[str, Index]) -> Ast:
    """Return a body in which indices that are numbers have the values that LaTeX gives them.

    Index i counts from its first value, which is 1 without bounds, so as a number it is i + 1. Subscripts are
    converted already, and conditions for indices that count from 1.
    """
    one = Ast("number", (), Fraction(1))
    firsts = {name: index.low if index.low is not None else one for name, index in bound.items()}
    numbers: dict[Ast, Ast] = {}
    stack = [(tree, False)]
    while stack:
        node, in_condition = stack.pop()
        if node.head == "name" and node.value in firsts:
            first = firsts[str(node.value)]
            numbers[node] = sum_of(node, sum_of(first, one, -1) if in_condition else first)
        inner = node.args[:1] if node.head == "part" else syntax.children(node)
        stack.extend((child, in_condition or node.head == "condition") for child in inner)
    return syntax.rebuild(tree, lambda node: numbers.get(node, node)) if numbers else tree


def _holds(layout: Ast, bound: Mapping[str, Index]) -> bool:
    return any(name in bound for name in letters_in(layout))


def _begins_with_array(reading: Reading, layout: Ast, bound: Mapping[str, Index]) -> bool:
    r"""Return whether the factors up to the last with an index are no number: \max_k u_k^\top v has no other end."""
    last = max((k for k, x in enumerate(layout.args) if _holds(x, bound)), default=-1)
    factors = [reading.made.get(x) for x in layout.args[: last + 1] if x.head != "operator"]
    kinds = [x.kind if x is not None and x.fault is None and x.tree is not None else "" for x in factors]
    return bool(kinds) and "" not in kinds and reduce(kind_of_product, kinds) in ("vector", "row", "matrix")


def _measure(reading: Reading, index: Index) -> Ast:
    """Return ones(n)[i], a factor that fixes the length of an index."""
    one = Ast("number", (), Fraction(1))
    low, high = cast(Ast, index.low), cast(Ast, index.high)
    length = sum_of(sum_of(high, low, -1), one) if not is_number(low, 1) else high
    ones = syntax.call(reading.names.roles["all_ones"], length)
    return syntax.part(ones, Ast("name", (), index.name))
