"""Plans formulas with a matrix that is simple plus low rank twice, and makes one Program that chooses in each call.

One Program computes the formulas as they are. The other one uses matrices of the size of the rank. It is taken if the
sizes of the call fit, and if its tests show that it loses no more digits than stated. If it fails or a test does not
hold, the call computes directly. With fixed inputs the cheaper one is taken: the choice, or the direct Program with
values that are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from matcalc.compiler.code.code import ONE, ZERO, Block, Call, Empty, Expr, Function, If, Let, Load, Name, Number, Op
from matcalc.compiler.code.code import Return as Done
from matcalc.compiler.code.parameters import parameter_kind
from matcalc.compiler.entrywise import Read
from matcalc.compiler.kernels.native_kinds import INTEGER
from matcalc.compiler.listing import listing, operations
from matcalc.compiler.lowering_entries import Kernel, Lowerings, Part, load, read_kernel
from matcalc.compiler.plan import compare
from matcalc.compiler.plan.expand import expand
from matcalc.compiler.plan.low_rank.forms import forms
from matcalc.compiler.plan.low_rank.rewrite import LowRank, TooLongError
from matcalc.compiler.plan.memory.allocate import Allocator
from matcalc.compiler.plan.memory.name_values import name_values
from matcalc.compiler.plan.memory.schedule import Scheduler
from matcalc.compiler.plan.values.describe import Describer, brief
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.compiler.plan.values.program_cost import price
from matcalc.compiler.plan.values.values import Graph, Operand, Run, Value
from matcalc.compiler.program import Program
from matcalc.compiler.verify.accesses import proved
from matcalc.language.identifiers import WORDS, free
from matcalc.store.data_folders import data_folder
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.sizes.size import Size, is_nonnegative

TIMES, MORE = 2, 4
"""The low-rank form is taken if the matrix has TIMES as many rows as its rank, and MORE."""
LOW_RANK = ("low_rank", "by matrices of low rank")
KRONECKER = ("kronecker", "by the factors of a Kronecker product")
"""The name of a kernel and its words, by the matrices in it."""
BRANCHING = frozenset(["numba", "numpy"])
"""Targets whose functions may choose by data."""


def plan(
    outputs: Sequence[tuple[str, Node]],
    inputs: Sequence[Node],
    sizes: Mapping[str, int] | None = None,
    target: str = "numba",
    folder: Path | None = None,
    forms: Sequence[Sequence[Node]] = (),
    **options: Any,
) -> Program:
    """Return the Program that computes named `outputs`; the arguments are those of `compare.plan`.

    Raises: NotSupported if an operation has no lowering, or if a recurrence must store all states.
    """
    lowerings = load(folder or data_folder("codegen"))
    found, fixed = None, options.pop("fixed", ())
    if target in BRANCHING:
        found = _low_rank([node for _, node in outputs], forms, lowerings, Estimate(sizes), folder)
    if found is None:
        return compare.plan(outputs, inputs, sizes, target, folder, forms, fixed=fixed, **options)
    direct = compare.plan(outputs, inputs, sizes, target, folder, forms, **{**options, "zero_filled": False})
    if direct.data:
        return compare.plan(outputs, inputs, sizes, target, folder, forms, fixed=fixed, **options)
    taken = {*(n.name for n in inputs), *(label for label, _ in outputs), *direct.size_args}
    losses = []
    for _ in found.tests:
        losses.append(free("loss", taken))
        taken.add(losses[-1])
    labels = [*(label for label, _ in outputs), *losses]
    wanted = [*found.roots, *(test for test, _ in found.tests)]
    short = compare.plan(list(zip(labels, wanted, strict=True)), inputs, sizes, target, folder,
                         **{**options, "zero_filled": False})  # fmt: skip
    estimate = Estimate(sizes)
    if fixed:
        ahead = compare.plan(outputs, inputs, sizes, target, folder, forms, fixed=fixed, **options)
        if not _fits_usually(found, estimate) or price(ahead, estimate) <= price(short, estimate):
            return ahead
    return _either(outputs, inputs, direct, short, found, estimate, options)


class Found(NamedTuple):
    """Formulas in low-rank form, their tests with limits, and the sizes that must not be negative.

    `name` and `words` are those of the form.
    """

    roots: list[Node]
    tests: list[tuple[Node, float]]
    rooms: list[Size]
    name: str
    words: str


def _low_rank(
    roots: Sequence[Node],
    others: Sequence[Sequence[Node]],
    lowerings: Lowerings,
    estimate: Estimate,
    folder: Path | None,
) -> Found | None:
    """Return formulas in low-rank form; None if they contain no such matrix, or if it never fits."""
    form = others[0] if others else roots
    made = LowRank(forms(folder or data_folder("codegen")), estimate, _may_fit)
    try:
        found = made.rewritten(expand(form, lowerings))
    except TooLongError:
        return None
    rooms = [_room(size, rank) for size, ranks in made.ranks.items() for rank in ranks]
    if not rooms:
        return None
    name, words = LOW_RANK if any(made.splits.values()) else KRONECKER
    return Found(found, made.tests, [room for room in rooms if not is_nonnegative(room)], name, words)


def _room(size: Size, rank: Size) -> Size:
    """Return a number that is nonnegative where the low-rank form of a matrix is taken."""
    return size - TIMES * rank - MORE


def _may_fit(size: Size, rank: Size) -> bool:
    room = _room(size, rank)
    return not (room.is_integer and room.constant < 0)


def _either(
    outputs: Sequence[tuple[str, Node]],
    inputs: Sequence[Node],
    direct: Program,
    short: Program,
    found: Found,
    estimate: Estimate,
    options: Mapping[str, Any],
) -> Program:
    """Return the Program with one kernel, which runs one of two."""
    kernel = _kernel(direct, short, found, estimate)
    graph = Graph(frozenset({*direct.inputs, *direct.outputs, *direct.size_args, *(s.name for s in direct.sources)}))
    describe = Describer([*(node for _, node in outputs), *inputs], options.get("parts") or {}, options.get("meaning"))
    leaves = [graph.leaf(name, direct.buffer(name).shape, dtype=direct.buffer(name).dtype) for name in direct.inputs]
    run = Run(kernel, [], [Operand(f"a_{k}", leaf) for k, leaf in enumerate(leaves)])
    shapes = [direct.buffer(name).shape or (Size.of(1),) for name in direct.outputs]
    letters = _letters([*(leaf.shape for leaf in leaves), *shapes])
    run.sizes = tuple((letter, size) for size, letter in letters.items())
    run.params = tuple((f"size_{k}", Size.of(name)) for k, name in enumerate(_sizes(direct, short)))
    run.params += tuple((f"room_{k}", room) for k, room in enumerate(found.rooms))
    run.fault = kernel.fails
    run.comment = kernel.words
    made = graph.run(run, [(f"r_{k}", shape, "float64") for k, shape in enumerate(shapes)])
    results: dict[str, Value] = {}
    for (name, node), value in zip(outputs, made, strict=True):
        value.comment = node
        results[name] = value if node.rank else graph.point((), Read(value.name, (Size.of(0),)), node)
    schedule = Scheduler(graph, list(results.values())).steps()
    allocator = Allocator(graph, schedule, results)
    program = allocator.program(direct.inputs, list(direct.size_args), list(direct.sources), direct.comment)
    return proved(name_values(replace(program, assumed=direct.assumed), graph, describe))


def _letters(shapes: Sequence[Shape]) -> dict[Size, str]:
    return {size: f"n_{k}" for k, size in enumerate(dict.fromkeys(s for shape in shapes for s in shape))}


def _sizes(*programs: Program) -> list[str]:
    return [*dict.fromkeys(name for program in programs for name in program.size_args)]


def _kernel(direct: Program, short: Program, found: Found, estimate: Estimate) -> Kernel:
    """Return the entry in the form of one in kernels.toml, with the two Programs as parts."""
    digest = blake2b((listing(direct) + listing(short)).encode(), digest_size=3).hexdigest()
    name = f"{found.name}_{digest}"
    sizes = _sizes(direct, short)
    parts = tuple(
        Part(f"{name}_{word}", program, (*program.outputs, *program.inputs, *program.size_args))
        for word, program in (("short", short), ("direct", direct))
    )
    shapes = {n: direct.buffer(n).shape or (Size.of(1),) for n in direct.outputs}
    shapes |= {n: direct.buffer(n).shape for n in direct.inputs}
    letters = _letters([*(shapes[n] for n in direct.inputs), *(shapes[n] for n in direct.outputs)])

    def term(field: str, n: str) -> str:
        return f"{field}[{', '.join(letters[s] for s in shapes[n])}]" if shapes[n] else field

    results = [term(f"r_{k}", n) for k, n in enumerate(direct.outputs)]
    operands = [term(f"a_{k}", n) for k, n in enumerate(direct.inputs)]
    rooms = [f"{{room_{k}}}" for k in range(len(found.rooms))]
    fields = [f"{{a_{k}}}" for k in range(len(operands))] + [f"{{size_{k}}}" for k in range(len(sizes))]
    made = ", ".join(f"({''.join(f'{{{letters[s]}}}, ' for s in shapes[n])})" for n in direct.outputs)
    fits = " and ".join(f"{room} >= 0" for room in rooms) or "True"
    limits = "".join(f"{most!r}, " for _, most in found.tests)
    entry = {
        "pattern": f"{', '.join(results)} = {name}({', '.join(operands)})",
        "fails": "; ".join(direct.faults),
        "words": _words(found),
        "numpy": f"low_rank_first(({made},), {fits}, ({limits}), {parts[0].spelled('numpy')}, "
        f"{parts[1].spelled('numpy')}, {', '.join(fields)})",
        "numba": f"{name}({', '.join([*fields, *rooms, *(f'{{r_{k}}}' for k in range(len(results)))])})",
    }
    flops, moved = operations(short if _fits_usually(found, estimate) else direct)
    return replace(
        read_kernel(name, entry, 0),
        parts=parts,
        branches=tuple(found.rooms),
        functions=(_function(name, parts, sizes, found),),
        flops=lambda _: flops,
        bytes=lambda _: moved,
    )


def _fits_usually(found: Found, estimate: Estimate) -> bool:
    """Whether the smaller matrices are taken at the expected sizes."""
    return all(estimate(room + 1) > 1 or is_nonnegative(room) for room in found.rooms)


def _words(found: Found) -> str:
    """Return what a plan says of the choice."""
    tests = [f"{room} >= 0" for room in found.rooms]
    tests += [f"0 < {brief(test)} <= {most:g}" for test, most in found.tests]
    return f"{found.words} if {' and '.join(tests)}, else directly"


def _function(name: str, parts: Sequence[Part], sizes: Sequence[str], found: Found) -> Function:
    """Return the function that calls one of the parts."""
    short, direct = parts
    program = direct.program
    taken = {*program.inputs, *sizes, *WORDS, *(part.name for part in parts), "np"}

    def local(word: str) -> str:
        made = free(word, taken)
        taken.add(made)
        return made

    results = {n: local(n) for n in program.outputs}
    rooms = [local("room") for _ in found.rooms]
    losses = [local("loss") for _ in found.tests]
    status = local("status")
    outer = [Name(results[n]) for n in program.outputs]
    given = {part.name: [Name(n) for n in (*part.program.inputs, *part.program.size_args)] for part in parts}
    tests: list[Expr] = [Op("==", (Name(status), ZERO))]
    for loss, (_, most) in zip(losses, found.tests, strict=True):
        value = Load(Name(loss), (ZERO,))
        tests += [Op("<", (Number(0.0), value)), Op("<=", (value, Number(most)))]
    attempt: Block = (
        *(Let(loss, Empty((ONE,))) for loss in losses),
        Let(status, Call(short.name, (*outer, *map(Name, losses), *given[short.name]))),
        If(Op("and", tuple(tests)), (Done(ZERO),), note="exact enough"),
    )
    room = tuple(Op(">=", (Name(n), ZERO)) for n in rooms)
    fits = [If(room[0] if len(room) == 1 else Op("and", room), attempt)] if room else list(attempt)
    body = (*fits, Done(Call(direct.name, (*outer, *given[direct.name]))))
    parameters = [(n, parameter_kind(program, n)) for n in program.inputs]
    parameters += [(n, INTEGER) for n in (*sizes, *rooms)]
    parameters += [(results[n], parameter_kind(program, n)) for n in program.outputs]
    doc = ("By matrices of the size of the rank, or directly if sizes or data do not allow that.",)
    return Function(name, tuple(parameters), body, doc, is_inner=True)
