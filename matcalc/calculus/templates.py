"""Compiles rule formulas to nodes over symbols, once for uses that differ only in sizes.

A rule states one differential. Its adjoint is the pullback of that differential in the tangent, found by the same
reverse mode as derivatives of users' expressions. Only a slot declared linear states its adjoint. Templates are
unbatched and use the signature's size names; `substitute.instantiate` fills in the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from matcalc.errors import MatcalcError, NotDifferentiable, RuleError
from matcalc.formula.elaborate.rule_formula import build_formula, parameter_symbol
from matcalc.language.declare import Declaration
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.rule import TIED, Rule
from matcalc.tensor.constructors import symbol, zeros
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.nodes.signature import PLAIN, Binding, bind, output_of, result_shape, tensors_of
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute

Pull = Callable[..., list[Node]]

REMEMBERED = 256  # cached uses of rules; each exponent is another use


class Template(NamedTuple):
    """A formula over symbols: `args` and `values` of the operation, `incoming` for the tangent or cotangent."""

    node: Node
    args: tuple[Node, ...]
    values: tuple[Node, ...]
    incoming: Node
    rule: Rule

    def sizes(self, node: Node) -> dict[str, Size]:
        """Return the values of the signature's size names in one use of the rule.

        An implicit operation's templates have the sizes of the use itself.
        """
        if self.rule.kind == "implicit":
            return {}
        cores = [arg.shape[len(batch) :] for arg, batch in zip(node.args, _batches(node), strict=True)]
        if node.kind == "map":
            cores = [() for _ in node.args]
        binding = bind(self.rule, self.rule.signature, cores, node.params)
        sizes = dict(binding.sizes)
        for name, shape in binding.arrays.items():
            sizes.update({array_size(name, axis): size for axis, size in enumerate(shape)})
        return sizes


def _batches(node: Node) -> tuple[tuple[int, ...], ...]:
    return node.batches if node.kind == "op" else tuple(() for _ in node.args)


def array_size(name: str, axis: int) -> str:
    """Return the size name of one axis of an `array(s)` in a template."""
    return f"{name}_{axis}"


class Use(NamedTuple):
    """The key of a use of a rule: its function and number parameters, and the ranks of its arguments.

    The book is part of it, since formulas name other rules.
    """

    rule: Rule
    params: tuple[Any, ...]
    ranks: tuple[int, ...]
    book: Rulebook

    @staticmethod
    def of(node: Node) -> Use:
        params = tuple(None if isinstance(p, Size) else p for p in node.params)
        ranks = tuple(a.rank - len(b) for a, b in zip(node.args, _batches(node), strict=True))
        core = ranks if node.kind == "op" else tuple(0 for _ in node.args)
        return Use(node.rule, params, core, default_rulebook())


def derivative_template(node: Node, position: int) -> Template:
    """Return the derivative of an elementwise function in its operand number `position`."""
    return _derivative(Use.of(node), position)


def slope_by_value(node: Node) -> Template | None:
    """Return the derivative of an elementwise function as a formula in its value; None without one."""
    return _slope_by_value(Use.of(node))


def jump_templates(node: Node) -> tuple[Template, ...]:
    """Return the arguments at which an elementwise function jumps; `incoming` is its first operand."""
    return _jumps(Use.of(node))


def piece_templates(node: Node) -> tuple[tuple[Template, Template], ...]:
    """Return the switches of a map with pieces, each with the piece where it is on."""
    return _pieces(Use.of(node))


def weight_template(node: Node) -> Template:
    """Return the field `weight` or `weighed` of a map, over its operands and their weights."""
    return _weighed(Use.of(node))


def tangent_template(node: Node, position: int) -> Template:
    """Return the differential of an operation's output in argument `position`; `incoming` is the tangent."""
    return _tangent(Use.of(node), position, node.output)


def adjoint_template(node: Node, position: int, pull: Pull) -> Template:
    """Return the adjoint of the differential in argument `position`; `incoming` is the cotangent.

    `pull(root, cotangent, symbols)` is the reverse mode that finds it.
    """
    return _adjoint(Use.of(node), position, node.output, pull)


@lru_cache(maxsize=REMEMBERED)
def _derivative(use: Use, position: int) -> Template:
    made = _Symbols(use)
    name = made.parameters[position].name
    text = use.rule.derivative.get(name)
    if text is None:
        reason = use.rule.opaque_in.get(name) or use.rule.opaque
        because = f": {reason}" if reason else ""
        raise NotDifferentiable(f"{use.rule.spelling} has no derivative in {name}{because} ({use.rule.address})")
    node = made.build(text, (), position)
    return Template(node, made.args, made.values, made.args[position], use.rule)


@lru_cache(maxsize=REMEMBERED)
def _slope_by_value(use: Use) -> Template | None:
    return None if use.rule.by_value is None else _entrywise(use, use.rule.by_value)


@lru_cache(maxsize=REMEMBERED)
def _jumps(use: Use) -> tuple[Template, ...]:
    return tuple(_entrywise(use, text) for text in use.rule.jumps)


@lru_cache(maxsize=REMEMBERED)
def _pieces(use: Use) -> tuple[tuple[Template, Template], ...]:
    return tuple((_entrywise(use, switch), _entrywise(use, text)) for switch, text in (use.rule.pieces or {}).items())


@lru_cache(maxsize=REMEMBERED)
def _weighed(use: Use) -> Template:
    return _entrywise(use, use.rule.weight or use.rule.weighed or "", weights(len(use.ranks)))


def weights(count: int) -> tuple[Node, ...]:
    """Return the symbols for the weights of a map's operands in a tie."""
    return tuple(symbol(name, (), ("positive",)) for name in TIED[:count])


def _entrywise(use: Use, text: str, more: tuple[Node, ...] = ()) -> Template:
    """Return a formula in the operands of a map, and further ones."""
    made = _Symbols(use)
    return Template(made.build(text, (), more=more), (*made.args, *more), made.values, made.args[0], use.rule)


def choice_template(node: Node, side: str) -> Template:
    """Return the mean of a choosing operation times itself, or (`opposite`) times itself at the negative."""
    return _choice(Use.of(node), side)


@lru_cache(maxsize=REMEMBERED)
def _choice(use: Use, side: str) -> Template:
    made = _Symbols(use)
    shape = made.output_shape(use.rule.outputs[0])
    text = (use.rule.choices or {})[side]
    return Template(made.build(text, (*shape, *shape)), made.args, made.values, made.args[0], use.rule)


@lru_cache(maxsize=REMEMBERED)
def _tangent(use: Use, position: int, output: str) -> Template:
    made = _Symbols(use)
    text = use.rule.differential(output)
    if text is None:
        raise NotDifferentiable(f"{use.rule.spelling} is not differentiable ({use.rule.address})")
    tangent = made.tangent(position)
    full = made.build(text, made.output_shape(output))
    chosen = _only(full, tangent, made.tangents)
    return Template(chosen, made.args, made.values, tangent, use.rule)


@lru_cache(maxsize=REMEMBERED)
def _adjoint(use: Use, position: int, output: str, pull: Pull) -> Template:
    made = _Symbols(use)
    parameter = made.parameters[position]
    shape = made.output_shape(output)
    cotangent = symbol("G", shape)
    if parameter.repeated or parameter.name in use.rule.linear:
        node = made.build(use.rule.linear[parameter.name], made.args[position].shape, position, cotangent)
        return Template(node, made.args, made.values, cotangent, use.rule)
    tangent = _tangent(use, position, output)
    node = pull(tangent.node, cotangent, [tangent.incoming])[0]
    return Template(node, tangent.args, tangent.values, cotangent, use.rule)


def _only(full: Node, kept: Node, tangents: Sequence[Node]) -> Node:
    """Return a differential with all tangents but one zero."""
    others = {t: zeros(t.shape) for t in tangents if t is not kept}
    return substitute(full, others) if others else full


class _Symbols:
    """Symbols for one use of a rule: its arguments, results and tangents, with the signature's size names."""

    def __init__(self, use: Use) -> None:
        self.use = use
        rule = use.rule
        tensors = tensors_of(rule.signature)
        self.parameters = [tensors[min(k, len(tensors) - 1)] for k in range(len(use.ranks))]
        self.args = tuple(self._symbol(p, k) for k, p in enumerate(self.parameters))
        self.values = tuple(symbol(o.name or "Y", self.output_shape(o.name), o.facts) for o in rule.signature.outputs)
        self.tangents = tuple(self.tangent(k) for k, p in enumerate(self.parameters) if not p.repeated)

    def _symbol(self, parameter: Declaration, position: int) -> Node:
        name = f"{parameter.name}{position}" if parameter.repeated else parameter.name
        facts = self.use.book.hull(parameter.facts) if parameter.repeated else parameter.facts
        return symbol(name, self._shape(parameter, position), tuple(facts))

    def tangent(self, position: int) -> Node:
        """Return the symbol dX: the shape of X, and those of its linear facts that hold for tangents."""
        parameter = self.parameters[position]
        facts = self.use.book.hull(parameter.facts)
        return symbol(f"d{parameter.name}", self._shape(parameter, position), tuple(facts))

    def _shape(self, parameter: Declaration, position: int) -> tuple[Size, ...]:
        return parameter_symbol(parameter, self.use.ranks[position]).shape

    def output_shape(self, output: str) -> tuple[Size, ...]:
        """Return the core shape of an output in the signature's size names."""
        if self.use.rule.kind == "map":
            return ()
        return result_shape(output_of(self.use.rule.signature, output), self._binding())

    def _binding(self) -> Binding:
        rule = self.use.rule
        params = [p if p is not None else Size.of(d.name) for p, d in zip(self.use.params, self._plain(), strict=True)]
        return bind(rule, rule.signature, [a.shape for a in self.args], params)

    def _plain(self) -> list[Declaration]:
        return [p for p in self.use.rule.parameters if p.kind in PLAIN]

    def build(
        self,
        text: str,
        shape: Shape,
        without: int | None = None,
        cotangent: Node | None = None,
        more: Sequence[Node] = (),
    ) -> Node:
        """Return a formula of the rule, of this shape, as a node over these symbols and `more`.

        `without` is the number of the argument of a variadic slot that the formula is about; `E...` are the others.
        """
        rule = self.use.rule
        symbols: dict[str, Node] = {s.name: s for s in more}
        splices: dict[str, tuple[Node, ...]] = {}
        for position, (parameter, node) in enumerate(zip(self.parameters, self.args, strict=True)):
            if parameter.repeated:
                rest = () if position == without else (node,)
                splices[parameter.name] = (*splices.get(parameter.name, ()), *rest)
                if position == without:
                    symbols[parameter.name] = node
            else:
                symbols[parameter.name] = node
                symbols[f"d{parameter.name}"] = self.tangent(position)
        for name, value in zip(rule.outputs, self.values, strict=True):
            symbols[name or "Y"] = value
        for parameter in rule.signature.parameters:
            if parameter.repeated:
                splices.setdefault(parameter.name, ())
        if cotangent is not None:
            symbols["G"] = cotangent
        params = dict(zip((p.name for p in self._plain()), self.use.params, strict=True))
        sizes = dict(self._binding().sizes)
        sizes.update({name: Size.of(p) for name, p in params.items() if isinstance(p, Fraction)})
        functions = {name: p for name, p in params.items() if isinstance(p, Node)}
        try:
            return build_formula(
                text,
                rule.where,
                self.use.book,
                symbols,
                splices=splices,
                functions=functions,
                sizes=sizes,
                shape=shape,
            )
        except MatcalcError as fault:
            raise RuleError(f"{rule.address}: [{rule.name}] {fault}") from None
