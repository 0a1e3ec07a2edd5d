r"""LaTeX: Ast -> the formula as a mathematician sets it. A printing like `write`, with a notation of its own.

Division is a fraction, an inverse a superscript, elementwise operators are \odot and \oslash, and a product
is juxtaposition, which binds tighter than \odot. What functions look like is said by the caller: the `latex` fields
of rules. Kinds of subformulas are followed only as far as spelling needs them (`x'*y`
is a scalar), and unknown is a permitted answer: this file decides how a formula looks, never what it means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

from matcalc.language.latex_names import Templates, escaped, operator, symbol
from matcalc.language.syntax import BINDERS, Ast, call_keywords, call_name, children, definition, parts_in
from matcalc.language.write import number_text, part_names

SUM, ELEMENTWISE, PRODUCT, FACTOR, SCRIPT, ATOM = range(1, 7)
"""What binds how tightly; FACTOR takes no superscript (a fraction, a call), SCRIPT has one already."""

_RELATIONS = {"==": "=", "!=": r"\ne", "<=": r"\le", ">=": r"\ge", "<": "<", ">": ">"}
_PLACE = re.compile(r"(?<![A-Za-z_^])\{(\d)(\^?)\}")
_TALL = re.compile(r"\\frac|\\begin|\\left|\\sum")


NO_LOOKS: Templates = {}


@dataclass(frozen=True, slots=True)
class _Look:
    """A subformula's LaTeX; `kind` is scalar, vector, row, matrix, tensor or "" for unknown.

    `base` is what stands below the superscript -1 or T; `arguments` are those of a call. `is_inner` says that it is the
    product of a row and a column, which another factor must not follow without parentheses: (x'*A*x)*y.
    """

    text: str
    level: int = ATOM
    kind: str = ""
    base: str = ""
    arguments: tuple[_Look, ...] = ()
    is_inner: bool = False


@dataclass(frozen=True, slots=True)
class _Scope:
    """What names mean: kinds of symbols, looks of functions, the indices and parameters bound here, shared parts."""

    kinds: Mapping[str, str]
    templates: Templates
    bound: frozenset[str] = frozenset()
    parts: Mapping[Ast, str] = field(default_factory=dict)


def latex(ast: Ast, kinds: Mapping[str, str], templates: Templates = NO_LOOKS) -> str:
    """Return the LaTeX of a tree, for math mode.

    `kinds` gives the kind of each symbol ("scalar", "vector", "matrix", "tensor"); other names are scalars.
    `templates` are of functions, by name; one that has none is set as a call.
    """
    scope = _Scope(kinds, templates)
    names = part_names(ast)
    if not names:
        return _look(ast, scope).text
    kinds, rows = dict(kinds), []
    for part in parts_in(ast):
        name = names[definition(part)]
        look = _look(definition(part), _Scope(kinds, scope.templates, parts=names))
        kinds.setdefault(name, look.kind)
        rows.append(f"{symbol(name, kinds)} &= {look.text}")
    rows.append(f"& {_look(ast, _Scope(kinds, scope.templates, parts=names)).text}")
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _look(ast: Ast, scope: _Scope) -> _Look:
    """Return the look of a tree whose shared parts have names."""
    looks: list[_Look] = []
    stack: list[tuple[Ast, _Scope, bool]] = [(ast, scope, False)]
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


def _inside(node: Ast, scope: _Scope) -> _Scope:
    """Return the scope of the operands of `node`, which may bind names."""
    if node.head in BINDERS:
        return replace(scope, bound=scope.bound | set(cast("tuple[str, ...]", node.value)))
    if node.head == "function":
        return replace(scope, bound=scope.bound | {str(node.value)})
    return scope


def _fenced(text: str, opening: str = "(", closing: str = ")") -> str:
    if _TALL.search(text):
        return rf"\left{opening}{text}\right{closing}"
    return f"{opening}{text}{closing}"


def _at(look: _Look, least: int) -> str:
    return look.text if look.level >= least else _fenced(look.text)


def _number(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    value = cast(Fraction, node.value)
    text = number_text(value)
    mantissa, e, exponent = text.partition("e")
    if e:
        factor = "" if mantissa == "1" else rf"{mantissa} \cdot "
        return _Look(f"{factor}10^{{{exponent}}}", PRODUCT, "scalar")
    if "/" in text:
        sign = "-" if value < 0 else ""
        return _Look(rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", FACTOR, "scalar")
    return _Look(text, ATOM if value >= 0 else SUM, "scalar")


def _name(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    name = str(node.value)
    if name in scope.bound:
        return _Look(symbol(name, {}), ATOM, "scalar")
    return _Look(symbol(name, scope.kinds), ATOM, scope.kinds.get(name, "scalar"))


def _shared(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    name = scope.parts[definition(node)]
    return _Look(symbol(name, scope.kinds), ATOM, scope.kinds.get(name, ""))


def _sum(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    text = ""
    for k, (sign, term) in enumerate(zip(cast("tuple[int, ...]", node.value), inner, strict=True)):
        mark = ("" if sign > 0 else "-") if not k else (" + " if sign > 0 else " - ")
        text += mark + (_at(term, ELEMENTWISE) if k or sign < 0 else term.text)
    kinds = [term.kind for term in inner]
    return _Look(text, SUM, next((kind for kind in kinds if kind != "scalar"), "scalar"))


def _negative(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    return _Look(f"-{_at(inner[0], ELEMENTWISE)}", SUM, inner[0].kind)


def _product(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    signed = node.args[0].head == "negative" and inner[0].text.startswith("-")
    first = inner[0]
    look = _Look(first.text[1:], _unsigned_level(first.text), first.kind) if signed else first
    for op, factor, ast in zip(cast("tuple[str, ...]", node.value), inner[1:], node.args[1:], strict=True):
        digits = ast.head == "number"
        look = _OPERATORS[op](look, factor, digits)
    return _Look(f"-{look.text}", SUM, look.kind) if signed else look


def _unsigned_level(text: str) -> int:
    loose = r"\odot" in text or r"\oslash" in text or text.startswith(r"-\sum")
    return ELEMENTWISE if loose else PRODUCT


def _times(left: _Look, right: _Look, digits: bool) -> _Look:
    kind = _product_kind(left.kind, right.kind)
    if digits:
        return _Look(rf"{_at(left, PRODUCT)} \cdot {_at(right, FACTOR)}", PRODUCT, kind)
    is_inner = kind == "scalar" and (left.is_inner or left.kind != "scalar")
    shown = _fenced(left.text) if left.is_inner and right.kind != "scalar" else _at(left, PRODUCT)
    return _Look(f"{shown} {_at(right, FACTOR)}", PRODUCT, kind, is_inner=is_inner)


def _product_kind(left: str, right: str) -> str:
    if "scalar" in (left, right):
        return right if left == "scalar" else left
    kinds = {
        ("row", "vector"): "scalar", ("vector", "row"): "matrix", ("matrix", "vector"): "vector",
        ("row", "matrix"): "row", ("matrix", "matrix"): "matrix",
    }  # fmt: skip
    return kinds.get((left, right), "")


def _elementwise(sign: str) -> Callable[[_Look, _Look, bool], _Look]:
    def written(left: _Look, right: _Look, digits: bool) -> _Look:
        kind = right.kind if left.kind == "scalar" else left.kind
        return _Look(f"{_at(left, ELEMENTWISE)} {sign} {_at(right, FACTOR)}", ELEMENTWISE, kind)

    return written


def _hadamard(left: _Look, right: _Look, digits: bool) -> _Look:
    if "scalar" in (left.kind, right.kind):
        return _times(left, right, digits)
    return _elementwise(r"\odot")(left, right, digits)


def _divided(left: _Look, right: _Look, digits: bool) -> _Look:
    return _Look(rf"\frac{{{left.text}}}{{{right.text}}}", FACTOR, left.kind)


def _quotients(left: _Look, right: _Look, digits: bool) -> _Look:
    if right.kind == "scalar":
        return _divided(left, right, digits)
    return _elementwise(r"\oslash")(left, right, digits)


def _solved(left: _Look, right: _Look, digits: bool) -> _Look:
    return _Look(f"{_at(left, ATOM)}^{{-1}} {_at(right, FACTOR)}", PRODUCT, right.kind)


def _floor(left: _Look, right: _Look, digits: bool) -> _Look:
    return _Look(rf"\left\lfloor \frac{{{left.text}}}{{{right.text}}} \right\rfloor", FACTOR, "scalar")


def _modulo(left: _Look, right: _Look, digits: bool) -> _Look:
    return _Look(rf"{_at(left, PRODUCT)} \bmod {_at(right, FACTOR)}", SUM, "scalar")


_OPERATORS: dict[str, Callable[[_Look, _Look, bool], _Look]] = {
    "*": _times, "@": _times, ".*": _hadamard, "/": _divided, "./": _quotients, "\\": _solved,
    "//": _floor, "%": _modulo,
}  # fmt: skip


def _power(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    base, exponent = inner
    above = exponent.text
    if above == "-T" and "T" not in scope.kinds:
        above = r"-\top"
    if node.args[1].head == "product":
        above = _slashed(node.args[1], exponent)
    if node.value == ".^" and base.kind != "scalar":
        above = rf"\circ {above}" if exponent.level == ATOM else rf"\circ ({above})"
    if above == "-1" and node.args[0].head == "transpose":
        return _Look(f"{base.base}^{{-\\top}}", SCRIPT, base.kind)
    below = _at(base, ATOM)
    return _Look(f"{below}^{{{above}}}", SCRIPT, base.kind, below if above == "-1" else "")


def _slashed(exponent: Ast, look: _Look) -> str:
    """Return an exponent such as 1/2 on one line."""
    a, b = exponent.args[0], exponent.args[-1]
    if exponent.value == ("/",) and a.head == b.head == "number":
        return f"{number_text(cast(Fraction, a.value))}/{number_text(cast(Fraction, b.value))}"
    return look.text


def _transpose(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    x = inner[0]
    kind = {"vector": "row", "row": "vector"}.get(x.kind, x.kind)
    if x.base and x.text == f"{x.base}^{{-1}}":
        return _Look(f"{x.base}^{{-\\top}}", SCRIPT, kind)
    base = _at(x, FACTOR if node.args[0].head == "call" and x.level == FACTOR else ATOM)
    return _Look(rf"{base}^\top", SCRIPT, kind, base)


def _call(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    name, keywords = call_name(node), call_keywords(node)
    arguments = tuple(inner[: len(node.args)])
    kind = arguments[0].kind if arguments else ""
    filled = None if keywords else _filled([f"{name}:{kind}", name], arguments, scope)
    if filled is not None:
        return filled
    texts = [x.text for x in arguments]
    named = zip(keywords, inner[len(node.args) :], strict=True)
    texts += [rf"\mathrm{{{escaped(key)}}}={x.text}" for (key, _), x in named]
    return _Look(operator(name) + _fenced(", ".join(texts)), FACTOR, "", "", () if keywords else arguments)


def _filled(keys: list[str], arguments: tuple[_Look, ...], scope: _Scope) -> _Look | None:
    """Return the template of the first key that has one for this number of arguments, filled in."""
    for key in keys:
        for template in scope.templates.get(key, ()):
            places = _PLACE.findall(template)
            if len(arguments) == max((int(place) for place, _ in places), default=-1) + 1:
                return _fill(template, arguments)
    return None


def _fill(template: str, arguments: tuple[_Look, ...]) -> _Look:
    def put(place: re.Match[str]) -> str:
        argument = arguments[int(place[1])]
        return _at(argument, ATOM) if place[2] else argument.text

    if template.endswith("({0})"):
        text = _PLACE.sub(put, template[:-5]) + _fenced(arguments[0].text)
    else:
        text = _PLACE.sub(put, template)
    if template == "{0^}^{-1}":
        return _Look(text, SCRIPT, arguments[0].kind, _at(arguments[0], ATOM), arguments)
    if re.match(r"\{0\^?\} ", template):
        return _Look(text, PRODUCT, "", "", arguments)
    bare = _PLACE.sub("", template)
    level = SCRIPT if "^" in bare else FACTOR if "(" in bare or r"\det" in bare else ATOM
    return _Look(text, level, "", "", arguments)


def _part(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    base, subscripts, ast = inner[0], inner[1:], node.args[0]
    short = all(x.head == "name" and len(str(x.value)) == 1 for x in node.args[1:])
    below = ("" if short else ",").join(x.text for x in subscripts)
    rank = {"vector": 1, "row": 1, "matrix": 2}.get(base.kind, len(subscripts))
    entry = rank == len(subscripts) and all(x.head != "slice" for x in node.args[1:])
    kind = "scalar" if entry else "vector" if base.kind == "vector" else ""
    if ast.head == "call" and base.arguments:
        filled = _filled([f"{call_name(ast)}[]"], (*base.arguments, *subscripts), scope)
        if filled is not None:
            return _Look(filled.text, SCRIPT, "scalar")
    if ast.head != "name":
        plain = base.level == ATOM and "_" not in base.text
        return _Look(f"{base.text if plain else _fenced(base.text)}_{{{below}}}", ATOM, kind)
    text = symbol(str(ast.value), scope.kinds, entry=True) if entry else base.text
    return _Look(f"{{{text}}}_{{{below}}}" if "_" in text else f"{text}_{{{below}}}", ATOM, kind)


def _slice(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    start, stop, step = (x.text for x in inner)
    return _Look(f"{start}:{stop}" + (f":{step}" if step else ""), SUM)


def _empty(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    return _Look("")


def _row(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    return _Look(" & ".join(x.text for x in inner))


def _block(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    rows = r" \\ ".join(x.text for x in inner)
    return _Look(rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}")


def _index_form(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    names = cast("tuple[str, ...]", node.value)
    kind = {0: "scalar", 1: "vector", 2: "matrix"}.get(len(names), "")
    if not names:
        return _Look(inner[0].text, inner[0].level, kind)
    return _Look(rf"\left[{inner[0].text}\right]_{{{_indices(names)}}}", ATOM, kind)


def _index_sum(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    """Return the sum; a further factor must not follow it without parentheses."""
    below = _indices(cast("tuple[str, ...]", node.value))
    return _Look(rf"\sum_{{{below}}} {_at(inner[0], PRODUCT)}", ELEMENTWISE, "scalar")


def _indices(names: Sequence[str]) -> str:
    shown = [symbol(name, {}) for name in names]
    return ("" if all(len(x) == 1 for x in shown) else ",").join(shown)


def _relation(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    return _Look(f"{inner[0].text} {_RELATIONS[str(node.value)]} {inner[1].text}", SUM, "scalar")


def _condition(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    return _Look(_fenced(_relation(node, inner, scope).text, "[", "]"), FACTOR, "scalar")


def _function(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    return _Look(rf"{symbol(str(node.value), {})} \mapsto {inner[0].text}", 0)


def _spread(node: Ast, inner: list[_Look], scope: _Scope) -> _Look:
    return _Look(rf"{_at(inner[0], SCRIPT)}, \ldots")


_LOOKS: dict[str, Callable[[Ast, list[_Look], _Scope], _Look]] = {
    "number": _number, "name": _name, "shared": _shared, "sum": _sum, "negative": _negative, "product": _product,
    "power": _power, "transpose": _transpose, "call": _call, "part": _part, "slice": _slice,
    "empty": _empty, "row": _row, "block": _block, "index_form": _index_form, "index_sum": _index_sum,
    "compare": _relation, "condition": _condition, "function": _function, "spread": _spread,
}  # fmt: skip
