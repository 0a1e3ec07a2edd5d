"""Compares whole plans: values or gradients first, inverses solved or formed.

The best order of each product alone gives poor joint plans. So every alternative that may differ is planned completely,
and its time is estimated. A plan that forms inverses must be clearly cheaper (SOLVE_BETTER). Then the cheapest plan is
tried with other products planned first: those whose order depended on other products (`output_order`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from matcalc.compiler.lowering_entries import Lowerings, load
from matcalc.compiler.plan.expand import implied_facts, must_form
from matcalc.compiler.plan.joined_forms import joined_forms
from matcalc.compiler.plan.lower import group_of, lower, lower_selector, lower_when_read
from matcalc.compiler.plan.memory.allocate import Allocator
from matcalc.compiler.plan.memory.join_runs import join_runs
from matcalc.compiler.plan.memory.name_values import name_values, words_of
from matcalc.compiler.plan.memory.restore_quotients import write_back
from matcalc.compiler.plan.memory.schedule import Scheduler, accumulate
from matcalc.compiler.plan.memory.write_transposed import inline_transposed
from matcalc.compiler.plan.memory.zero_filled_results import with_zeroed_results
from matcalc.compiler.plan.products.build_contraction import offer
from matcalc.compiler.plan.products.contraction_memo import Orders
from matcalc.compiler.plan.products.fewest_first import fewest_operands_first
from matcalc.compiler.plan.products.match_kernel import Matcher
from matcalc.compiler.plan.products.session import Ref, Session, body
from matcalc.compiler.plan.resolve_selectors import entry_of
from matcalc.compiler.plan.rows.by_rows import Planned, by_blocks
from matcalc.compiler.plan.rows.output_order import Candidate, with_best_output_order
from matcalc.compiler.plan.values.describe import Describer, meaning_of, product_of
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.compiler.plan.values.memory_layout import memory_orders
from matcalc.compiler.plan.values.precompute import SHARE, Precomputed, cut
from matcalc.compiler.plan.values.program_cost import price
from matcalc.compiler.plan.values.size_sources import size_sources
from matcalc.compiler.plan.values.values import Graph, Value
from matcalc.compiler.program import Checked, Program, values_read, walk
from matcalc.compiler.verify.accesses import proved
from matcalc.compiler.verify.inequalities import known_of
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.kinds import INDEX
from matcalc.language.write import text
from matcalc.store.data_folders import data_folder
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size, is_nonnegative

SOLVE_BETTER = 1.25
COMPUTED = ("kernel", "sum")
"""The kinds of values that hold products of several operands."""


MANY = 100  # the number of nodes from which on no product is tried first
LARGE = 600  # the number of nodes from which on only one order of the outputs is planned


def plan(
    outputs: Sequence[tuple[str, Node]],
    inputs: Sequence[Node],
    sizes: Mapping[str, int] | None = None,
    target: str = "numba",
    folder: Path | None = None,
    forms: Sequence[Sequence[Node]] = (),
    assumed: Sequence[Size] = (),
    parts: Mapping[Node, str] | None = None,
    dtypes: Mapping[str, str] | None = None,
    meaning: Callable[[Node], Node] | None = None,
    fixed: Sequence[str] = (),
    by_rows: bool = False,
    zero_filled: bool = False,
    checkpoints: int | None = None,
    small_first: bool = False,
) -> Program:
    """Return the Program that computes named `outputs` from the symbols `inputs`.

    `sizes` are hints for costs; sizes that no input determines become arguments. The caller ensures that the sizes
    `assumed` are not negative. `forms` are other nodes with the same values, output by output: `(A' + A)*x` needs a new
    matrix, `A'*x + A*x` two products that may exist. `parts` are names of nodes for comments and messages. `dtypes` are
    the types of inputs by name, if they differ from those of numbers and index arrays. `meaning` returns the node that
    comments write in place of a node. Values that depend only on the inputs and sizes `fixed` go into the Program's
    `ahead` if that saves work. With `by_rows`, matrices that are read twice are processed in blocks of rows. With
    `zero_filled`, results that are mostly zeros are passed zero-filled. With `checkpoints`, recurrences store at most
    that many states at a time, or twice the square root of their steps if it is 0. With `small_first`, an order is
    tried that computes products of few operands first.

    Raises: NotSupported if an operation has no lowering, or if a recurrence must store all states.
    """
    best, describe, estimate = _compared(
        outputs,
        inputs,
        sizes,
        target,
        folder,
        forms,
        assumed,
        parts,
        dtypes,
        meaning,
        fixed,
        checkpoints,
        small_first,
    )
    chosen = [by_blocks(p, describe, estimate) if by_rows and k == 0 else p for k, p in enumerate(best.planned)]
    if zero_filled:
        chosen[0] = chosen[0]._replace(program=with_zeroed_results(chosen[0].program, estimate))
    made = [proved(name_values(p.program, p.graph, describe)) for p in chosen]
    comment = "; ".join(f"{name} = {describe(node)}" for name, node in chosen[0].shown)
    return replace(made[0], comment=comment, ahead=made[1] if len(made) > 1 else None)


def _compared(
    outputs: Sequence[tuple[str, Node]],
    inputs: Sequence[Node],
    sizes: Mapping[str, int] | None,
    target: str,
    folder: Path | None,
    forms: Sequence[Sequence[Node]],
    assumed: Sequence[Size],
    parts: Mapping[Node, str] | None = None,
    dtypes: Mapping[str, str] | None = None,
    meaning: Callable[[Node], Node] | None = None,
    fixed: Sequence[str] = (),
    checkpoints: int | None = None,
    small_first: bool = False,
    offered: Sequence[tuple[Node, Node]] = (),
) -> tuple[Candidate, Describer, Estimate]:
    """Return the cheapest plan; `offered` are inputs, each with the product of other inputs that it holds."""
    lowerings = load(folder or data_folder("codegen"))
    matcher, orders = Matcher(lowerings), Orders()
    estimate = Estimate(sizes)
    nodes = [node for _, node in outputs]
    kinds = {node.name: "int64" for node in inputs if INDEX in node.facts} | dict(dtypes or {})
    written: dict[Node, Node] = {}
    describe = Describer([*nodes, *inputs], parts or {}, meaning_of(nodes, written, meaning))
    shapes = [s for node in (*inputs, *nodes) for s in node.shape]
    known = tuple(dict.fromkeys(s for s in (*assumed, *shapes) if not is_nonnegative(s)))
    best: Candidate | None = None
    again: Callable[[Sequence[Node], bool], Candidate] | None = None
    every = [nodes, *(f for f in forms if len(toposort(f)) < LARGE)]
    products = partial(_step_products, target=target, folder=folder, sizes=tuple((sizes or {}).items()), assumed=known)
    for expanded, roots in joined_forms(every, lowerings, checkpoints, products):
        written.update(zip(roots, expanded, strict=True))
        named = [(name, root) for (name, _), root in zip(outputs, roots, strict=True)]
        once = partial(
            _plan_once,
            named,
            inputs=inputs,
            lowerings=lowerings,
            matcher=matcher,
            orders=orders,
            estimate=estimate,
            target=target,
            describe=describe,
            folder=folder,
            sizes=sizes,
            assumed=known,
            dtypes=kinds,
            fixed=frozenset(fixed),
            offered=offered,
        )
        in_order = partial(_candidate, once, estimate)
        for order, form_all in _alternatives(named, lowerings):
            found = in_order([roots[k] for k in order], form_all)
            best, again = (found, in_order) if best is None or found.is_better(best) else (best, again)
        if small_first and best is not None:
            found = in_order(fewest_operands_first(roots), False)
            best, again = (found, in_order) if found.is_better(best) else (best, again)
    assert best is not None and again is not None
    if len(toposort(best.order)) < MANY:
        best = with_best_output_order(best, again)
    return best, describe, estimate


def _candidate(
    once: Callable[..., tuple[tuple[Planned, ...], list[Node]]],
    estimate: Estimate,
    order: Sequence[Node],
    form_all: bool,
) -> Candidate:
    """Plan nodes in this order."""
    found, reordered = once(order, form_all)
    return Candidate(_price(found, estimate, form_all), found, order, form_all, reordered)


def _price(found: Sequence[Planned], estimate: Estimate, form_all: bool) -> float:
    """Return the cost of a call plus its share of the work ahead; if inverses are formed, plus all of that work."""
    each, *before = (price(p.program, estimate) for p in found)
    return (each + sum(before) * (1.0 if form_all else SHARE)) * (SOLVE_BETTER if form_all else 1.0)


def _alternatives(outputs: Sequence[tuple[str, Node]], lowerings: Lowerings) -> list[tuple[list[int], bool]]:
    """Return orders of the outputs that may lead to different plans, each with whether inverses are formed."""
    forward = list(range(len(outputs)))
    nodes = toposort([node for _, node in outputs])
    orders = [forward, forward[::-1]] if len(outputs) > 1 and len(nodes) < LARGE else [forward]
    factored = {name for name, kernels in lowerings.operations.items() if any(len(k.factors) > 1 for k in kernels)}
    solves = any(n.kind == "op" and n.rule.name in factored for n in nodes)
    return [(order, form) for form in ((False, True) if solves else (False,)) for order in orders]


def _plan_once(
    outputs: Sequence[tuple[str, Node]],
    order: Sequence[Node],
    form_all: bool,
    inputs: Sequence[Node],
    lowerings: Lowerings,
    matcher: Matcher,
    orders: Orders,
    estimate: Estimate,
    target: str,
    describe: Describer,
    folder: Path | None,
    sizes: Mapping[str, int] | None,
    assumed: Sequence[Size],
    dtypes: Mapping[str, str],
    fixed: frozenset[str],
    offered: Sequence[tuple[Node, Node]],
) -> tuple[tuple[Planned, ...], list[Node]]:
    """Return the plan that computes the nodes of `order`, and its products whose order depends on other products."""
    nodes = toposort(order)
    size_args, sources = size_sources(inputs, [*nodes, *inputs])
    measured = {*size_args, *(s.name for s in sources)}
    assumed = tuple(s for s in assumed if measured.issuperset(s.names))
    reserved = {n.name for n in inputs} | {name for name, _ in outputs} | {s.name for s in sources} | set(size_args)
    graph = Graph(frozenset(reserved))
    data = _data(nodes, graph.axes, assumed)
    bodies: dict[tuple[object, ...], int] = {}
    for node in nodes:
        if node.kind == "product":
            bodies[body(node)] = bodies.get(body(node), 0) + 1
    session = Session(
        graph,
        lowerings,
        estimate,
        matcher,
        orders,
        target,
        implied_facts(nodes),
        must_form(nodes, [node for _, node in outputs], form_all),
        memory_orders([node for _, node in outputs], nodes),
        bodies,
        known_of(assumed, data),
        lower_when_read,
        partial(_plan_part, target=target, folder=folder, sizes=tuple((sizes or {}).items()), assumed=assumed),
        describe,
    )
    for node in inputs:
        leaf = graph.leaf(node.name, node.shape, dtype=dtypes.get(node.name, "float64"))
        session.refs[node] = Ref(leaf, tuple(range(len(node.shape))))
    for own, part in offered:
        offer(session, part, session.refs[own].value)
    if fixed and not data:  # each call tests indices in data before it reads anything
        session.ahead = _known(graph, inputs, fixed)
    session.groups = _requested_outputs(session, [n for n in nodes if n.kind == "op"])
    lower(session, nodes)
    join_runs(graph, lowerings.joined, describe)
    shown = [session.refs[node].value.name for _, node in outputs if node in session.refs]
    accumulate(graph, session.ahead if session.ahead is not None else (), shown)
    results = _results(session, outputs)
    write_back(graph, lowerings, results.values())
    inline_transposed(graph, {value.name for value in results.values()})
    parted = None if session.ahead is None else cut(_known(graph, inputs, fixed), results, words_of(graph, describe))
    if parted is not None:
        graph, results = parted.graph, parted.results
    schedule = Scheduler(graph, list(results.values())).steps()
    allocator = Allocator(graph, schedule, results)
    names = [*(n.name for n in inputs), *(parted.values if parted is not None else ())]
    program = allocator.program(names, size_args, sources)
    faults = (*program.faults, *(checked.fault for checked in data))
    whole = Planned(replace(program, assumed=assumed, data=data, faults=faults), graph, results, outputs)
    if parted is None or session.ahead is None:
        return (whole,), session.reordered
    return (whole, _before(session.ahead, parted.values, inputs, assumed, describe)), session.reordered


def _known(graph: Graph, inputs: Sequence[Node], fixed: frozenset[str]) -> Precomputed:
    """Return the values known from fixed inputs and sizes."""
    known_inputs = [node for node in inputs if node.name in fixed]
    _, sources = size_sources(known_inputs, known_inputs)
    return Precomputed(graph, fixed, fixed.union(source.name for source in sources))


def _before(
    ahead: Precomputed,
    values: Mapping[str, Value],
    inputs: Sequence[Node],
    assumed: Sequence[Size],
    describe: Describer,
) -> Planned:
    """Return the Program of the values that are computed ahead."""
    known_inputs = [node for node in inputs if node.name in ahead.fixed]
    size_args, sources = size_sources(known_inputs, known_inputs)
    size_args += sorted(name for name in ahead.fixed - {n.name for n in known_inputs} if name not in size_args)
    schedule = Scheduler(ahead.graph, list(values.values())).steps()
    program = Allocator(ahead.graph, schedule, values).program([n.name for n in known_inputs], size_args, sources)
    known = tuple(size for size in assumed if ahead.sizes.issuperset(size.names))
    return Planned(replace(program, assumed=known), ahead.graph, values)


def _data(nodes: Sequence[Node], axes: Sequence[str], assumed: Sequence[Size]) -> tuple[Checked, ...]:
    """Return the checks that lookups in nodes need of their data; `nodes` are sorted operands first."""
    found: dict[Checked, None] = {}
    for node in nodes:
        for indices in node.args if node.kind == "selector" else ():
            own = tuple(zip(axes, indices.shape, strict=False))
            known = known_of(assumed, tuple(found)).at(dict(own))
            index = entry_of(indices, [Size.of(axis) for axis, _ in own], known)
            found[Checked(own, index, node.shape[0], text(formula_of(indices)))] = None
    return tuple(found)


@lru_cache(maxsize=64)
def _plan_part(
    outputs: tuple[tuple[str, Node], ...],
    inputs: tuple[Node, ...],
    target: str,
    folder: Path | None,
    sizes: tuple[tuple[str, int], ...],
    assumed: tuple[Size, ...],
    forms: tuple[tuple[Node, ...], ...] = (),
) -> Program:
    """Return the Program of a function that a kernel calls, planned once for all compared plans."""
    return plan(outputs, inputs, dict(sizes), target, folder, forms, assumed, small_first=bool(forms))


@lru_cache(maxsize=64)
def _step_products(
    outputs: tuple[tuple[str, Node], ...],
    inputs: tuple[Node, ...],
    offered: tuple[tuple[Node, Node], ...],
    forms: tuple[tuple[Node, ...], ...],
    target: str,
    folder: Path | None,
    sizes: tuple[tuple[str, int], ...],
    assumed: tuple[Size, ...],
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the products that the plan of a step computes, and the inputs among the offered ones that it reads."""
    best, *_ = _compared(
        outputs, inputs, dict(sizes), target, folder, forms, assumed, small_first=True, offered=offered
    )
    program, graph, *_ = best.planned[0]
    read = {name for step in walk(program.steps) for name in values_read(step)}
    found = [product_of(value.comment) for value in graph.values.values() if value.kind in COMPUTED]
    computed = tuple(dict.fromkeys(part for part in found if part is not None))
    return computed, tuple(own for own, _ in offered if own.name in read)


def _requested_outputs(session: Session, operations: Sequence[Node]) -> dict[tuple[object, ...], tuple[str, ...]]:
    """Return the requested outputs of each operation on its operands.

    All outputs of an operation are requested if another operation needs it as a factorisation.
    """
    factors: dict[tuple[str, Node], list[str]] = {}
    for node in operations:
        kernels = session.lowerings.operations.get(node.rule.name, ())
        needed = {k.via for k in kernels if k.via}
        via = needed.pop() if len(needed) == 1 else ()
        if len(via) == 1 and len(kernels[0].factors) == 1 and not node.batch_rank:
            entry = session.lowerings.factorisation(via[0])
            factors[via[0].name, node.args[0]] = [r.name for r in entry.results]
    groups: dict[tuple[object, ...], list[str]] = {}
    for node in operations:
        shared = factors.get((node.rule.name, node.args[0]), []) if len(node.args) == 1 and not node.batch_rank else []
        groups.setdefault(group_of(node), []).extend([node.output, *shared])
    return {key: tuple(dict.fromkeys(names)) for key, names in groups.items()}


def _results(session: Session, outputs: Sequence[tuple[str, Node]]) -> dict[str, Value]:
    """Return a value for each output, none shared, with axes in the order of the output."""
    graph = session.graph
    results: dict[str, Value] = {}
    taken: set[str] = set()
    for name, node in outputs:
        axes = graph.axes[: len(node.shape)]
        if node.kind not in ("number", "size", "selector"):
            ref = session.ref(node)
            root = ref.value
            while root.kind == "view" and root.of is not None and root.start is None:
                root = root.of
            computed = root.kind in ("kernel", "point", "sum") and root.dtype == "float64"
            if ref.is_straight and computed and root.name not in taken:
                taken.add(root.name)
                results[name] = ref.value
                continue
        if node.kind == "selector":
            lower_selector(session, node)
        results[name] = graph.point(node.shape, session.read(node, axes), node)
    return results
