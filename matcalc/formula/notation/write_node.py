"""Writes a node as the formula of a mathematician, one to one.

Each node of the DAG is read once, operands first. A reading is a formula with its cost, so every step is local and the
walk needs no recursion. Reading the formula back builds the same node: the choices here (directions, order, signs) do
not affect the normal form. Nothing is simplified or multiplied out.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from weakref import WeakKeyDictionary

from matcalc.errors import MatcalcError, NotSupported
from matcalc.formula.elaborate.function_arguments import PARAMETER
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form
from matcalc.formula.notation.axis_orders import aligned, in_listed_order
from matcalc.formula.notation.blocks import block_reading
from matcalc.formula.notation.calls import arguments, name_of, operation_reading
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.flatten import opened
from matcalc.formula.notation.index_names import Names
from matcalc.formula.notation.length import tokens
from matcalc.formula.notation.literal import literal
from matcalc.formula.notation.node_reading import Reading, of_difference, scaled, summed
from matcalc.formula.notation.operand_scales import with_scales
from matcalc.formula.notation.products import selector_form, sizes_below
from matcalc.formula.notation.shared_parts import Shared
from matcalc.formula.notation.step_sums import at_positions, by_steps, each_step_form, extra_tokens
from matcalc.formula.notation.steps import trajectory_reading, whole_sequence, with_inner
from matcalc.formula.notation.structures import by_structure
from matcalc.formula.notation.sum_reading import sum_of, sum_reading
from matcalc.formula.notation.systems import Quantities, Systems
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import add, product
from matcalc.tensor.nodes.node import LONG, Node, everything, exponent_of, sizes_used, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_tree import tree_of

HALF = Fraction(1, 2)
NOT_NAMED: Mapping[Node, str] = MappingProxyType({})


def formula_of(
    root: Node,
    avoid: Collection[str] = (),
    part_names: Mapping[Node, str] = NOT_NAMED,
    dotted: bool = True,
    quantities: Quantities | None = None,
) -> Ast:
    """Return the formula of a node; reading it with the node's declarations returns the node.

    `avoid` are names in scope beyond the node's own symbols and sizes; index names differ from them. `part_names` are
    names for parts of the formula. Without `dotted`, rows and columns are repeated by `ones(m)`. `quantities` are the
    named quantities of steps.

    Raises: NotSupported for a literal array of order 3 or more, which the language cannot write.
    """
    return form_of(root, avoid, part_names, dotted, quantities).ast


def whole_formula_of(root: Node, avoid: Collection[str] = (), part_names: Mapping[Node, str] = NOT_NAMED) -> Ast:
    """Return the formula of a node with all terms of a sum of one shape, for LaTeX, SymPy and derivations."""
    return formula_of(root, avoid, part_names, dotted=False)


def form_of(
    root: Node,
    avoid: Collection[str] = (),
    part_names: Mapping[Node, str] = NOT_NAMED,
    dotted: bool = True,
    quantities: Quantities | None = None,
) -> Form:
    """Return the formula of a node with its cost, including that of its shared parts.

    A part that occurs several times in a long formula is written once, as a shared part; so is a part with a name in
    `part_names`.
    """
    taken = {*avoid, *sizes_used([root]), *(node.name for node in everything([root]) if node.kind == "symbol")}
    return _form_of(root, frozenset({*taken, *part_names.values()}), tuple(part_names.items()), dotted, quantities)


def tokens_of(root: Node) -> int:
    """Return the length of the formula of a node; readings are cached for other nodes that hold it.

    Raises: NotSupported for a literal array of order 3 or more.
    """
    return _CACHE[root].form.tokens if root.length <= LONG else form_of(root).tokens


def extra_tokens_of(root: Node) -> int:
    """Return the tokens that a formula counts more where a value of one step is to be preferred."""
    return extra_tokens(_CACHE[root].form) if root.length <= LONG else 0


@lru_cache(maxsize=64)
def _form_of(
    root: Node,
    taken: frozenset[str],
    part_names: tuple[tuple[Node, str], ...],
    dotted: bool,
    quantities: Quantities | None,
) -> Form:
    if not dotted:
        found = _form_of(root, taken, part_names, True, quantities)
        if not any(map(_is_dotted, syntax.whole(found.ast))):
            return found  # the same formula, mostly written before
    preferred = dict(part_names)

    def read(bodies: Sequence[Node], inner: Mapping[Node, Reading], names: Sequence[str]) -> list[Reading]:
        found = Readings(taken.union(names), known=dict(inner), dotted=dotted, systems=systems)
        return [with_inner(found.context, found[body]) for body in bodies]

    def read_root(named: Callable[[Node, Reading], Reading]) -> Form:
        found = Readings(taken, named, dotted=dotted, systems=systems)
        form = found[root].form
        if found.context.inner:
            raise NotSupported("a recurrence in an equation that is solved has no text", hint="it can be evaluated")
        return form

    systems = Systems(taken.difference(preferred.values()), preferred, read, quantities)
    taken = taken | systems.enter(everything(root))
    is_long = root.length > LONG and not _is_short(root)
    shared = Shared(root, toposort(root), taken, preferred, is_long=is_long)
    form = shared.whole(read_root(shared.reading))
    form = each_step_form(Readings(taken, dotted=dotted, systems=systems).context, root, form, _reads_back)
    if not shared.repeated:
        return form
    shared = Shared(root, toposort(root), taken, preferred, shared.repeated, is_long)
    named = shared.whole(read_root(shared.reading))
    written = text(named.ast)
    return named if len(written) < len(text(form.ast)) and _reads_back(written, root) else form


def _is_dotted(tree: Ast) -> bool:
    """Whether a tree is written otherwise without dotted signs: a dotted sum, or an average in the place of a sum."""
    return tree.head == syntax.SUMS[1] or (tree.head == "call" and syntax.call_name(tree) == spelled("average"))


def _is_short(root: Node) -> bool:
    """Whether the formula of a node with recurrences is short without shared parts, since sums are over steps."""
    return any(node.kind == "recurrence" for node in toposort(root)) and _CACHE[root].form.tokens <= LONG


def _reads_back(formula: str, root: Node) -> bool:
    """Whether a text is read as the node; the axes of a sum in a shared part may have another order."""
    symbols = {node.name: node for node in everything([root]) if node.kind == "symbol"}
    try:
        return elaborate([formula], symbols=symbols, sizes=sizes_used([root])).nodes[0] is root
    except MatcalcError:
        return False


class Readings(UserDict[Node, Reading]):
    """The readings of nodes over one set of names, each on demand after its operands; `named` names parts."""

    def __init__(
        self,
        taken: frozenset[str],
        named: Callable[[Node, Reading], Reading] = lambda _, reading: reading,
        known: MutableMapping[Node, Reading] | None = None,
        dotted: bool = True,
        systems: Systems | None = None,
    ) -> None:
        self.data = {} if known is None else known  # type: ignore[assignment]
        self.named = named

        def equation(e: Node) -> Form:
            return form_of(e, taken, dotted=dotted)

        systems = systems or Systems(taken, NOT_NAMED, self._inner)
        self.context = Context(self, form_of_size, function_form, equation, Names(taken), dotted, systems, {})

    def _inner(self, bodies: Sequence[Node], known: Mapping[Node, Reading], names: Sequence[str]) -> list[Reading]:
        """Return the readings of nodes over symbols that have readings, for lengths alone: names may coincide."""
        found = Readings(frozenset(names), known=dict(known), systems=self.context.systems)
        return [with_inner(found.context, found[body]) for body in bodies]

    def __missing__(self, root: Node) -> Reading:
        for node in toposort(root, self.data):
            reading = whole_sequence(self.context, node) or READ[node.kind](self.context, node)
            self.data[node] = self.named(node, by_structure(self.context, node, reading, _product))
        return self.data[root]


def function_form(body: Node) -> Form:
    """Return a function as an argument: its name if it has one, else `x -> ...`.

    Functions nest only as deep as their text, so this may call itself.
    """
    if body.kind == "map" and not body.params and len(body.args) == 1 and body.args[0].kind == "symbol":
        return forms.name(name_of(body))
    if body.kind == "map" and exponent_of(body)[1] == HALF and body.args[0].kind == "symbol":
        return forms.name(spelled("square_root"))
    inner = form_of(body)
    return Form(syntax.function(PARAMETER, inner.ast), forms.ATOM, inner.tokens + 2, 0, (), 0)


@lru_cache(maxsize=1024)
def form_of_size(size: Size) -> Form:
    """Return a size as a formula."""
    ast = tree_of(size)
    return Form(ast, forms.level_of(ast), tokens(str(size)), 0, size.names, 0)


def _constant(context: Context, node: Node) -> Reading:
    if node.rank > 2:
        raise NotSupported("a literal array of order 3 or more has no text")
    return Reading(literal(node.array))


def _product(context: Context, node: Node) -> Reading:
    blocks = block_reading(context, [(Fraction(1), node)])
    if blocks is not None:
        return blocks
    return by_steps(context, node, _in_matrices(context, node))


def _in_matrices(context: Context, node: Node) -> Reading:
    """Return the reading of a product without sums over steps."""
    spread = _term_by_term(context, node) or at_positions(context, node)
    if spread is not None:
        return spread
    reading = _product_alone(context, node)
    spread = _multiplied_out(context, node)
    best = spread if spread is not None and spread.form.tokens < reading.form.tokens else reading
    transposed = best.transposed
    if transposed is not None and "symmetric" in node.facts and transposed.cost < best.form.cost:
        return Reading(transposed, best.transposed_minus, best.natural, transposed, best.transposed_minus)
    return best


def _multiplied_out(context: Context, node: Node) -> Reading | None:
    """Return a multiple of a sum, or of its transpose, with the coefficient multiplied in; None for another product."""
    if len(node.args) != 1 or node.args[0].kind != "sum" or node.out != _axes(node):
        return None
    if node.indices[0] == node.out:
        return sum_of(context, node.args[0], node.coef)
    if node.indices[0] != (1, 0) or node.rank != 2:
        return None
    across = sum_of(context, node.args[0], node.coef)
    if across.transposed is None:
        return None
    return Reading(across.transposed, across.transposed_minus, across.natural, across.form, across.minus)


def _term_by_term(context: Context, node: Node) -> Reading | None:
    """Return a re-indexed sum of tensors as the sum of its re-indexed terms: `kron(A, B) + kron(C, D)`."""
    positions = [k for k, arg in enumerate(node.args) if arg.kind == "sum" and arg.rank > 2]
    if len(positions) != 1 or node.rank > 2 or any(a.kind not in ("selector", "sum") for a in node.args):
        return None
    (position,) = positions
    operands = list(node.operands)
    whole = operands[position][0]
    sizes = node.sizes
    terms = []
    for coef, arg in whole.terms:
        operands[position] = (arg, node.indices[position])
        terms.append((coef * node.coef, product(1, operands, node.out, sizes)))
    if add(terms) is not node or any(a not in context.readings for _, t in terms for a in t.args):
        return None
    readings = [_product_alone(context, term) for _, term in terms]
    if any(r.form.body is not None for r in readings):
        return None
    coefs = [coef for coef, _ in terms]
    return summed(list(zip(coefs, readings, strict=True)), [t.digest for _, t in terms])


def _product_alone(context: Context, node: Node) -> Reading:
    """Return the reading of a product; numbers of which its operands are multiples move to the front."""
    whole = context
    context, written = opened(context, node)
    written = aligned(written)
    best = with_scales(whole, context, written, _function)
    transposed = in_listed_order(whole, context, written)
    other = transposed and with_scales(whole, *transposed, _function)
    return other if other is not None and other.form.tokens < best.form.tokens else best


def _function(context: Context, node: Node) -> Reading:
    return READ[node.kind](context, node)


def _axes(node: Node) -> tuple[int, ...]:
    return tuple(range(node.rank))


def _map(context: Context, node: Node) -> Reading:
    base, exponent = exponent_of(node)
    if exponent != 1:
        if len(sizes := sizes_below(context, node)) > 1:
            return Reading(forms.divided(forms.number(1), sizes))
        return _power(context.readings[base], exponent, bool(node.shape))
    readings = [context.readings[arg] for arg in node.args]

    def call(x: Form) -> Form:
        return forms.call(name_of(node), *arguments(context, node, [x]))

    if len(readings) == 1 and node.rule.parity:
        return of_difference(readings[0], node.rule.parity == "odd", lambda x: _of_entries(x, call))
    shown = [r.form for r in readings]
    if len(shown) == 1 and shown[0].body is not None:
        return Reading(_of_entries(shown[0], call))
    if node.shape and any(f.scalar is None for f in shown):
        shown = [f.scalar or f for f in shown]
    if node.rule.role == "free_power":
        return Reading(forms.raised(shown[0], shown[1], bool(node.shape)))
    operands = arguments(context, node, shown)
    if node.rule.relation:
        operands[:2] = [forms.compared(operands[0], node.rule.relation, operands[1])]
    return Reading(forms.call(name_of(node), *operands))


def _of_entries(x: Form, make: Callable[[Form], Form]) -> Form:
    """Return an elementwise function of a form; of an index form, entry by entry: `{i,j: exp(A[i,j,k]*x[k])}`."""
    return make(x) if x.body is None else forms.rewrapped(x, make(x.body))


def _power(base: Reading, exponent: Fraction, elementwise: bool) -> Reading:
    """Return the reading of x.^p, with its divisor if p is negative."""

    def make(x: Form) -> Form:
        return _of_entries(x, lambda entry: raised(entry, elementwise and x.body is None))

    def raised(x: Form, elementwise: bool) -> Form:
        if exponent == HALF:
            return forms.played("square_root", x)
        if exponent < 0:
            return forms.product([forms.number(1), divisor(x, elementwise)], ["./" if elementwise else "/"])
        return forms.raised(x, forms.number(exponent), elementwise)

    def below(x: Form) -> Form:
        return _of_entries(x, lambda entry: divisor(entry, elementwise and x.body is None))

    def divisor(x: Form, elementwise: bool) -> Form:
        if exponent == -1:
            return x
        if exponent == -HALF:
            return forms.played("square_root", x)
        return forms.raised(x, forms.number(-exponent), elementwise)

    whole = exponent.denominator == 1
    odd = exponent.numerator % 2 == 1
    difference = base if whole else Reading(base.form)
    reading = of_difference(difference, odd, make)
    if exponent < 0:
        inverse = of_difference(difference, odd, below)
        reading.inverse, reading.inverse_minus = inverse.form, inverse.minus
    return reading


READ: dict[str, Callable[[Context, Node], Reading]] = {
    "symbol": lambda context, node: Reading(forms.name(PARAMETER if node is parameter() else node.name)),
    "number": lambda context, node: Reading(scaled(forms.number(1), node.value)),
    "size": lambda context, node: Reading(context.size(node.size)),
    "constant": _constant,
    "selector": lambda context, node: Reading(selector_form(context, node)),
    "product": _product,
    "sum": lambda context, node: by_steps(context, node, sum_reading(context, node)),
    "map": _map,
    "op": operation_reading,
    "recurrence": trajectory_reading,
}

_CACHE = Readings(frozenset(), known=WeakKeyDictionary())
