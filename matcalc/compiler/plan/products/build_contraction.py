"""Computes components of a product: finds the order of contraction and builds its joins.

A component is a set of operands joined by summed indices. `contract` finds the best order. `Builder` lowers each
join to a kernel run, a sum in a loop or an entrywise value, parts before the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from matcalc.compiler.entrywise import Expr, Guard, Literal, Number, Read, Select, select
from matcalc.compiler.lowering_entries import TRAFFIC
from matcalc.compiler.plan.products.contraction_memo import parts_in
from matcalc.compiler.plan.products.contraction_order import Contraction
from matcalc.compiler.plan.products.join import Join
from matcalc.compiler.plan.products.match_kernel import Factor, Match
from matcalc.compiler.plan.products.part_keys import part_key
from matcalc.compiler.plan.products.session import Session
from matcalc.compiler.plan.products.weighted_squares import rooted
from matcalc.compiler.plan.values.describe import Factors, For, Subject
from matcalc.compiler.plan.values.values import ONE, Operand, Run, Value, moved, moved_guard, times
from matcalc.tensor.nodes.canonical_labels import Factor as Form
from matcalc.tensor.nodes.canonical_labels import order_operands
from matcalc.tensor.nodes.labelling import SYMMETRIC
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size, volume


@dataclass(slots=True)
class Piece:
    """An operand of a component: a value with the index of each axis, or an operation not computed yet.

    `of` are the indices of the axes of `node`, if there is one.
    """

    at: tuple[int, ...]
    value: Value | None = None
    node: Node | None = None
    of: tuple[int, ...] = ()

    def form(self, session: Session) -> None:
        """Compute an operation as an array."""
        assert self.node is not None
        ref = session.ref(self.node)
        self.at = tuple(self.at[ref.axes.index(k)] for k in range(len(self.at)))
        self.value = ref.value


@dataclass(slots=True)
class Scaling:
    """The scalar factor of a product: the last kernel takes it as alpha, or a loop multiplies by it."""

    coef: Number
    scalars: list[Expr] = field(default_factory=list)

    @property
    def is_one(self) -> bool:
        return self.coef == 1 and not self.scalars

    @property
    def expr(self) -> Expr:
        return times(self.coef, self.scalars)

    def take(self) -> Expr:
        """Return the factor and reset it to 1."""
        expr = self.expr
        self.coef, self.scalars = Fraction(1), []
        return expr


def contract(
    session: Session,
    pieces: list[Piece],
    kept: frozenset[int],
    sizes: Mapping[int, Size],
    scaling: Scaling,
    node: Node,
    out_order: tuple[int, ...],
    is_all: bool,
) -> tuple[Value, tuple[int, ...]]:
    """Return the value of a component and the index of each of its axes; `is_all`: it is the whole product."""
    for piece in pieces:
        if piece.value is None and len(pieces) == 1:
            piece.form(session)
    square = rooted(session, [(p.at, p.value, p.node) for p in pieces], kept, sizes)
    if square is not None:
        pieces = [Piece(p.at, square[1]) for p in pieces if len(p.at) > 1]
        scaling.coef *= square[0]
    measure = {i: session.estimate(s) for i, s in sizes.items()}
    pieces = _in_order_of_forms(session, pieces, kept, measure)
    factors = [_factor(session, p) for p in pieces]
    via = [session.via_costs(p.node) if p.value is None and p.node is not None else {} for p in pieces]
    virtual = [_is_virtual(session, p) for p in pieces]
    forming = {
        k: (session.forming_time(p.node), session.facts(p.node))
        for k, p in enumerate(pieces)
        if p.value is None and p.node is not None
    }
    reorder_cost, order = 0.0, session.memory_orders.get(node)
    if len(out_order) > 1:
        reorder_cost = 16 * TRAFFIC * prod(measure[i] for i in out_order) if order is not None else 0.1
    preferred = (
        tuple(out_order[axis] for axis in order) if order is not None and len(order) == len(out_order) else out_order
    )
    plan = Contraction(session.matcher, factors, kept, measure, virtual, via, forming, preferred, reorder_cost)
    plan.ahead = sum(1 << k for k, piece in enumerate(pieces) if _is_ahead(session, piece))
    for mask in session.parts.within([factor.who for factor in factors]):
        key, order = plan.key(mask)
        if key in session.known_axes:
            plan.existing[mask] = tuple(order[p] for p in session.known_axes[key])
    join = session.orders.plan(plan)
    met = parts_in(plan, join)
    if not session.passed_over.isdisjoint(met) or (plan.existing and not session.orders.is_as_alone(plan, met)):
        session.reordered.append(node)
    session.passed_over.update(key for key in plan.pairs() if key not in met)
    builder = Builder(session, pieces, plan, kept, dict(sizes), scaling, node, out_order if is_all else None)
    return builder.build(join)


def offer(session: Session, node: Node, value: Value) -> None:
    """Let products read a part, a product of inputs, from the array that holds it."""
    pieces = [Piece(at, session.refs[arg].value, arg, at) for arg, at in node.operands]
    factors = [_factor(session, piece) for piece in pieces]
    key, order = part_key(factors, frozenset(node.out))
    session.known[key] = value
    session.known_axes[key] = tuple(order.index(i) for i in node.out)
    session.parts.add(tuple(sorted(factor.who for factor in factors)))


def _in_order_of_forms(
    session: Session, pieces: list[Piece], kept: frozenset[int], measure: Mapping[int, float]
) -> list[Piece]:
    """Return pieces sorted by their indices and facts, not by their names.

    So the order of contraction is found once for products of one form, as in the layers of a network.
    """
    if len(pieces) < 3:
        return pieces
    forms = []
    for position, piece in enumerate(pieces):
        factor = _factor(session, piece)
        known = (factor.operation, sorted(factor.facts), _is_virtual(session, piece), [measure[i] for i in piece.at])
        forms.append(Form(repr(known).encode(), piece.at, 0 if factor.mirrored else len(piece.at), position))
    sorted_positions, _, _ = order_operands(forms, {i: n for n, i in enumerate(sorted(kept))})
    return [pieces[position] for position in sorted_positions]


def _is_virtual(session: Session, piece: Piece) -> bool:
    return piece.value is not None and piece.value.kind == "point" and not session.is_needed(piece.value)


def _is_ahead(session: Session, piece: Piece) -> bool:
    if session.ahead is None:
        return False
    if piece.value is not None:
        return piece.value.name in session.ahead
    return piece.node is not None and session.is_ahead(piece.node)


def _factor(session: Session, piece: Piece) -> Factor:
    mirrored = piece.node is not None and piece.node.rank == 2 and piece.node.facts >= SYMMETRIC
    if piece.value is None:
        assert piece.node is not None
        argument = piece.node.args[0]
        return Factor(piece.at, piece.node.digest.hex(), session.facts(argument), piece.node.rule.name, mirrored)
    facts = session.facts(piece.node) if piece.node is not None and piece.node.shape == piece.value.shape else ()
    return Factor(piece.at, piece.value.name, frozenset(facts), mirrored=mirrored)


@dataclass(slots=True, eq=False)
class Builder:
    """Builds the values of a contraction, parts before the whole."""

    session: Session
    pieces: list[Piece]
    plan: Contraction
    kept: frozenset[int]
    sizes: dict[int, Size]
    scaling: Scaling
    node: Node
    out_order: tuple[int, ...] | None
    made: dict[int, Value] = field(default_factory=dict)

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
        for position, piece in enumerate(self.pieces):
            if join.formed >> position & 1 and piece.value is None:
                piece.form(self.session)
                leaf = self.plan.table[1 << position]
                self.plan.table[1 << position] = Join(leaf.mask, piece.at, "leaf", Factor(leaf.at, leaf.factor.who))

    def _make(self, join: Join, last: bool) -> Value:
        if join.kind == "leaf":
            return self._value(join.mask)
        key, order = self.plan.key(join.mask)
        if join.kind == "known" or key in self.session.known:
            axes = tuple(order[p] for p in self.session.known_axes[key])
            join.at = axes
            return self.session.known[key]
        scaled = last and not self.scaling.is_one
        value = self._kernel(join, last) if join.kind in ("kernel", "unlink") else self._loop(join, last)
        if not (scaled and self.scaling.is_one):
            self.session.known[key] = value
            self.session.known_axes[key] = tuple(order.index(i) for i in join.at)
            self.session.parts.add(self.plan.names(join.mask))
        return value

    def _is_ahead_alone(self, join: Join) -> bool:
        """Whether a part is computed ahead, but the scalars that multiply it are not."""
        ahead = self.session.ahead
        return ahead is not None and join.mask & ~self.plan.ahead == 0 and not ahead.holds(self.scaling.scalars)

    def _read(self, mask: int, axes: Mapping[int, str]) -> Expr:
        is_leaf = mask & (mask - 1) == 0 and self.plan.table[mask].kind == "leaf"
        value = self._leaf(mask) if is_leaf else self.made[mask]
        return Read(value.name, tuple(axes[i] for i in self.plan.table[mask].at))

    def _loop(self, join: Join, last: bool) -> Value:
        graph = self.session.graph
        axes = {i: graph.axes[n] for n, i in enumerate(join.domain)}
        domain = tuple(self.sizes[i] for i in join.domain)
        if join.right == 0:
            value = self._leaf(join.mask)
            at = self.pieces[join.mask.bit_length() - 1].at
            factors: list[Expr] = [Read(value.name, tuple(axes[i] for i in at))]
        else:
            factors = [self._read(m, axes) for m in (join.left, join.right)]
        coef: Expr = Literal(Fraction(1))
        if (
            last
            and join.at
            and not self.scaling.is_one
            and (join.kind == "point" or not self.scaling.scalars)
            and not self._is_ahead_alone(join)
        ):
            coef = self.scaling.take()  # a scalar multiplies a sum, not its summands: an empty sum over 0 is NaN
        expr = times(1, [coef, self._selected(factors)])
        if join.kind == "point":
            return graph.point(domain, expr, self._subject(join, join.domain, last))
        return graph.sum(domain, [join.domain.index(i) for i in join.at], expr, self._subject(join, join.at, last))

    def _subject(self, join: Join, at: tuple[int, ...], last: bool) -> Subject:
        """Return the comment on the value of a join with these axes: its product, or the node that it helps compute."""
        if last and at == self.out_order and self.scaling.is_one:
            return self.node
        if last and self.out_order is not None and self.scaling.is_one and sorted(at) == sorted(self.out_order):
            return Factors(((self.node, self.out_order),), at, self.sizes)
        pieces = [piece for position, piece in enumerate(self.pieces) if join.mask >> position & 1]
        factors = [(piece.node, piece.of) for piece in pieces if piece.node is not None]
        is_whole = len(factors) == len(pieces) and {i for _, of in factors for i in of}.issuperset(at)
        return Factors(tuple(factors), at, self.sizes) if is_whole else For(self.node)

    def _selected(self, factors: Sequence[Expr]) -> Expr:
        """Return the product of factors where all their guards hold, else 0, even where a factor is NaN."""
        guards: list[Guard] = []
        bodies: list[Expr] = []
        for factor in factors:
            inside = self.session.graph.values[factor.value] if isinstance(factor, Read) else None
            if isinstance(factor, Read) and inside and inside.kind == "point" and isinstance(inside.expr, Select):
                axes = dict(zip(self.session.graph.axes, factor.at, strict=False))
                guards += [moved_guard(guard, axes) for guard in inside.expr.guards]
                factor = moved(inside.expr.body, axes)
            bodies.append(factor)
        product = times(1, bodies)
        return select(guards, product)

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
        alpha: Expr = ONE
        takes = match.kernel.scales and self.session.is_lone(self.node)
        if last and takes and not self.scaling.is_one and join.kind == "kernel" and not self._is_ahead_alone(join):
            alpha = self.scaling.take()
        batch = {i: session.graph.batch_axes[n] for n, i in enumerate(match.batch)}
        run = Run(match.kernel, [], [], alpha=alpha, comment=self._subject(join, match.axes, last))
        run.batch = tuple((batch[i], sizes[i]) for i in match.batch)
        shape = tuple(volume([sizes[i] for i in group]) for group in match.out)
        run.sizes = tuple((letter, volume([sizes[i] for i in group])) for letter, group in match.letters)
        for name, number, flip in match.fields:
            operand = self.plan.table[masks[number]]
            if operand.factor.operation:
                piece = self.pieces[operand.mask.bit_length() - 1]
                assert piece.node is not None
                session.factorised(run, match.kernel, piece.node, name, flip)
                continue
            at = tuple(renamed.get(i, i) for i in operand.at) if number == 1 else operand.at
            value = self._value(operand.mask)
            lead = tuple(batch[i] for i in at if i in batch)
            groups = _groups(at, match, batch)
            folded = tuple(sizes[i] for i in at if i in batch) + tuple(volume([sizes[i] for i in g]) for g in groups)
            if len(folded) != len(at):
                value = session.graph.view(value, folded)
            run.operands.append(Operand(name, value, flip and not operand.factor.mirrored, lead))
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
        """Return the match; search again if a part has its axes in another order than planned."""
        assert join.match is not None
        pair = [self.plan.table[m] for m in (join.left, join.right)]
        if join.kind == "unlink" or all(p.at == p.factor.at for p in pair):
            return join.match
        found = self.session.matcher.matches(
            [Factor(p.at, p.factor.who, p.factor.facts, p.factor.operation) for p in pair],
            self.plan.free(join.mask),
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
        return self.made[mask] if mask in self.made else self._leaf(mask)

    def _leaf(self, mask: int) -> Value:
        value = self.pieces[mask.bit_length() - 1].value
        assert value is not None
        return value

    def _diagonal(
        self, value: Value, flat: tuple[int, ...], renamed: dict[int, int], join: Join, sizes: dict[int, Size]
    ) -> Value:
        """Take the diagonal of an index and its copy; retain the index or sum over it."""
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
    """Split the indices of an operand into the groups bound to letters."""
    group_of = {i: group for _, group in match.letters for i in group}
    groups: list[tuple[int, ...]] = []
    for index in at:
        if index not in batch and (not groups or group_of[index] != groups[-1]):
            groups.append(group_of[index])
    return groups
