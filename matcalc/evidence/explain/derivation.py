"""Writes a derivation as a person would: the differential, expanded by rules, collected, the derivative read off.

Each line is a node with its printed formula. Lines that continue one another have equal values, where `d(inv(S))` is
the differential of inv(S). The lines are derived anew from the formula and the variable, since the normal form flattens
the intermediate steps that a person would show.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from matcalc.calculus.derive import conventions
from matcalc.calculus.derive.differentiate import PUSH, depends_on, pushforward
from matcalc.calculus.derive.unrestricted import unrestricted
from matcalc.calculus.simplify.users_names import named_formula
from matcalc.evidence.explain.differential_form import canonical_formula, form_for, joined, times
from matcalc.evidence.explain.reasons import Reason, facts_used, gradient_of, rule_reason, settled, simplest, simplified
from matcalc.evidence.explain.size_conditions import needs
from matcalc.evidence.explain.why_fact import why
from matcalc.formula.notation.write_node import NOT_NAMED, whole_formula_of
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import add, inner, product, symbol, zeros
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.substitute import substitute

LEFT = ("f", "F", "g")
"""Names of the formula and of its gradient in a derivation."""
MARK = "d#"
"""The prefix of symbols for differentials that are not yet expanded; no user's name has it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, `left` = `formula`: `left` is a name or a formula, and `formula` has the value of `node`.

    An empty `left` continues the previous line. A `statement`, if there is one, is printed instead. The first lines may
    define parts that the user named; later formulas use these names.
    """

    left: str | Ast
    formula: Ast
    node: Node
    reasons: tuple[Reason, ...] = ()
    statement: str = ""


@dataclass(frozen=True, slots=True)
class Derivation:
    """A request: the derivative `what` of the formula `root` as written, in `wrt`, along `tangents` of the same order.

    A pullback has a `cotangent`; `layout` and `convention` are those of the derivative. `parts` have names in formulas.
    """

    what: str
    root: Node
    wrt: tuple[Node, ...] = ()
    tangents: tuple[Node, ...] = ()
    cotangent: Node | None = None
    layout: str = "tensor"
    convention: str = "projected"
    parts: tuple[tuple[Node, str], ...] = ()

    @property
    def new_symbols(self) -> tuple[Node, ...]:
        """The symbols of the derivative that the formula does not have: its tangents and its cotangent."""
        return self.tangents if self.cotangent is None else (*self.tangents, self.cotangent)

    @property
    def leading_axes(self) -> int:
        """The number of axes of a derivative before those of the last variable."""
        return self.wrt[0].rank if self.what == "hessian" else self.root.rank

    def lines(self, result: Node, names: Mapping[Node, str] = NOT_NAMED) -> list[Line]:
        """Return the lines that lead to `result`, after the definitions of the named parts that they use."""
        free = unrestricted(self.root, self.wrt)
        taken = {*LEFT, *(f"d{name}" for name in LEFT), *(f"d{x.name}" for x in self.wrt)}
        names = {node: name for node, name in names.items() if name not in taken}
        own = replace(self, root=free.root, wrt=tuple(free.variables), parts=tuple(names.items()))
        own = replace(own, parts=(*own.parts, *_tangents_of_states(own)))
        found = [replace(line, node=free.restored(line.node)) for line in LINES[self.what](own, result)]
        last = max(k for k, line in enumerate(found) if not line.statement)
        notes = tuple(Reason(f"needs {need}") for need in needs(result))
        found[last] = replace(found[last], reasons=(*found[last].reasons, *notes))
        return _with_definitions(found, names) if names else found

    def formula(self, node: Node) -> Ast:
        """Return the formula of a node with the names of parts."""
        return named_formula(node, names=dict(self.parts), dotted=False)


def _with_definitions(lines: Sequence[Line], names: Mapping[Node, str]) -> list[Line]:
    """Return the lines with names for the user's parts, after a line for each of these."""

    def opened(ast: Ast) -> Ast:
        return syntax.rebuild(ast, lambda ast: syntax.name(syntax.part_name(ast)) if is_named(ast) else ast)

    def is_named(ast: Ast) -> bool:
        return ast.head == "shared" and syntax.part_name(ast) in nodes

    nodes = {name: node for node, name in names.items()}
    trees = [ast for line in lines for ast in (line.left, line.formula) if isinstance(ast, Ast)]
    used: dict[str, Ast] = {}
    for ast in (part for tree in trees for part in syntax.parts_in(tree)):
        used.setdefault(syntax.part_name(ast), syntax.definition(ast))
    first = [Line(name, opened(used[name]), node) for name, node in nodes.items() if name in used]
    return [*first, *(replace(line, left=line.left if isinstance(line.left, str) else opened(line.left),
                              formula=opened(line.formula)) for line in lines)]  # fmt: skip


# ---- the derivations


def _value(d: Derivation, result: Node) -> Iterator[Line]:
    """Yield the rewriting of a formula that was not differentiated, and the reasons of its facts."""
    name = "f" if not d.root.shape else "F"
    yield Line(name, d.formula(d.root), d.root)
    f, reasons = settled(d.root)
    if f is not d.root:
        yield Line("", d.formula(f), f, (*reasons, *facts_used(d.root, whole_formula_of(f), simplest)))
    if result is not f and result is not d.root:
        yield Line("", d.formula(result), result)
    for statement in why(d.root):
        yield Line("", d.formula(d.root), d.root, (), statement)


def _gradient(d: Derivation, result: Node) -> Iterator[Line]:
    name = "f"
    f = yield from _beginning(name, d)
    (x,), (dx,) = d.wrt, _tangents(d)
    yield from _collected(f"d{name}", f, d, {x: dx})
    if d.convention == "magnus":
        diag = spelled("diagonals")
        note = Reason(f"both triangles of {x.name} counted together: 2*A - {diag}({diag}(A))")
        yield Line("gradient", d.formula(result), result, (note,))
    else:
        yield Line("gradient", d.formula(result), result)


def _differential(d: Derivation, result: Node) -> Iterator[Line]:
    name = "F" if d.root.shape else "f"
    f = yield from _beginning(name, d)
    moved = dict(zip(d.wrt, _tangents(d), strict=True))
    if not d.root.shape:
        yield from _collected(f"d{name}", f, d, moved)
        return
    last = yield from _expanded(d, f"d{name}", f, moved)
    yield from _continued(d, last, result)


def _jacobian(d: Derivation, result: Node) -> Iterator[Line]:
    name = "F" if d.root.shape else "f"
    f = yield from _beginning(name, d)
    (x,), (dx,) = d.wrt, _tangents(d)
    rank = f.rank
    if not rank:
        yield from _collected(f"d{name}", f, d, {x: dx})
        yield Line("Jacobian", d.formula(result), result)
        return
    last = yield from _expanded(d, f"d{name}", f, {x: dx})
    at = tuple(range(result.rank))
    jacobian, reasons = settled(conventions.jacobians(f, [x])[0])
    if rank + x.rank <= 2 and d.layout == "tensor":
        node = product(1, [(jacobian, at), (dx, at[rank:])], at[:rank])
        formula = times(d.formula(jacobian), d.formula(dx))
        if node is not last.node:
            yield Line("", formula, node, (Reason("collect"), *reasons))
    elif d.layout == "vec":
        moved = pushforward(f, {x: dx})
        vec, kron = spelled("stacked_columns"), spelled("tensor_product")
        formula = times(d.formula(result), syntax.call(vec, d.formula(dx)))
        left = syntax.call(vec, syntax.name(f"d{name}")) if rank > 1 else f"d{name}"
        stacked = conventions.as_matrix(moved, rank)
        yield Line(left, formula, stacked, (Reason(f"{vec}(A*X*B) = {kron}(B', A)*{vec}(X)"), *reasons))
    yield Line("Jacobian", d.formula(result), result)


def _hessian(d: Derivation, result: Node) -> Iterator[Line]:
    x, y = d.wrt[0], d.wrt[-1]
    g = yield from _first(d, x)
    dy = conventions.tangent_symbol(y, f"d{y.name}")
    last = yield from _expanded(d, "dg", g, {y: dy})
    hessian, reasons = settled(conventions.hessians(simplified(d.root)[0], [x, y])[0][-1])
    if hessian.rank <= 2:
        at = tuple(range(hessian.rank))
        node = product(1, [(hessian, at), (dy, at[x.rank :])], at[: x.rank])
        formula = times(d.formula(hessian), d.formula(dy)) if x.rank else canonical_formula(hessian, dy, d.formula)
        if node is not last.node:
            yield Line("", formula, node, (Reason("collect"), *reasons))
    yield Line("Hessian", d.formula(result), result)


def _hvp(d: Derivation, result: Node) -> Iterator[Line]:
    g = yield from _first(d, d.wrt[0])
    moved = dict(zip(d.wrt, d.tangents, strict=True))
    last = yield from _expanded(d, "dg", g, moved)
    yield from _continued(d, last, result)


def _pullback(d: Derivation, result: Node) -> Iterator[Line]:
    """Yield the derivation of a pullback by the scalar tr(G'*F)."""
    assert d.cotangent is not None
    name = "F" if d.root.shape else "f"
    f = yield from _beginning(name, d)
    (x,), (dx,) = d.wrt, _tangents(d)
    last = yield from _expanded(d, f"d{name}", f, {x: dx})
    bar = inner(d.cotangent, last.node)
    along = canonical_formula(d.cotangent, symbol(f"d{name}", f.shape), d.formula)
    yield Line(along, d.formula(bar), bar)
    collected = (Reason(f"collect into {form_for(x)}"), *_adjoints(last.node))
    yield Line("", canonical_formula(result, dx, d.formula), inner(result, dx), collected)
    yield Line("pullback", d.formula(result), result)


LINES = {
    "value": _value, "gradient": _gradient, "differential": _differential, "jacobian": _jacobian,
    "hessian": _hessian, "hvp": _hvp, "vjp": _pullback,
}  # fmt: skip


# ---- parts of derivations


def _tangents(d: Derivation) -> tuple[Node, ...]:
    return d.tangents or tuple(conventions.tangent_symbol(x, f"d{x.name}") for x in d.wrt)


def _beginning(name: str, d: Derivation) -> Generator[Line, None, Node]:
    """Yield the formula as written, then simplified; return the simplified one."""
    root = d.root
    yield Line(name, d.formula(root), root)
    f, reasons = simplified(root)
    if f is not root:
        yield Line("", d.formula(f), f, reasons)
    return f


def _first(d: Derivation, x: Node) -> Generator[Line, None, Node]:
    """Yield the derivation of the gradient; return the gradient."""
    f = yield from _beginning("f", d)
    dx = conventions.tangent_symbol(x, f"d{x.name}")
    g = yield from _collected("df", f, replace(d, wrt=(x,), convention="projected"), {x: dx})
    yield Line("g", d.formula(g), g, (Reason("the gradient"),))
    return g


def _continued(d: Derivation, last: Line, result: Node) -> Iterator[Line]:
    """Yield the result as one more line, if its text differs from the last."""
    if text(d.formula(result)) != text(last.formula):
        yield Line("", d.formula(result), result, (Reason("collect"), *simplified(last.node)[1]))


def _collected(left: str, f: Node, d: Derivation, moved: Mapping[Node, Node]) -> Generator[Line, None, Node]:
    """Yield the differential of a scalar, expanded and then collected; return the last gradient."""
    last = yield from _expanded(d, left, f, moved)
    parts: list[tuple[Node, Node]] = []
    reasons = [Reason(f"collect into {form_for(*moved)}"), *_adjoints(last.node)]
    for x, dx in moved.items():
        g, used = settled(conventions.gradients(f, [x], "projected")[0])
        parts.append((g, dx))
        reasons += [*used, *facts_used(d.root, whole_formula_of(g), gradient_of, x)]
    node = add([(1, inner(g, dx)) for g, dx in parts])
    formula = joined([canonical_formula(g, dx, d.formula) for g, dx in parts if not g.is_zero]) or d.formula(node)
    if text(formula) != text(last.formula):
        yield Line("", formula, node, tuple(dict.fromkeys(reasons)))
    return parts[-1][0]


def _expanded(d: Derivation, left: str, f: Node, moved: Mapping[Node, Node]) -> Generator[Line, None, Line]:
    """Yield the differential of a node, one level of operations per line; return the last line."""
    active = depends_on(toposort(f), list(moved))
    if any(node.kind == "recurrence" for node in active):
        return (yield from _with_recurrences(d, left, f, moved))
    waiting: dict[Node, Node] = {}
    current = _outer(f, moved, active, waiting)
    line: Line | None = None
    reasons: tuple[Reason, ...] = (Reason(_first_reason(f, active)),)
    while True:
        found = set(toposort(current))
        unknown = {mark: node for node, mark in waiting.items() if mark in found}
        if line is not None or not _stands_alone(current, unknown):
            value = _settled(current, unknown, moved)
            line = Line("" if line else left, _shown(d, current, unknown), value, reasons)
            yield line
            if not unknown:
                return line
        reasons = ()
        bound = {}
        for mark, node in unknown.items():
            places = [k for k, a in enumerate(node.args) if a in active]
            parts = [PUSH[node.kind](node, k, _outer(node.args[k], moved, active, waiting), ()) for k in places]
            bound[mark] = add([(1, part) for part in parts])
            reasons = (*reasons, rule_reason(node, places))
        reasons = tuple(dict.fromkeys(reasons))
        current = substitute(current, bound)


def _with_recurrences(d: Derivation, left: str, f: Node, moved: Mapping[Node, Node]) -> Generator[Line, None, Line]:
    """Yield the differential of a formula with recurrences, in which differentials of states are states."""
    value, reasons = settled(pushforward(f, moved))
    own = Reason("the start and the step of each state are differentiated")
    line = Line(left, d.formula(value), value, (own, *reasons))
    yield line
    return line


def _tangents_of_states(d: Derivation) -> Iterator[tuple[Node, str]]:
    """Yield the differentials of the states that the user named, each with its name: that of `x` is `dx`."""
    if d.what == "value":
        return
    moved = dict(zip(d.wrt, _tangents(d), strict=True))
    active = depends_on(toposort(d.root), list(moved))
    for node, name in d.parts:
        if node.kind == "recurrence" and node in active:
            tangent = settled(pushforward(node, moved))[0]
            if tangent.kind == "recurrence":
                yield tangent, f"d{name}"


def _adjoints(differential: Node) -> list[Reason]:
    """Return the reason for adjoint recurrences in the next line, if the differential has states."""
    if all(node.kind != "recurrence" for node in toposort(differential)):
        return []
    words = "the differential of each step is multiplied by the adjoint of its result, and all are added; "
    return [Reason(f"{words}differentials of states cancel, since the adjoint runs in the other direction")]


def _first_reason(f: Node, active: set[Node]) -> str:
    pending, several = [f], False
    while pending:
        node = pending.pop()
        if node.kind in ("product", "sum") and node in active:
            several |= node.kind == "product" and sum(a in active for a in node.args) > 1
            pending += node.args
    return "product rule" if several else ""


def _stands_alone(current: Node, unknown: Mapping[Node, Node]) -> bool:
    """Whether a line would only repeat d(f) for one operation f, up to a numeric factor."""
    return current in unknown or (current.kind == "product" and len(current.args) == 1 and current.args[0] in unknown
                                  and current.indices[0] == current.out)  # fmt: skip


def _outer(root: Node, moved: Mapping[Node, Node], active: set[Node], waiting: dict[Node, Node]) -> Node:
    """Return the differential of a node through its sums and products; other operands become marked symbols."""
    done: dict[Node, Node] = {} if root in active else {root: zeros(root.shape)}
    stack = [root] if root in active else []
    while stack:
        node = stack[-1]
        if node in moved:
            done[node] = moved[node]
        elif node.kind not in ("product", "sum"):
            hull = default_rulebook().hull(node.facts)
            done[node] = waiting.setdefault(node, symbol(f"{MARK}{len(waiting)}", node.shape, hull))
        else:
            places = [k for k, a in enumerate(node.args) if a in active]
            missing = [node.args[k] for k in places if node.args[k] not in done]
            if missing:
                stack += missing
                continue
            done[node] = add([(1, PUSH[node.kind](node, k, done[node.args[k]], ())) for k in places])
        stack.pop()
    return done[root]


def _settled(current: Node, unknown: Mapping[Node, Node], moved: Mapping[Node, Node]) -> Node:
    """Return the value of a line: marked symbols replaced by their differentials."""
    return substitute(current, {mark: pushforward(node, moved) for mark, node in unknown.items()})


def _shown(d: Derivation, current: Node, unknown: Mapping[Node, Node]) -> Ast:
    """Return the formula of a line, with `d(inv(S))` for each marked symbol."""
    calls = {mark.name: syntax.call("d", d.formula(node)) for mark, node in unknown.items()}
    return syntax.rebuild(d.formula(current), lambda ast: calls.get(str(ast.value), ast) if ast.head == "name" else ast)
