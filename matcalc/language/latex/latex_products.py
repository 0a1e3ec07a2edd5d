r"""Reads products and sums in LaTeX: juxtaposition, \cdot, \odot, \otimes, + and -; ambiguous ones are rejected."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from matcalc.language import syntax
from matcalc.language.latex.latex_calls import call, is_function, sequence, shown_word
from matcalc.language.latex.latex_scope import (
    Reading,
    Scope,
    Value,
    fault,
    is_plain_number,
    kind_of_product,
    kind_of_sum,
    needed,
    readings,
    value,
)
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import infixes
from matcalc.language.syntax import Ast

_ELEMENTWISE = {r"\odot": ".*", r"\circ": ".*", r"\oslash": "./"}


def row(reading: Reading, node: Ast, scope: Scope) -> Value:
    """Return the product of the items of a row."""
    items = list(node.args)
    factors: list[Value] = []
    first_items: list[Ast] = []
    signs: list[str] = []
    sign = ""
    k = 0
    while k < len(items):
        item = items[k]
        if item.head == "operator":
            if sign or not factors:
                raise fault(f"expected an operand {'before' if not factors else 'after'} '{sign or item.value}'", item)
            sign = str(item.value)
            k += 1
            continue
        found, length = sequence(reading, items[k:], scope)
        if factors:
            _check_beside(reading, sign, signs, factors, first_items, found, item, node)
            signs.append(sign or " ")
        factors.append(value(reading, item, found))
        first_items.append(item)
        sign = ""
        k += length
    if sign:
        raise fault(f"expected an operand after '{sign}'", items[-1])
    return _multiplied(reading, factors, first_items, signs, node)


def _check_beside(
    reading: Reading,
    sign: str,
    signs: list[str],
    factors: list[Value],
    first_items: list[Ast],
    found: Value,
    item: Ast,
    node: Ast,
) -> None:
    """Raise ParseError for an item that is ambiguous after the factors before it."""
    left = factors[-1]
    begins = is_function(item) and not (
        _is_logarithm(reading, left.unclear) and not _is_logarithm(reading, shown_word(item))
    )
    ends = begins if not sign else sign == r"\cdot" and not is_plain_number(unbraced(item))
    if left.unclear and not (ends and not left.unclear.startswith("sum")):
        right = value(reading, item, found)
        raise fault(f"the end of the operand of {left.unclear} is ambiguous", item, _both(left, right, sign))
    if "/" in signs:
        a, b, c = factors[-2], left, value(reading, item, found)
        hint = readings(
            syntax.product([a.tree, b.tree, c.tree], ["/", "*"]),  # type: ignore[list-item]
            syntax.product([a.tree, syntax.product([b.tree, c.tree], ["*"])], ["/"]),  # type: ignore[list-item]
        )
        raise fault("a / b c can be read in two ways", item, f"{hint}: write \\frac or parentheses")
    if not sign and is_plain_number(unbraced(item)):
        hint = r"write 2 x for the product, x_2 for a name or an entry, 2 \cdot 3 between numbers"
        raise fault("a number after a factor", item, hint)


def _is_logarithm(reading: Reading, shown: str) -> bool:
    r"""Return whether a word is a logarithm: \exp behind \log \frac{1}{c} may be a factor of its operand."""
    return reading.names.canonical.get(shown.lstrip("\\")) == reading.names.roles["logarithm"]


def _both(left: Value, right: Value, sign: str) -> str:
    tree = cast(Ast, left.tree)
    times = "/" if sign == "/" else "*"
    if tree.head != "call" or not tree.args or right.tree is None:
        return "write parentheses"
    apart = syntax.product([tree, right.tree], [times])
    inside = replace(tree, args=(syntax.product([tree.args[0], right.tree], [times]), *tree.args[1:]))
    return f"{readings(apart, inside)}: write parentheses"


def _multiplied(reading: Reading, factors: list[Value], first_items: list[Ast], signs: list[str], node: Ast) -> Value:
    """Return the product of factors by the signs between them, with its kind."""
    done = factors[0]
    trees = [cast(Ast, done.tree)]
    operators: list[str] = []
    for sign, factor, first_item in zip(signs, factors[1:], first_items[1:], strict=True):
        tree = cast(Ast, factor.tree)
        operator = "*"
        kinds = (done.kind, factor.kind)
        if sign == "/":
            operator = "/"
        elif sign in (r"\cdot", r"\times") and kinds == ("vector", "vector"):
            done, trees, operators = _of_vectors(reading, sign, trees, operators, factor, node)
            continue
        elif sign == r"\times" and "scalar" not in kinds:
            raise fault(
                f"{sign} between a {kinds[0] or 'value'} and a {kinds[1] or 'value'}",
                first_item,
                r"write A B for a product, A \otimes B for a Kronecker product",
            )
        elif sign == r"\bmod":
            operator = "%"
        elif sign not in (" ", r"\cdot", r"\times"):
            hint = r"write A B for the product, A \odot B for products of entries"
            raise fault(f"'{sign}' between factors is not supported", first_item, hint)
        trees.append(tree)
        operators.append(operator)
        done = Value(None, kind_of_product(done.kind, factor.kind) if operator == "*" else done.kind)
    unclear = factors[-1].unclear
    if not operators:
        return Value(trees[0], done.kind, unclear=unclear)
    product = Ast("product", tuple(trees), tuple(operators), node.span, first_items[1].span[0])
    return Value(product, done.kind, unclear=unclear)


def _of_vectors(
    reading: Reading, sign: str, trees: list[Ast], operators: list[str], factor: Value, node: Ast
) -> tuple[Value, list[Ast], list[str]]:
    r"""Return x \cdot y and x \times y of vectors: their inner product, their cross product."""
    left = trees[0] if not operators else Ast("product", tuple(trees), tuple(operators), node.span)
    right = cast(Ast, factor.tree)
    if sign == r"\cdot":
        return Value(None, "scalar"), [Ast("transpose", (left,), None, left.span), right], ["*"]
    looks = infixes(reading.names).get(sign, ())
    found = call(reading, [look.spelling for look in looks], [Value(left, "vector"), factor], node)
    return found, [cast(Ast, found.tree)], []


def infix(reading: Reading, node: Ast, scope: Scope) -> Value:
    r"""Return the value of operands between \odot, \otimes and the like, left to right."""
    signs = cast("tuple[str, ...]", node.value)
    operands = [needed(reading, x) for x in node.args]
    for k, x in enumerate(operands[:-1]):
        if x.unclear:
            raise fault(f"the end of the operand of {x.unclear} is ambiguous", node.args[k + 1], "write parentheses")
    sorts = {_ELEMENTWISE.get(sign, sign)[0] for sign in signs}
    if len(sorts) > 1:
        raise fault("two kinds of products side by side", node, "write parentheses")
    if all(sign in _ELEMENTWISE for sign in signs):
        kinds = [x.kind for x in operands]
        kind = kind_of_sum(kinds)
        operators = tuple(_ELEMENTWISE[sign] for sign in signs)
        return Value(Ast("product", tuple(cast(Ast, x.tree) for x in operands), operators, node.span, node.at), kind)
    done = operands[0]
    for sign, right in zip(signs, operands[1:], strict=True):
        looks = infixes(reading.names).get(sign, ())
        if not looks:
            raise fault(f"'{sign}' between operands is not supported", node)
        done = call(reading, [look.spelling for look in looks], [done, right], node)
    return done


def chain(reading: Reading, node: Ast, scope: Scope) -> Value:
    signs, begins = cast("tuple[tuple[int, ...], bool]", node.value)
    terms = [needed(reading, x) for x in node.args]
    trees = [cast(Ast, term.tree) for term in terms]
    kind = kind_of_sum([term.kind for term in terms])
    if reading.known.axes and {"scalar", "matrix"} <= {term.kind for term in terms}:
        # Of the readings of U_i V_j^T, the outer product is not the one that is added to an entry.
        hint = r"write a \mathbf{1} \mathbf{1}^\top + A for a sum of entries"
        raise fault("a number and a matrix in one sum", node, hint)
    if begins:
        begin = node.span[0]
        trees[0] = replace(trees[0], span=(begin, trees[0].span[1]))
        if signs[0] < 0:
            trees[0] = Ast("negative", (trees[0],), None, (begin, trees[0].span[1]), begin)
    if len(trees) == 1:
        return Value(trees[0], kind)
    at = node.at if not begins else -1
    return Value(Ast("sum", tuple(trees), (1, *signs[1:]), node.span, at), kind)
