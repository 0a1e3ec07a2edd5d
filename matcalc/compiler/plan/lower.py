"""Lowers nodes to values: each kind of node once, operands first.

Maps and sums are entrywise. Products are contracted. Operations are kernel runs, deferred if a kernel takes them as a
factor (an inverse is then a solve). Operations that `becomes` replaces were expanded before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from matcalc.compiler.entrywise import Apply, Expr, Index, Literal, Number, Read
from matcalc.compiler.lowering_entries import Kernel, Scalar, part_sizes
from matcalc.compiler.plan.lower_product import lower_indexed, lower_product
from matcalc.compiler.plan.newton import newton_kernel
from matcalc.compiler.plan.products.orders_at_run_time import lower_chain
from matcalc.compiler.plan.products.session import Ref, Session
from matcalc.compiler.plan.recurrences.steps import lower_recurrence
from matcalc.compiler.plan.resolve_selectors import Indexed, solve
from matcalc.compiler.plan.switches import is_mended, mended
from matcalc.compiler.plan.value_kernel import own_kernel, own_scalar, with_value
from matcalc.compiler.plan.values.describe import in_order
from matcalc.compiler.plan.values.values import Operand, Part, Run, Value, moved, plus, times
from matcalc.compiler.terms import Term
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free
from matcalc.tensor.facts.ranges import digits
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import PLAIN
from matcalc.tensor.sizes.size import Size, volume

NEAR_ZERO = 1e-100
"""Above this bound a power like 1/x^2 of a number is finite, and a product with it equals a division."""


def lower(session: Session, order: Sequence[Node]) -> None:
    """Lower the nodes of `order`, which is sorted operands first."""
    for node in order:
        if node in session.refs or session.is_unformed(node) or node.kind in ("number", "size", "selector"):
            continue
        session.refs[node] = LOWER[node.kind](session, node)


def lower_when_read(session: Session, node: Node) -> Ref:
    """Lower a selector or an operation that was deferred until something reads it."""
    return lower_selector(session, node) if node.kind == "selector" else lower_operation(session, node)


def _product(session: Session, node: Node) -> Ref:
    ref = lower_chain(session, node) or lower_product(session, node)
    return mended(session, node, ref) if is_mended(session, node) else ref


def lower_constant(session: Session, node: Node) -> Ref:
    if not node.shape:
        return Ref(session.graph.point((), Literal(float(node.array))), ())
    entries = tuple(float(x) for x in node.array.ravel())
    number = sum(1 for v in session.graph.values.values() if v.kind == "constant")
    name = free(f"K{number}", {*session.graph.values, *session.graph.reserved})
    return Ref(session.graph.leaf(name, node.shape, "constant", entries), tuple(range(len(node.shape))))


def lower_map(session: Session, node: Node) -> Ref:
    axes, order = _orientation(session, node)
    args = [session.read(a, axes) if a.shape else session.read(a, ()) for a in node.args]
    shape = tuple(node.shape[a] for a in order)
    key, params = _scalar(session, node)
    value = session.graph.point(shape, Apply(key, tuple(args), params), in_order(node, order))
    if max(node.args[0].range.low, -node.args[0].range.high) > NEAR_ZERO:
        session.graph.safe_powers.add(value.name)
    return Ref(value, tuple(order.index(a) for a in range(len(order))))


def _orientation(session: Session, node: Node) -> tuple[tuple[str, ...], list[int]]:
    """Return names for the axes of a node, and its axes in the order of its operands in memory.

    If the operands have several orders, return the order requested of the node.
    """
    order = list(session.memory_orders.get(node, range(len(node.shape))))
    orders = {session.ref(a).axes for a in node.args if a.shape and a.kind != "selector"}
    if len(orders) == 1:
        only = next(iter(orders))
        if len(only) == len(order):
            order = [only.index(k) for k in range(len(only))]
    names = [""] * len(order)
    for position, axis in enumerate(order):
        names[axis] = session.graph.axes[position]
    return tuple(names), order


def _scalar(session: Session, node: Node) -> tuple[Scalar, tuple[Number | Size, ...]]:
    """Return the scalar function of a map: the entry for its exact parameters, else the general one."""
    table = session.lowerings.scalars
    params = tuple(p for p in node.params if isinstance(p, (Fraction, float, Size)))
    special = " ".join([node.rule.name, *map(str, params)])
    for key in (special, node.rule.name):
        if key in table:
            found = with_value(table[key], own_scalar, node)
            takes = key == node.rule.name or any("{p" in template for template in found.templates.values())
            return found, params if takes else ()
    own = own_scalar(node)
    if own is not None:
        return own, params
    raise NotSupported(f"{node.rule.name} cannot be compiled", hint="add an entry of this name to codegen/scalars.toml")


def lower_sum(session: Session, node: Node) -> Ref:
    axes, order = _orientation(session, node)
    shape = tuple(node.shape[a] for a in order)
    dense: list[tuple[Number, Expr]] = []
    every: list[tuple[Number, Expr]] = []
    parts: list[Part] = []
    for coef, term in node.terms:
        ref = _term(session, term)
        read = session.read(term, axes) if term.kind != "selector" else _read(lower_selector(session, term), axes)
        every.append((coef, read))
        if ref is None or not ref.value.parts:
            dense.append((coef, read))
            continue
        if ref.value.base is not None:
            here: dict[str, Index] = {session.graph.axes[own]: name for own, name in zip(ref.axes, axes, strict=True)}
            dense.append((coef, moved(ref.value.base, here)))
        for part in ref.value.parts:
            at = tuple(part.at[ref.axes[axis]] for axis in order)
            parts.append(replace(part, at=at, expr=times(coef, (part.expr,))))
    if parts:
        base = plus(dense) if dense else None
        value = session.graph.assembled(shape, base, parts, plus(every), in_order(node, order))
    else:
        value = session.graph.point(shape, plus(every), in_order(node, order))
    return Ref(value, tuple(order.index(a) for a in range(len(order))))


def _term(session: Session, term: Node) -> Ref | None:
    """Return the reference to a term's value; a bare selector is lowered as a product of itself."""
    if term.kind in ("number", "size"):
        return None
    if term.kind == "selector":
        return lower_selector(session, term)
    return session.ref(term)


def _read(ref: Ref, axes: Sequence[str]) -> Read:
    return Read(ref.value.name, tuple(axes[ref.axes.index(k)] for k in range(len(axes))))


def lower_selector(session: Session, node: Node) -> Ref:
    """Lower a selector that is not a factor as a product of itself."""
    found = session.refs.get(node)
    if found is None:
        out = list(range(len(node.shape)))
        indexed = Indexed([], [*out], dict(enumerate(node.shape)), session.sizes)
        solve(indexed, node, [*out], [])
        found = session.refs[node] = lower_indexed(session, node, indexed, Fraction(1))
    return found


# ---- operations


def lower_operation(session: Session, node: Node) -> Ref:
    """Run the cheapest kernel of an operation and record all its outputs; or return its operand, if that is its value.

    Raises: NotSupported if no entry computes it.
    """
    if (operand := session.without_same(node)) is not node:
        return session.ref(operand)
    kernel = _choose(session, node)
    rest = (node.params, node.batches, node.batch_rank)
    key = session.run_key(kernel, node.args, rest)
    if not node.batch_rank and len(node.args) == 1 and not node.params:
        key = session.run_key(kernel, node.args)
    run = session.runs.get(key)
    if run is None:
        run = session.runs[key] = _run(session, node, kernel)
    requested = _result_name(kernel, node)
    value = dict(run.results)[requested]
    if not node.shape and value.shape:
        value = session.graph.point((), Read(value.name, (Size.of(0),)), node)
    elif value.shape != node.shape:
        value = session.graph.view(value, node.shape)
    return Ref(value, tuple(range(len(node.shape))))


def _result_name(kernel: Kernel, node: Node) -> str:
    names = [r.name for r in kernel.results]
    return node.output if node.output in names else names[0]


def group_of(node: Node) -> tuple[object, ...]:
    """Return the key that all outputs of one operation on equal operands share."""
    return (node.rule, node.args, node.params, node.batches, node.batch_rank)


def _choose(session: Session, node: Node) -> Kernel:
    requested = session.groups.get(group_of(node), (node.output,))
    facts = session.facts(node.args[0]) if node.args else frozenset()
    options = []
    for kernel in session.lowerings.operations.get(node.rule.name, ()):
        if kernel.whole and not _is_whole(node, kernel.whole):
            continue
        if kernel.rows and not _has_rows(node):
            continue
        if len(kernel.factors) != 1 or len(_arguments(kernel, node)) != len(node.args):
            continue
        results = {r.name for r in kernel.results}
        if not kernel.when <= facts or (len(kernel.results) > 1 and not set(requested) <= results):
            continue
        if len(kernel.results) == 1 and node.output and set(requested) != results:
            continue
        via = session.factoring_time(kernel, [node.args[_argument_number(kernel, node, term)] for term in kernel.via])
        letters = _letters(session, node, kernel)
        rounds = 1.0 if kernel.rows else session.estimate.volume(node.shape[: node.batch_rank])
        time = rounds * kernel.time({k: session.estimate(s) for k, s in letters.items()}) + via
        options.append((time, not kernel.when, -kernel.order, kernel))
    if not options and node.rule.kind == "implicit":
        return newton_kernel(session, node)
    own = own_kernel(node) if not options else None
    if own is not None:
        return own
    if not options:
        raise NotSupported(
            f"{node.rule.spelling} cannot be compiled",
            hint=f"add an entry for {session.describe(node)} to codegen/kernels.toml",
        )
    return with_value(min(options, key=lambda o: o[:3])[3], own_kernel, node)


def _arguments(kernel: Kernel, node: Node) -> list[tuple[str, tuple[str, ...] | None]]:
    """Return the tensor arguments of the pattern, each with its letters."""
    names = {p.name for p in node.rule.signature.parameters if p.kind in PLAIN}
    return [(a.name, a.letters) for a in kernel.factors[0].args if a.name not in names]


def _has_rows(node: Node) -> bool:
    """Whether all arguments have the same leading batch axes, so that a kernel for rows can take them."""
    whole = tuple(range(node.batch_rank))
    return node.batch_rank > 0 and all(carried == whole for carried in node.batches)


def _core(node: Node, number: int) -> tuple[Size, ...]:
    return node.args[number].shape[len(node.batches[number]) :]


def _in_rows(kernel: Kernel, node: Node, shape: tuple[Size, ...], letters: tuple[str, ...] | None) -> tuple[Size, ...]:
    """Return the shape in which a kernel takes a core shape: with one axis for all batches if the kernel takes rows."""
    if not kernel.rows:
        return shape
    core = shape if letters is None or len(letters) == len(shape) + 1 else (volume(shape),)
    return (volume(node.shape[: node.batch_rank]), *core)


def _letters(session: Session, node: Node, kernel: Kernel) -> dict[str, Size]:
    """Return the sizes of the letters of an operation's pattern; one letter may represent a flat view of any array."""
    found: dict[str, Size] = {}
    for number, (_, letters) in enumerate(_arguments(kernel, node)):
        _measure(found, letters, _in_rows(kernel, node, _core(node, number), letters))
    for term in kernel.results:
        if term.name == _result_name(kernel, node):
            _measure(found, term.letters, _in_rows(kernel, node, node.shape[node.batch_rank :], term.letters))
    return kernel.letters(found)


def _measure(found: dict[str, Size], letters: tuple[str, ...] | None, shape: tuple[Size, ...]) -> None:
    if letters is None:
        return
    if len(letters) == len(shape):
        for letter, size in zip(letters, shape, strict=True):
            found.setdefault(letter, size)
    elif len(letters) == 1:
        found.setdefault(letters[0], volume(shape))


def _run(session: Session, node: Node, kernel: Kernel) -> Run:
    """Add the run of an operation, inside loops over its batch axes."""
    graph = session.graph
    rank = 0 if kernel.rows else node.batch_rank
    batch = graph.batch_axes[:rank]
    letters = _letters(session, node, kernel)
    run = Run(kernel, [], [], tuple(letters.items()), comment=node)
    if len(kernel.results) > 1:
        run.comment = f"{kernel.name}({', '.join(map(session.describe.name, node.args))})"
    run.batch = tuple(zip(batch, node.shape[:rank], strict=True))
    run.kept = tuple(batch)
    run.params = (*_params(node), *((field, Size.of(n)) for field, n in part_sizes(kernel.parts).items()))
    arguments = _arguments(kernel, node)
    named = {name: node.args[number] for number, (name, _) in enumerate(arguments)}
    if kernel.via and not node.batch_rank:
        session.add_named(run, kernel, named)
    elif kernel.via:
        for term in kernel.via:
            _batched_factor(session, run, kernel, node, term)
        _named_operands(session, run, kernel, node)
    else:
        for number, (name, pattern) in enumerate(arguments):
            if kernel.rows:
                run.operands.append(Operand(name, _rows(session, node, number, pattern, kernel)))
            else:
                run.operands.append(_operand(session, node, number, name, pattern, batch))
    run.fault = session.fault(kernel, named)
    lead = node.shape[:rank]
    shapes = []
    for term in kernel.results:
        core = tuple(letters[x] for x in term.letters or ())
        shapes.append((term.name, (*lead, *core), term.dtype))
    graph.run(run, shapes)
    return run


def _rows(session: Session, node: Node, number: int, letters: tuple[str, ...] | None, kernel: Kernel) -> Value:
    """Return an argument with one axis for all batches."""
    value = session.array(node.args[number])
    shape = _in_rows(kernel, node, _core(node, number), letters)
    return value if value.shape == shape else session.graph.view(value, shape)


def _operand(
    session: Session, node: Node, number: int, name: str, pattern: tuple[str, ...] | None, batch: Sequence[str]
) -> Operand:
    """Return an argument as an array with leading batch axes, flattened if the pattern has one index."""
    argument = node.args[number]
    value: Value = session.array(argument)
    carried = node.batches[number]
    core = _core(node, number)
    if pattern is not None and len(pattern) == 1 and len(core) != 1:
        value = session.graph.view(value, (*argument.shape[: len(carried)], volume(core)))
    return Operand(name, value, False, tuple(batch[b] for b in carried))


def _batched_factor(session: Session, run: Run, kernel: Kernel, node: Node, term: Term) -> None:
    """Factorise an argument inside loops over its batch axes, or once if it has no batch axes."""
    number = _argument_number(kernel, node, term)
    carried = node.batches[number]
    if not carried:
        session.add_factor(run, kernel, term, node.args[number])
        return
    run.params = (*run.params, (f"{term.args[0].name}.t", "0"))
    batch = tuple(run.batch[b] for b in carried)
    factor = session.factorise(session.lowerings.factorisation(term), node.args[number], batch)
    for result, value in factor.results:
        field = kernel.factor_field(term, result)
        if field in kernel.fields:
            run.operands.append(Operand(field, value, False, factor.kept))


def _named_operands(session: Session, run: Run, kernel: Kernel, node: Node) -> None:
    """Add the arguments that the template of a kernel with factorisations names."""
    names = tuple(a for a, _ in run.batch)
    for number, (name, pattern) in enumerate(_arguments(kernel, node)):
        if name in kernel.fields:
            run.operands.append(_operand(session, node, number, name, pattern, names))


def _argument_number(kernel: Kernel, node: Node, term: Term) -> int:
    """Return the number of the argument that a factorisation takes."""
    return [name for name, _ in _arguments(kernel, node)].index(term.args[0].name)


def _params(node: Node) -> tuple[tuple[str, str | Size], ...]:
    """Return integer and number parameters by name, numbers as digits; refuse integers of more than 64 bits."""
    found: list[tuple[str, str | Size]] = []
    for name, value in _plain(node):
        whole = value.constant if isinstance(value, Size) and value.is_integer else value
        if isinstance(whole, Fraction) and whole.denominator == 1 and abs(whole) >= 2**63:
            raise NotSupported(f"{node.rule.spelling} of an integer of more than 64 bits", hint="write one below 2^63")
        if isinstance(value, Size):
            found.append((name, value))
        elif isinstance(value, Fraction) and value.denominator == 1:
            found.append((name, str(value)))
        elif isinstance(value, (Fraction, float)):
            found.append((name, digits(value)))
    return tuple(found)


def _is_whole(node: Node, name: str) -> bool:
    value = dict(_plain(node)).get(name)
    return isinstance(value, Fraction) and value.denominator == 1


def _plain(node: Node) -> list[tuple[str, object]]:
    plain = [p.name for p in node.rule.signature.parameters if p.kind in PLAIN]
    return list(zip(plain, node.params, strict=False))


def lower_symbol(session: Session, node: Node) -> Ref:
    raise NotSupported(f"{node.name} is not among the arguments")


Lowering = Callable[[Session, Node], Ref]
LOWER: dict[str, Lowering] = {
    "symbol": lower_symbol,
    "constant": lower_constant,
    "product": _product,
    "sum": lower_sum,
    "map": lower_map,
    "op": lower_operation,
    "recurrence": lower_recurrence,
}
