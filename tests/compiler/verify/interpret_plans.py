"""Interprets every program that a test plans at several sets of sizes, and compares it with the value of its nodes.

`watch` wraps the planner's entry; programs with one text are interpreted once. The sizes are drawn from {0, 1, 2, 3,
5}: all different, all equal, and one set with 0 and 1. They are smaller where a loop would have too many points.
"""

import itertools
import time
from math import prod

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.compiler.listing import listing
from matcalc.compiler.program import Call, Each, Loop, ProgramFault, walk
from matcalc.compiler.verify.expressions import whole
from matcalc.compiler.verify.interpret import Interpreter
from matcalc.errors import ShapeError
from matcalc.evidence.numeric.sampling import random_indices, sample
from matcalc.tensor.lookups import is_index, lengths_of
from matcalc.tensor.nodes.node import toposort

SETS = ((3, 2, 5, 1), (2, 2, 2, 2), (1, 3, 0, 2), (3, 3, 3, 3), (0, 2, 1, 3), (1, 1, 1, 1), (5, 3, 2, 1), (0, 0, 0, 0))
POINTS = 4000  # of all loops together, at one set of sizes
UNSAID = "None"  # the value of operations that exist only in programs
SAME, NUDGE, NUDGES, NOISE = 1e-6, 1e-11, 3, 30.0


class Watch:
    """The texts interpreted so far, and the faults found."""

    def __init__(self):
        self.seen = set()
        self.faults = []
        self.runs = 0
        self.seconds = 0.0

    def look(self, outputs, inputs, program):
        params = [step.params for step in walk(program.steps) if isinstance(step, Call)]
        text = f"{listing(program)}\n{params}"
        if text in self.seen:
            return
        self.seen.add(text)
        start = time.perf_counter()
        try:
            self.runs += supervise(outputs, inputs, program)
        except ProgramFault as fault:
            self.faults.append((fault, text))
            raise
        finally:
            self.seconds += time.perf_counter() - start


def supervise(outputs, inputs, program, sets=3):
    """Interpret a program at some sets of sizes; return at how many.

    Raises: ProgramFault for an access that no Program may make, and for a result that is not the value of its node.
    """
    machine = Interpreter(program, goes_on=True)
    names = list(dict.fromkeys([*(s.name for s in program.sources), *program.size_args]))
    done = 0
    for lengths in SETS if names else SETS[:1]:
        sizes = dict(zip(names, itertools.cycle(lengths)))
        if done == sets or not fits(program, sizes):
            continue
        done += ran(machine, outputs, inputs, sizes)
    return done


def fits(program, sizes):
    """Return whether all lengths are possible at some sizes, and loops short."""
    if any(whole(s)(sizes) < 0 for s in (*program.assumed, *(s for b in program.buffers for s in b.shape))):
        return False
    total, stack = 0, [(step, 1, {}) for step in program.steps]
    while stack:
        step, rounds, axes = stack.pop()
        if isinstance(step, Each):
            stack += [(inner, rounds * whole(step.size)(sizes), axes) for inner in step.body]
        elif isinstance(step, Loop):
            total += rounds * prod(max(whole(s)(sizes), 0) for _, s in step.axes)
        else:
            total += 20 * rounds
    return total <= POINTS


def ran(machine, outputs, inputs, sizes):
    data = data_of(inputs, sizes, lengths_of([node for _, node in outputs])) | stored(machine.program, sizes)
    try:
        found = machine.run(data, sizes)
    except ShapeError:
        return 0
    compare(outputs, data, sizes, found)
    return 1


def data_of(inputs, sizes, lengths={}):  # noqa: B006 - never changed
    """Return random arrays with the facts of the inputs; index arrays point into axes of the `lengths`."""
    rng = np.random.default_rng([11, *sizes.values()])
    data = {}
    for node in inputs:
        shape = tuple(whole(s)(sizes) for s in node.shape)
        if is_index(node):
            data[node.name] = random_indices(rng, shape, lengths.get(node.name, ()), sizes)
            continue
        data[node.name] = np.asarray(sample(rng, shape, tuple(sorted(node.data[1] - {"constant"}))))
    return data


def stored(program, sizes):
    """Return columns and starts of sparse matrices, by name, of the sizes that the calls read."""
    rng, found = np.random.default_rng([12, *sizes.values()]), {}
    for call in (step for step in walk(program.steps) if isinstance(step, Call)):
        named = {field: place.value for field, place in call.operands}
        columns, starts = (program.table.get(named.get(field)) for field in ("c", "starts"))
        if starts is not None and columns is not None and columns.dtype == "int32":
            count, rows = whole(columns.shape[0])(sizes), whole(starts.shape[0])(sizes) - 1
            width = whole(dict(call.sizes)["j"])(sizes) if "j" in dict(call.sizes) else 1
            cuts = rng.integers(0, count + 1, max(rows - 1, 0))
            found[starts.name] = np.array([0, *sorted(cuts), *[count][:rows]], np.int32)
            if columns.name not in found or "j" in dict(call.sizes):
                found[columns.name] = rng.integers(0, max(width, 1), count)
    return found


def compare(outputs, data, sizes, found, strict=False):
    """Raise ProgramFault where a result differs from plain evaluation, at data that have a value.

    A difference that a last digit of the data causes as well (a singular matrix) counts as rounding. With `strict` a
    result that is not finite is a fault too. Values that exist only in lowerings may differ.
    """
    wanted = values(outputs, data, sizes)
    for number, (name, node) in enumerate(outputs):
        is_told = wanted and not any(n.kind == "map" and n.rule.opaque for n in toposort([node]))
        error = distance(found[name], wanted[number], strict) if is_told else 0.0
        if error > SAME and error > NOISE * rounding(outputs, number, data, sizes, wanted):
            raise ProgramFault(f"{name} is {found[name]}, not {wanted[number]} where {sizes}")


def rounding(outputs, number, data, sizes, wanted):
    """Return the largest change of an output when last digits of the data change; infinity if it has no value."""
    largest = 0.0
    for seed in range(1, 1 + NUDGES):
        rng = np.random.default_rng(seed)
        moved = {
            name: a if a.dtype.kind == "i" else a * (1 + NUDGE * rng.standard_normal(a.shape))
            for name, a in data.items()
        }
        nudged = values(outputs, moved, sizes)
        largest = max(largest, distance(nudged[number], wanted[number]) if nudged else np.inf)
    return largest


def values(outputs, data, sizes):
    if any(node.kind == "op" and node.rule.value == UNSAID for node in toposort([node for _, node in outputs])):
        return None
    try:
        return [np.asarray(v) for v in evaluate([node for _, node in outputs], data, sizes)]
    except (np.linalg.LinAlgError, ValueError, ZeroDivisionError, ShapeError):
        return None


def distance(one, other, strict=False):
    """Return the distance of two arrays where both are finite, relative to the larger of 1 and the largest entry."""
    if one.shape != other.shape or (strict and np.any(np.isfinite(other) & ~np.isfinite(one))):
        return np.inf
    finite = np.isfinite(one) & np.isfinite(other)
    return np.max(np.abs(one[finite] - other[finite]), initial=0.0) / np.max(np.abs(other[finite]), initial=1.0)


def watch():
    """Wrap the planner; return the record of the programs it will plan."""
    import matcalc.compiler.plan as planner

    seen, plain = Watch(), planner.plan

    def plan(outputs, inputs, *args, **options):
        program = plain(outputs, inputs, *args, **options)
        seen.look(outputs, inputs, program)
        return program

    planner.plan = plan
    return seen
