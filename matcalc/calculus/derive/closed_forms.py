"""Writes last states of recurrences with linear steps and constant coefficients as powers and geometric sums.

The states together, with a 1 below them, are a vector `z` with the step `z[t+1] = M*z[t]`, so `z[T] = M^T*z[0]`. This
holds for all matrices, also for singular ones and those with the eigenvalue 1, where `inv(I - A)` would not exist.
Matrices are stacked in the same way if the step multiplies all of them from the left, or all of them from the right. A
state that is a number has a geometric sum, whose terms may vary with the step.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.calculus.derive.conventions import jacobians
from matcalc.calculus.simplify.expand import expand
from matcalc.calculus.simplify.simplify import simplify
from matcalc.errors import NotSupported
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import (
    add,
    apply,
    broadcast,
    eye,
    hadamard,
    matmul,
    number,
    operate,
    product,
    selector_alone,
    size_number,
    symbol,
    total,
    transpose,
    zeros,
)
from matcalc.tensor.last_states import with_last_states
from matcalc.tensor.leading_axis import cut, numbers, placed
from matcalc.tensor.nodes.node import Node, terms_of, toposort
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import at_all_steps
from matcalc.tensor.steps.recurrence import Steps, system_of
from matcalc.tensor.substitute import substitute

ZERO, ONE = Size.of(0), Size.of(1)
Blocks = list[list[Node]]
"""The derivatives of the steps of states, by row and column, as matrices."""


def closed_form(root: Node) -> Node:
    """Return an equal node in which last states of linear recurrences are powers and geometric sums.

    Raises: NotSupported if no recurrence has this form.
    """
    tried: set[Node] = set()
    found = root
    while True:
        node = next((n for n in toposort(found) if n.kind == "recurrence" and n not in tried), None)
        if node is None:
            break
        tried.add(node)
        found = _without(found, node)
    if found is root:
        raise NotSupported(
            "no recurrence has a closed form here",
            hint="it must be read at its last state only, and its step be linear with coefficients that stay the same",
        )
    return simplify(found)


def _without(root: Node, node: Node) -> Node:
    """Return a node with the last state of a recurrence in closed form, or the node itself."""
    own = symbol("#closed", node.shape)
    over = substitute(root, {node: own})
    end = ZERO if node.backward else node.steps
    lasts, found = with_last_states({root: over}, {own: end})
    value = _last_state(node) if own in lasts else None
    return root if value is None else substitute(found[root], {lasts[own]: value})


def _last_state(node: Node) -> Node | None:
    """Return the last state of a recurrence in closed form, or None."""
    system = system_of(node)
    states = [symbol(f"#s{k}", state.shape) for k, state in enumerate(system.states)]
    renamed = dict(zip(system.states, states, strict=True))
    bodies = [expand(substitute(body, renamed)) for body in system.bodies]
    slopes = [[simplify(one) for one in jacobians(body, states)] for body in bodies]
    bound = {*states, *system.sequences}
    if not bound.isdisjoint(toposort([one for row in slopes for one in row])):
        return None
    nothing = {state: zeros(state.shape) for state in states}
    rest = [simplify(substitute(body, nothing)) for body in bodies]
    if len(states) == 1 and not states[0].shape:
        return _series(slopes[0][0], rest[0], system)
    if not bound.isdisjoint(toposort(rest)):
        return None
    ranks = {state.rank for state in states}
    if ranks <= {0, 1}:
        starts = [_as_vector(start) for start in system.starts]
        rest = [_as_vector(one) for one in rest]
        blocks = [[_as_block(one, row, column) for one, column in zip(line, states, strict=True)]
                  for line, row in zip(slopes, states, strict=True)]  # fmt: skip
        return _entry(_stacked(blocks, starts, rest, system.length, node.position), states[node.position])
    if ranks != {2}:
        return None
    return _of_matrices(slopes, rest, system, node.position)


# ---- numbers


def _series(a: Node, terms: Node, system: Steps) -> Node:
    """Return `a^T*x + sum{t: a^(T-1-t)*b[t]}` for the step `a*x + b[t]`."""
    steps = system.length
    free = default_rulebook().playing("free_power")
    varies = not set(system.sequences).isdisjoint(toposort(terms))
    if a is number(1):
        each = total(at_all_steps(terms, system.sequences, steps)) if varies else _times(size_number(steps), terms)
        return add([(1, system.starts[0]), (1, each)])
    first = _times(apply(free, [a, size_number(steps)]), system.starts[0])
    if terms.is_zero:
        return first
    exponents = numbers(steps)
    if varies and not system.backward:
        exponents = add([(1, broadcast(size_number(steps - 1), (steps,))), (-1, exponents)])
    powers = apply(free, [broadcast(a, (steps,)), exponents])
    if not varies:
        return add([(1, first), (1, _times(total(powers), terms))])
    return add([(1, first), (1, total(hadamard(powers, at_all_steps(terms, system.sequences, steps))))])


def _times(*factors: Node) -> Node:
    """Return the product of numbers."""
    return product(1, [(factor, ()) for factor in factors], (), {})


# ---- vectors


def _as_vector(node: Node) -> Node:
    return node if node.rank else product(1, [(node, ())], (0,), {0: ONE})


def _as_block(slope: Node, row: Node, column: Node) -> Node:
    """Return the derivative of a number or vector in another one as a matrix."""
    own = tuple(range(row.rank)), tuple(range(1, 1 + column.rank))
    return product(1, [(slope, (*own[0], *own[1]))], (0, 1), {k: ONE for k, at in enumerate(own) if not at})


def _entry(vector: Node, state: Node) -> Node:
    return vector if state.rank else product(1, [(vector, (0,))], (), {})


def _stacked(blocks: Blocks, starts: Sequence[Node], rest: Sequence[Node], steps: Size, position: int) -> Node:
    """Return one part of the last state of stacked vectors, or of matrices that are multiplied from the left."""
    lengths = [start.shape[0] for start in starts]
    if all(one.is_zero for one in rest) and len(starts) == 1:
        return matmul(_power(blocks[0][0], steps), starts[0])
    columns = starts[0].shape[1:]
    if any(not one.is_zero for one in rest):
        below = columns[0] if columns else ONE
        one = eye(below) if columns else broadcast(size_number(ONE), (ONE,))
        bottom = [zeros((below, length)) for length in lengths]
        shifts = [b if columns else product(1, [(b, (0,))], (0, 1), {1: ONE}) for b in rest]
        blocks = [[*row, shift] for row, shift in zip(blocks, shifts, strict=True)]
        blocks.append([*bottom, eye(below)])
        starts, lengths = [*starts, one], [*lengths, below]
    whole = sum(lengths, ZERO)
    offsets = [sum(lengths[:k], ZERO) for k in range(len(lengths))]
    matrix = add([
        (1, _block_at(block, row, column, whole))
        for line, row in zip(blocks, offsets, strict=True)
        for block, column in zip(line, offsets, strict=True)
    ])  # fmt: skip
    start = add([(1, placed(one, at, whole)) for one, at in zip(starts, offsets, strict=True)])
    return cut(matmul(_power(matrix, steps), start), offsets[position], lengths[position])


def _block_at(block: Node, row: Size, column: Size, whole: Size) -> Node:
    """Return a square matrix with a block that begins at this row and column, and zeros elsewhere."""
    if block.is_zero:
        return zeros((whole, whole))
    rules = [
        selector_alone(Selector("slice", (whole, length), at))
        for length, at in zip(block.shape, (row, column), strict=True)
    ]
    return product(1, [(block, (2, 3)), (rules[0], (0, 2)), (rules[1], (1, 3))], (0, 1), {})


def _power(matrix: Node, steps: Size) -> Node:
    return operate(default_rulebook().playing("matrix_power_of_size"), [matrix], (steps,))


# ---- matrices


def _of_matrices(slopes: Blocks, rest: Sequence[Node], system: Steps, position: int) -> Node | None:
    """Return the last state of matrices that each step multiplies from the left, or from the right, or from both."""
    left = _factors(slopes, 1)
    if left is not None:
        return _stacked(left, system.starts, rest, system.length, position)
    right = _factors(slopes, 0)
    if right is not None:
        turned = [transpose(one) for one in system.starts], [transpose(one) for one in rest]
        return transpose(_stacked(right, *turned, system.length, position))
    both = _two_factors(slopes[0][0]) if len(rest) == 1 and rest[0].is_zero else None
    if both is None:
        return None
    before, after = (_power(one, system.length) for one in both)
    return matmul(before, system.starts[0], after)


def _factors(slopes: Blocks, axis: int) -> Blocks | None:
    """Return the matrices A of derivatives `A[i,k]*eye[j,l]`, for the axis 1 of columns; None for other derivatives."""
    made = [[_factor(one, axis) for one in row] for row in slopes]
    return None if any(one is None for row in made for one in row) else [[one for one in row if one] for row in made]


def _factor(slope: Node, axis: int) -> Node | None:
    shape = slope.shape[1 - axis], slope.shape[3 - axis]
    if slope.is_zero:
        return zeros(shape)
    found = []
    for coef, term in terms_of(slope):
        if term.kind != "product" or term.out[axis] != term.out[axis + 2]:
            return None
        shared = term.out[axis]
        if any(shared in at for at in term.indices) or term.out.count(shared) > 2:
            return None
        out = term.out[1 - axis], term.out[3 - axis]
        found.append((coef, product(term.coef, term.operands, out, term.sizes)))
    return add(found)


def _two_factors(slope: Node) -> tuple[Node, Node] | None:
    """Return the matrices A and B of the derivative `A[i,k]*B[l,j]` of `A*X*B`; None for other derivatives."""
    if slope.kind != "product" or len(set(slope.out)) < 4:
        return None
    i, j, k, l = slope.out  # noqa: E741 - the usual letters
    reached = {i, k}
    while True:
        more = reached.union(*(at for at in slope.indices if not reached.isdisjoint(at)))
        if more == reached:
            break
        reached = more
    if not reached.isdisjoint({j, l}):
        return None
    first = [(arg, at) for arg, at in slope.operands if not reached.isdisjoint(at)]
    second = [(arg, at) for arg, at in slope.operands if reached.isdisjoint(at)]
    return product(slope.coef, first, (i, k), slope.sizes), product(1, second, (l, j), slope.sizes)
