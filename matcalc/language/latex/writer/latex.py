r"""Writes a syntax tree as LaTeX, in the notation of mathematics.

Division is a fraction, an inverse a superscript, elementwise operators are \odot and \oslash, and a product is
juxtaposition, which binds tighter than \odot. The caller provides the look of functions: the `latex` fields of rules.
Kinds of subformulas are tracked only as far as spelling needs them (`x'*y` is a scalar), and may be unknown: this file
decides the look of a formula, never its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from matcalc.language.exact_numbers import number_text
from matcalc.language.index_sums import lengths, with_sums
from matcalc.language.latex.latex_scope import declared_keys, key_of_name, kind_of_product, kind_of_sum
from matcalc.language.latex.layout.latex_names import Templates, escaped, operator, symbol
from matcalc.language.latex.writer import latex_steps
from matcalc.language.latex.writer.latex_templates import (
    ATOM,
    ELEMENTWISE,
    FACTOR,
    PRODUCT,
    SCRIPT,
    SUM,
    Look,
    Scope,
    at,
    fenced,
    filled,
)
from matcalc.language.one_based import moved
from matcalc.language.read import read
from matcalc.language.recurrences import EQUATION, INNER, STEP_SUM, SYSTEM
from matcalc.language.syntax import BINDERS, COUNTED_SUM, Ast, call_keywords, call_name, children, definition, parts_in
from matcalc.language.write import part_names

_RELATIONS = {"==": "=", "!=": r"\ne", "<=": r"\le", ">=": r"\ge", "<": "<", ">": ">"}
NO_LOOKS: Templates = {}
NOTHING: Mapping[str, Any] = {}
NO_SCOPE = Scope({}, NO_LOOKS, {}, {}, {})


def latex(
    ast: Ast,
    kinds: Mapping[str, str],
    templates: Templates = NO_LOOKS,
    shapes: Mapping[str, Sequence[str]] = NOTHING,
    results: Mapping[str, str] = NOTHING,
) -> str:
    """Return the LaTeX of a tree, for math mode. Subscripts count from 1, sums are written with their bounds.

    `kinds` maps each symbol to its kind ("scalar", "vector", "matrix", "tensor"), `shapes` to its lengths as text.
    Other names are scalars. `templates` are those of functions, by name; a function without one is set as a call.
    `results` are the kinds of functions' values; "same" means the kind of the operands.
    """
    names = part_names(ast)
    keys = declared_keys({**kinds, **dict.fromkeys(names.values())})
    scope = Scope(kinds, templates, shapes, results, keys)
    if not names:
        return _look(ast, scope).text
    if any(definition(part).head == SYSTEM for part in parts_in(ast)):
        return latex_steps.with_equations(ast, replace(scope, parts=names), _look)
    kinds, rows = dict(kinds), []
    for part in parts_in(ast):
        name = names[definition(part)]
        look = _look(definition(part), replace(scope, kinds=kinds, parts=names))
        kinds.setdefault(name, look.kind)
        rows.append(f"{symbol(name, kinds)} &= {look.text}")
    last = _look(ast, replace(scope, kinds=kinds, parts=names)).text
    rows.append(f"& {{{last}}}" if last[0] in "+-" else f"& {last}")
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _look(ast: Ast, scope: Scope) -> Look:
    """Return the look of a tree whose shared parts have names."""
    looks: list[Look] = []
    sizes = {word for shape in scope.shapes.values() for length in shape for word in re.findall(r"\w+", length)}
    ast = with_sums(ast, lambda name: name not in scope.kinds and name not in sizes)
    stack: list[tuple[Ast, Scope, bool]] = [(ast, scope, False)]
    while stack:
        node, scope, entered = stack.pop()
        inner = children(node)
        if entered:
            count = len(looks) - len(inner)
            looks[count:] = [_LOOKS[node.head](node, looks[count:], scope)]
            continue
        stack.append((node, scope, True))
        below = _inside(node, scope)
        stack.extend((child, below, False) for child in reversed(inner))
    return looks[0]


def _inside(node: Ast, scope: Scope) -> Scope:
    """Return the scope of the operands of `node`, which may bind names."""
    if node.head in BINDERS:
        return replace(scope, bound=scope.bound | set(cast("tuple[str, ...]", node.value)))
    if node.head in (INNER, SYSTEM):
        return latex_steps.inside(node, scope)
    if node.head in ("function", STEP_SUM):
        return replace(scope, bound=scope.bound | {str(node.value)})
    return scope


def _number(node: Ast, inner: list[Look], scope: Scope) -> Look:
    value = cast(Fraction, node.value)
    text = number_text(value)
    mantissa, e, exponent = text.partition("e")
    if e:
        factor = "" if mantissa == "1" else rf"{mantissa} \cdot "
        return Look(f"{factor}10^{{{exponent}}}", PRODUCT, "scalar")
    if "/" in text:
        sign = "-" if value < 0 else ""
        return Look(rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", FACTOR, "scalar")
    return Look(text, ATOM if value >= 0 else SUM, "scalar")


def _name(node: Ast, inner: list[Look], scope: Scope) -> Look:
    name = str(node.value)
    if name in scope.bound:
        return Look(symbol(name, {}), ATOM, "scalar")
    return Look(symbol(name, scope.kinds), ATOM, scope.kinds.get(name, "scalar"))


def _shared(node: Ast, inner: list[Look], scope: Scope) -> Look:
    name = scope.parts[definition(node)]
    return Look(symbol(name, scope.kinds), ATOM, scope.kinds.get(name, ""))


def _sum(node: Ast, inner: list[Look], scope: Scope) -> Look:
    text = ""
    for k, (sign, term) in enumerate(zip(cast("tuple[int, ...]", node.value), inner, strict=True)):
        mark = ("" if sign > 0 else "-") if not k else (" + " if sign > 0 else " - ")
        text += mark + (at(term, ELEMENTWISE) if k or sign < 0 else term.text)
    kinds = [term.kind for term in inner]
    return Look(text, SUM, next((kind for kind in kinds if kind != "scalar"), "scalar"))


def _negative(node: Ast, inner: list[Look], scope: Scope) -> Look:
    return Look(f"-{at(inner[0], ELEMENTWISE)}", SUM, inner[0].kind)


def _product(node: Ast, inner: list[Look], scope: Scope) -> Look:
    signed = node.args[0].head == "negative" and inner[0].text.startswith("-")
    first = inner[0]
    look = Look(first.text[1:], _unsigned_level(first.text), first.kind) if signed else first
    for op, factor, ast in zip(cast("tuple[str, ...]", node.value), inner[1:], node.args[1:], strict=True):
        digits = ast.head == "number"
        look = _OPERATORS[op](look, factor, digits)
    return Look(f"-{look.text}", SUM, look.kind) if signed else look


def _unsigned_level(text: str) -> int:
    loose = r"\odot" in text or r"\oslash" in text or r"\otimes" in text or text.startswith(r"-\sum")
    return ELEMENTWISE if loose else PRODUCT


def _times(left: Look, right: Look, digits: bool) -> Look:
    kind = kind_of_product(left.kind, right.kind)
    if digits:
        return Look(rf"{at(left, PRODUCT)} \cdot {at(right, FACTOR)}", PRODUCT, kind)
    is_inner = kind == "scalar" and (left.is_inner or left.kind != "scalar")
    shown = fenced(left.text) if left.is_inner and right.kind != "scalar" else at(left, PRODUCT)
    return Look(f"{shown} {at(right, FACTOR)}", PRODUCT, kind, is_inner=is_inner)


def _elementwise(sign: str) -> Callable[[Look, Look, bool], Look]:
    def written(left: Look, right: Look, digits: bool) -> Look:
        kind = right.kind if left.kind == "scalar" else left.kind
        alike = left.sign in (r"\odot", r"\oslash")
        shown = at(left, ELEMENTWISE if alike else PRODUCT)
        return Look(f"{shown} {sign} {at(right, FACTOR)}", ELEMENTWISE, kind, sign=sign)

    return written


def _hadamard(left: Look, right: Look, digits: bool) -> Look:
    if "scalar" in (left.kind, right.kind):
        return _times(left, right, digits)
    return _elementwise(r"\odot")(left, right, digits)


def _divided(left: Look, right: Look, digits: bool) -> Look:
    return Look(rf"\frac{{{left.text}}}{{{right.text}}}", FACTOR, left.kind)


def _quotients(left: Look, right: Look, digits: bool) -> Look:
    if right.kind == "scalar":
        return _divided(left, right, digits)
    return _elementwise(r"\oslash")(left, right, digits)


def _solved(left: Look, right: Look, digits: bool) -> Look:
    return Look(f"{at(left, ATOM)}^{{-1}} {at(right, FACTOR)}", PRODUCT, right.kind)


def _floor(left: Look, right: Look, digits: bool) -> Look:
    return Look(rf"\left\lfloor \frac{{{left.text}}}{{{right.text}}} \right\rfloor", FACTOR, "scalar")


def _modulo(left: Look, right: Look, digits: bool) -> Look:
    return Look(rf"{at(left, PRODUCT)} \bmod {at(right, FACTOR)}", SUM, "scalar")


_OPERATORS: dict[str, Callable[[Look, Look, bool], Look]] = {
    "*": _times, "@": _times, ".*": _hadamard, "/": _divided, "./": _quotients, "\\": _solved,
    "//": _floor, "%": _modulo,
}  # fmt: skip


def _power(node: Ast, inner: list[Look], scope: Scope) -> Look:
    base, exponent = inner
    above = exponent.text
    if above == "-T" and "T" not in scope.kinds:
        above = r"-\top"
    if node.args[1].head == "product":
        above = _slashed(node.args[1], exponent)
    is_array = exponent.kind in ("vector", "row", "matrix", "tensor")
    if node.value == ".^" and (base.kind != "scalar" or is_array):
        above = rf"\circ {above}" if exponent.level == ATOM else rf"\circ ({above})"
    if above == "-1" and node.args[0].head == "transpose":
        return Look(f"{base.base}^{{-\\top}}", SCRIPT, base.kind)
    below = at(base, ATOM)
    kind = exponent.kind if base.kind == "scalar" and is_array and node.value == ".^" else base.kind
    return Look(f"{below}^{{{above}}}", SCRIPT, kind, below if above == "-1" else "")


def _slashed(exponent: Ast, look: Look) -> str:
    """Return an exponent such as 1/2 on one line."""
    a, b = exponent.args[0], exponent.args[-1]
    if exponent.value == ("/",) and a.head == b.head == "number":
        return f"{number_text(cast(Fraction, a.value))}/{number_text(cast(Fraction, b.value))}"
    return look.text


def _transpose(node: Ast, inner: list[Look], scope: Scope) -> Look:
    x = inner[0]
    kind = {"vector": "row", "row": "vector"}.get(x.kind, x.kind)
    if x.base and x.text == f"{x.base}^{{-1}}":
        return Look(f"{x.base}^{{-\\top}}", SCRIPT, kind)
    if node.args[0].head == "part" and x.base:
        return Look(x.base, ATOM, kind)
    base = at(x, FACTOR if node.args[0].head == "call" and x.level == FACTOR else ATOM)
    return Look(rf"{base}^\top", SCRIPT, kind, base)


def _call(node: Ast, inner: list[Look], scope: Scope) -> Look:
    name, keywords = call_name(node), call_keywords(node)
    arguments = tuple(inner[: len(node.args)])
    kind = arguments[0].kind if arguments else ""
    result = "" if keywords else scope.results.get(name, "")
    if result == "same":
        result = next((x.kind for x in arguments if x.kind != "scalar"), "scalar")
    look = None if keywords else filled([f"{name}:{kind}", name], arguments, scope)
    if look is not None:
        return replace(look, kind=result)
    texts = [x.text for x in arguments]
    named = zip(keywords, inner[len(node.args) :], strict=True)
    texts += [rf"\mathrm{{{escaped(key)}}}={_keyword_value(value, x)}" for (key, value), x in named]
    return Look(operator(name) + fenced(", ".join(texts)), FACTOR, result, "", () if keywords else arguments)


def _keyword_value(value: Ast, look: Look) -> str:
    """Return the value of a keyword; a list of integers, `axis=[0, 1]`, in parentheses."""
    is_list = value.head == "block" and len(value.args) == 1
    return fenced(", ".join(_look(entry, NO_SCOPE).text for entry in value.args[0].args)) if is_list else look.text


_KINDS = ("scalar", "vector", "matrix", "tensor")


def _part(node: Ast, inner: list[Look], scope: Scope) -> Look:
    step = latex_steps.part_of_state(node, scope, _look)
    if step is not None:
        return step
    base, ast = inner[0], node.args[0]
    shape = scope.shapes.get(str(ast.value), ()) if ast.head == "name" else ()
    below_base = latex_steps.subscripts(node, shape, scope)
    subscripts = [_look(x, scope) for x in below_base]
    short = all(x.head == "name" and len(str(x.value)) == 1 and x.value in scope.bound for x in below_base)
    shown_below = [
        x.base if a.head == "part" and x.base else x.text for x, a in zip(subscripts, below_base, strict=True)
    ]
    below = ("" if short else ",").join(shown_below)
    rank = {"vector": 1, "row": 1, "matrix": 2}.get(base.kind, len(subscripts))
    entry = rank == len(subscripts) and all(x.head != "slice" for x in node.args[1:])
    if ast.head == "call" and base.arguments and all(x.value in scope.bound for x in node.args[1:]):
        look = filled([f"{call_name(ast)}[]"], (*base.arguments, *subscripts), scope)
        if look is not None:
            return Look(look.text, SCRIPT, "scalar")
    if ast.head != "name":
        plain = base.level == ATOM and "_" not in base.text
        shown = f"{base.text if plain else fenced(base.text)}_{{{below}}}"
    elif (*key_of_name(str(ast.value), scope.kinds), *below.split(",")) in scope.keys:
        shown = f"[{base.text}]_{{{below}}}"
    else:
        text = symbol(str(ast.value), scope.kinds, entry=True) if entry else base.text
        shown = f"{{{text}}}_{{{below}}}" if "_" in text else f"{text}_{{{below}}}"
    ranges = [x.head == "slice" for x in node.args[1:]]
    gathered = max(
        _KINDS.index(x.kind) if x.kind in _KINDS and a.value not in scope.bound else 0
        for x, a in zip(inner[1:], node.args[1:], strict=True)
    )
    if ranges == [False, True] and not gathered:
        return Look(rf"{shown}^\top", SCRIPT, "vector", shown)
    return Look(shown, ATOM, _KINDS[min(sum(ranges) + gathered, 3)])


def _slice(node: Ast, inner: list[Look], scope: Scope) -> Look:
    start, stop, step = (x.text for x in inner)
    return Look(f"{start}:{stop}" + (f":{step}" if step else ""), SUM)


def _empty(node: Ast, inner: list[Look], scope: Scope) -> Look:
    return Look("")


def _row(node: Ast, inner: list[Look], scope: Scope) -> Look:
    return Look(" & ".join(x.text for x in inner))


def _block(node: Ast, inner: list[Look], scope: Scope) -> Look:
    rows = r" \\ ".join(x.text for x in inner)
    return Look(rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}")


def _index_form(node: Ast, inner: list[Look], scope: Scope) -> Look:
    names = cast("tuple[str, ...]", node.value)
    kind = {0: "scalar", 1: "vector", 2: "matrix"}.get(len(names), "")
    if not names:
        return Look(inner[0].text, inner[0].level, kind)
    return Look(rf"\left[{inner[0].text}\right]_{{{_indices(names)}}}", ATOM, kind)


def _index_sum(node: Ast, inner: list[Look], scope: Scope) -> Look:
    """Return the look of a sum over indices; it needs parentheses before a further factor."""
    names = cast("tuple[str, ...]", node.value)
    signs = []
    for name, length in zip(names, lengths(names, node.args[0], scope.shapes), strict=True):
        bounds = rf"=1}}^{{{_look(read(length), scope).text}}}" if length else "}"
        signs.append(rf"\sum_{{{symbol(name, {})}{bounds}")
    if not any("^" in sign for sign in signs):
        signs = [rf"\sum_{{{_indices(names)}}}"]
    return Look(f"{' '.join(signs)} {at(inner[0], PRODUCT)}", ELEMENTWISE, inner[0].kind or "scalar")


def _counted_sum(node: Ast, inner: list[Look], scope: Scope) -> Look:
    """Return the look of a sum over the numbers 0, ..., n of an index that is no subscript."""
    body, last = inner
    return Look(
        rf"\sum_{{{symbol(str(node.value), {})}=0}}^{{{last.text}}} {at(body, PRODUCT)}", ELEMENTWISE, body.kind
    )


def _indices(names: Sequence[str]) -> str:
    shown = [symbol(name, {}) for name in names]
    return ("" if all(len(x) == 1 for x in shown) else ",").join(shown)


def _relation(node: Ast, inner: list[Look], scope: Scope) -> Look:
    left, right = inner
    return Look(f"{left.text} {_RELATIONS[str(node.value)]} {right.text}", SUM, kind_of_sum([left.kind, right.kind]))


def _condition(node: Ast, inner: list[Look], scope: Scope) -> Look:
    sides = [_look(side, scope) for side in moved(node, scope.bound, 1).args]
    return Look(fenced(_relation(node, sides, scope).text, "[", "]"), FACTOR, "scalar")


def _function(node: Ast, inner: list[Look], scope: Scope) -> Look:
    return Look(rf"{symbol(str(node.value), {})} \mapsto {inner[0].text}", 0)


def _spread(node: Ast, inner: list[Look], scope: Scope) -> Look:
    return Look(rf"{at(inner[0], SCRIPT)}, \ldots")


_LOOKS: dict[str, Callable[[Ast, list[Look], Scope], Look]] = {
    "number": _number, "name": _name, "shared": _shared,
    "state": lambda node, inner, scope: latex_steps.state(node, scope),
    "step_sum": lambda node, inner, scope: latex_steps.step_sum(node, inner[1], scope, _look),
    EQUATION: lambda node, inner, scope: latex_steps.equation(node, inner, scope),
    SYSTEM: lambda node, inner, scope: latex_steps.system(node, inner),
    INNER: lambda node, inner, scope: latex_steps.inner(node, inner),
    "sum": _sum, "negative": _negative, "product": _product,
    "power": _power, "transpose": _transpose, "call": _call, "part": _part, "slice": _slice,
    "empty": _empty, "row": _row, "block": _block, "index_form": _index_form, "index_sum": _index_sum,
    COUNTED_SUM: _counted_sum,
    "compare": _relation, "condition": _condition, "function": _function, "spread": _spread,
}  # fmt: skip
