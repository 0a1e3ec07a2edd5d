"""Reads operations as calls, with arguments and parameters in the order of the signature, and with batches.

An operation along one axis of a matrix is `f(X, axis=1)`. Every other batch is an index form whose arguments are index
forms over the outer names: `{i,j,k: solve({p,q: T[i,p,q]}, b)[j]}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from matcalc.formula.elaborate.powers import is_written_out
from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import ATOM, Form
from matcalc.formula.forms.slices import line_of_parts
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.definitions import calls_of
from matcalc.formula.notation.node_reading import Reading, of_difference
from matcalc.language import syntax
from matcalc.language.identifiers import supply
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import PLAIN, tensors_of
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute


def operation_reading(context: Context, node: Node) -> Reading:
    """Return the reading of an op."""
    if node.rule.kind == "implicit":
        return Reading(_solution(context, node))
    if not node.batch_rank:
        return _by_name(context, node, _plain(context, node))
    if _is_axis(node):
        return _along_axis(context, node)
    return Reading(_batched(context, node))


def _by_name(context: Context, node: Node, plain: Reading) -> Reading:
    """Return the reading of an op, or a call of a definition that equals it up to sign, if that is not longer."""
    best = plain
    for coef, rule, operands in calls_of(node):
        shown = [context.readings[g].form if isinstance(g, Node) else context.size(g) for g in operands]
        form = _definition(rule, operands, shown)
        if coef == 1 and form.tokens < best.form.tokens:
            best = Reading(form)
        elif coef == -1 and plain.minus is None and form.tokens <= plain.form.tokens:
            best = Reading(plain.form, form, plain.form.tokens <= form.tokens)
    return best


def _definition(rule: Rule, operands: Sequence[Node | Size], shown: Sequence[Form]) -> Form:
    """Return a call of a definition, or its sign."""
    if rule.role == "matrix_power_of_scalar":
        return forms.raised(shown[0], shown[1], False)
    name = rule.spelling
    return forms.call(name, *shown, **_axes(default_rulebook().spellings[name][0].rule, operands[0]))


def _plain(context: Context, node: Node) -> Reading:
    readings = [context.readings[arg] for arg in node.args]
    shown = [r.form for r in readings]
    position, odd = _difference(node)
    if position is None or readings[position].minus is None:
        return Reading(_call(context, node, shown))

    def make(form: Form) -> Form:
        return _call(context, node, [*shown[:position], form, *shown[position + 1 :]])

    return of_difference(readings[position], odd, make)


def _solution(context: Context, node: Node) -> Form:
    """Return `root(F, Y, start=Y0)`, with a new name for the unknown."""
    equation, unknown = node.params
    names = ("Y", "Z", "W") if unknown.rank > 1 else ("y", "z", "w")
    name = next(supply(names, context.names.avoid))
    body = context.equation(substitute(equation, {unknown: symbol(name, unknown.shape)}))
    parameters = node.rule.parameters
    return forms.call(
        name_of(node), body, forms.name(name), **{parameters[-1].name: context.readings[node.args[0]].form}
    )


def _difference(node: Node) -> tuple[int | None, bool]:
    """Return the index of the argument whose sign can be moved out, and whether the operation is odd in it."""
    tensors = tensors_of(node.rule.signature)
    fixed = []
    for position in range(len(node.args)):
        parameter = tensors[min(position, len(tensors) - 1)]
        if parameter.repeated or parameter.name in node.rule.linear:
            return position, True
        fixed.append(position)
    if len(fixed) != 1:
        return None, False
    if node.rule.parity is not None:
        return fixed[0], node.rule.parity == "odd"
    degree = node.rule.degree
    if not node.rule.homogeneous or not isinstance(degree, Fraction) or degree.denominator != 1:
        return None, False
    return fixed[0], degree.numerator % 2 == 1


def _call(context: Context, node: Node, shown: Sequence[Form]) -> Form:
    if node.rule.role == "matrix_power" and len(shown) == 1 and not is_written_out(Fraction(node.params[0])):
        return forms.raised(shown[0], parameter_form(context, node.params[0]), False)
    return forms.call(name_of(node), *arguments(context, node, shown), **_axes(node.rule, node.args[0]))


def _axes(rule: Rule, operand: object) -> dict[str, Form]:
    """Return the keyword that names all axes of a matrix, for an operation whose axis must be named."""
    if not rule.per_axis or not isinstance(operand, Node) or operand.rank < 2:
        return {}
    row = syntax.block([[syntax.number(k) for k in range(operand.rank)]])
    return {"axis": Form(row, ATOM, 2 * operand.rank + 1, 0, (), 0)}


def name_of(node: Node) -> str:
    """Return the name of a map or op in calls."""
    output = node.output if node.kind == "op" else ""
    if output:
        return f"{node.rule.name}_{output}"
    return node.rule.name if _is_another(node) else node.rule.spelling


def _is_another(node: Node) -> bool:
    """Whether a call by a shared name would be read as an earlier entry: `powm(X, 3)` is no power by a size."""
    for candidate in default_rulebook().spellings.get(node.rule.spelling, ()):
        if candidate.rule is node.rule:
            return False
        kinds = [p.kind for p in candidate.signature.parameters if p.kind in PLAIN]
        pairs = zip(kinds, node.params, strict=False)
        if len(kinds) == len(node.params) > 0 and all(k == "number" and _is_number(p) for k, p in pairs):
            return True
    return False


def _is_number(value: object) -> bool:
    return value.is_integer if isinstance(value, Size) else isinstance(value, Fraction)


def arguments(context: Context, node: Node, shown: Sequence[Form]) -> list[Form]:
    """Return operands and parameters in the order of the signature."""
    tensors, values = list(shown), list(node.params)
    found: list[Form] = []
    for parameter in node.rule.signature.parameters:
        if parameter.kind in PLAIN:
            if values:
                found.append(parameter_form(context, values.pop(0)))
        elif parameter.repeated:
            found += tensors
            tensors = []
        elif tensors:
            found.append(tensors.pop(0))
    return found


def parameter_form(context: Context, value: Any) -> Form:
    """Return a parameter that is not a tensor: a number, a size, a function."""
    if isinstance(value, Size):
        return context.size(value)
    if isinstance(value, Node):
        return context.function(value)
    return forms.signed_number(Fraction(value))


def _is_axis(node: Node) -> bool:
    """Whether an operation acts along one axis of its one matrix."""
    return node.batch_rank == 1 and node.batches[0] == (0,) and node.args[0].rank == 2 and not any(node.batches[1:])


def _along_axis(context: Context, node: Node) -> Reading:
    readings = [context.readings[arg] for arg in node.args]
    rest = [r.form for r in readings[1:]]

    def make(straight: Form, transposed: Form | None) -> Form:
        across = transposed or forms.transposed(straight)
        by_rows = node.rank > 2 or "symmetric" in node.args[0].facts or straight.cost <= across.cost
        shown = arguments(context, node, [straight if by_rows else across, *rest])
        form = forms.call(name_of(node), *shown, axis=forms.number(int(by_rows)))
        return forms.transposed(form) if node.rank == 2 and not by_rows else form

    plus, (position, odd) = make(readings[0].form, readings[0].transposed), _difference(node)
    if position != 0 or readings[0].minus is None:
        return Reading(plus)
    minus = make(readings[0].minus, readings[0].transposed_minus)
    if odd:
        return Reading(plus, minus, readings[0].natural)
    return Reading(plus if readings[0].natural else minus)


def _batched(context: Context, node: Node) -> Form:
    outputs = context.names.fresh(node.rank)
    batch = outputs[: node.batch_rank]
    taken = set(outputs)
    shown = []
    for arg, carried in zip(node.args, node.batches, strict=True):
        form = context.names.apart(context.readings[arg].form, taken)
        core = context.names.fresh(arg.rank - len(carried), taken)
        if carried:
            form = context.names.entry(form, [*(batch[b] for b in carried), *core], outputs)
            line = line_of_parts(core[0], form) if len(core) == 1 else None
            form = line or (forms.index_form(core, form) if core else form)
            taken.update(core)
        shown.append(form)
    call = forms.call(name_of(node), *arguments(context, node, shown))
    ordered = frozenset([batch] if len(batch) > 1 else [])
    return forms.index_form(outputs, context.names.entry(call, outputs[node.batch_rank :]), ordered)
