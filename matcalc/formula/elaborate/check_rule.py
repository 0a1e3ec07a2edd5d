"""Checks a rule statically: builds its formulas at symbolic sizes before anything is computed with them.

These checks cover names, shapes and the linearity of differentials; numeric tests check the values. Each function and
number parameter of the rule is replaced by one example, each array by a vector and by a matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from matcalc.errors import MatcalcError, RuleError
from matcalc.formula.elaborate.linearity import is_linear
from matcalc.formula.elaborate.rule_formula import build_formula, check_definition, parameter_symbol
from matcalc.language.declare import Declaration, Signature
from matcalc.rulebook.load import Candidate, Rulebook
from matcalc.rulebook.rule import TIED, Rule
from matcalc.tensor.constructors import power
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.nodes.signature import add_sizes, array_name, size_of, tensors_of
from matcalc.tensor.raw_nodes import parameter, symbol
from matcalc.tensor.sizes.size import Size

EXAMPLE = Fraction(5, 2)  # the value of a number parameter; a function parameter is the power with this exponent


def check_rule(rule: Rule, rulebook: Rulebook) -> None:
    """Build every formula of a rule.

    Raises: RuleError that lists all faults, with the rule's address.
    """
    faults = list(dict.fromkeys(faults_of(rule, rulebook)))
    if faults:
        raise RuleError("\n".join(f"{rule.address}: [{rule.name}] {fault}" for fault in faults))


def faults_of(rule: Rule, rulebook: Rulebook) -> Iterator[str]:
    """Yield the faults of the formulas of a rule."""
    for setting, index in settings(rule, rulebook):
        if rule.kind == "definition":
            yield from _definition(setting, index)
        else:
            yield from _derivatives(setting)


def settings(rule: Rule, rulebook: Rulebook) -> Iterator[tuple[Setting, int]]:
    """Yield a rule at each signature and each choice of ranks, with the index of the signature."""
    for index, signature in enumerate(rule.signatures):
        arrays = dict.fromkeys(array_name(p) for p in signature.parameters if p.kind == "array")
        for ranks in product((1, 2), repeat=len(arrays)):
            yield Setting(rule, rulebook, signature, dict(zip(arrays, ranks, strict=True))), index


class Setting:
    """One rule at fixed ranks of its arrays: symbols of arguments and results, sizes, functions."""

    def __init__(self, rule: Rule, rulebook: Rulebook, signature: Signature, ranks: Mapping[str, int]) -> None:
        self.rule, self.rulebook, self.signature, self.ranks = rule, rulebook, signature, ranks
        kinds = {p.name: p.kind for p in signature.parameters}
        self.sizes = {name: Size.of(name) for name, kind in kinds.items() if kind == "integer"}
        add_sizes(rule, self.sizes)
        self.numbers = {name: EXAMPLE for name, kind in kinds.items() if kind == "number"}
        body = power(parameter(), EXAMPLE)
        self.functions = {name: body for name, kind in kinds.items() if kind == "function"}
        self.tensors = [p for p in tensors_of(signature) if not p.repeated]
        self.slots = [p for p in tensors_of(signature) if p.repeated]
        self.symbols = {p.name: self.symbol(p) for p in self.tensors}
        for output in signature.outputs:
            name = output.name or "Y"
            self.symbols[name] = symbol(name, self.shape(output), output.facts)

    def symbol(self, declaration: Declaration) -> Node:
        rank = self.ranks.get(array_name(declaration), -1) if declaration.kind == "array" else -1
        return parameter_symbol(declaration, rank)

    def shape(self, declaration: Declaration) -> Shape:
        if declaration.kind == "array":
            return self.symbol(declaration).shape
        return tuple(size_of(size, self.sizes) for size in declaration.sizes)

    def build(self, text: str, shape: Shape, more: Mapping[str, Node], members: int = 0) -> Node:
        numbers = {name: Size.of(value) for name, value in self.numbers.items()}
        splices = {p.name: [symbol(f"{p.name}_{k}", self.shape(p)) for k in range(members)] for p in self.slots}
        return build_formula(
            text,
            self.rule.where if "G" not in more else (),
            self.rulebook,
            {**self.symbols, **more},
            splices=splices,
            functions=self.functions,
            sizes={**self.sizes, **numbers},
            shape=shape,
        )


def _definition(setting: Setting, index: int) -> Iterator[str]:
    try:
        defined(setting, index)
    except MatcalcError as fault:
        yield fault.message.removeprefix(f"{setting.rule.address}: [{setting.rule.name}] ")


def defined(setting: Setting, index: int) -> object:
    """Return the result of compiling a definition.

    Raises: MatcalcError if it does not compile.
    """
    ranks = [setting.ranks[array_name(p)] if p.kind == "array" else -1 for p in setting.tensors]
    candidate = Candidate(setting.rule, setting.rule.outputs[0], index)
    fixed = [*setting.functions.items(), *setting.numbers.items()]
    return check_definition(setting.rulebook, candidate, ranks, fixed)


class Formula(NamedTuple):
    """A formula of a rule: its role, its text and shape, further symbols, members of repeated slots."""

    what: str
    text: str
    shape: Shape
    more: Mapping[str, Node]
    members: int = 0
    linear: bool = True


def formulas(setting: Setting) -> Iterator[Formula]:
    """Yield the formulas of a rule without a definition, in a fixed order."""
    rule = setting.rule
    repeated = {p.name: setting.symbol(p) for p in setting.slots}
    for name, text in rule.derivative.items():
        one = {name: repeated[name]} if name in repeated else {}
        yield Formula(f"derivative in {name}", text, (), one, len(one), linear=False)
    hulls = {p.name: setting.rulebook.hull(p.facts) for p in setting.tensors}
    tangents = {f"d{p.name}": symbol(f"d{p.name}", setting.shape(p), hulls[p.name]) for p in setting.tensors}
    for output in setting.signature.outputs:
        formula = rule.differential(output.name)
        if formula is not None:
            yield Formula(f"differential of {output.name or 'Y'}", formula, setting.shape(output), tangents)
    for slot, text in rule.linear.items():
        declared = next(p for p in setting.signature.parameters if p.name == slot)
        cotangent = symbol("G", setting.shape(setting.signature.outputs[0]))
        yield Formula(f"linear {slot}", text, setting.shape(declared), {"G": cotangent}, int(declared.repeated))
    ends = {name: symbol(name, ()) for name in ("a", "b")}
    for value, text in rule.divided.items():
        yield Formula(f"divided {value}".strip(), text, (), ends, linear=False)
    plain = {"difference": (rule.difference, ends), "radius": (rule.radius, {}), "scale": (rule.scale, {})}
    for field, (formula, more) in plain.items():
        if formula is not None:
            yield Formula(field, formula, (), more, linear=False)
    weights = {name: symbol(name, (), ("positive",)) for name in TIED}
    for field, formula in (("weight", rule.weight), ("weighed", rule.weighed)):
        if formula is not None:
            yield Formula(field, formula, (), weights, linear=False)
    for text in rule.jumps:
        yield Formula("jumps", text, (), {}, linear=False)
    for text in [text for piece in (rule.pieces or {}).items() for text in piece]:
        yield Formula("pieces", text, (), {}, linear=False)
    if rule.square is not None:
        yield Formula("square", rule.square, setting.shape(setting.signature.outputs[0]), {}, linear=False)


def _derivatives(setting: Setting) -> Iterator[str]:
    """Yield the faults of formulas that do not build, or are not linear in their further symbols."""
    for what, text, shape, more, members, linear in formulas(setting):
        try:
            node = setting.build(text, shape, more, members)
        except MatcalcError as fault:
            yield f"{what}: {fault.message}"
            continue
        if more and linear and not is_linear(node, list(more.values())):
            yield f"{what}: '{text}' is not linear in {' and '.join(more)}"
