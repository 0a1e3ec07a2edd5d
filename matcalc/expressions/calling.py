"""Provides the rulebook's functions on objects: `mc.exp(x)`, `mc.inv(A)`, `mc.sum(X, axis=0)`, `mc.block(...)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matcalc.calculus.derive.conventions import shape_text
from matcalc.errors import NotDifferentiable, NotSupported, ShapeError, UnknownName
from matcalc.evidence.written.reference import of_tree
from matcalc.expressions.expression import Expression, as_expression
from matcalc.formula.elaborate.formulas_of_nodes import build_tree
from matcalc.language import syntax
from matcalc.language.declare import write_signature
from matcalc.language.identifiers import identifier, shown
from matcalc.language.read import read_argument
from matcalc.language.syntax import Ast, with_order, word
from matcalc.language.write import ends
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import broadcast, symbol
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.substitute import solution, substitute
from matcalc.tensor.symbols import Names


def function(name: str) -> Callable[..., Any]:
    """Return the function of that name, for expressions, numbers and arrays; several results form a tuple.

    Raises: AttributeError for a name that the rulebook lacks.
    """
    if name == "block":
        return block
    rule = default_rulebook().rules.get(name)
    if rule is not None and len(rule.outputs) > 1:
        return parts(name, rule.names)
    try:
        candidates = default_rulebook().candidates(name)
    except UnknownName as error:
        raise AttributeError(f"module 'matcalc' has no attribute '{name}'; {error}") from None
    if candidates[0].rule.kind == "implicit":
        return solver(candidates[0].rule)

    def call(*args: object, **keywords: object) -> Expression:
        operands = Operands(f"{name} takes expressions, numbers, arrays and sizes")
        orders = [is_order(name, value) for value in args]
        tree = syntax.call(
            name,
            *(word(str(v)) if order else operands.argument(v) for v, order in zip(args, orders, strict=True)),
            **{identifier(key, "the keyword"): operands.keyword(value) for key, value in keywords.items()},
        )
        node, conditions = build_tree(tree)
        row = operands.row and len(node.shape) == 1
        return Expression(node, operands.names.under(conditions), row, reference=of_tree(tree, broadcasts=True))

    call.__name__ = name
    call.__doc__ = _described(name, [candidate.rule for candidate in candidates])
    return call


def is_order(name: str, value: object) -> bool:
    """Whether a number or word after the argument selects another function: `norm(X, "fro")`, `norm(x, np.inf)`."""
    return isinstance(value, (int, float, str)) and with_order(name, word(str(value))) in default_rulebook().spellings


def _described(name: str, rules: Sequence[Rule]) -> str:
    """Return the docstring of a function: its signatures, domain, source, and the command that shows its rule."""
    lines = [f"Return {name} of expressions, numbers and arrays, with its meaning in text.", ""]
    for rule in dict.fromkeys(rules):
        lines += [f"    {write_signature(signature)}" for signature in rule.signatures]
        lines += [f"    domain: {rule.domain}"] if rule.domain else []
        lines += [f"    source: {rule.source}"] if rule.source else []
    return "\n".join([*lines, "", f"The rule: matcalc rules {name}"])


def names() -> list[str]:
    """Return the names of all functions."""
    return sorted(name for name in (*default_rulebook().spellings, "block") if name.isidentifier())


class Operands:
    """The operands of a call or block: the names of their expressions, and whether one is a row."""

    def __init__(self, accepted: str) -> None:
        self.accepted, self.names, self.row = accepted, Names({}, ()), False

    def argument(self, value: object) -> Ast:
        """Return the tree of an argument; text is a formula or a function, such as `x -> log(x)^2`.

        Raises: as `tree`; ParseError for text that is not one argument.
        """
        return read_argument(value) if isinstance(value, str) else self.tree(value)

    def keyword(self, value: object) -> Ast:
        """Return the tree of a keyword argument, which may be a list of integers: `axis=[0, 1]`."""
        is_list = isinstance(value, (list, tuple)) and all(isinstance(one, int) for one in value)
        return read_argument(f"{list(value)}") if is_list else self.argument(value)  # type: ignore[call-overload]

    def tree(self, value: object) -> Ast:
        """Return the tree of an operand.

        Raises: NotSupported for an object that is no operand.
        """
        e = as_expression(value)
        if e is None:
            raise NotSupported(f"{self.accepted}, not {shown(value)}")
        self.names = self.names.joined(e.names)
        self.row = self.row or e.row
        return e.operand


def parts(name: str, names: Sequence[str]) -> Callable[..., tuple[Expression, ...]]:
    """Return the function that returns all results of a decomposition: `w, V = mc.eigh(S)`."""
    functions: list[Callable[..., Expression]] = [function(part) for part in names]

    def call(*args: object) -> tuple[Expression, ...]:
        return tuple(part(*args) for part in functions)

    call.__name__ = name
    call.__doc__ = f"Return {', '.join(names)} of expressions."
    return call


def solver(rule: Rule) -> Callable[..., Expression]:
    """Return the function that solves an equation for a symbol: `mc.root(F, Y, start)`."""

    def call(equation: object, unknown: object, start: object) -> Expression:
        parts = [as_expression(part) for part in (equation, unknown, start)]
        left, symbol_, first = parts
        if left is None or symbol_ is None or first is None or symbol_.node.kind != "symbol":
            raise NotSupported(f"{rule.name} takes an expression, a symbol in it and a start")
        at, y = first.node, symbol_.node
        at = broadcast(at, y.shape) if not at.shape and y.shape else at
        if y not in toposort(left.node):
            raise ShapeError(f"{rule.name}: {y.name} does not occur in {ends(left.formula(), 48, 11)}")
        if "constant" in y.facts:
            raise NotDifferentiable(f"{y.name} is declared constant and cannot be solved for")
        for what, node in (("equation", left.node), ("start", at)):
            if node.shape != y.shape:
                shapes = f"{shape_text(node.shape)}, and {y.name} is {shape_text(y.shape)}"
                raise ShapeError(f"{rule.name}: the {what} is {shapes}")
        inside = left.names.without(y.name)
        node = solution(
            rule, substitute(left.node, {y: symbol(f"#{y.name}", y.shape)}), symbol(f"#{y.name}", y.shape), at
        )
        return Expression(node, inside.joined(first.names))

    call.__name__ = rule.name
    call.__doc__ = f"Return the solution of an equation, as {rule.name}(F, Y, start=Y0) in text."
    return call


def block(rows: Sequence[Sequence[object]]) -> Expression:
    """Return the block matrix of rows of expressions."""
    operands = Operands("a block is an expression, a number or an array")
    trees = [[operands.tree(entry) for entry in row] for row in rows]
    if not trees or not all(trees):
        raise ShapeError("a block matrix has a row, and each row a block")
    tree = syntax.block(trees)
    node, conditions = build_tree(tree)
    return Expression(node, operands.names.under(conditions), reference=of_tree(tree, broadcasts=True))
