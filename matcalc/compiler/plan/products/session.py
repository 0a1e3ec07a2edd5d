"""A session: the decisions of one plan so far, shared by the passes that lower nodes.

It records the values of nodes, the existing parts of products, and the kernel runs. It also records the facts of
matrices that follow from all their uses (a Gram matrix under `inv` is positive definite).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from matcalc.compiler.entrywise import At, Expr, Index, Literal, Read
from matcalc.compiler.lowering_entries import Kernel, Lowerings
from matcalc.compiler.plan.products.contraction_memo import Orders, Parts
from matcalc.compiler.plan.products.match_kernel import Matcher
from matcalc.compiler.plan.products.part_keys import Key
from matcalc.compiler.plan.values.describe import Describer
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.compiler.plan.values.memory_layout import Order
from matcalc.compiler.plan.values.precompute import SHARE, Precomputed
from matcalc.compiler.plan.values.values import Graph, Operand, Run, Value
from matcalc.compiler.program import Program
from matcalc.compiler.terms import Term
from matcalc.compiler.verify.inequalities import Known
from matcalc.rulebook.fields import filled
from matcalc.tensor.nodes.node import Node, everything
from matcalc.tensor.sizes.size import Size

TRIANGULAR = frozenset(["lower", "upper"])


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to the value of a node: the value, and for each axis of the node the axis of the value."""

    value: Value
    axes: tuple[int, ...]

    @property
    def is_straight(self) -> bool:
        return self.axes == tuple(range(len(self.axes)))


@dataclass(eq=False)
class Session:
    graph: Graph
    lowerings: Lowerings
    estimate: Estimate
    matcher: Matcher
    orders: Orders
    target: str
    implied: Mapping[Node, frozenset[str]]
    formed: frozenset[Node]
    memory_orders: Mapping[Node, Order]
    bodies: Mapping[tuple[object, ...], int]
    sizes: Known  # facts about sizes
    form: Callable[[Session, Node], Ref]  # lowers a node that was deferred
    plan: Callable[..., Program]  # plans a part with symbols of its own, from outputs and inputs
    describe: Describer
    ahead: Precomputed | None = None  # the values that fixed inputs determine
    refs: dict[Node, Ref] = field(default_factory=dict)
    known: dict[Key, Value] = field(default_factory=dict)
    known_axes: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    parts: Parts = field(default_factory=Parts)
    runs: dict[tuple[object, ...], Run] = field(default_factory=dict)
    needed: set[str] = field(default_factory=set)
    reordered: list[Node] = field(default_factory=list)
    """Products whose order changed because a part exists, or that compute a part that an earlier one passed over."""
    passed_over: set[Key] = field(default_factory=set)
    """Parts that products could have computed and did not."""
    groups: dict[tuple[object, ...], tuple[str, ...]] = field(default_factory=dict)
    gathered: dict[tuple[object, ...], Value] = field(default_factory=dict)

    # ---- references to values

    def ref(self, node: Node) -> Ref:
        """Return the reference to the value of a node, lowering an operation that was deferred."""
        found = self.refs.get(node)
        if found is None:
            found = self.refs[node] = self.form(self, node)
        return found

    def read(self, node: Node, at: Sequence[Index]) -> Expr:
        """Return the entry of a node at `at`."""
        if node.kind == "number":
            return Literal(node.value)
        if node.kind == "size":
            return Literal(node.size)
        ref = self.ref(node)
        if ref.value.kind == "point" and isinstance(ref.value.expr, Literal) and not ref.value.parts:
            return ref.value.expr
        return Read(ref.value.name, tuple(at[ref.axes.index(k)] for k in range(len(at))))

    def array(self, node: Node) -> Value:
        """Return the value of a node as an array with the axes in the node's order."""
        if node.kind in ("number", "size"):
            return self.graph.point((), self.read(node, ()))
        ref = self.ref(node)
        if ref.is_straight:
            self.needed.add(ref.value.name)
            return ref.value
        axes: At = self.graph.axes[: len(node.shape)]
        value = self.graph.point(node.shape, self.read(node, axes), node)
        self.refs[node] = Ref(value, tuple(range(len(node.shape))))
        self.needed.add(value.name)
        return value

    def is_needed(self, value: Value) -> bool:
        return value.name in self.needed

    def is_lone(self, node: Node) -> bool:
        """Whether no other product differs from this one only in its coefficient, so that a kernel may apply it."""
        return node.kind != "product" or self.bodies.get(body(node), 0) < 2

    def is_ahead(self, node: Node) -> bool:
        """Whether a node depends on fixed inputs alone."""
        if self.ahead is None:
            return False
        symbols = (n.name for n in everything([node]) if n.kind == "symbol")
        return all(name in self.ahead.fixed for name in symbols)

    # ---- operations

    def facts(self, node: Node) -> frozenset[str]:
        """Return the facts that kernels may use; a matrix that is not square is no triangle (R of a wide QR)."""
        known = node.facts | self.implied.get(node, frozenset())
        return known if node.rank < 2 or node.shape[-1] == node.shape[-2] else known - TRIANGULAR

    def is_unformed(self, node: Node) -> bool:
        """Whether a node is an operation that need not be computed, because kernels take it as a factor."""
        if node.kind != "op" or node in self.formed or node in self.refs or node.batch_rank:
            return False
        return any(len(k.factors) > 1 for k in self.lowerings.operations.get(node.rule.name, ()))

    def via_costs(self, node: Node) -> dict[str, tuple[object, float]]:
        """Return the step and cost of each factorisation that serves `node`, by name; cost 0 if it exists."""
        costs: dict[str, tuple[object, float]] = {}
        argument, _ = straightened(node.args[0])
        for kernel in self.lowerings.operations.get(node.rule.name, ()):
            for term in kernel.via[:1]:
                if term.name not in costs:
                    costs[term.name] = (("via", term.name, argument), self.via_time(term, argument))
        return costs

    def forming_time(self, node: Node) -> float:
        """Return the time to compute an operation as an array, its factorisation included."""
        times = []
        for kernel in self.lowerings.operations.get(node.rule.name, ()):
            if len(kernel.factors) == 1 and kernel.when <= self.facts(node.args[0]):
                letters = kernel.results[0].letters or ()
                sizes = dict(zip(letters, map(self.estimate, node.shape), strict=False))
                times.append(kernel.time(sizes) + self.factoring_time(kernel, [node.args[0]] * len(kernel.via)))
        return min(times, default=0.0)

    def factoring_time(self, kernel: Kernel, arguments: Sequence[Node]) -> float:
        """Return the time of the factorisations that a kernel needs of these arguments, each computed once."""
        found = {
            (term.name, straightened(argument)[0]): term for term, argument in zip(kernel.via, arguments, strict=True)
        }
        return sum(self.via_time(term, argument) for (_, argument), term in found.items())

    def via_time(self, term: Term, argument: Node) -> float:
        """Return the time of a factorisation, 0 if it exists or is requested anyway."""
        entry = self.lowerings.factorisation(term)
        argument = straightened(argument)[0]
        if self.run_key(entry, (argument,)) in self.runs or self.is_requested(term.name, argument):
            return 0.0
        letters = entry.factors[0].args[0].letters or ()
        sizes = dict(zip(letters, map(self.estimate, argument.shape), strict=False))
        return entry.time(entry.letters(sizes)) * (SHARE if self.is_ahead(argument) else 1.0)

    def is_requested(self, name: str, argument: Node) -> bool:
        """Whether a factorisation is itself a requested operation of the plan."""
        return any(key[1] == (argument,) and key[0].name == name for key in self.groups)  # type: ignore[attr-defined]

    def run_key(self, kernel: Kernel, args: Sequence[Node], rest: tuple[object, ...] = ()) -> tuple[object, ...]:
        return (kernel.name, tuple(args), rest)

    def factorised(self, run: Run, kernel: Kernel, node: Node, name: str, flip: bool) -> None:
        """Add to a run the operands that represent an operation that is not formed."""
        argument = node.args[0]
        run.params = (*run.params, (f"{name}.t", "1" if flip else "0"))
        self.add_named(run, kernel, {name: argument})

    def add_named(self, run: Run, kernel: Kernel, named: Mapping[str, Node]) -> None:
        """Add the operands in the kernel's template: arguments, and results of its factorisations."""
        for term in kernel.via:
            self.add_factor(run, kernel, term, named[term.args[0].name])
        for field_name, argument in named.items():
            if field_name in kernel.fields:
                run.operands.append(Operand(field_name, self.array(argument)))
        run.fault = self.fault(kernel, named)

    def fault(self, kernel: Kernel, named: Mapping[str, Node]) -> str:
        """Return the message of a kernel that can fail, in the user's names."""
        return filled(kernel.fails, {name: self.describe.name(self.without_same(node)) for name, node in named.items()})

    def without_same(self, node: Node) -> Node:
        """Return the operand of operations whose value is that of their operand."""
        while node.kind == "op" and node.rule.name in self.lowerings.same:
            node = node.args[0]
        return node

    def add_factor(self, run: Run, kernel: Kernel, term: Term, argument: Node) -> None:
        """Add to a run the results of a factorisation, of the untransposed matrix if the kernel allows it.

        A product may read the transpose of an operation on a transpose; the two cancel.
        """
        name = term.args[0].name
        matrix, transposed = straightened(argument) if name in kernel.flips else (argument, False)
        params = dict(run.params)
        params[f"{name}.t"] = "1" if (params.get(f"{name}.t", "0") == "1") != transposed else "0"
        run.params = tuple(params.items())
        for result, value in self.factors_of(term, matrix):
            field_name = kernel.factor_field(term, result)
            if field_name in kernel.fields:
                run.operands.append(Operand(field_name, value))

    def factors_of(self, term: Term, argument: Node) -> list[tuple[str, Value]]:
        """Return the results of the factorisation of a matrix, computed once."""
        entry = self.lowerings.factorisation(term)
        key = self.run_key(entry, (argument,))
        if key not in self.runs:
            self.runs[key] = self.factorise(entry, argument, ())
        return self.runs[key].results

    def factorise(self, entry: Kernel, argument: Node, batch: tuple[tuple[str, Size], ...]) -> Run:
        """Run a factorisation of a matrix, or of each matrix in loops over its leading axes."""
        (name, pattern), lead = (entry.factors[0].args[0].name, entry.factors[0].args[0].letters), argument.shape
        found = entry.letters(dict(zip(pattern or (), lead[len(batch) :], strict=True)))
        letters = {letter: Size.of(size) for letter, size in found.items()}
        names = tuple(axis for axis, _ in batch)
        operand = Operand(name, self.array(argument), False, names)
        run = Run(entry, [], [operand], tuple(letters.items()), batch=batch, kept=names)
        run.comment = f"{entry.name}({self.describe.name(argument)})"
        run.fault = self.fault(entry, {name: argument})
        shapes = [(*(s for _, s in batch), *(letters[x] for x in r.letters or ())) for r in entry.results]
        self.graph.run(run, [(r.name, shape, r.dtype) for r, shape in zip(entry.results, shapes, strict=True)])
        return run


def straightened(node: Node) -> tuple[Node, bool]:
    """Return the matrix whose transpose a node is, and True; else the node itself, and False."""
    if node.kind == "product" and len(node.args) == 1 and node.coef == 1 and len(node.shape) == 2:
        matrix, at = node.args[0], node.indices[0]
        if at == node.out[::-1] and at[0] != at[1] and matrix.kind != "selector":
            return matrix, True
    return node, False


def body(node: Node) -> tuple[object, ...]:
    """Return the key of a product without its coefficient."""
    return (node.args, node.indices, node.out)
