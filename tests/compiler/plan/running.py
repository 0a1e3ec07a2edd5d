"""Runs Programs on both targets and compares them with the plain evaluator of nodes."""

import numpy as np

from matcalc.calculus.derive import conventions
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.emit.module import emit
from matcalc.compiler.plan import plan
from matcalc.compiler.spec.spec import CompiledSpec, Operand
from matcalc.formula.elaborate.texts import elaborate
from matcalc.tensor.nodes.node import toposort

SIZES = {"m": 7, "n": 5, "p": 4, "k": 3, "q": 2}


def parse(text, declarations):
    """Return the simplified node of a text and its symbols."""
    root = conventions.simplify_all([elaborate([text], declarations).nodes[0]])[0]
    return root, [n for n in toposort([root]) if n.kind == "symbol"]


def with_gradients(text, declarations, *names):
    """Return named outputs, the value and its gradients, and the symbols."""
    root, symbols = parse(text, declarations)
    wrt = [s for name in names for s in symbols if s.name == name]
    gradients = conventions.finish(conventions.gradients(root, wrt, "projected"))
    return [("value", root), *((f"d{s.name}", g) for s, g in zip(wrt, gradients, strict=True))], symbols


def sample(node, seed):
    """Return data with the facts of a symbol."""
    rng = np.random.default_rng(seed)
    array = rng.standard_normal([s.evaluate(SIZES) for s in node.shape])
    if "spd" in node.facts:
        array = array @ array.T + len(array) * np.eye(len(array))
    elif "symmetric" in node.facts:
        array = array + array.T
    elif "lower" in node.facts:
        array = np.tril(array) + 3 * np.eye(len(array))
    elif node.rank == 2 and node.shape[0] is node.shape[1]:
        array = array + 4 * np.eye(len(array))
    if "positive" in node.facts:
        array = np.abs(array) + 0.3
    return array if node.shape else float(array)


def compiled(program, target):
    """Return a function that runs a Program."""
    table = program.table
    spec = CompiledSpec(
        "tested",
        tuple(Operand(name, table[name].shape) for name in program.inputs),
        tuple(Operand(name, table[name].shape) for name in program.outputs),
        tuple(range(len(program.outputs))),
        source=emit(program, "tested", "numba") if target == "numba" else "",
        numpy_source=emit(program, "tested", "numpy"),
        target=target,
        sizes=program.size_args,
        faults=program.faults,
    )
    return Compiled(spec)


def check(outputs, inputs, target, seed=0, tolerance=1e-9):
    """Compare a Program with the evaluator; return it."""
    program = plan(outputs, inputs, SIZES, target)
    data = {node.name: sample(node, seed + k) for k, node in enumerate(inputs)}
    arguments = [data[name] for name in program.inputs] + [SIZES[name] for name in program.size_args]
    got = compiled(program, target)(*arguments)
    want = evaluate([node for _, node in outputs], data, SIZES)
    for (name, _), a, b in zip(outputs, got, want, strict=True):
        assert np.shape(a) == np.shape(b), name
        assert np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True), name
    return program
