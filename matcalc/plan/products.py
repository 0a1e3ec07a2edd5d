"""From a product node to values: scalars and components apart, each component contracted in its best order.

A component is a set of operands joined by summed indices. What remains when all components are computed is
entrywise: coefficient, scalars, broadcasting, repeated outputs (the identity) and places with arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from matcalc.node import Node
from matcalc.plan.contract import Contraction, Join, Key
from matcalc.plan.match import Factor, Match
from matcalc.plan.session import Ref, Session
from matcalc.plan.selecting import At, Indexed, Rank, as_size, indices_of, resolve, token
from matcalc.plan.values import ONE, Operand, Part, Run, Value, moved, moved_guard, times
from matcalc.program import Expr, Guard, Index, Literal, Number, Read, Select
from matcalc.sizes import Size


@dataclass(slots=True)
class Piece:
    """An operand of a component: a value with the index of each axis, or an operation not computed so far."""

    at: tuple[int, ...]
    value: Value | None = None
    node: Node | None = None
    guards: tuple[Guard, ...] = ()


@dataclass(slots=True)
class Scaling:
    """What a product is multiplied with: taken as alpha by the last kernel, or left for a loop."""

    coef: Number
    scalars: list[Expr] = field(default_factory=list)

    @property
    def is_one(self) -> bool:
        return self.coef == 1 and not self.scalars

    @property
    def expr(self) -> Expr:
        return times(self.coef, self.scalars)

    def take(self) -> Expr:
        """Return the factor and leave 1."""
        expr = self.expr
        self.coef, self.scalars = Fraction(1), []
        return expr


def lower_product(session: Session, node: Node) -> Ref:
    """Return where the value of a product node is found."""
    return place_result(session, node, resolve(node), node.coef)


def place_result(session: Session, node: Node, indexed: Indexed, coef: Number) -> Ref:
    """Return where the product is found that `indexed` describes."""
    scaling = Scaling(coef)
    result_indices = list(dict.fromkeys(i for at in indexed.out for i in indices_of(at)))
    pieces = _pieces(session, indexed, scaling, frozenset(result_indices))
    outer = tuple(g for g in indexed.guards)
    parts: list[tuple[Value, tuple[int, ...]]] = []
    groups = _components(pieces, frozenset(result_indices))
    measured = {i for p in pieces for i in p.at}
    lone = len(groups) == 1 and not outer and measured >= set(result_indices)
    for group in groups:
        kept = frozenset(result_indices)
        own = scaling if len(groups) == 1 else Scaling(Fraction(1))
        value, at = contract(session, group, kept, indexed.sizes, own, node)
        if at:
            parts.append((value, at))
        else:
            scaling.scalars.append(Read(value.name))
    alone = not result_indices and not outer and scaling.coef == 1 and len(scaling.scalars) == 1
    if alone and isinstance(scaling.scalars[0], Read):
        return Ref(session.graph.values[scaling.scalars[0].value], ())
    if lone and len(parts) == 1 and scaling.is_one:
        found = _direct(session, parts[0], indexed)
        if found is not None:
            return found
    return _entrywise(session, node, indexed, parts, scaling, result_indices, outer)


def _pieces(session: Session, indexed: Indexed, scaling: Scaling, kept: frozenset[int]) -> list[Piece]:
    """Return operands as values with plain indices; scalars go to the scaling, guards to who has their indices."""
    pieces: list[Piece] = []
    for node, at in indexed.operands:
        if not at:
            scaling.scalars.append(session.read(node, ()))
            continue
        plain = tuple(a for a in at if isinstance(a, int))
        if len(plain) == len(at) and len(set(plain)) == len(plain):
            if session.is_unformed(node):
                pieces.append(Piece(plain, None, node))
                continue
            ref = session.ref(node)
            pieces.append(Piece(tuple(plain[ref.axes.index(k)] for k in range(len(plain))), ref.value, node))
            continue
        pieces.append(_gathered(session, node, at, indexed))
    _attach_guards(session, indexed, pieces, kept)
    return pieces


def _gathered(session: Session, node: Node, at: list[At], indexed: Indexed) -> Piece:
    """Return an operand read through index arithmetic: a view where it is one, else a value of its own."""
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
        return Piece(tuple(flat), session.graph.view(ref.value, shape, start))
    order = tuple(dict.fromkeys(i for a in spots for i in indices_of(a)))
    axes: dict[str, Index] = {token(i): session.graph.axes[n] for n, i in enumerate(order)}
    names: tuple[Index, ...] = tuple(
        session.graph.axes[order.index(a)] if isinstance(a, int) else _index(as_size(a, indexed.sizes), axes)
        for a in spots
    )
    expr: Expr = Read(ref.value.name, names)
    mine = [g for g in indexed.guards if set(_guard_indices(g)) <= set(order)]
    if mine:
        indexed.guards[:] = [g for g in indexed.guards if g not in mine]
        expr = Select(tuple(moved_guard(g, axes) for g in mine), expr)
    shape = tuple(indexed.sizes[i] for i in order)
    if (expr, shape) not in session.gathered:
        session.gathered[expr, shape] = session.graph.point(shape, expr)
    return Piece(order, session.gathered[expr, shape])


def _run_of_first(spots: Sequence[At], indexed: Indexed) -> Size | None:
    """Return the offset where the first axis is an index and an offset, the others plain."""
    first, rest = spots[0], spots[1:]
    if not isinstance(first, Size) or not all(isinstance(a, int) for a in rest):
        return None
    own = indices_of(first)
    if len(own) != 1 or own[0] in rest or len(set(rest)) < len(rest):  # type: ignore[arg-type]
        return None
    start = first - Size.of(token(own[0]))
    if any(n.startswith("#") for n in start.names):
        return None
    return None if any(own[0] in _guard_indices(g) for g in indexed.guards) else start


def _index(size: Size, axes: dict[str, Index]) -> Index:
    return size.substitute({name: Size.of(axis) for name, axis in axes.items()})


def _guard_indices(guard: Guard) -> tuple[int, ...]:
    return tuple(int(n[1:]) for n in guard.size.names if n.startswith("#"))


def _attach_guards(session: Session, indexed: Indexed, pieces: list[Piece], kept: frozenset[int]) -> None:
    """Give each guard that speaks of a summed index to an operand with its indices, or make one of it."""
    result_level: list[Guard] = []
    for guard in indexed.guards:
        own = tuple(sorted(_guard_indices(guard)))
        if set(own) <= kept:
            result_level.append(guard)
            continue
        holder = next((p for p in pieces if set(own) <= set(p.at) and p.value is not None), None)
        if holder is None:
            axes: dict[str, Index] = {token(i): session.graph.axes[n] for n, i in enumerate(own)}
            one = Select((moved_guard(guard, axes),), Literal(Fraction(1)))
            shape = tuple(indexed.sizes[i] for i in own)
            pieces.append(Piece(own, session.graph.point(shape, one)))
            continue
        assert holder.value is not None
        axes = {token(i): session.graph.axes[n] for n, i in enumerate(holder.at)}
        at = session.graph.axes[: len(holder.at)]
        expr = Select((moved_guard(guard, axes),), Read(holder.value.name, at))
        holder.value = session.graph.point(holder.value.shape, expr)
    indexed.guards[:] = result_level


def _components(pieces: list[Piece], kept: frozenset[int]) -> list[list[Piece]]:
    """Group pieces that share summed indices, in order of first appearance."""
    group_of: dict[int, int] = {}
    groups: dict[int, list[Piece]] = {}
    for number, piece in enumerate(pieces):
        summed = [i for i in piece.at if i not in kept]
        touched = sorted({group_of[i] for i in summed if i in group_of})
        home = touched[0] if touched else number
        members = groups.setdefault(home, [])
        for other in touched[1:]:
            members.extend(groups.pop(other))
        members.append(piece)
        for member in members:
            for i in member.at:
                if i not in kept:
                    group_of[i] = home
    return list(groups.values())


# ---- components


def contract(
    session: Session,
    pieces: list[Piece],
    kept: frozenset[int],
    sizes: Mapping[int, Size],
    scaling: Scaling,
    node: Node,
) -> tuple[Value, tuple[int, ...]]:
    """Return the value of a component and the index of each of its axes."""
    for piece in pieces:
        if piece.value is None and len(pieces) == 1:
            assert piece.node is not None
            ref = session.ref(piece.node)
            piece.at = tuple(piece.at[ref.axes.index(k)] for k in range(len(piece.at)))
            piece.value = ref.value
    factors = [_factor(session, p) for p in pieces]
    via = [session.via_costs(p.node) if p.value is None and p.node is not None else {} for p in pieces]
    virtual = [p.value is not None and p.value.kind == "point" and not session.is_needed(p.value) for p in pieces]
    measure = {i: session.estimate(s) for i, s in sizes.items()}
    forming = {
        k: (session.forming_time(p.node), session.facts(p.node))
        for k, p in enumerate(pieces)
        if p.value is None and p.node is not None
    }
    plan = Contraction(session.matcher, factors, kept, measure, session.known_axes, virtual, via, forming)
    join = plan.plan()
    builder = Builder(session, pieces, plan, kept, dict(sizes), scaling, node)
    return builder.build(join)


def _factor(session: Session, piece: Piece) -> Factor:
    if piece.value is None:
        assert piece.node is not None
        argument = piece.node.args[0]
        return Factor(piece.at, piece.node.digest.hex(), session.facts(argument), piece.node.rule.name)
    facts = session.facts(piece.node) if piece.node is not None and piece.node.shape == piece.value.shape else ()
    return Factor(piece.at, piece.value.name, frozenset(facts))


class Builder:
    """Makes the values of a contraction, parts before the whole."""

    def __init__(
        self,
        session: Session,
        pieces: list[Piece],
        plan: Contraction,
        kept: frozenset[int],
        sizes: dict[int, Size],
        scaling: Scaling,
        node: Node,
    ) -> None:
        self.session = session
        self.pieces = pieces
        self.plan = plan
        self.kept = kept
        self.sizes = sizes
        self.scaling = scaling
        self.node = node
        self.made: dict[int, Value] = {}

    def build(self, top: Join) -> tuple[Value, tuple[int, ...]]:
        stack = [(top, False)]
        while stack:
            join, entered = stack.pop()
            if join.mask in self.made:
                continue
            self._form(join)
            below = [self.plan.table[m] for m in (join.left, join.right) if m and m != join.mask]
            if not entered and below and join.kind != "known":
                stack.append((join, True))
                stack.extend((b, False) for b in reversed(below) if not b.factor.operation)
                continue
            self.made[join.mask] = self._make(join, join is top)
        return self.made[top.mask], top.at

    def _form(self, join: Join) -> None:
        """Compute the operations that a join takes as arrays."""
        for place, piece in enumerate(self.pieces):
            if join.formed >> place & 1 and piece.value is None:
                assert piece.node is not None
                ref = self.session.ref(piece.node)
                piece.value = ref.value
                piece.at = tuple(piece.at[ref.axes.index(k)] for k in range(len(piece.at)))
                leaf = self.plan.table[1 << place]
                self.plan.table[1 << place] = Join(leaf.mask, piece.at, "leaf", Factor(leaf.at, leaf.factor.who))

    def _make(self, join: Join, last: bool) -> Value:
        if join.kind == "leaf":
            value = self.pieces[join.mask.bit_length() - 1].value
            assert value is not None
            return value
        key, order = self.plan.key(join.mask)
        if join.kind == "known" or key in self.session.known:
            axes = tuple(order[p] for p in self.session.known_axes[key])
            join.at = axes
            return self.session.known[key]
        scaled = last and not self.scaling.is_one
        if join.kind in ("kernel", "unlink"):
            value = self._kernel(join, last)
            scaled = scaled and self.scaling.is_one
        else:
            value = self._loop(join, last)
            scaled = scaled and self.scaling.is_one
        if not scaled:
            self.session.known[key] = value
            self.session.known_axes[key] = tuple(order.index(i) for i in join.at)
        return value

    def _read(self, mask: int, axes: Mapping[int, str]) -> Expr:
        if mask & (mask - 1) == 0 and self.plan.table[mask].kind == "leaf":
            value = self.pieces[mask.bit_length() - 1].value
            assert value is not None
        else:
            value = self.made[mask]
        return Read(value.name, tuple(axes[i] for i in self.plan.table[mask].at))

    def _loop(self, join: Join, last: bool) -> Value:
        graph = self.session.graph
        axes = {i: graph.axes[n] for n, i in enumerate(join.domain)}
        domain = tuple(self.sizes[i] for i in join.domain)
        if join.right == 0:
            value = self.pieces[join.mask.bit_length() - 1].value
            assert value is not None
            at = self.pieces[join.mask.bit_length() - 1].at
            factors: list[Expr] = [Read(value.name, tuple(axes[i] for i in at))]
        else:
            factors = [self._read(m, axes) for m in (join.left, join.right)]
        coef: Expr = Literal(Fraction(1))
        if last and join.at and not self.scaling.is_one:
            coef = self.scaling.take()
        expr = times(1, [coef, *factors])
        if join.kind == "point":
            return graph.point(domain, expr)
        return graph.sum(domain, [join.domain.index(i) for i in join.at], expr, self.session.comment(self.node, last))

    def _kernel(self, join: Join, last: bool) -> Value:
        session = self.session
        match = self._fitting(join)
        sizes = dict(self.sizes)
        masks = (join.left, join.right)
        renamed: dict[int, int] = {}
        if join.kind == "unlink":
            other, new = join.domain
            sizes[new] = sizes[other]
            renamed = {other: new}
        alpha = ONE
        if last and match.kernel.scales and not self.scaling.is_one and join.kind == "kernel":
            alpha = self.scaling.take()
        batch = {i: session.graph.batch_axes[n] for n, i in enumerate(match.batch)}
        run = Run(match.kernel, [], [], alpha=alpha, comment=session.comment(self.node, last))
        run.batch = tuple((batch[i], sizes[i]) for i in match.batch)
        shape = tuple(_total(sizes, group) for group in match.out)
        run.sizes = tuple((letter, _total(sizes, group)) for letter, group in match.letters)
        for name, number, flip in match.fields:
            place = self.plan.table[masks[number]]
            if place.factor.operation:
                piece = self.pieces[place.mask.bit_length() - 1]
                assert piece.node is not None
                session.factorised(run, match.kernel, piece.node, name, flip)
                continue
            at = tuple(renamed.get(i, i) for i in place.at) if number == 1 else place.at
            value = self._value(place.mask)
            lead = tuple(batch[i] for i in at if i in batch)
            groups = _groups(at, match, batch)
            folded = tuple(sizes[i] for i in at if i in batch) + tuple(_total(sizes, g) for g in groups)
            if len(folded) != len(at):
                value = session.graph.view(value, folded)
            run.operands.append(Operand(name, value, flip, lead))
        run.kept = tuple(batch[i] for i in match.batch if i in self.plan.free(join.mask))
        summed = [i for i in match.batch if batch[i] not in run.kept]
        if summed:
            run.onto = session.graph.point(shape, Literal(Fraction(0)))
        result = session.graph.run(run, [(match.kernel.results[0].name, shape, "float64")])[0]
        flat = match.axes
        if len(shape) != len(flat):
            result = session.graph.view(result, tuple(sizes[i] for i in flat))
        if join.kind == "unlink":
            return self._diagonal(result, flat, renamed, join, sizes)
        join.at = flat
        return result

    def _fitting(self, join: Join) -> Match:
        """Return the match, found again if a part has its axes in another order than was planned."""
        assert join.match is not None
        pair = [self.plan.table[m] for m in (join.left, join.right)]
        if join.kind == "unlink" or all(p.at == p.factor.at for p in pair):
            return join.match
        found = self.session.matcher.matches(
            [Factor(p.at, p.factor.who, p.factor.facts, p.factor.operation) for p in pair], self.plan.free(join.mask)
        )
        if found:
            return min(found, key=lambda m: m.time(self.plan.measure))
        for part in pair:
            if part.at != part.factor.at:
                axes = {i: self.session.graph.axes[n] for n, i in enumerate(part.factor.at)}
                shape = tuple(self.sizes[i] for i in part.factor.at)
                self.made[part.mask] = self.session.graph.point(shape, self._read(part.mask, axes))
                part.at = part.factor.at
        return join.match

    def _value(self, mask: int) -> Value:
        if mask in self.made:
            return self.made[mask]
        value = self.pieces[mask.bit_length() - 1].value
        assert value is not None
        return value

    def _diagonal(
        self, value: Value, flat: tuple[int, ...], renamed: dict[int, int], join: Join, sizes: dict[int, Size]
    ) -> Value:
        """Join an index with the copy that stood for it: kept or summed over."""
        (old, new) = next(iter(renamed.items()))
        at = [old if i == new else i for i in flat]
        domain = tuple(dict.fromkeys(at))
        graph = self.session.graph
        axes = {i: graph.axes[n] for n, i in enumerate(domain)}
        read = Read(value.name, tuple(axes[i] for i in at))
        shape = tuple(sizes[i] for i in domain)
        if set(domain) == set(join.at):
            join.at = domain
            return graph.point(shape, read)
        return graph.sum(shape, [domain.index(i) for i in join.at], read)


def _groups(at: tuple[int, ...], match: Match, batch: Mapping[int, str]) -> list[tuple[int, ...]]:
    """Split the indices of an operand into the groups that the letters stand for."""
    group_of = {i: group for _, group in match.letters for i in group}
    groups: list[tuple[int, ...]] = []
    for index in at:
        if index not in batch and (not groups or group_of[index] != groups[-1]):
            groups.append(group_of[index])
    return groups


def _total(sizes: Mapping[int, Size], group: tuple[int, ...]) -> Size:
    total = Size.of(1)
    for index in group:
        total = total * sizes[index]
    return total


# ---- the result


def _direct(session: Session, part: tuple[Value, tuple[int, ...]], indexed: Indexed) -> Ref | None:
    """Return the value itself, perhaps reshaped, where the output only orders its axes."""
    value, at = part
    out = indexed.out
    flat = [i for a in out if isinstance(a, (int, Rank)) for i in indices_of(a)]
    if len(flat) < len(out) or any(isinstance(a, Size) for a in out) or len(set(flat)) < len(flat):
        return None
    if any(isinstance(a, Rank) for a in out):
        if tuple(flat) != at:
            return None
        shape = tuple(_total(indexed.sizes, indices_of(a)) for a in out)
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
    axes = {i: graph.axes[n] for n, i in enumerate(order)}
    tokens: dict[str, Index] = {token(i): a for i, a in axes.items()}
    factors = [*scaling.scalars, *(Read(v.name, tuple(axes[i] for i in at)) for v, at in parts)]
    expr = times(scaling.coef, factors)
    domain = tuple(indexed.sizes[i] for i in order)
    own = tuple(moved_guard(g, tokens) for g in guards)
    comment = session.comment(node, True)
    flat = [i for a in indexed.out for i in indices_of(a)]
    simple = all(isinstance(a, (int, Rank)) for a in indexed.out) and len(set(flat)) == len(flat)
    if simple:
        body = Select(own, expr) if own else expr
        value = graph.point(domain, body, comment)
        if len(indexed.out) != len(flat):
            value = graph.view(value, node.shape)
        return Ref(value, tuple(range(len(node.shape))))
    at = tuple(axes[a] if isinstance(a, int) else _index(as_size(a, indexed.sizes), tokens) for a in indexed.out)
    whole = _spread(session, indexed, expr, axes, own)
    part = Part(domain, at, expr, own)
    return Ref(graph.placed(node.shape, None, (part,), whole, comment), tuple(range(len(node.shape))))


def _spread(
    session: Session, indexed: Indexed, expr: Expr, axes: Mapping[int, str], own: tuple[Guard, ...]
) -> Expr | None:
    """Return the entry at each point of the result, 0 outside the places; None where they cannot be inverted."""
    guards: list[Guard] = []
    where: dict[str, Index] = {}
    tokens: dict[str, Index] = {token(i): a for i, a in axes.items()}
    for place, spot in enumerate(indexed.out):
        here = session.graph.axes[place]
        found = indices_of(spot)
        if isinstance(spot, Rank) or len(found) != 1:
            return None
        offset = as_size(spot, indexed.sizes) - Size.of(token(found[0]))
        if any(n.startswith("#") for n in offset.names):
            return None
        axis = axes[found[0]]
        target: Index = here if offset == 0 else Size.of(here) - offset
        if axis in where:
            guards.append(Guard("==", Size.of(target) - Size.of(where[axis])))
            continue
        where[axis] = target
        if isinstance(target, Size):
            size = indexed.sizes[found[0]]
            guards += [Guard(">=", target), Guard(">=", size - 1 - target)]
    guards += [moved_guard(g, where) for g in own]
    del tokens
    return Select(tuple(guards), moved(expr, where)) if guards else moved(expr, where)
