"""Lowers a recurrence to one kernel: a loop round its step, which is a Program of its own.

The step computes the next states, and terms of totals over the steps, from the states, the slices of sequences and the
closed parts of the recurrence. Closed parts are operands of the kernel, so they are computed once, before the loop.
Neither the Program nor its text depends on the number of steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from matcalc.calculus.simplify.factor import factor
from matcalc.compiler.listing import listing, operations
from matcalc.compiler.lowering_entries import LAST, TOTAL, WHOLE, Again, Kernel, Part, StepLoop, read_kernel
from matcalc.compiler.plan.products.cheaper_sums import cheaper_sums
from matcalc.compiler.plan.products.session import Ref, Session
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.compiler.plan.values.values import Operand, Run
from matcalc.compiler.program import Program
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free
from matcalc.tensor.constructors import add, symbol
from matcalc.tensor.nodes.node import Node, Shape, everything, toposort
from matcalc.tensor.sizes.size import Size, volume
from matcalc.tensor.steps.recurrence import key_of, sibling
from matcalc.tensor.substitute import Batched, instantiate_all
from matcalc.tensor.sums import summands

STEPS = "steps_"
"""The template field of the number of steps."""


@dataclass(frozen=True, slots=True)
class Step:
    """The step of a recurrence over named symbols, with what the loop keeps of each state.

    Its outputs are the next values of states, or the terms of totals. Its inputs are the states and slices that it
    reads, and the closed parts; `numbers` are the operands of the kernel to which they belong.
    """

    kinds: tuple[str, ...]
    states: tuple[Node, ...]
    outputs: tuple[tuple[str, Node], ...]
    inputs: tuple[Node, ...]
    numbers: tuple[int, ...]


def lower_recurrence(session: Session, node: Node) -> Ref:
    """Return the reference to a trajectory, or to its last state; all parts of one recurrence have one run."""
    key = key_of(node)
    if key not in session.runs:
        session.runs[key] = _run(session, node)
    value = session.runs[key].results[node.position][1]
    return Ref(value, tuple(range(node.rank)))


def _run(session: Session, node: Node) -> Run:
    """Add the run of all states of a recurrence."""
    again = Recomputed(*node.data[7]) if len(node.data) > 7 else None
    steps = [_step(node, again), *([_step_again(node, again)] if again is not None else [])]
    programs = [
        session.plan(step.outputs, step.inputs, forms=factored(step.outputs, tuple(session.estimate.hints.items())))
        for step in steps
    ]
    if any(program.data for program in programs):
        hint = "call the formula itself, which is evaluated step by step"
        raise NotSupported("indices in data inside the step of a recurrence are not compiled", hint=hint)
    shapes = [sibling(node, k).shape for k in range(len(node.states))]
    kernel = _kernel(node, steps, programs, shapes, again)
    operands = [Operand(f"a_{k}", session.array(arg)) for k, arg in enumerate(node.args)]
    letters = dict.fromkeys(size for shape in (*(arg.shape for arg in node.args), *shapes) for size in shape)
    run = Run(kernel, [], operands, tuple((f"n_{k}", size) for k, size in enumerate(letters)))
    sizes = [(word, program.size_args) for word, program in zip(("size", "again"), programs, strict=False)]
    params = [(f"{word}_{k}", Size.of(name)) for word, names in sizes for k, name in enumerate(names)]
    run.params = ((STEPS, node.steps), *params)
    run.fault = kernel.fails
    run.comment = f"steps of {', '.join(s.name for s in steps[0].states)}"
    if again is not None:
        rows = f"at most {again.rows}" if again.rows else "twice the root of their number"
        run.comment += f", from {rows} of stored {', '.join(s.name for s in steps[1].states)}"
    session.graph.run(run, [(f"r_{k}", shape, "float64") for k, shape in enumerate(shapes)])
    return run


class Recomputed(NamedTuple):
    """The loop whose states a recurrence computes again: its operands are those from number `first` on.

    At most `rows` states are stored; 0 stands for twice the square root of the steps. `reads` has the symbols that the
    recurrence reads, each with the number of a state, and whether that is its value after the step.
    """

    rows: int
    first: int
    states: tuple[Node, ...]
    slices: tuple[Node, ...]
    bodies: tuple[Node, ...]
    reads: tuple[tuple[Node, int, bool], ...]


def _step(node: Node, again: Recomputed | None) -> Step:
    """Return the step of a recurrence."""
    starts = node.args[: len(node.states)]
    reads = {own: len(node.args) + k for k, (own, *_) in enumerate(again.reads)} if again is not None else {}
    args = node.args if again is None else node.args[: again.first]
    states, bodies, inputs = _named_step(node, args, node.states, node.slices, node.bodies, 0, reads)
    kinds = []
    for position, (state, start) in enumerate(zip(states, starts, strict=True)):
        term = _total(state, bodies, position) if start.is_zero and not node.kept[position] else None
        bodies[position] = bodies[position] if term is None else term
        kinds.append(WHOLE if node.kept[position] else LAST if term is None else TOTAL)
    return _as_step(tuple(kinds), states, bodies, inputs)


def _step_again(node: Node, again: Recomputed) -> Step:
    """Return the step of the loop that is computed again."""
    args = node.args[again.first :]
    named = _named_step(node, args, again.states, again.slices, again.bodies, again.first, {})
    return _as_step((), *named)


Inputs = list[tuple[int, Node]]
"""Named symbols that a step may read, with the numbers of the operands to which they belong."""


def _named_step(
    node: Node,
    args: Sequence[Node],
    states: Sequence[Node],
    slices: Sequence[Node],
    bodies: Sequence[Node],
    first: int,
    reads: Mapping[Node, int],
) -> tuple[list[Node], list[Node], Inputs]:
    """Return the named states of a step, its bodies over named symbols, and all its inputs.

    `args` are its operands, of which the first one has the number `first`. `reads` are further inputs by number.
    """
    taken = {x.name for x in everything(node.args) if x.kind == "symbol"} | _sizes_of(node)
    middle = len(states) + len(slices)
    operands, closed = args[len(states) : middle], args[middle:]
    named = [_named(s, "X" if s.rank > 1 else "x", taken) for s in states]
    given = [
        _named(own, f"{operand.name}_t" if operand.kind == "symbol" else "U" if own.rank > 1 else "u", taken)
        for own, operand in zip(slices, operands, strict=True)
    ]
    given += [arg if arg.kind == "symbol" else _named(arg, "C" if arg.rank > 1 else "c", taken) for arg in closed]
    inputs = [*enumerate([*named, *given], first)]
    inputs += [(k, _named(own, "Y" if own.rank > 1 else "y", taken)) for own, k in reads.items()]
    old = (*states, *slices, *closed, *reads)
    bound = {one: Batched(new) for one, (_, new) in zip(old, inputs, strict=True)}
    return named, [made.node for made in instantiate_all(bodies, bound, {}, ())], inputs


def _as_step(kinds: tuple[str, ...], states: Sequence[Node], bodies: Sequence[Node], inputs: Inputs) -> Step:
    """Return a step with the inputs that it reads."""
    read = set(toposort(bodies))
    taken = {own.name for _, own in inputs} | {x.name for x in read if x.kind == "symbol"}
    used = [(k, own) for k, own in inputs if own in read]
    outputs = tuple((free(f"{s.name}_next", taken), body) for s, body in zip(states, bodies, strict=True))
    numbers, symbols = zip(*used, strict=True) if used else ((), ())
    return Step(kinds, tuple(states), outputs, symbols, numbers)


def _sizes_of(node: Node) -> set[str]:
    return {name for x in everything([node]) for size in x.shape for name in size.names} | set(node.steps.names)


def _named(node: Node, word: str, taken: set[str]) -> Node:
    """Return a symbol with the shape and the facts of a node."""
    name = free(word, taken)
    taken.add(name)
    return symbol(name, node.shape, sorted(node.facts))


@lru_cache(maxsize=64)
def factored(outputs: tuple[tuple[str, Node], ...], sizes: tuple[tuple[str, int], ...]) -> tuple[tuple[Node, ...], ...]:
    """Return the outputs of a step with common factors of terms taken out, as further forms to plan."""
    nodes = [node for _, node in outputs]
    return tuple(map(factor, nodes)), tuple(cheaper_sums(nodes, Estimate(dict(sizes))))


def _total(state: Node, bodies: Sequence[Node], position: int) -> Node | None:
    """Return what a step adds to a state that nothing else reads; None if there is no such term."""
    body = bodies[position]
    terms = summands(body)
    if (Fraction(1), state) not in terms:
        return None
    term = add([(coef, one) for coef, one in terms if one is not state])
    others = [one for k, one in enumerate(bodies) if k != position]
    return None if state in toposort([term, *others]) else term


def _kernel(
    node: Node, steps: Sequence[Step], programs: Sequence[Program], shapes: Sequence[Shape], again: Recomputed | None
) -> Kernel:
    """Return the entry of the kernel, in the form of one in kernels.toml."""
    text = "".join(map(listing, programs)) + (f"{again.rows}" if again is not None else "")
    name = f"steps_{blake2b(text.encode(), digest_size=3).hexdigest()}"
    every = [arg.shape for arg in node.args]
    letters = {size: f"n_{k}" for k, size in enumerate(dict.fromkeys(s for x in (*every, *shapes) for s in x))}
    terms = [_term(f"a_{k}", shape, letters) for k, shape in enumerate(every)]
    results = [_term(f"r_{k}", shape, letters) for k, shape in enumerate(shapes)]
    parts = tuple(
        Part(f"{name}{word}", one, (*one.outputs, *one.inputs, *one.size_args))
        for word, one in zip(("_step", "_again"), programs, strict=False)
    )
    flops = sum((operations(program)[0] * node.steps for program in programs), Size.of(0))
    moved = _moved(node, shapes)
    loop = StepLoop(node.backward, steps[0].kinds, len(node.slices), steps[0].numbers)
    if again is not None:
        reads = tuple((k, is_after) for _, k, is_after in again.reads)
        counts = len(again.states), len(again.slices)
        loop = replace(loop, again=Again(again.rows, again.first, *counts, steps[1].numbers, reads))
    entry: dict[str, Any] = {
        "pattern": f"{', '.join(results)} = {name}({', '.join(terms)})",
        "words": f"all steps, each by {parts[0].name}",
        **_templates(node, loop, parts, shapes, letters),
        "fails": "; ".join(dict.fromkeys(fault for program in programs for fault in program.faults)),
        "called": {f"r_{k}": f"{s.name}_steps" for k, s in enumerate(steps[0].states)},
    }
    return replace(read_kernel(name, entry, 0), parts=parts, loop=loop, flops=lambda _: flops, bytes=lambda _: moved)


def _term(name: str, shape: Shape, letters: Mapping[Size, str]) -> str:
    return f"{name}[{', '.join(letters[size] for size in shape)}]" if shape else name


def _moved(node: Node, shapes: Sequence[Shape]) -> Size:
    return sum((volume(shape) * 8 for shape in (*(arg.shape for arg in node.args), *shapes)), Size.of(0))


def _templates(
    node: Node, loop: StepLoop, parts: Sequence[Part], shapes: Sequence[Shape], letters: Mapping[Size, str]
) -> dict[str, str]:
    """Return the templates for arrays: a function runs the loop, which calls the function of the step."""
    lengths = "".join(f"({''.join(f'{{{letters[s]}}}, ' for s in shape)}), " for shape in shapes)
    arrays = ", ".join(f"{{a_{k}}}" for k in range(len(node.args)))
    kinds = "".join(f'"{kind}", ' for kind in loop.kinds)
    sizes, *more = (
        "".join(f", {{{word}_{k}}}" for k in range(len(part.program.size_args)))
        for word, part in zip(("size", "again"), parts, strict=False)
    )

    def template(run: str, shapes: str, target: str) -> str:
        """Return a call; the functions of the steps have the names of a target."""
        names = [part.spelled(target) for part in parts]
        own = ""
        if loop.again is not None:
            given = loop.again
            own = f", ({names[1]}, {given.rows}, {given.first}, {given.states}, {given.sequences}, {given.inputs}, "
            own += f"{given.reads}, ({more[0].removeprefix(', ')}{',' * bool(more[0])}))"
        first = f"{names[0]}, {{{STEPS}}}, {node.backward}, ({kinds}), {shapes}({arrays},)"
        return f"{run}({first}, {loop.sequences}, {loop.inputs}{own}{sizes})"

    again = "_again" if loop.again is not None else ""
    return {
        "numpy": template(f"all_steps{again}", f"({lengths}), ", "numpy"),
        "array": template(f"all_steps{again}", "", "array"),
        "jax": template(f"scan_steps{again}", "", "array"),
    }
