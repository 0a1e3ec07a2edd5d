"""Contracts products with sparse matrices: each is multiplied by all operands with one of its indices, cheapest first.

A pattern X[i,j] whose j is summed is multiplied in one step by all operands that have j: `X*w` if no other index
remains, `X*W` if others do; likewise for i by the transpose. Two patterns of one matrix that share an index become
`X'*Z` or `X*Z'`. Operands with both indices are computed at the stored entries alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from matcalc.compiler.plan.sparse_data.sparse_entries import Dense, Entries, as_matrix
from matcalc.compiler.plan.sparse_data.sparse_forms import Form, NeedsDense, Pattern, needs_dense, stored_op
from matcalc.tensor.constructors import product, selector
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.selectors import merge
from matcalc.tensor.sizes.size import Size


@dataclass(frozen=True)
class IndexedPattern:
    """A pattern in a product, with the indices of its rows and columns."""

    pattern: Pattern
    row: int
    column: int

    def with_values(self, values: Node) -> IndexedPattern:
        return IndexedPattern(self.pattern._replace(values=values), self.row, self.column)


@dataclass(frozen=True)
class Step:
    """A product of a pattern with all dense operands that have the summed index; `rest` are their free indices."""

    indexed: IndexedPattern
    transposed: bool
    summed: int
    operands: tuple[int, ...]
    rest: tuple[int, ...]


@dataclass
class State:
    """A product during contraction: patterns, dense operands, the indices of the result, lengths by index."""

    node: Node
    coef: Fraction
    patterns: list[IndexedPattern]
    dense: Dense
    out: tuple[int, ...]
    sizes: dict[int, Size]

    def new_index(self, size: Size) -> int:
        index = 1 + max(self.sizes)
        self.sizes[index] = size
        return index


class Contracting:
    """Contracts products; `entries` computes matrices at stored entries."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries

    def contracted(self, node: Node, forms: Sequence[Form]) -> Form:
        """Return the contraction of a product whose operands have these forms: some are patterns, none is mixed.

        An operand with an error may still be computed at the stored entries of a pattern: `X.*exp(X)`.
        """
        faults = {arg: form for arg, form in zip(node.args, forms, strict=True) if isinstance(form, NeedsDense)}
        state = State(node, node.coef, [], [], node.out, node.sizes)
        for arg, form, at in zip(node.args, forms, node.indices, strict=True):
            if isinstance(form, Pattern):
                row, column = at[::-1] if form.transposed else at
                if row == column:
                    return needs_dense(node, "reads the diagonal of a sparse matrix")
                state.patterns.append(IndexedPattern(form, row, column))
            else:
                state.dense.append((form if isinstance(form, Node) else arg, at))
        while state.patterns or faults:
            fault = self._absorb(state) or next((faults[arg] for arg, _ in state.dense if arg in faults), None)
            if fault is not None:
                return fault
            faults = {}
            whole = self._whole(state)
            if whole is not None:
                return whole
            if not self._step(state):
                return needs_dense(node, "cannot be computed from stored entries alone")
        return product(state.coef, state.dense, state.out, state.sizes)

    def _absorb(self, state: State) -> NeedsDense | None:
        """Multiply each pattern by the operands with exactly its two indices: patterns of one matrix, and arrays."""
        kept: list[IndexedPattern] = []
        for indexed in state.patterns:
            twin = next((k for k, p in enumerate(kept) if _meets(p, indexed)), None)
            if twin is None:
                kept.append(indexed)
                continue
            both = [(kept[twin].pattern.values, (0,)), (indexed.pattern.values, (0,))]
            kept[twin] = kept[twin].with_values(product(1, both, (0,)))
        state.patterns = kept
        for k, indexed in enumerate(state.patterns):
            orders = ((indexed.row, indexed.column), (indexed.column, indexed.row))
            own = [operand for operand in state.dense if operand[1] in orders and operand[0].kind != "selector"]
            for operand in own:
                found = self._times(state, indexed, [operand])
                if isinstance(found, NeedsDense):
                    return found
                indexed = state.patterns[k] = found
                state.dense.remove(operand)
        return None

    def _times(self, state: State, indexed: IndexedPattern, operands: Dense) -> IndexedPattern | NeedsDense:
        """Return a pattern multiplied entry by entry by operands with its indices."""
        at, of = (indexed.row, indexed.column), indexed.pattern.of
        found = self.entries.of_product(1, operands, at, state.sizes, of, state.node)
        if isinstance(found, NeedsDense):
            return found
        return indexed.with_values(product(1, [(indexed.pattern.values, (0,)), (found, (0,))], (0,)))

    def _whole(self, state: State) -> Form | None:
        """Return the product if one pattern is left: as a pattern, or as a sum of the pattern's values; else None."""
        if len(state.patterns) > 1:
            return None
        (indexed,) = state.patterns
        own = {indexed.row, indexed.column}
        if not own & set(state.out) and not any(own & set(at) for _, at in state.dense):
            values = product(1, [(indexed.pattern.values, (0,))], ())
            return product(state.coef, [*state.dense, (values, ())], state.out, state.sizes)
        if set(state.out) != own or len(state.out) != 2:
            return None
        if any(index not in own for _, at in state.dense for index in at if index in state.out):
            return None
        found = self._times(state, indexed, state.dense)
        if isinstance(found, NeedsDense):
            return found
        values = product(state.coef, [(found.pattern.values, (0,))], (0,))
        return Pattern(indexed.pattern.of, values, state.out == (indexed.column, indexed.row))

    def _step(self, state: State) -> bool:
        """Multiply one pattern by the operands with one of its indices; return whether there is such a step."""
        steps = [s for indexed in state.patterns for s in _steps(state, indexed)]
        if steps:
            _take(state, min(steps, key=lambda s: len(s.rest)))
            return True
        return self._pair(state)

    def _pair(self, state: State) -> bool:
        """Multiply two patterns of one matrix over a shared index that otherwise only vectors have."""
        for k, one in enumerate(state.patterns):
            for other in state.patterns[:k]:
                if any(self._multiplied(state, one, other, transposed) for transposed in (True, False)):
                    return True
                if _formed(state, one, other):
                    return True
        return False

    def _multiplied(self, state: State, one: IndexedPattern, other: IndexedPattern, transposed: bool) -> bool:
        """Replace two patterns by `X'*Z` or `X*Z'`; return whether this is possible."""
        shared, ends = one.column, (one.row, other.row)
        if transposed:
            shared, ends = one.row, (one.column, other.column)
        if one.pattern.of is not other.pattern.of or shared != (other.row if transposed else other.column):
            return False
        own = [operand for operand in state.dense if shared in operand[1]]
        third = any(shared in (p.row, p.column) for p in state.patterns if p not in (one, other))
        if shared in state.out or third or ends[0] == ends[1] or any(at != (shared,) for _, at in own):
            return False
        weighted = self._times(state, one, own)
        if isinstance(weighted, NeedsDense):
            return False
        stored, size = one.pattern.of, state.sizes[ends[0]]
        values = weighted.pattern.values, other.pattern.values
        if state.out == ends[::-1]:
            values, ends = values[::-1], state.out
        args = [values[0], *stored.structure, values[1]]
        made = stored_op("csr_gram" if transposed else "csr_outer", args, (size, size))
        state.patterns = [p for p in state.patterns if p is not one and p is not other]
        state.dense = [operand for operand in state.dense if operand not in own] + [(made, ends)]
        return True


def _meets(one: IndexedPattern, other: IndexedPattern) -> bool:
    """Whether two patterns have the same stored entries and the same indices in a product."""
    return (one.pattern.of, one.row, one.column) == (other.pattern.of, other.row, other.column)


def _formed(state: State, one: IndexedPattern, other: IndexedPattern) -> bool:
    """Replace patterns X, Z and a matrix M between their columns by `x'*M*z` for each row; return whether possible."""
    ends, shared = (one.column, other.column), {one.row, one.column, other.column}
    if one.pattern.of is not other.pattern.of or one.row != other.row or ends[0] == ends[1]:
        return False
    own = [operand for operand in state.dense if not {*ends}.isdisjoint(operand[1])]
    held = {i for p in state.patterns if p not in (one, other) for i in (p.row, p.column)}
    joined = {i for _, at in own for i in at} - shared
    outside = {i for operand in state.dense if operand not in own for i in operand[1]} | {*state.out, *held}
    if any(i in outside for i in (*ends, *joined)) or any(one.row in at for _, at in own):
        return False
    stored = one.pattern.of
    matrix = product(1, own, ends, {i: state.sizes[i] for i in ends})
    args = [one.pattern.values, *stored.structure, other.pattern.values, matrix]
    state.patterns = [p for p in state.patterns if p is not one and p is not other]
    state.dense = [operand for operand in state.dense if operand not in own]
    state.dense.append((stored_op("csr_forms", args, (state.sizes[one.row],)), (one.row,)))
    return True


def _steps(state: State, indexed: IndexedPattern) -> list[Step]:
    """Return the steps that sum over an index of a pattern that no other pattern and no result has."""
    found = []
    others = {i for p in state.patterns if p is not indexed for i in (p.row, p.column)}
    for summed, kept, transposed in ((indexed.column, indexed.row, False), (indexed.row, indexed.column, True)):
        if summed in state.out or summed in others:
            continue
        for group in _groups(state, summed, {kept, *others}):
            outside = {i for k, (_, at) in enumerate(state.dense) if k not in group for i in at}
            outside |= {*state.out, *others, kept}
            inside = dict.fromkeys(i for k in group for i in state.dense[k][1] if i != summed)
            rest = tuple(i for i in inside if i in outside)
            formed = group and all(state.dense[k][0].kind == "selector" for k in group)  # slices of the sparse matrix
            if others.isdisjoint(rest) and kept not in rest and not (formed and rest):
                found.append(Step(indexed, transposed, summed, tuple(group), rest))
    return found


def _groups(state: State, summed: int, ends: set[int]) -> list[list[int]]:
    """Return the dense operands with an index, alone and with all operands joined to them, unless these reach `ends`.

    In `X*A*B*w`, `A*B*w` is better computed first: it is one vector. In `X*U*V'`, X is better multiplied by U alone.
    """
    own = [k for k, (_, at) in enumerate(state.dense) if summed in at]
    group, indices = list(own), {i for k in own for i in state.dense[k][1]}
    while True:
        open_ = indices - set(state.out)
        more = [k for k, (_, at) in enumerate(state.dense) if k not in group and open_.intersection(at)]
        if not more:
            return [own, sorted(group)] if len(group) > len(own) and ends.isdisjoint(indices) else [own]
        group += more
        indices |= {i for k in more for i in state.dense[k][1]}


def _take(state: State, step: Step) -> None:
    """Replace a pattern and the operands of a step by their product."""
    indexed, sizes = step.indexed, state.sizes
    operands = [state.dense[k] for k in step.operands]
    stored, kept = indexed.pattern.of, indexed.column if step.transposed else indexed.row
    length = {step.summed: sizes[step.summed]}
    head = [indexed.pattern.values, *stored.structure]
    state.patterns = [p for p in state.patterns if p is not indexed]
    state.dense = [operand for k, operand in enumerate(state.dense) if k not in step.operands]
    if not step.rest:
        vector = product(1, operands, (step.summed,), length)
        made = stored_op("csr_tmv" if step.transposed else "csr_mv", [*head, vector], (sizes[kept],))
        state.dense.append((made, (kept,)))
        return
    matrix = as_matrix(operands, step.summed, step.rest, sizes)
    made = stored_op("csr_tmm" if step.transposed else "csr_mm", [*head, matrix], (sizes[kept], matrix.shape[1]))
    if len(step.rest) == 1:
        state.dense.append((made, (kept, step.rest[0])))
        return
    whole = state.new_index(matrix.shape[1])
    parts = selector(merge(*(sizes[i] for i in step.rest)))
    state.dense += [(made, (kept, whole)), (parts, (whole, *step.rest))]
