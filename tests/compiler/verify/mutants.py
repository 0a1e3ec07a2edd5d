"""Mutants of Programs: one error of a kind that a planner makes.

An index shifted, a guard dropped, `=` for `+=`, two buffers shared, a zeroing dropped, a flip toggled, a size off by
one, two operands exchanged, a step removed or before its time, the sign of a coefficient.
"""

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from matcalc.compiler.entrywise import Apply, Literal, Product, Read, Select, Sum, parts
from matcalc.compiler.listing import step_text
from matcalc.compiler.program import Call, Each, Loop, View
from matcalc.tensor.sizes.size import Size


class Mutant(NamedTuple):
    """A program with one change: the kind, and a description of the change."""

    kind: str
    what: str
    program: object


# ---- programs


def mutants(program):
    """Yield all mutants of a program, kind by kind."""
    for kind, changes in KINDS.items():
        seen = [program]
        for what, changed in changes(program):
            if changed not in seen:
                seen.append(changed)
                yield Mutant(kind, what, changed)


def stepwise(change):
    """Return a kind of change made from one of single steps, which yields (what, step) for a step."""

    def changes(program):
        for steps, put in bodies(program.steps):
            for k, step in enumerate(steps):
                for changed in change(step):
                    new = put((*steps[:k], changed, *steps[k + 1 :]))
                    yield f"{step_text(step)}  ->  {step_text(changed)}", replace(program, steps=new)

    return changes


def bodies(steps, put=lambda new: new):
    """Yield each list of steps of a program, those inside an Each after its own, with a function that replaces it."""
    yield steps, put
    for k, step in enumerate(steps):
        if isinstance(step, Each):
            yield from bodies(
                step.body,
                lambda new, k=k, step=step: put((*steps[:k], replace(step, body=tuple(new)), *steps[k + 1 :])),
            )


def expressions(step):
    """Yield each expression of a loop, with a function that replaces it."""
    if isinstance(step, Loop):
        for field in ("lets", "sums", "stores"):
            for k, one in enumerate(getattr(step, field)):

                def put(expr, field=field, k=k, one=one):
                    row = list(getattr(step, field))
                    row[k] = replace(one, expr=expr)
                    return replace(step, **{field: tuple(row)})

                yield from nodes(one.expr, put)


def nodes(expr, put):
    """Yield an expression and all its parts, each with a function that replaces it."""
    yield expr, put
    for k, part in enumerate(parts(expr)):
        yield from nodes(part, lambda new, k=k: put(with_part(expr, k, new)))


def with_part(expr, k, new):
    if isinstance(expr, Select):
        return replace(expr, body=new)
    if isinstance(expr, Sum):
        return replace(expr, terms=tuple((c, new if i == k else t) for i, (c, t) in enumerate(expr.terms)))
    field = "factors" if isinstance(expr, Product) else "args"
    return replace(expr, **{field: tuple(new if i == k else t for i, t in enumerate(getattr(expr, field)))})


def one_more(index):
    return (Size.of(index) if isinstance(index, str) else index) + 1


def shifted(at):
    for k in range(len(at)):
        yield tuple(one_more(a) if i == k else a for i, a in enumerate(at))
    if len(at) > 1 and at[0] != at[1]:
        yield (at[1], at[0], *at[2:])


def index_shifted(step):
    lets = {let.value for let in step.lets} if isinstance(step, Loop) else set()
    for expr, put in expressions(step):
        if isinstance(expr, Read) and expr.value not in lets:
            for at in shifted(expr.at):
                yield put(replace(expr, at=at))
    if isinstance(step, Loop):
        for k, store in enumerate(step.stores):
            for at in shifted(store.at):
                yield replace(step, stores=(*step.stores[:k], replace(store, at=at), *step.stores[k + 1 :]))


def guard_dropped(step):
    if isinstance(step, Loop):
        for k in range(len(step.guards)):
            yield replace(step, guards=step.guards[:k] + step.guards[k + 1 :])
    for expr, put in expressions(step):
        if isinstance(expr, Select):
            for k in range(len(expr.guards)):
                rest = expr.guards[:k] + expr.guards[k + 1 :]
                yield put(replace(expr, guards=rest) if rest else expr.body)


def assigned(step):
    """`=` for `+=`: the old value is lost, or used as the value to overwrite."""
    if isinstance(step, Loop):
        for k, store in enumerate(step.stores):
            if store.onto:
                for other in (replace(store, onto="", over=store.onto), replace(store, onto="")):
                    yield replace(step, stores=(*step.stores[:k], other, *step.stores[k + 1 :]))
    if isinstance(step, Call) and step.onto:
        yield replace(step, onto="")


def buffers_shared(program):
    """Two values share one buffer; both had buffers of one shape."""
    table = program.table
    own = [v for v, b in program.buffer_of.items() if b in table and table[b].role in ("temporary", "output")]
    for one in own:
        for other in own:
            a, b = table[program.buffer_of[one]], table[program.buffer_of[other]]
            if a.name != b.name and a.shape == b.shape and a.dtype == b.dtype and a.role == "temporary":
                moved = {v: b.name if p == a.name else p for v, p in program.buffer_of.items()}
                yield f"{a.name} is {b.name}", replace(program, buffer_of=moved)


def zeroing_dropped(program):
    """A loop that sets entries to zero is removed; the values added onto it remain."""
    for steps, put in bodies(program.steps):
        for k, step in enumerate(steps):
            if not isinstance(step, Loop):
                continue
            for store in step.stores:
                if store.expr == Literal(Fraction(0)) or store.expr == Literal(0):
                    rest = tuple(s for s in step.stores if s is not store)
                    kept = (replace(step, stores=rest),) if rest or step.sums else ()
                    new = put((*steps[:k], *kept, *steps[k + 1 :]))
                    yield f"no {store.value} = 0", replace(program, steps=new)


def flip_toggled(step):
    if isinstance(step, Call):
        for k, (field, place) in enumerate(step.operands):
            if field in step.kernel.flips:
                turned = (field, replace(place, flip=not place.flip))
                yield replace(step, operands=(*step.operands[:k], turned, *step.operands[k + 1 :]))
        for k, (name, value) in enumerate(step.params):
            if name.endswith(".t"):
                turned = (name, "0" if value == "1" else "1")
                yield replace(step, params=(*step.params[:k], turned, *step.params[k + 1 :]))


def size_off_by_one(program):
    yield from stepwise(_lengths)(program)
    for k, buffer in enumerate(program.buffers):
        if buffer.shape and buffer.role in ("temporary", "view"):
            for shape in ((*buffer.shape[:-1], buffer.shape[-1] - 1), (buffer.shape[0] + 1, *buffer.shape[1:])):
                row = (*program.buffers[:k], replace(buffer, shape=shape), *program.buffers[k + 1 :])
                yield f"{buffer.name} {buffer.shape}  ->  {shape}", replace(program, buffers=row)


def _lengths(step):
    if isinstance(step, Loop):
        for k, (axis, size) in enumerate(step.axes):
            for new in (size - 1, size + 1):
                yield replace(step, axes=(*step.axes[:k], (axis, new), *step.axes[k + 1 :]))
    elif isinstance(step, View) and step.start is not None:
        yield replace(step, start=step.start + 1)
    elif isinstance(step, Each):
        yield replace(step, size=step.size - 1)


def operands_exchanged(step):
    if isinstance(step, Call) and len(step.operands) > 1:
        (a, one), (b, two), *rest = step.operands
        if one != two:
            yield replace(step, operands=((a, two), (b, one), *rest))
    for expr, put in expressions(step):
        if isinstance(expr, Apply) and len(expr.args) > 1 and expr.args[0] != expr.args[1]:
            yield put(replace(expr, args=(expr.args[1], expr.args[0], *expr.args[2:])))
        if isinstance(expr, Sum) and len({c for c, _ in expr.terms}) > 1:
            terms = zip([c for c, _ in expr.terms], [t for _, t in expr.terms[::-1]], strict=True)
            yield put(replace(expr, terms=tuple(terms)))


def steps_moved(program):
    for steps, put in bodies(program.steps):
        for k, step in enumerate(steps):
            yield f"without {step_text(step)}", replace(program, steps=put(steps[:k] + steps[k + 1 :]))
            if k:
                new = (*steps[: k - 1], step, steps[k - 1], *steps[k + 1 :])
                yield f"{step_text(step)} before {step_text(steps[k - 1])}", replace(program, steps=put(new))


def sign_changed(step):
    for expr, put in expressions(step):
        if isinstance(expr, Product):
            yield put(replace(expr, coef=-expr.coef))
        elif isinstance(expr, Sum):
            for k, (c, t) in enumerate(expr.terms):
                yield put(replace(expr, terms=(*expr.terms[:k], (-c, t), *expr.terms[k + 1 :])))
    if isinstance(step, Call) and isinstance(step.alpha, Literal) and step.kernel.scales:
        yield replace(step, alpha=Literal(-step.alpha.value))


KINDS = {
    "an index shifted": stepwise(index_shifted),
    "a guard dropped": stepwise(guard_dropped),
    "= for +=": stepwise(assigned),
    "two buffers shared": buffers_shared,
    "a zeroing dropped": zeroing_dropped,
    "a flip toggled": stepwise(flip_toggled),
    "a size off by one": size_off_by_one,
    "two operands exchanged": stepwise(operands_exchanged),
    "a step removed or moved": steps_moved,
    "a sign": stepwise(sign_changed),
}
