"""Lowers a recurrence to one kernel: a loop round its step, which is a Program of its own.

The step computes the next states, and terms of totals over the steps, from the states, the slices of sequences and the
closed parts of the recurrence. Closed parts are operands of the kernel, so they are computed once, before the loop.
Neither the Program nor its text depends on the number of steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import blake2b

from matcalc.compiler.listing import listing, operations
from matcalc.compiler.lowering_entries import LAST, TOTAL, WHOLE, Kernel, Part, StepLoop, read_kernel
from matcalc.compiler.plan.products.session import Ref, Session
from matcalc.compiler.plan.values.values import Operand, Run
from matcalc.compiler.program import Program
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free
from matcalc.tensor.constructors import add, symbol
from matcalc.tensor.nodes.node import Node, Shape, everything, toposort
from matcalc.tensor.recurrence import arguments_of, key_of, sibling
from matcalc.tensor.sizes.size import Size, volume
from matcalc.tensor.substitute import Batched, instantiate_all

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
    step = _step(node)
    program = session.plan(step.outputs, step.inputs)
    if program.data:
        hint = "call the formula itself, which is evaluated step by step"
        raise NotSupported("indices in data inside the step of a recurrence are not compiled", hint=hint)
    shapes = [sibling(node, k).shape for k in range(len(node.states))]
    kernel = _kernel(node, step, program, shapes)
    operands = [Operand(f"a_{k}", session.array(arg)) for k, arg in enumerate(node.args)]
    letters = dict.fromkeys(size for shape in (*(arg.shape for arg in node.args), *shapes) for size in shape)
    run = Run(kernel, [], operands, tuple((f"n_{k}", size) for k, size in enumerate(letters)))
    run.params = ((STEPS, node.steps), *((f"size_{k}", Size.of(name)) for k, name in enumerate(program.size_args)))
    run.fault = kernel.fails
    run.comment = f"steps of {', '.join(s.name for s in step.states)}"
    session.graph.run(run, [(f"r_{k}", shape, "float64") for k, shape in enumerate(shapes)])
    return run


def _step(node: Node) -> Step:
    """Return the step of a recurrence."""
    starts, operands, closed = arguments_of(node)
    taken = {x.name for x in everything(node.args) if x.kind == "symbol"} | _sizes_of(node)
    states = [_named(s, "X" if s.rank > 1 else "x", taken) for s in node.states]
    slices = [
        _named(own, f"{operand.name}_t" if operand.kind == "symbol" else "U" if own.rank > 1 else "u", taken)
        for own, operand in zip(node.slices, operands, strict=True)
    ]
    given = [arg if arg.kind == "symbol" else _named(arg, "C" if arg.rank > 1 else "c", taken) for arg in closed]
    renamed = dict(zip((*node.states, *node.slices, *closed), (*states, *slices, *given), strict=True))
    bound = {old: Batched(new) for old, new in renamed.items()}
    bodies = [made.node for made in instantiate_all(node.bodies, bound, {}, ())]
    kinds = []
    for position, (state, start) in enumerate(zip(states, starts, strict=True)):
        term = _total(state, bodies, position) if start.is_zero and not node.kept[position] else None
        bodies[position] = bodies[position] if term is None else term
        kinds.append(WHOLE if node.kept[position] else LAST if term is None else TOTAL)
    read = set(toposort(bodies))
    inputs = [(k, own) for k, own in enumerate((*states, *slices, *given)) if own in read]
    outputs = tuple((free(f"{s.name}_next", taken), body) for s, body in zip(states, bodies, strict=True))
    numbers, symbols = zip(*inputs, strict=True) if inputs else ((), ())
    return Step(tuple(kinds), tuple(states), outputs, symbols, numbers)


def _sizes_of(node: Node) -> set[str]:
    return {name for x in everything([node]) for size in x.shape for name in size.names} | set(node.steps.names)


def _named(node: Node, word: str, taken: set[str]) -> Node:
    """Return a symbol with the shape and the facts of a node."""
    name = free(word, taken)
    taken.add(name)
    return symbol(name, node.shape, sorted(node.facts))


def _total(state: Node, bodies: Sequence[Node], position: int) -> Node | None:
    """Return what a step adds to a state that nothing else reads; None if there is no such term."""
    body = bodies[position]
    if body.kind != "sum" or (Fraction(1), state) not in body.terms:
        return None
    term = add([(coef, one) for coef, one in body.terms if one is not state])
    others = [one for k, one in enumerate(bodies) if k != position]
    return None if state in toposort([term, *others]) else term


def _kernel(node: Node, step: Step, program: Program, shapes: Sequence[Shape]) -> Kernel:
    """Return the entry of the kernel, in the form of one in kernels.toml."""
    name = f"steps_{blake2b(listing(program).encode(), digest_size=3).hexdigest()}"
    every = [arg.shape for arg in node.args]
    letters = {size: f"n_{k}" for k, size in enumerate(dict.fromkeys(s for x in (*every, *shapes) for s in x))}
    terms = [_term(f"a_{k}", shape, letters) for k, shape in enumerate(every)]
    results = [_term(f"r_{k}", shape, letters) for k, shape in enumerate(shapes)]
    part = Part(f"{name}_step", program, (*program.outputs, *program.inputs, *program.size_args))
    flops, moved = operations(program)[0] * node.steps, _moved(node, shapes)
    entry = {
        "pattern": f"{', '.join(results)} = {name}({', '.join(terms)})",
        "numpy": _on_numpy(node, step, part, shapes, letters),
        "fails": _fault(program),
        "called": {f"r_{k}": f"{s.name}_steps" for k, s in enumerate(step.states)},
    }
    loop = StepLoop(node.backward, step.kinds, len(node.slices), step.numbers)
    return replace(read_kernel(name, entry, 0), parts=(part,), loop=loop, flops=lambda _: flops, bytes=lambda _: moved)


def _term(name: str, shape: Shape, letters: Mapping[Size, str]) -> str:
    return f"{name}[{', '.join(letters[size] for size in shape)}]" if shape else name


def _moved(node: Node, shapes: Sequence[Shape]) -> Size:
    return sum((volume(shape) * 8 for shape in (*(arg.shape for arg in node.args), *shapes)), Size.of(0))


def _on_numpy(node: Node, step: Step, part: Part, shapes: Sequence[Shape], letters: Mapping[Size, str]) -> str:
    """Return the template for NumPy: the loop calls the function of the step."""
    lengths = ", ".join(f"({''.join(f'{{{letters[s]}}}, ' for s in shape)})" for shape in shapes)
    arrays = ", ".join(f"{{a_{k}}}" for k in range(len(node.args)))
    numbers = "".join(f"{k}, " for k in step.numbers)
    kinds = "".join(f'"{kind}", ' for kind in step.kinds)
    sizes = "".join(f", {{size_{k}}}" for k in range(len(part.program.size_args)))
    arguments = f"({kinds}), ({lengths},), ({arrays},), {len(node.slices)}, ({numbers})"
    return f"all_steps({part.spelled('numpy')}, {{{STEPS}}}, {node.backward}, {arguments}{sizes})"


def _fault(program: Program) -> str:
    """Return the message if a step fails: the messages of its operations."""
    return "; ".join(dict.fromkeys(program.faults))
