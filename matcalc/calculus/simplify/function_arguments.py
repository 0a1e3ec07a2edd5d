"""Rewrites functions that contain scalars as functions of a matrix: `w -> exp(-t*w)` of S is matfun(exp, -t*S).

A function argument contains only its parameter and numbers. Some operations map sums, products, constants and
compositions of functions to those of matrices (`calculus` in their entries). For these, a function with other scalars
is decomposed into functions without any.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from matcalc.calculus.simplify.abstraction import function_variable, is_function_variable
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import add, apply, matmul, operate, product, transpose
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.nodes.signature import bind
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.substitute import Batched, instantiate, remake, spread

CLOSED = ("number", "map", "sum", "product")


def holds_scalars(body: object) -> bool:
    """Whether a function's body has leaves other than its parameter and numbers."""
    if not isinstance(body, Node):
        return False
    return any(n.kind not in CLOSED and n is not parameter() and n.kind != "constant" for n in toposort([body]))


def with_functions(root: Node, bindings: Mapping[Node, Node], book: Rulebook) -> Node | None:
    """Return `root` with function variables replaced by bodies that contain scalars; None if that is impossible."""
    made: dict[Node, Node] = {}
    for node in toposort([root]):
        bodies = [p for p in node.params if isinstance(p, Node)] if node.kind in ("map", "op") else []
        filled = [_filled(body, bindings) for body in bodies]
        new: Node | None = remake(node, made)
        if filled != bodies:
            taken = node.kind == "op" and len(node.params) == 1
            new = _of_matrix(node.rule, filled[0], tuple(made[a] for a in node.args), book) if taken else None
        if new is not None and new.kind == "map" and is_function_variable(new):
            new = _applied(bindings.get(function_variable(new.rule.name)), new.args[0])
        if new is None:
            return None
        made[node] = new
    return made[root]


def _applied(body: Node | None, argument: Node) -> Node | None:
    """Return a body at each entry of its argument."""
    if body is None:
        return None
    axes = tuple(range(argument.rank))
    entries = {parameter(): Batched(argument, axes)}
    return spread(instantiate(body, entries, {}, argument.shape), axes, argument.shape)


def _filled(body: Node, bindings: Mapping[Node, Node]) -> Node:
    """Return a body in which function variables are replaced by the functions bound to them."""
    made: dict[Node, Node] = {}
    for node in toposort([body]):
        made[node] = remake(node, made)
        if is_function_variable(node) and function_variable(node.rule.name) in bindings:
            inner = {parameter(): Batched(made[node.args[0]])}
            made[node] = instantiate(bindings[function_variable(node.rule.name)], inner, {}, ()).node
    return made[body]


def _of_matrix(rule: Rule, body: Node, args: tuple[Node, ...], book: Rulebook) -> Node | None:
    """Return the function of a matrix, part by part; None if the operation or function does not allow it."""
    if not rule.calculus or len(args) != 1 or len(args[0].shape) != 2:
        return None
    (argument,) = args
    if isinstance(rule.calculus, str):
        return _by_formula(rule, rule.calculus, body, argument, book)
    varies = {parameter()}
    made: dict[Node, Node] = {}

    def of(node: Node) -> Node:
        if node not in varies:
            return product(1, [(node, ())], (0, 0), {0: argument.shape[0]})
        return made[node] if node in made else operate(rule, [argument], (node,))

    for node in toposort([body]):
        if not any(a in varies for a in node.args):
            continue
        varies.add(node)
        if not holds_scalars(node):
            continue
        if node.kind == "sum":
            made[node] = add([(c, of(a)) for c, a in node.terms])
        elif node.kind == "product":
            made[node] = _product_of(rule, node, argument, varies, made)
        elif node.kind == "map" and len(node.args) == 1:
            outer = apply(node.rule, [parameter()], node.params)
            made[node] = operate(rule, [_symmetric(of(node.args[0]))], (outer,))
        else:
            return None
    return made[body]


def _by_formula(rule: Rule, formula: str, body: Node, argument: Node, book: Rulebook) -> Node | None:
    """Return an operation on a function in terms of another one that decomposes functions."""
    function, matrix = rule.signature.parameters[:2]
    variable = function_variable(function.name)
    sizes = bind(rule, rule.signature, [argument.shape], ()).sizes
    symbols, functions = {matrix.name: argument}, {function.name: variable}
    node = build_formula(formula, (), book, symbols, functions=functions, sizes=sizes)
    return with_functions(node, {variable: body}, book)


def _product_of(rule: Rule, node: Node, argument: Node, varies: set[Node], made: Mapping[Node, Node]) -> Node:
    """Return the product of scalars, of one function made of the closed factors, and of matrices."""
    scalars = [a for a in node.args if a not in varies]
    closed = [a for a in node.args if a in varies and a not in made]
    matrices = [made[a] for a in node.args if a in made]
    if closed:
        matrices.insert(0, operate(rule, [argument], (product(1, [(a, ()) for a in closed], ()),)))
    found = matmul(*matrices)
    return product(node.coef, [(found, (0, 1)), *((a, ()) for a in scalars)], (0, 1))


def _symmetric(matrix: Node) -> Node:
    """Return a product of functions of one matrix, which commute, in a form known to be symmetric."""
    if "symmetric" in matrix.facts:
        return matrix
    return add([(Fraction(1, 2), matrix), (Fraction(1, 2), transpose(matrix))])
