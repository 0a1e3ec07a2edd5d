"""Rewrites formulas with inverses and determinants of `B + U*C*V'` to ones with matrices of the size of C.

An inverse is never replaced alone if it meets something narrow. `inv(K)*U` and `V'*inv(K)` are pushed through, since
their terms would cancel. `inv(K)*X` becomes the residual `B\\(X - U*C*W)`, and `X'*inv(K)*Y` the product of the
residuals of X and Y plus that of their W: for X = Y a sum of squares, which loses no digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from matcalc.compiler.plan.low_rank.forms import Form
from matcalc.compiler.plan.low_rank.split import ONE_AXIS, Split, factors_of, split
from matcalc.tensor.constructors import add, over_terms, product, transpose
from matcalc.tensor.nodes.node import Node, Operand, terms_of, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import rebuild

Terms = list[tuple[Fraction, Node]]
ROUNDS = 8
"""The most rounds; each replaces one level of a matrix with several terms of low rank."""
MOST_FACTORS = 8
"""The most operands of a product that are searched for U or V."""
MOST_CHANGES = 1000
"""The most changes of products: some formulas with many such matrices would grow without end."""


class TooLongError(Exception):
    """The formula would be too long in low-rank form."""


class Narrow(NamedTuple):
    """Operands of a product that meet an inverse at one of its indices: their product has at most one other index."""

    operands: tuple[Operand, ...]
    other: int | None
    width: float

    def cost(self) -> tuple[float, int]:
        """Return the width, then the length of the formula."""
        return self.width, sum(arg.length for arg, _ in self.operands)


@dataclass(eq=False)
class LowRank:
    """The rewriting of one plan. `tests` are losses of digits and their limits, `ranks` the ranks by length.

    `may_fit` tells of a length and a rank whether the low-rank form may be taken at some sizes.
    """

    forms: Sequence[Form]
    estimate: Callable[[Size], float]
    may_fit: Callable[[Size, Size], bool]
    tests: list[tuple[Node, float]] = field(default_factory=list)
    ranks: dict[Size, dict[Size, None]] = field(default_factory=dict)
    splits: dict[Node, Split | None] = field(default_factory=dict)
    residuals: set[Node] = field(default_factory=set)
    changes: int = 0

    def rewritten(self, roots: Sequence[Node]) -> list[Node]:
        """Return the roots without operations on matrices that are simple plus low rank.

        Raises: TooLongError.
        """
        found = list(roots)
        for count in range(ROUNDS):
            if not self._split_all([*found, *(test for test, _ in self.tests)]):
                break
            first = [self._multiplied_out] if count == 0 else []  # later sums are residuals
            nodes = [*found, *(test for test, _ in self.tests)]
            for change in (self._operation, *first, self._pushed, self._solved, self._spread, self._alone):
                nodes = _until_settled(nodes, change)
            found, tests = nodes[: len(found)], nodes[len(found) :]
            self.tests = [(test, most) for test, (_, most) in zip(tests, self.tests, strict=True)]
        return found

    # ---- matrices

    def _split_all(self, roots: Sequence[Node]) -> bool:
        """Split the matrices under operations that have a form, those of least rank first; return whether any is new.

        Their small matrices are never split: that of `A*A' + c*eye(n)` is `A'*A + c*eye(k)`.
        """
        new = [n.args[0] for n in toposort(roots) if self._has_form(n) and n.args[0] not in self.splits]
        pairs = [(matrix, found) for matrix in dict.fromkeys(new) if (found := split(matrix)) is not None]
        pairs = [(m, found) for m, found in pairs if self.may_fit(m.shape[0], found.left.shape[1])]
        pairs.sort(key=lambda pair: self.estimate(pair[1].left.shape[1]) / self.estimate(pair[0].shape[0]))
        for matrix, found in pairs:
            if self.splits.setdefault(matrix, found) is not found:
                continue
            form = self._form(found)
            self.tests.append((form.built(form.formulas["loss"], found), form.limit(found)))
            self.ranks.setdefault(matrix.shape[0], {})[found.left.shape[1]] = None
            for small in (form.built(name, found) for name in ("M", "N")):
                self.splits.update({small: None, transpose(small): None})
        return bool(pairs)

    def _has_form(self, node: Node) -> bool:
        """Whether a node is an operation on a matrix that may have a form."""
        if node.kind != "op" or node.batch_rank or len(node.args) != 1:
            return False
        return node.rule.role == "inverse" or node.rule.name in self.forms[0].operations

    def _split(self, node: Node) -> Split | None:
        """Return the split of the matrix that an operation is applied to."""
        return self.splits.get(node.args[0]) if self._has_form(node) else None

    def _form(self, found: Split) -> Form:
        return self.forms[found.base.rank]

    def _inverse(self, node: Node) -> Split | None:
        return self._split(node) if node.kind == "op" and node.rule.role == "inverse" else None

    # ---- one node

    def _operation(self, node: Node) -> Node:
        if node.kind != "op" or node.rule.name not in self.forms[0].operations:
            return node
        found = self._split(node)
        if found is None:
            return node
        form = self._form(found)
        return form.built(form.operations[node.rule.name], found)

    def _alone(self, node: Node) -> Node:
        found = self._inverse(node)
        return node if found is None else self._form(found).built(self._form(found).formulas["alone"], found)

    def _multiplied_out(self, node: Node) -> Node:
        """Return a product with its sums that hold inverses multiplied out."""
        return self._settled(node, self._over_sums)

    def _pushed(self, node: Node) -> Node:
        """Return a product with each `inv(K)*U` and `V'*inv(K)` pushed through."""
        return self._settled(node, self._with_pushed)

    def _solved(self, node: Node) -> Node:
        """Return a product with each `inv(K)*X` solved, where X is narrow."""
        return self._settled(node, self._with_solved)

    def _spread(self, node: Node) -> Node:
        """Return a product without inverses: those that meet nothing narrow are sums, and are multiplied out."""
        return self._settled(node, self._with_sums)

    def _settled(self, node: Node, change: Callable[[Node], Terms | None]) -> Node:
        """Return the sum of the terms of a product that nothing changes any more."""
        if node.kind != "product":
            return node
        pending: Terms = [(Fraction(1), node)]
        settled: Terms = []
        while pending:
            coef, term = pending.pop()
            changed = list(term.terms) if term.kind == "sum" else change(term) if term.kind == "product" else None
            if changed is None:
                settled.append((coef, term))
            else:
                pending += [(coef * c, inner) for c, inner in reversed(changed)]
                self.changes += 1
                if self.changes > MOST_CHANGES:
                    raise TooLongError
        return node if settled == [(Fraction(1), node)] else add(settled)

    def _over_sums(self, node: Node) -> Terms | None:
        """Return the terms over a sum that holds inverses, or that has terms of low rank and meets one."""
        wide = {(size, size) for _, found in self._inverses(node) for size in found.left.shape[:1]}
        for position, arg in enumerate(node.args):
            if arg.kind != "sum":
                continue
            meets = arg.shape in wide and any(factors_of(term) is not None for term in arg.args)
            if meets or any(self._holds_inverse(term) for term in arg.args):
                return over_terms(node, position)
        return None

    def _holds_inverse(self, term: Node) -> bool:
        return any(self._inverse(n) is not None for n in (term, *(term.args if term.kind == "product" else ())))

    def _inverses(self, node: Node) -> list[tuple[int, Split]]:
        return [(k, found) for k, arg in enumerate(node.args) if (found := self._inverse(arg)) is not None]

    def _with_pushed(self, node: Node) -> Terms | None:
        return _first(self._push(node, *at) for at in self._inverses(node))

    def _with_solved(self, node: Node) -> Terms | None:
        return _first(self._solve(node, *at) for at in self._inverses(node))

    def _with_sums(self, node: Node) -> Terms | None:
        """Return the terms of a product with an inverse, which becomes a sum; None without any."""
        for position, _ in self._inverses(node):
            operands = list(node.operands)
            arg, at = operands.pop(position)
            terms = terms_of(self._alone(arg))
            return [(c, product(node.coef, [*operands, (t, at)], node.out, node.sizes)) for c, t in terms]
        return None

    # ---- changes of one product

    def _push(self, node: Node, position: int, found: Split) -> Node | None:
        """Return a product with `inv(K)*U` or `V'*inv(K)` pushed through; None if it contains neither."""
        _, at = node.operands[position]
        form = self._form(found)
        rest = [operand for k, operand in enumerate(node.operands) if k != position]
        sides = [(at[1], at[0], found.left, "right"), (at[0], at[1], found.right, "left")]
        if found.is_symmetric:
            sides += [(at[0], at[1], found.left, "right")]
        for meets, leaves, factor, formula in sides:
            if meets in node.out or meets == leaves:
                continue
            for chosen, inner in _located(node, rest, meets, factor):
                new = form.built(form.formulas[formula], found)
                others = _without(rest, chosen)
                sizes = {**node.sizes, inner: factor.shape[1]}
                own = (leaves, inner) if formula == "right" else (inner, leaves)
                return product(node.coef, [*others, (new, own)], node.out, sizes)
        return None

    def _solve(self, node: Node, position: int, found: Split) -> Node | None:
        """Return a product with `inv(K)*X`, or `X'*inv(K)*Y`, solved; None if nothing narrow meets the inverse."""
        _, (row, column) = node.operands[position]
        if row == column:
            return None
        rest = [operand for k, operand in enumerate(node.operands) if k != position]
        rows, columns = (self._narrow(node, rest, i, j) for i, j in ((row, column), (column, row)))
        if rows and columns and self._may_split(rows[0], columns[0]):
            return self._between(node, rest, found, (row, rows[0]), (column, columns[0]))
        best = min((*rows, *columns), key=Narrow.cost, default=None)
        if best is None:
            return None
        meets, leaves = (column, row) if best in columns else (row, column)
        own = found if best in columns else _turned(found)
        x = _matrix_of(best, meets, node.sizes)
        solved = self._form(own).built(self._form(own).formulas["solved"], own, X=x, W=self._by(own, x))
        self.residuals.update(part for part in (solved, *solved.args) if part.kind == "sum")
        others = _without(rest, best.operands)
        at = (leaves,) if best.other is None else (leaves, best.other)
        return product(node.coef, [*others, (solved, at)], node.out, node.sizes)

    def _may_split(self, one: Narrow, other: Narrow) -> bool:
        """Whether both ends of an inverse are data, and neither is the residual of another inverse."""
        apart = not set(one.operands) & set(other.operands)
        return apart and self.residuals.isdisjoint(arg for arg, _ in (*one.operands, *other.operands))

    def _by(self, found: Split, x: Node) -> Node:
        return self._form(found).built(self._form(found).formulas["by"], found, X=x)

    def _between(
        self, node: Node, rest: Sequence[Operand], found: Split, left: tuple[int, Narrow], right: tuple[int, Narrow]
    ) -> Node:
        """Return a product with `X'*inv(K)*Y` as the sum of two products, of the residuals and of what is left."""
        form, turned = self._form(found), _turned(found)
        (_, one), (_, other) = left, right
        x, y = (_matrix_of(narrow, index, node.sizes) for index, narrow in (left, right))
        z, w = self._by(turned, x), self._by(found, y)
        q = form.built("X - U*C*W", turned, X=x, W=z)
        r = form.built("X - U*C*W", found, X=y, W=w)
        whole = form.built(form.formulas["both"], found, Q=q, R=r, W=w, Z=z)
        others = _without(rest, [*one.operands, *other.operands])
        at = tuple(narrow.other for narrow in (one, other) if narrow.other is not None)
        return product(node.coef, [*others, (whole, at)], node.out, node.sizes)

    def _narrow(self, node: Node, rest: Sequence[Operand], index: int, away: int) -> list[Narrow]:
        """Return narrow products of operands that meet an inverse at an index, the best first."""
        if index in node.out:
            return []
        near = [operand for operand in rest if index in operand[1]]
        far, seen = list(near), {index}
        while True:
            seen |= {i for _, at in far for i in at if i not in node.out}
            more = [o for o in rest if o not in far and seen & set(o[1]) and away not in o[1]]
            if not more:
                break
            far += more
        found = []
        for operands in (far, near):
            inside = {i for _, at in operands for i in at}
            outside = {i for o in rest if o not in operands for i in o[1]} | set(node.out) | {away}
            others = sorted((inside & outside) - {index})
            holds = any(self._inverse(arg) is not None for arg, _ in operands)
            if near and len(others) < 2 and away not in inside and not holds:
                width = self.estimate(node.sizes[others[0]]) if others else 1.0
                found.append(Narrow(tuple(operands), others[0] if others else None, width))
        found = [narrow for narrow in found if narrow.width < self.estimate(node.sizes[index])]
        return sorted(found, key=Narrow.cost)


def _until_settled(nodes: list[Node], change: Callable[[Node], Node]) -> list[Node]:
    """Return the nodes changed until nothing changes: a product may become one inside another."""
    for _ in range(ROUNDS):
        before, nodes = nodes, rebuild(nodes, change)
        if all(a is b for a, b in zip(nodes, before, strict=True)):
            break
    return nodes


def _turned(found: Split) -> Split:
    """Return the split of the transposed matrix."""
    base = found.base if found.base.rank < 2 else transpose(found.base)
    middle = found.middle if found.middle.rank < 2 else transpose(found.middle)
    return Split(base, found.right, middle, found.left, found.terms)


def _matrix_of(narrow: Narrow, index: int, sizes: Mapping[int, Size]) -> Node:
    out = (index,) if narrow.other is None else (index, narrow.other)
    return product(1, narrow.operands, out, sizes)


def _located(
    node: Node, rest: Sequence[Operand], meets: int, factor: Node
) -> Iterator[tuple[tuple[Operand, ...], int]]:
    """Yield operands whose product is a factor with its rows at an index, and the index of its columns."""
    near = [operand for operand in rest if meets in operand[1]]
    far = [operand for operand in rest if meets not in operand[1]]
    if not near or len(rest) > MOST_FACTORS:
        return
    own = len(factor.args) if factor.kind == "product" else 1
    fresh = max(node.sizes) + 1
    inner = dict.fromkeys(i for _, at in near for i in at if i != meets)
    for extra in combinations(far, max(own - len(near), 0)):
        chosen = (*near, *extra)
        outside = {i for operand in rest if operand not in chosen for i in operand[1]} | set(node.out)
        inside = {i for _, at in chosen for i in at}
        for index in (*inner, fresh):
            width = node.sizes.get(index, ONE_AXIS)
            if (inside & outside) - {index} or width is not factor.shape[1]:
                continue
            if product(1, chosen, (meets, index), {**node.sizes, index: factor.shape[1]}) is factor:
                yield chosen, index


def _without(operands: Sequence[Operand], used: Sequence[Operand]) -> list[Operand]:
    """Return operands without those used, each of which occurs once more than before."""
    left = list(operands)
    for operand in used:
        left.remove(operand)
    return left


def _first(made: Iterator[Node | None]) -> Terms | None:
    found = next((node for node in made if node is not None), None)
    return None if found is None else [(Fraction(1), found)]
