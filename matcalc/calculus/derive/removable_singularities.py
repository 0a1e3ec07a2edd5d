"""Quotients of functions of a norm by the norm, which have finite limits where the norm is 0.

The second derivative of f(norm2(x)) contains f'(r)/r. If r and f'(r) are 0, its limit is f''(0). The quotient is one
function, `even_ratio(f'(r), r, f''(r))`, which returns its third operand if the first two are 0. So `cos(norm2(x))` has
the Hessian -eye(n) at 0. If f'(0) is not 0 the function has a kink, and the quotient is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, apply, ones, over_terms, power, product, symbol
from matcalc.tensor.nodes.node import Node, Operand, exponent_of, toposort
from matcalc.tensor.substitute import substitute

Push = Callable[[Node, Mapping[Node, Node]], Node]


def with_quotients(node: Node, push: Push) -> Node:
    """Return a product with functions of a norm and the norm's reciprocal replaced by quotients that are right at 0.

    If terms of a sum contain the reciprocal, the functions are multiplied into these terms.
    """
    if node.kind != "product":
        return node
    for position, arg in enumerate(node.args):
        if arg.kind == "sum" and len(node.args) > 1 and any(map(_reciprocals, arg.args)):
            terms = [(coef, _with_own(term, push)) for coef, term in over_terms(node, position)]
            return add([(c, n) for c, (n, _) in terms]) if any(is_new for _, (_, is_new) in terms) else node
    return _with_own(node, push)[0]


def _reciprocals(node: Node) -> list[Operand]:
    """Return the reciprocals of norms among the operands of a product, each as its norm and its indices."""
    found = [(exponent_of(arg), at) for arg, at in node.operands] if node.kind == "product" else []
    return [(base, at) for (base, exponent), at in found if exponent == -1 and _is_length(base)]


def _with_own(node: Node, push: Push) -> tuple[Node, bool]:
    """Return a product with quotients for its own operands, and whether there are any."""
    if node.kind != "product":
        return node, False
    operands = list(node.operands)
    is_changed = False
    for length, at in _reciprocals(node):
        reciprocal = (power(length, Fraction(-1)), at)
        found = [t for t in operands if t[1] == at and t != reciprocal and _is_function_of(t[0], length)]
        if any(exponent_of(n)[0] is not length for n, _ in found):
            numerator = product(Fraction(1), [(n, tuple(range(n.rank))) for n, _ in found], tuple(range(length.rank)))
            operands = [term for term in operands if term not in found and term != reciprocal]
            operands.append((quotient(numerator, length, push), at))
            is_changed = True
    return (product(node.coef, operands, node.out, node.sizes), True) if is_changed else (node, False)


def quotient(numerator: Node, length: Node, push: Push) -> Node:
    """Return a function of a norm divided by the norm, or its derivative where both are 0."""
    r = symbol("r", length.shape, ("nonnegative",))
    slope = push(substitute(numerator, _at(length, r)), {r: ones(length.shape)})
    rule = default_rulebook().playing("removable_ratio")
    return apply(rule, [numerator, length, substitute(slope, {r: length})])


def _at(length: Node, r: Node) -> dict[Node, Node]:
    """Return the substitution of `r` for a norm, and of its square for the norm's square, a sum of squares."""
    return {length: r, power(length, Fraction(2)): power(r, Fraction(2))}


def _is_length(node: Node) -> bool:
    return node.kind == "op" and node.rule.role == "euclidean_length"


def _is_function_of(node: Node, length: Node) -> bool:
    """Whether a node is, entry by entry, a function of a norm and of numbers that do not change with it."""
    order = toposort(node)
    varying = {length, power(length, Fraction(2))}.intersection(order)
    variable = length.args[0]
    for inner in order:
        if inner in varying or not any(arg in varying for arg in inner.args):
            continue
        if inner.kind == "product" and not all(_stays(term, inner.out, varying) for term in inner.operands):
            return False
        if inner.kind == "op":
            return False
        varying.add(inner)
    return node in varying and not _depends_otherwise(node, variable, length)


def _stays(term: Operand, out: tuple[int, ...], varying: set[Node]) -> bool:
    arg, at = term
    return arg not in varying or (at == out and len(set(out)) == len(out))


def _depends_otherwise(node: Node, variable: Node, length: Node) -> bool:
    """Whether a node depends on the vector of a norm other than through the norm, so is no function of the norm."""
    symbols = {n for n in toposort(variable) if n.kind == "symbol"}
    rest = substitute(node, _at(length, ones(length.shape)))
    return any(n in symbols for n in toposort(rest))
