"""Builds the formulas of rules: text in the user's language -> node over the caller's symbols.

A rule's formula is read like a user's, but strictly: every name is a parameter, a name of its `where` lines or a size.
A definition is compiled once for each signature and rank, over symbols with the signature's own size names. Calls
substitute into it, so `axis=` and arguments over outer indices need no code of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

from matcalc.cached import cached_property
from matcalc.errors import MatcalcError, RuleError, ShapeError
from matcalc.formula.elaborate.build import Builder, Template, build
from matcalc.formula.elaborate.calls import MUST_HAVE, Call
from matcalc.formula.elaborate.type_tree import infer
from matcalc.formula.inference.inference import Inference, Symbol, broadcast
from matcalc.formula.inference.scope import declare
from matcalc.formula.inference.typed import Typed
from matcalc.language.declare import Declaration
from matcalc.language.read import read
from matcalc.language.syntax import Ast, call_name, value_of_leaf, walk
from matcalc.rulebook.load import Candidate, Rulebook
from matcalc.rulebook.rule import Rewrite
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.nodes.signature import Binding, add_sizes, array_name, output_of, result_shape, size_of, tensors_of
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.sizes_from_shapes import Condition

MAX_NESTING = 20  # definitions in definitions; a deeper definition calls itself


def build_formula(
    formula: str | Ast,
    where: Sequence[str],
    rulebook: Rulebook,
    symbols: Mapping[str, Node],
    *,
    splices: Mapping[str, Sequence[Node]] | None = None,
    functions: Mapping[str, Node] | None = None,
    sizes: Mapping[str, Size] | None = None,
    shape: Shape | None = None,
    nesting: int = 0,
    conditions: list[Condition] | None = None,
    text: str = "",
    broadcasts: bool = False,
    trusted: bool = True,
) -> Node:
    """Return the node of a formula, text or a syntax tree, over the symbols.

    `where` are lines `name = formula` that it may use. `splices` are the tangents of `E...`. `functions` are the bodies
    of function parameters, `sizes` the values of further sizes and numbers. `shape` is the required shape of the
    result: a number is repeated to it, and indices without another length take theirs from it. Undecided conditions on
    sizes are appended to `conditions`. `text` is the text of a tree, for messages. With `broadcasts` operands expand as
    NumPy's do. Unless it is `trusted`, arguments need the facts that signatures require.

    Raises: ShapeError, UnknownName, ParseError, NotSupported, without the address of the rule.
    """
    inference = Inference(
        rulebook, strict=True, trusted=trusted, broadcasts=broadcasts, functions=dict(functions or {})
    )
    nodes = dict(symbols)
    for slot, members in (splices or {}).items():
        names = tuple(f"{slot}_{k}" for k in range(len(members)))
        inference.slots[slot] = names
        nodes.update(zip(names, members, strict=True))
    for name, node in nodes.items():
        inference.symbols[name] = Symbol(name, node.shape)
        inference.name_lengths(node.shape)
    inference.name_lengths(shape or ())
    inference.size_names.update(sizes or {})
    if isinstance(formula, Ast):
        for leaf in walk(formula):
            inference.name_lengths(value_of_leaf(leaf).shape if leaf.head == "leaf" else ())
    builder = Builder(inference, nodes, partial(template_of, rulebook, nesting + 1))
    for line in where:
        name, _, written = line.partition("=")
        node = _built(inference, builder, tree_of(written.strip()), written.strip(), None)
        nodes[name.strip()] = node
        inference.symbols[name.strip()] = Symbol(name.strip(), node.shape)
    tree, written = (tree_of(formula), formula) if isinstance(formula, str) else (formula, text)
    root = _built(inference, builder, tree, written, shape)
    if conditions is not None:
        conditions += inference.conditions.get(0, [])
    return root


def _built(inference: Inference, builder: Builder, tree: Ast, text: str, shape: Shape | None) -> Node:
    inference.text = text
    value = infer(inference, tree)
    if shape is not None:
        value = _shaped(inference, value, shape)
    inference.finish()
    return build(builder, value)


@lru_cache(maxsize=4096)
def tree_of(text: str) -> Ast:
    """Return the tree of a text of a rule, cached."""
    return read(text)


def _shaped(inference: Inference, value: Typed, shape: Shape) -> Typed:
    """Return a value with the required shape; a number is repeated."""
    if value.exact is not None and shape:
        return broadcast(inference, value, (), tuple(inference.label(size) for size in shape))
    if inference.same_shape(value.shape, shape):
        return value
    required = f"({', '.join(map(str, shape))})"
    raise inference.fault(f"{inference.describe(value)}{MUST_HAVE}{required}", value.ast)


def template_of(
    rulebook: Rulebook, nesting: int, call: Call, params: Mapping[str, Any], sizes: Mapping[str, Size]
) -> Template:
    """Return the template of a definition for the ranks of the call's arguments.

    A definition that holds only for some values of its integer parameters (`reshape`) is compiled for the sizes of the
    call.

    Raises: RuleError with the rule's address; ShapeError for sizes for which the definition does not hold.
    """
    ranks = tuple(len(call.arrays[array_name(p)]) if p.kind == "array" else -1 for p in call.parameters)
    fixed = tuple((name, value) for name, value in params.items() if not isinstance(value, Size))
    template = _definition(rulebook, nesting, call.candidate, ranks, fixed, None)
    if template is None:
        template = _definition(rulebook, nesting, call.candidate, ranks, fixed, tuple(sizes.items()))
        assert template is not None
        return template
    return template._replace(sizes=sizes)


def check_definition(
    rulebook: Rulebook, candidate: Candidate, ranks: Sequence[int], fixed: Sequence[tuple[str, Any]]
) -> Template | None:
    """Compile a definition for arguments of these ranks and for these functions and numbers.

    Returns None if it does not hold for all sizes. Raises: RuleError with the rule's address.
    """
    return _definition(rulebook, 0, candidate, tuple(ranks), tuple(fixed), None)


@lru_cache(maxsize=1024)
def _definition(
    rulebook: Rulebook,
    nesting: int,
    candidate: Candidate,
    ranks: tuple[int, ...],
    fixed: tuple[tuple[str, Any], ...],
    known: tuple[tuple[str, Size], ...] | None,
) -> Template | None:
    """Return a definition over symbols with the signature's size names, or with the sizes `known`.

    Without `known`, return None if the definition does not hold for all sizes.
    """
    rule, signature = candidate.rule, candidate.signature
    if nesting > MAX_NESTING:
        raise RuleError(f"{rule.address}: the definition of '{rule.name}' calls itself")
    integers = [p.name for p in signature.parameters if p.kind == "integer"]
    sizes = dict(known) if known is not None else {name: Size.of(name) for name in integers}
    tensors = tensors_of(signature)
    symbols = {p.name: parameter_symbol(p, rank, sizes) for p, rank in zip(tensors, ranks, strict=True)}
    sizes.update({name: Size.of(value) for name, value in fixed if not isinstance(value, Node)})
    add_sizes(rule, sizes)
    arrays = {array_name(p): symbols[p.name].shape for p in tensors if p.kind == "array"}
    shape = result_shape(output_of(signature, candidate.output), Binding(sizes, arrays))
    functions = {name: value for name, value in fixed if isinstance(value, Node)}
    text = rule.definition(candidate.index)
    assert text is not None
    try:
        node = build_formula(
            text,
            rule.where,
            rulebook,
            symbols,
            functions=functions,
            sizes=sizes,
            shape=shape,
            nesting=nesting,
        )
    except RuleError:
        raise
    except MatcalcError as fault:
        if integers and isinstance(fault, ShapeError):
            if known is None:
                return None
            raise
        raise RuleError(f"{rule.address}: [{rule.name}] {fault}") from None
    return Template(node, tuple(symbols[p.name] for p in tensors), {})


def parameter_symbol(parameter: Declaration, rank: int = -1, sizes: Mapping[str, Size] | None = None) -> Node:
    """Return the symbol of a tensor parameter; an `array` needs its rank.

    Its sizes are the signature's names, or their values in `sizes`.
    """
    known = sizes or {}
    if parameter.kind == "array":
        names = [f"{array_name(parameter)}_{k}" for k in range(rank)]
        shape = tuple(known.get(name) or Size.of(name) for name in names)
    else:
        shape = tuple(size_of(size, known) for size in parameter.sizes)
    return symbol(parameter.name, shape, parameter.facts)


class RewriteSides:
    """The sides of a rewrite as nodes over its declared variables.

    `functions` and `numbers` are the values of its other variables: bodies, and constants as sizes. The right side and
    the conditions are built when first used. Most left sides never match, so this saves half of the work.

    Raises: RuleError with the rewrite's address; NotSupported for a variable that is not a tensor.
    """

    def __init__(
        self,
        rewrite: Rewrite,
        variables: Sequence[Declaration],
        rulebook: Rulebook,
        functions: Mapping[str, Node] | None = None,
        numbers: Mapping[str, Size] | None = None,
    ) -> None:
        inference = Inference(rulebook, strict=True, trusted=True)
        declare(inference, variables)
        self._rewrite = rewrite
        self._build = partial(
            build_formula,
            where=(),
            rulebook=rulebook,
            symbols={s.name: symbol(s.name, s.shape, s.facts) for s in inference.symbols.values()},
            functions=functions,
            sizes={**inference.size_names, **(numbers or {})},
        )
        self.left: Node = self._built(rewrite.left)

    @cached_property
    def right(self) -> Node:
        """The right side, with the shape of the left one."""
        return self._built(self._rewrite.right, shape=self.left.shape)

    @cached_property
    def conditions(self) -> tuple[tuple[str, Node], ...]:
        """The facts that the rewrite requires, each with the node that must have it."""
        with self._addressed():
            found = _conditions(self._rewrite)
        return tuple((fact, self._built(tree, text=self._rewrite.condition or "")) for fact, tree in found)

    def _built(self, formula: str | Ast, **given: Any) -> Node:
        with self._addressed():
            return self._build(formula, **given)

    @contextmanager
    def _addressed(self) -> Iterator[None]:
        try:
            yield
        except RuleError:
            raise
        except MatcalcError as fault:
            raise RuleError(f"{self._rewrite.address}: {fault}") from None


def _conditions(rewrite: Rewrite) -> list[tuple[str, Ast]]:
    """Return the fact that a rewrite requires, with the formula that must have it, if it requires one."""
    if rewrite.condition is None:
        return []
    tree = read(rewrite.condition)
    if tree.head != "call" or len(tree.args) != 1:
        raise ShapeError(f"the condition '{rewrite.condition}' is not of the form  fact(formula)")
    return [(call_name(tree), tree.args[0])]
