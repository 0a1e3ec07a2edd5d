"""Lowers the solution of an equation: Newton's method on two functions that are planned like any other.

The residual F(Y) and the step, which solves F_Y(Y)*D = R by the structure of F_Y, are Programs of their own. The
iteration round them is a function of `codegen/`. There, a scalar unknown is a vector of one entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matcalc.calculus.derive.differentiate import pullback
from matcalc.calculus.derive.implicit import slope_in
from matcalc.calculus.derive.invert_map import inverse_image
from matcalc.calculus.simplify.simplify import simplify_all
from matcalc.compiler.code.code import (
    REST,
    ZERO,
    Block,
    Call,
    Do,
    Empty,
    Function,
    If,
    Length,
    Let,
    Name,
    Number,
    Op,
    Return,
    View,
    While,
)
from matcalc.compiler.code.parameters import parameter_kind
from matcalc.compiler.kernels.native_kinds import TRUTH, Kind
from matcalc.compiler.lowering_entries import Kernel, Part, part_sizes, read_kernel
from matcalc.compiler.plan.products.session import Session
from matcalc.compiler.plan.values.describe import brief
from matcalc.compiler.terms import letters_of
from matcalc.language.identifiers import WORDS, free
from matcalc.tensor.constructors import product, symbol
from matcalc.tensor.nodes.node import Node, everything
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute

RESULT, START = "result_", "start_"
STATES, EVALUATE, SOLVE = 7, 2, 3  # as in codegen/numba/newton.py
LOCAL = ("known", "start", "state", "status", "task", "y", "t", "s", "r", "d", "np", "newton", "newton_begin", "zeroed")
COST = "10000"  # flops; no other lowering competes


def newton_kernel(session: Session, node: Node) -> Kernel:
    """Return a kernel that solves an equation; its operands are the start and the symbols of the equation."""
    start, *symbols = node.args
    equation, unknown = node.params
    taken = {s.name for s in symbols} | {n for x in everything(node.args) for size in x.shape for n in size.names}
    at = symbol(free("Y" if unknown.rank > 1 else "y", taken), unknown.shape or (Size.of(1),))
    right = symbol(free("R", taken), at.shape)
    labels = [free(name, taken) for name in ("F", "D")]
    value = at if unknown.rank else product(1, [(at, (0,))], ())
    image = right if unknown.rank else product(1, [(right, (0,))], ())
    step = inverse_image(slope_in(equation, unknown, pullback), image)
    residual, step = simplify_all([substitute(n, {unknown: value}) for n in (equation, step)])
    name = f"{node.rule.name}_{node.digest.hex()[:6]}"
    programs = [
        session.plan(((labels[0], residual),), (at, *symbols)),
        session.plan(((labels[1], step),), (at, right, *symbols)),
    ]
    sizes = tuple(dict.fromkeys(n for p in programs for n in p.size_args))
    extra = (*(s.name for s in symbols), *sizes)
    parts = (
        Part(f"{name}_residual", programs[0], (labels[0], at.name, *extra)),
        Part(f"{name}_step", programs[1], (labels[1], at.name, right.name, *extra)),
    )
    return _kernel(node, name, parts)


def _kernel(node: Node, name: str, parts: tuple[Part, ...]) -> Kernel:
    """Return the entry in the form of one in kernels.toml, with the two functions as parts."""
    start, *symbols = node.args
    extra = [f"a_{k}" for k in range(len(symbols))]
    operands = [f"{START}{letters_of(START, start.rank)}"]
    operands += [f"{name}{letters_of(name, s.rank)}" for name, s in zip(extra, symbols, strict=True)]
    out = letters_of("out", max(start.rank, 1))
    fields = [f"{{{name}}}" for name in (*extra, *part_sizes(parts))]
    arguments = "".join(f"{field}, " for field in fields)
    first = f"{{{START}}}" if start.rank else f"np.array([{{{START}}}])"
    functions = ", ".join(part.spelled("numpy") for part in parts)
    known = {"numpy": _finite(extra, symbols, "", "np.isfinite")}
    known["numba"] = _finite(extra, symbols, ".reshape(-1)", "finite_number")
    entry = {
        "pattern": f"{RESULT}{out} = {node.rule.name}({', '.join(operands)}){out}",
        "flops": COST,
        "fails": _fault(node),
        "numpy": f"newton({known['numpy']}, {functions}, {first}, ({arguments.rstrip()}), {{fault}})",
        "numba": f"{name}({known['numba']}, {first}, {arguments}{{{RESULT}}})",
    }
    return replace(read_kernel(name, entry, 0), parts=parts, functions=(_search(node, name, parts),))


def _finite(fields: Sequence[str], symbols: Sequence[Node], flat: str, of_number: str) -> str:
    """Return the test that all data of an equation are finite."""
    tests = [
        f"all_finite({{{name}}}{flat})" if s.rank else f"{of_number}({{{name}}})"
        for name, s in zip(fields, symbols, strict=True)
    ]
    return " and ".join(tests) or "True"


def _search(node: Node, name: str, parts: tuple[Part, ...]) -> Function:
    """Return the function that serves `newton` of codegen/numba: it evaluates and solves on request."""
    residual, step = parts
    taken = {*LOCAL, *WORDS, residual.name, step.name}
    data = [(free(n, taken), parameter_kind(residual.program, n)) for n in residual.parameters[2:]]
    y, t, s, r, d, start = map(Name, ("y", "t", "s", "r", "d", "start"))
    state, status, task = map(Name, ("state", "status", "task"))
    extra = [Name(n) for n, _ in data]
    flat = [View(array, REST) for array in (y, t, s, r, d)]
    evaluate = Let("status", Call(residual.name, (s, t, *extra)))
    solve = Let("status", Call(step.name, (d, y, r, *extra)))
    others = If(
        Op("==", (task, Number(SOLVE))), (solve,), (Return(task),), "solve for the step d at y with the left side r"
    )
    served = If(Op("==", (task, Number(EVALUATE))), (evaluate,), (others,), "evaluate the left side s at t")
    begun = Call("newton_begin", (Name("known"), View(start, REST), flat[0]))
    body: Block = (
        If(Op("==", (begun, ZERO)), (Return(ZERO),)),
        *(Let(array.name, Empty((Length(y),))) for array in (t, s, r, d)),
        Let("state", Empty((Number(STATES),))),
        Do(Call("zeroed", (state,))),
        Let("status", ZERO),
        While(Number(True), (Let("task", Call("newton", (state, status, *flat))), served)),
    )
    array = Kind("float64", max(node.rank, 1))
    parameters = (("known", TRUTH), ("start", array), *data, ("y", array))
    return Function(name, parameters, body, (f"Solve {_equation(node)} = 0.",), is_inner=True)


def _equation(node: Node) -> str:
    """Return the left side of an equation, bounded in length, with a name for its unknown."""
    equation, unknown = node.params
    return brief(substitute(equation, {unknown: symbol(_name(node), unknown.shape)}))


def _name(node: Node) -> str:
    return free("Y" if node.rank > 1 else "y", {s.name for s in node.args[1:] if s.kind == "symbol"})


def _fault(node: Node) -> str:
    """Return the message if no solution is found: the equation, its unknown and the start."""
    name, start = _name(node), brief(node.args[0])
    reason = f"Newton's method finds no solution from {start}, or the derivative in {name} is singular"
    return f"{node.rule.name}({_equation(node)}, {name}): {reason}"
