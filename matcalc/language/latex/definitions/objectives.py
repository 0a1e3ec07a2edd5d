r"""Finds the formula that \min_w, \arg\max_\theta and the like in front of a whole line optimise."""

from __future__ import annotations

from typing import cast

from matcalc.language.latex.definitions.statements import EXTREMES, Statement
from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import Reading, fault, key_of, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.latex.recurrences.steps import DOTS
from matcalc.language.syntax import Ast, walk

_ARGUMENTS = ("arg", "argmin", "argmax")


def objective(reading: Reading, one: Statement) -> Ast:
    r"""Return the formula that \min_w, \arg\max_\theta and the like in front of a whole line optimise.

    Raises: ParseError for a constraint, and for the least value of a function, v(y) = \min_x f(x, y).
    """
    layout = one.formula
    while (found := _optimised(reading, layout)) is not None:
        big, is_argument, layout = found
        if one.parameters is not None and not is_argument:
            hint = "write only the formula inside; its gradient at the best point is that of the value"
            raise fault("the least or greatest value of a formula is not a formula", big, hint)
    return layout


def _optimised(reading: Reading, layout: Ast) -> tuple[Ast, bool, Ast] | None:
    """Return an operator that optimises a whole line, whether it returns the argument (\\arg), and its formula."""
    if layout.head == "chain" and layout.value[1] is False:  # type: ignore[index]
        found = _optimised(reading, layout.args[0])
        if found is None:
            return None
        big, is_argument, first = found
        signs, _ = cast("tuple[tuple[int, ...], bool]", layout.value)
        terms = [first, *layout.args[1:]]
        begins = False
        if first.head == "chain":
            own, begins = cast("tuple[tuple[int, ...], bool]", first.value)
            terms, signs = [*first.args, *layout.args[1:]], (*own, *signs[1:])
        return big, is_argument, Ast("chain", tuple(terms), (signs, begins), layout.span, layout.at)
    items = layout.args if layout.head == "row" else (layout,)
    big = items[-1]
    words = [x.value[0] if x.head == "word" else "" for x in items[:-1]]  # type: ignore[index]
    if big.head != "big" or words not in ([], ["arg"]):
        return None
    word, marks = cast("tuple[str, tuple[str, ...]]", big.value)
    is_argument = bool(words) or word in _ARGUMENTS
    if word not in (*EXTREMES, *_ARGUMENTS) or marks != ("_",):
        return None
    below, body = big.args
    if not is_argument and not all(_is_variable(reading, x, body) for x in elements(below)):
        return None
    for element in elements(below):
        _check_free(element)
    return big, is_argument, body


def _is_variable(reading: Reading, element: Ast, body: Ast) -> bool:
    """Return whether an element below \\min is a symbol of the formula and not an index."""
    layout = element.args[0] if element.head == "relation" else element
    if layout.head == "word" and layout.value[0] in DOTS:  # type: ignore[index]
        return True  # \max_{w_1, \dots, w_K}
    key = whole_key(layout)
    if key is None:
        return False
    if key in reading.keys:
        return not set(reading.keys[key]) & set(reading.known.sizes)
    below = {x for node in walk(body) if node.head == "script" and (s := subscript_of(node)) for x in walk(s)}
    if not any(key_of(x) == key[:1] for x in walk(body)):  # \theta of a model with parameters of other names
        return True
    return any(key_of(x) == key[:1] and x not in below for x in walk(body))


def _check_free(element: Ast) -> None:
    r"""Raise ParseError for a constraint; w \in \mathbb{R}^n, w \ge 0 and \Theta \succ 0 are allowed."""
    if element.head != "relation":
        return
    signs, last = cast("tuple[str, ...]", element.value), element.args[-1]
    if signs == (r"\in",):
        space = unbraced(without_top(last)[0])
        while space.head == "script":
            space = space.args[0]
        if space.head in ("letter", "word") and space.value[1] == "double":  # type: ignore[index]
            return
    if signs[0] in (r"\succ", r"\succeq", ">", ">=") and last.head == "number":
        return
    hint = "write the formula alone; minimize(..., constraints=...) takes constraints"
    raise fault("a constraint below an operator is not supported", element, hint)
