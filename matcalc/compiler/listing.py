"""Prints a Program for people: its buffers, then its steps with the flops and bytes of each.

The counts are polynomials in the sizes, from the cost formulas of kernels and from the loops themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from matcalc.compiler.entrywise import (
    Apply,
    Expr,
    Guard,
    Literal,
    Number,
    Product,
    Read,
    Select,
    Sum,
    entry_text,
    parts,
    reads,
    within,
)
from matcalc.compiler.program import Argument, Call, Each, Loop, Program, Proof, Step, View, statements, walk_inside
from matcalc.tensor.sizes.size import ONE, Size, total, volume

COLUMN = 72
Cost = tuple[int, Size, Size]
"""The line of a step in the text of its plan, and its flops and bytes in one call."""
ROLES = {"temporary": ("temporary array", "temporary arrays")}
BYTES = 8
CALL = re.compile(r"\w+\(.*\)")
"""The template of a function that is written as a call, and not with signs, as `1/{0}`."""
LARGE = 10**16
"""Integers from which a number is printed as a float."""


class Names(NamedTuple):
    """The names of values in the text: those of their buffers, and those of a loop's own numbers."""

    buffer_of: Mapping[str, str] = {}
    own: Mapping[str, str] = {}

    def entry(self, value: str, at: Sequence[object]) -> str:
        return self.own.get(value) or entry_text(self.buffer_of.get(value, value), at)


def listing(program: Program) -> str:
    """Return the text of `fn.plan`; deterministic."""
    return listed(program)[0]


def listed(program: Program) -> tuple[str, tuple[Cost, ...]]:
    """Return the text of `fn.plan`, and the costs of its steps."""
    lines = []
    costs: list[Cost] = []
    for role in ("input", "constant", "output", "temporary", "scalar", "view"):
        found = [b for b in program.buffers if b.role == role]
        if found:
            words = ROLES.get(role, (role, f"{role}s"))[len(found) > 1]
            size = f", {_count(_bytes([b.shape for b in found]))} bytes" if role == "temporary" else ""
            lines.append(f"{words}: {', '.join(f'{b.name}{_shape(b.shape)}' for b in found)}{size}")
    if program.size_args:
        lines.append(f"sizes: {', '.join(program.size_args)}")
    lines += [f"error status {k}: {message}" for k, message in enumerate(program.faults, 1)]
    lines.append("")
    for step, around in walk_inside(program.steps):
        lets = step.lets if isinstance(step, Loop) else ()
        names = Names(program.buffer_of, {let.value: program.called.get(let.value, let.value) for let in lets})
        text = ["    " * len(around) + line for line in _lines(step, names)]
        if isinstance(step, Call | Loop):
            own = _work(step, program)
            text[0] = f"{text[0]:<{COLUMN}}  {work(*own)}{' each time' if around else ''}"
            costs.append(_cost(len(lines), own, around))
        lines += text
    lines += ["", f"total: {work(*cost_of(costs))}"]
    for part in (part for kernel in program.kernels for part in kernel.parts):
        lines += ["", f"{part.name}({', '.join(part.parameters)}):"]
        lines += [f"    {line}".rstrip() for line in listing(part.program).splitlines()]
    if program.proof is not None:
        lines += ["", *_proof(program.proof)]
    return "\n".join(lines), tuple(costs)


def work(flops: Size, moved: Size) -> str:
    """Return the text of the cost of a call."""
    return f"{_count(flops)} flops, {_count(moved)} bytes"


def cost_of(costs: Iterable[Cost]) -> tuple[Size, Size]:
    """Return the total flops and bytes of steps."""
    each = list(costs)
    return total(flops for _, flops, _ in each), total(moved for *_, moved in each)


def operations(program: Program) -> tuple[Size, Size]:
    """Return the flops and bytes of a call."""
    return cost_of(_cost(0, _work(step, program), around) for step, around in walk_inside(program.steps))


def _cost(line: int, own: tuple[Size, Size], around: Sequence[Each]) -> Cost:
    """Return the cost of a step over all rounds of the loops around it."""
    rounds = volume(each.size for each in around)
    return line, own[0] * rounds, own[1] * rounds


def _proof(proof: Proof) -> list[str]:
    """Return the lines on the proof of accesses, their count last."""
    lines = [f"tested once in each call: {size} >= 0" for size in proof.hoisted]
    return [*lines, *(f"guarded: {access}" for access in dict.fromkeys(proof.guarded)), str(proof)]


def step_text(step: Step) -> str:
    """Return the text of a step in one line."""
    return "; ".join(line.strip() for line in _lines(step, Names()))


def _shape(shape: tuple[Size, ...]) -> str:
    inner = ", ".join(map(str, shape))
    return f" ({inner}{',' if len(shape) == 1 else ''})" if shape else ""


def _count(size: Size) -> str:
    text = str(size)
    return text if len(text) < 60 else f"{len(size.terms)} terms of degree {_degree(size)}"


def _degree(size: Size) -> int:
    return max((sum(power for _, power in monomial) for monomial, _ in size.terms), default=0)


def _work(step: Step, program: Program) -> tuple[Size, Size]:
    """Return the flops and bytes of a step."""
    table, memory = program.table, program.memory
    if isinstance(step, Call):
        sizes = dict(step.sizes)
        if step.kernel.bytes is not None:
            return Size.of(0) + step.kernel.flops(sizes), Size.of(0) + step.kernel.bytes(sizes)
        shapes = [[sizes.get(letter, ONE) for letter in term.letters or ()] for term in step.kernel.measured]
        return Size.of(0) + step.kernel.flops(sizes), _bytes(shapes)
    if not isinstance(step, Loop):
        return Size.of(0), Size.of(0)
    flops = sum(_flops(x.expr) for x in statements(step)) + len(step.sums)
    touched: dict[str, None] = {}
    local = {let.value for let in step.lets}
    for x in statements(step):
        for read in reads(x.expr):
            if read.value not in local:
                touched[memory[program.buffer_of.get(read.value, read.value)]] = None
    whole = (*step.sums, *(s for s in step.stores if not s.over))
    touched.update(dict.fromkeys(memory[program.buffer_of[s.value]] for s in whole))
    points = [size for _, size in step.axes]
    parts_of = [points for store in step.stores if store.over]
    return volume(points) * flops, _bytes([*(table[name].shape for name in touched), *parts_of])


def _bytes(shapes: Iterable[Sequence[Size]]) -> Size:
    return sum((volume(shape) * BYTES for shape in shapes), Size.of(0))


def _flops(expr: Expr) -> int:
    total = 0
    for top in within(expr):
        if isinstance(top, Apply):
            total += round(top.function.cost)
        elif isinstance(top, (Sum, Product)):
            total += len(parts(top)) - 1 + int(isinstance(top, Product) and abs(top.coef) != 1)
    return total


# ---- steps and expressions


def _lines(step: Step, names: Names) -> list[str]:
    if isinstance(step, Each):
        return [f"for each {step.axis} < {step.size}"]
    if isinstance(step, View):
        start = f" from {step.start}" if step.start is not None else ""
        return [f"{step.buffer} = memory of {step.of}{start}, reused"]
    if isinstance(step, Call):
        return [_call(step, names)]
    assert isinstance(step, Loop)
    head = ", ".join(f"{axis} < {size}" for axis, size in step.axes)
    guards = "".join(f", {_guard(g)}" for g in step.guards)
    lines = [f"loop over {head}{guards}" if step.axes else "scalar operations"]
    entry = names.entry
    lines += [f"    {entry(let.value, ())} = {_top(let.expr, names)}" for let in step.lets]
    lines += [f"    {entry(s.value, s.at)} = sum {_top(s.expr, names)}" for s in step.sums]
    for s in step.stores:
        target = entry_text(names.buffer_of.get(s.value, s.value), s.at)
        lines.append(f"    {target} {'+=' if s.onto else '='} {_top(s.expr, names)}")
    return lines


def _call(call: Call, names: Names) -> str:
    results = ", ".join(_argument(p, names) for _, p in call.results)
    transposed = {name.removesuffix(".t") for name, value in call.params if value == "1" and name.endswith(".t")}
    operands = ", ".join(_argument(p, names) + "'" * (field in transposed) for field, p in call.operands)
    alpha = "" if call.alpha == Literal(1) else f", alpha = {_text(call.alpha, names)}"
    onto = f", added to {names.entry(call.onto, ())}" if call.onto else ""
    words = f": {call.kernel.words}" if call.kernel.words else ""
    return f"{results} = {call.kernel.name}({operands}{alpha}{onto}){words}"


def _argument(argument: Argument, names: Names) -> str:
    return names.entry(argument.value, argument.lead) + ("'" if argument.flip else "")


def _guard(guard: Guard) -> str:
    return f"{guard.size} {guard.relation} 0"


def _text(expr: Expr, names: Names) -> str:
    if isinstance(expr, Literal):
        return f"({expr.value})" if isinstance(expr.value, Size) and len(expr.value.terms) > 1 else _number(expr.value)
    if isinstance(expr, Read):
        return names.entry(expr.value, expr.at)
    if isinstance(expr, Sum):
        return f"({_sum(expr, names)})"
    if isinstance(expr, Product):
        return _scaled_text(expr.coef, "*".join(_factor(f, names) for f in expr.factors))
    if isinstance(expr, Select):
        return f"({_text(expr.body, names)} if {', '.join(map(_guard, expr.guards))} else 0)"
    template = expr.function.templates.get("plan")
    if template is None:
        return f"{expr.function.name}({', '.join(_text(arg, names) for arg in expr.args)})"
    return template.format(*(_operand(arg, names) for arg in expr.args), p=", ".join(map(str, expr.params)))


def _operand(expr: Expr, names: Names) -> str:
    """Return an operand of a sign; a product, a quotient, a power and a number of several signs are in parentheses."""
    shown = _text(expr, names)
    if isinstance(expr, Literal):
        return shown if shown.isalnum() or shown.startswith("(") else f"({shown})"
    is_signed = isinstance(expr, Product) or (isinstance(expr, Apply) and not CALL.fullmatch(_template(expr)))
    return f"({shown})" if is_signed else shown


def _factor(expr: Expr, names: Names) -> str:
    """Return a factor of a product; a number with a sign stands in parentheses."""
    shown = _text(expr, names)
    return f"({shown})" if shown.startswith("-") else shown


def _template(expr: Apply) -> str:
    return expr.function.templates.get("plan", "call()")


def _top(expr: Expr, names: Names) -> str:
    """Return an expression as the right side of an assignment; a sum needs no parentheses."""
    if isinstance(expr, Literal):
        return _number(expr.value)
    return _sum(expr, names) if isinstance(expr, Sum) else _text(expr, names)


def _sum(expr: Sum, names: Names) -> str:
    terms = [_scaled_text(coef, _text(term, names)) for coef, term in expr.terms]
    return " + ".join(terms).replace(" + -", " - ")


def _scaled_text(coef: Number, text: str) -> str:
    return text if coef == 1 else f"-{text}" if coef == -1 else f"{_number(coef)}*{text}"


def _number(value: object) -> str:
    if not isinstance(value, Fraction) or abs(value) < LARGE:
        return str(value)
    return f"{Decimal(value.numerator) / value.denominator:.6g}"
