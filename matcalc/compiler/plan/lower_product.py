"""Lowers a product node to values: separates scalars and components and contracts each component in its best order.

A component is a set of operands joined by summed indices. The rest, once all components are computed, is entrywise:
coefficient, scalars, broadcasting, repeated outputs (the identity) and index arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from functools import partial

from matcalc.compiler.entrywise import Expr, Guard, Index, Literal, Number, Read, Sum, guards_in_order, select
from matcalc.compiler.plan.empty_axes import is_pole_of_nothing
from matcalc.compiler.plan.products.build_contraction import Piece, Scaling, contract
from matcalc.compiler.plan.products.session import Ref, Session
from matcalc.compiler.plan.resolve_selectors import At, Indexed, Rank, as_size, indices_of, resolve, token
from matcalc.compiler.plan.values.describe import Subject, in_order
from matcalc.compiler.plan.values.program_cost import work
from matcalc.compiler.plan.values.running_totals import FROM, UP_TO, total_of
from matcalc.compiler.plan.values.values import Graph, Part, Value, moved, moved_guard, rebuilt, times
from matcalc.compiler.verify.entries import entries_in
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.canonical_labels import linked
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.size_factors import size_factors
from matcalc.tensor.sizes.size import Size, is_nonnegative, volume


def lower_product(session: Session, node: Node) -> Ref:
    """Return the reference to the value of a product node."""
    return lower_indexed(session, node, resolve(node, session.sizes), node.coef)


def lower_indexed(session: Session, node: Node, indexed: Indexed, coef: Number) -> Ref:
    """Return the reference to the value of the product that `indexed` describes."""
    scaling = Scaling(coef)
    result_indices = list(dict.fromkeys(i for at in indexed.out for i in indices_of(at)))
    pieces = _pieces(session, indexed, scaling, frozenset(result_indices))
    outer = tuple(indexed.guards)
    parts: list[tuple[Value, tuple[int, ...]]] = []
    groups = linked(pieces, lambda piece: piece.at, frozenset(result_indices))
    measured = {i for p in pieces for i in p.at}
    _count(session, indexed, scaling, measured.union(result_indices))
    lone = len(groups) == 1 and not outer and measured >= set(result_indices)
    for group in groups:
        kept = frozenset(result_indices)
        whole = not outer and {i for piece in group for i in piece.at}.issuperset(kept)
        own = scaling if len(groups) == 1 else Scaling(Fraction(1))
        out_order = tuple(i for at in indexed.out for i in indices_of(at)) if whole else ()
        is_all = lone and not any(isinstance(a, Size) for a in indexed.out)
        value, at = contract(session, group, kept, indexed.sizes, own, node, out_order, is_all)
        if at:
            parts.append((value, at))
        else:
            scaling.scalars.append(Read(value.name))
    alone = not indexed.out and not outer and scaling.coef == 1 and len(scaling.scalars) == 1
    if alone and isinstance(scaling.scalars[0], Read):
        return Ref(session.graph.values[scaling.scalars[0].value], ())
    if lone and len(parts) == 1 and scaling.is_one:
        found = _direct(session, parts[0], indexed)
        if found is not None:
            return found
    return _entrywise(session, node, indexed, parts, scaling, result_indices, outer)


def _count(session: Session, indexed: Indexed, scaling: Scaling, measured: Set[int]) -> None:
    """Multiply by the length of each summed index that equations leave without an operand: `j` of `[j == i + j]`."""
    for index in sorted(indexed.sizes.keys() - indexed.replaced - measured):
        coef, atoms = size_factors(indexed.sizes[index])
        scaling.coef *= coef
        scaling.scalars += [session.read(atom, ()) for atom in atoms]


def _pieces(session: Session, indexed: Indexed, scaling: Scaling, kept: frozenset[int]) -> list[Piece]:
    """Return operands as values with plain indices; move scalars to the scaling and guards to operands."""
    pieces: list[Piece] = []
    taken: set[Guard] = set()
    for node, at in indexed.operands:
        if not at:
            scaling.scalars.append(session.read(node, ()))
            continue
        plain = tuple(a for a in at if isinstance(a, int))
        if len(plain) == len(at) and len(set(plain)) == len(plain):
            if session.is_unformed(node):
                pieces.append(Piece(plain, None, node, plain))
                continue
            ref = session.ref(node)
            at_value = tuple(plain[ref.axes.index(k)] for k in range(len(plain)))
            pieces.append(Piece(at_value, ref.value, node, plain))
            continue
        pieces.append(_gathered(session, node, at, indexed, taken))
    if any(isinstance(a, Size) for a in indexed.out):  # index arithmetic of the result may need them as well
        taken = {g for g in taken if not set(_guard_indices(g)) <= kept}
    indexed.guards[:] = [g for g in indexed.guards if g not in taken or _is_needed(g, indexed.guards, taken)]
    _attach_guards(session, indexed, pieces, kept)
    return [_without_pole_of_nothing(session, indexed, piece, pieces, kept) for piece in pieces]


def _without_pole_of_nothing(
    session: Session, indexed: Indexed, piece: Piece, pieces: Sequence[Piece], kept: frozenset[int]
) -> Piece:
    """Return an operand inside a sum, replaced by 0 where an empty axis makes it infinite, as in `1/norm2(x)`.

    The sum over an empty axis is 0, but a factor may have been summed before: infinity times that 0 would be NaN.
    """
    if piece.node is None or piece.value is None or kept.issuperset(piece.at):
        return piece
    summed = {i for p in pieces for i in p.at if i not in kept and i not in piece.at}
    lengths = {indexed.sizes[i] for i in summed if not is_nonnegative(indexed.sizes[i] - 1)}
    poles = sorted((size for size in lengths if is_pole_of_nothing(piece.node, size)), key=str)
    if not poles:
        return piece
    here = session.graph.axes[: len(piece.at)]
    expr = select((Guard(">=", size - 1) for size in poles), Read(piece.value.name, here))
    return replace(piece, value=session.graph.point(piece.value.shape, expr))


def _gathered(session: Session, node: Node, at: list[At], indexed: Indexed, taken: set[Guard]) -> Piece:
    """Return an operand read through index arithmetic: a view if possible, else a value of its own.

    Guards on its indices move into that value and are added to `taken`.
    """
    ref = session.ref(node)
    spots = [at[ref.axes.index(k)] for k in range(len(at))]
    if all(isinstance(a, (int, Rank)) for a in spots):
        flat = [i for a in spots for i in indices_of(a)]
        if len(set(flat)) == len(flat):
            shape = tuple(indexed.sizes[i] for i in flat)
            return Piece(tuple(flat), session.graph.view(ref.value, shape))
    start = _run_of_first(spots, indexed)
    if start is not None:
        flat = [i for a in spots for i in indices_of(a)]
        shape = tuple(indexed.sizes[i] for i in flat)
        if not _is_less_work(session, ref.value, shape):
            return Piece(tuple(flat), session.graph.view(ref.value, shape, start))
    order = tuple(dict.fromkeys(i for a in spots for i in indices_of(a)))
    axes: dict[str, Index] = {token(i): session.graph.axes[n] for n, i in enumerate(order)}
    names: tuple[Index, ...] = tuple(
        session.graph.axes[order.index(a)] if isinstance(a, int) else _index(as_size(a, indexed.sizes), axes)
        for a in spots
    )
    shape = tuple(indexed.sizes[i] for i in order)
    expr = _entry(session, ref.value, names, shape)
    mine = [g for g in indexed.guards if set(_guard_indices(g)) <= set(order)]
    if mine:
        taken.update(mine)
        expr = select((moved_guard(g, axes) for g in mine), expr)
    if (expr, shape) not in session.gathered:
        session.gathered[expr, shape] = session.graph.point(shape, expr)
    return Piece(order, session.gathered[expr, shape])


def _entry(session: Session, value: Value, at: tuple[Index, ...], shape: Sequence[Size]) -> Expr:
    """Return an entry of a value, computed at each reading if that is less work than computing all entries."""
    if value.expr is not None and _is_less_work(session, value, shape):
        return _inlined(session, moved(value.expr, dict(zip(session.graph.axes, at, strict=False))))
    return Read(value.name, at)


def _is_less_work(session: Session, value: Value, shape: Sequence[Size]) -> bool:
    """Whether computing entries of this shape is less work than writing and reading all of an entrywise value."""
    if value.kind != "point" or value.parts or value.expr is None:
        return False
    volume_ = session.estimate.volume
    return volume_(shape) * work(value.expr) <= volume_(value.shape)


def _inlined(session: Session, expr: Expr) -> Expr:
    """Return an expression with entries of other entrywise values inlined."""
    if not isinstance(expr, Read):
        return rebuilt(expr, partial(_inlined, session))
    value = session.graph.values[expr.value]
    if value.kind != "point" or value.parts or value.expr is None:
        return expr
    return _inlined(session, moved(value.expr, dict(zip(session.graph.axes, expr.at, strict=False))))


def _run_of_first(spots: Sequence[At], indexed: Indexed) -> Size | None:
    """Return the offset if the first axis has an index plus an offset and the others plain indices, else None."""
    first, rest = spots[0], spots[1:]
    if not isinstance(first, Size) or not all(isinstance(a, int) for a in rest):
        return None
    own = indices_of(first)
    if len(own) != 1 or own[0] in rest or len(set(rest)) < len(rest):
        return None
    start = first - Size.of(token(own[0]))
    if any(n.startswith("#") for n in start.names):
        return None
    return None if any(own[0] in _guard_indices(g) for g in indexed.guards) else start


def _index(size: Size, axes: dict[str, Index]) -> Index:
    return size.substitute({name: Size.of(axis) for name, axis in axes.items()})


def _guard_indices(guard: Guard) -> tuple[int, ...]:
    return tuple(int(n[1:]) for n in guard.size.names if n.startswith("#"))


def _is_needed(guard: Guard, guards: Sequence[Guard], taken: Set[Guard]) -> bool:
    """Return whether a guard that an operand holds also stands before a lookup in a guard of other operands."""
    own = {*_guard_indices(guard)}
    return any(g not in taken and "[" in g.size.key and own & {*_guard_indices(g)} for g in guards)


def _attach_guards(session: Session, indexed: Indexed, pieces: list[Piece], kept: frozenset[int]) -> None:
    """Attach each guard on a summed index to all operands with its indices, or add a guarded 1 as an operand.

    For finite numbers one operand would do, but NaN in another would not vanish where the guard fails.
    """
    result_level: list[Guard] = []
    added: dict[int, list[Guard]] = {}
    # A lookup j[i + 1] is only tested where the guards of i hold: an operand that it adds gets these too.
    for guard in reversed(guards_in_order(indexed.guards)):
        own = tuple(sorted(_guard_indices(guard)))
        if set(own) <= kept:
            result_level.append(guard)
            continue
        holders = [k for k, p in enumerate(pieces) if set(own) <= set(p.at) and p.value is not None]
        if not holders and (counted := _counted(session, indexed, guard, own, pieces, kept)) is not None:
            pieces.append(counted)
            continue
        if not holders:
            one = session.graph.point(tuple(indexed.sizes[i] for i in own), Literal(Fraction(1)))
            pieces.append(Piece(own, one))
            holders = [len(pieces) - 1]
        for holder in holders:
            added.setdefault(holder, []).append(guard)
    for holder, guards in added.items():
        piece = pieces[holder]
        assert piece.value is not None
        axes: dict[str, Index] = {token(i): session.graph.axes[n] for n, i in enumerate(piece.at)}
        body = Read(piece.value.name, session.graph.axes[: len(piece.at)])
        expr = select([moved_guard(guard, axes) for guard in guards], body)
        piece.value, piece.node = session.graph.point(piece.value.shape, expr), None
    indexed.guards[:] = guards_in_order(result_level)


def _counted(
    session: Session, indexed: Indexed, guard: Guard, own: Sequence[int], pieces: Sequence[Piece], kept: frozenset[int]
) -> Piece | None:
    """Return how often a guard `i >= j + c`, c = 0 or 1, holds over an index j of nothing else; None for another guard.

    So `iota(n)`, the number of j below i, takes one pass and not one for each entry.
    """
    held = [i for p in pieces for i in p.at] + [i for g in indexed.guards if g is not guard for i in _guard_indices(g)]
    lone = next((i for i in own if i not in kept and i not in held), None)
    if guard.relation != ">=" or len(own) != 2 or lone is None:
        return None
    (other,) = set(own) - {lone}
    length, between = indexed.sizes[lone], Size.of(token(other)) - Size.of(token(lone))
    if indexed.sizes[other] is not length:
        return None
    for name, offset in ((UP_TO, between - guard.size), (FROM, -between - guard.size)):
        if offset in (0, 1):
            indexed.replaced.add(lone)
            ones = product(1, [], (0,), {0: length})
            if ones not in session.refs:
                session.refs[ones] = lower_product(session, ones)
            total = Read(session.array(total_of(ones, name)).name, session.graph.axes[:1])
            one = Literal(Fraction(1))
            expr = total if offset == 0 else Sum(((Fraction(1), total), (Fraction(-1), one)))
            if (expr, (length,)) not in session.gathered:
                session.gathered[expr, (length,)] = session.graph.point((length,), expr)
            return Piece((other,), session.gathered[expr, (length,)])
    return None


def _direct(session: Session, part: tuple[Value, tuple[int, ...]], indexed: Indexed) -> Ref | None:
    """Return the value itself, perhaps reshaped, if the output only reorders its axes."""
    value, at = part
    out = indexed.out
    flat = [i for a in out if isinstance(a, (int, Rank)) for i in indices_of(a)]
    if len(flat) < len(out) or any(isinstance(a, Size) for a in out) or len(set(flat)) < len(flat):
        return None
    if any(isinstance(a, Rank) for a in out):
        if tuple(flat) != at:
            return None
        shape = tuple(volume([indexed.sizes[i] for i in indices_of(a)]) for a in out)
        return Ref(session.graph.view(value, shape), tuple(range(len(out))))
    return Ref(value, tuple(at.index(i) for i in flat))


def _entrywise(
    session: Session,
    node: Node,
    indexed: Indexed,
    parts: Sequence[tuple[Value, tuple[int, ...]]],
    scaling: Scaling,
    order: list[int],
    guards: tuple[Guard, ...],
) -> Ref:
    graph = session.graph
    flat = [i for a in indexed.out for i in indices_of(a)]
    simple = all(isinstance(a, (int, Rank)) for a in indexed.out) and len(set(flat)) == len(flat)
    subject: Subject = node
    if simple and len(flat) == len(indexed.out):
        order = [flat[axis] for axis in session.memory_orders.get(node, range(len(flat)))]
        subject = in_order(node, [flat.index(i) for i in order])
    axes = {i: graph.axes[n] for n, i in enumerate(order)}
    tokens: dict[str, Index] = {token(i): a for i, a in axes.items()}
    factors = [*scaling.scalars, *(Read(v.name, tuple(axes[i] for i in at)) for v, at in parts)]
    expr = times(scaling.coef, factors)
    domain = tuple(indexed.sizes[i] for i in order)
    own = tuple(moved_guard(g, tokens) for g in guards)
    if simple:
        body = select(own, expr)
        value = graph.point(domain, body, subject)
        if len(indexed.out) != len(flat):
            return Ref(graph.view(value, node.shape), tuple(range(len(node.shape))))
        return Ref(value, tuple(order.index(i) for i in flat))
    at = tuple(axes[a] if isinstance(a, int) else _index(as_size(a, indexed.sizes), tokens) for a in indexed.out)
    expr = times(scaling.coef, [_read_through(graph, factor) for factor in factors])
    whole = _spread(session, indexed, node.shape, expr, axes, own)
    here = session.sizes.at(dict(zip(axes.values(), domain, strict=True)))
    once = here.at({}, own).is_injective(at, list(axes.values()))
    covers = once and not own and here.is_zero(volume(domain) - volume(node.shape))
    part = Part(domain, at, expr, own, once, covers)
    return Ref(graph.assembled(node.shape, None, (part,), whole, node), tuple(range(len(node.shape))))


def _read_through(graph: Graph, factor: Expr) -> Expr:
    """Return the entry that a looked-up entry reads, so that the looked-up value need not be an array."""
    value = graph.values[factor.value] if isinstance(factor, Read) else None
    if value is None or value.kind != "point" or value.parts or not isinstance(value.expr, Read):
        return factor
    assert isinstance(factor, Read)
    found = moved(value.expr, dict(zip(graph.axes, factor.at, strict=False)))
    return found if entries_in(i for i in value.expr.at if isinstance(i, Size)) else factor


def _spread(
    session: Session,
    indexed: Indexed,
    shape: tuple[Size, ...],
    expr: Expr,
    axes: Mapping[int, str],
    own: tuple[Guard, ...],
) -> Expr | None:
    """Return the entry at each point of the result, 0 outside the range; None if the indices cannot be inverted."""
    guards: list[Guard] = []
    where: dict[str, Index] = {}
    for position, spot in enumerate(indexed.out):
        here = session.graph.axes[position]
        found = indices_of(spot)
        if isinstance(spot, Rank) or len(found) != 1:
            return None
        index = Size.of(token(found[0]))
        slope = next((s for s in (1, -1) if index.key not in (as_size(spot, indexed.sizes) - index * s).names), 0)
        if not slope:
            return None
        offset = as_size(spot, indexed.sizes) - index * slope
        axis = axes[found[0]]
        target: Index = here if offset == 0 and slope == 1 else (Size.of(here) - offset) * slope
        if axis in where:
            guards.append(Guard("==", Size.of(target) - Size.of(where[axis])))
            continue
        where[axis] = target
        size = indexed.sizes[found[0]]
        if isinstance(target, Size) or shape[position] is not size:
            target = Size.of(target)
            guards += [Guard(">=", target), Guard(">=", size - 1 - target)]
    guards += [moved_guard(g, where) for g in own]
    return select(guards, moved(expr, where))
