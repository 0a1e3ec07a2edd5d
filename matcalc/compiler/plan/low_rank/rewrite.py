"""Rewrites formulas with inverses and determinants of `B + U*C*V'` to ones with matrices of the size of C.

An inverse is never replaced alone if it meets something narrow. `inv(K)*U` and `V'*inv(K)` are pushed through, since
their terms would cancel. `inv(K)*X` becomes the residual `B\\(X - U*C*W)`, and `X'*inv(K)*Y` the product of the
residuals of X and Y plus that of their W: for X = Y a sum of squares, which loses no digits. Operations on a Kronecker
product plus a multiple of the identity are written by eigenvalues and eigenvectors of the factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from matcalc.compiler.plan.low_rank.forms import Form, Table
from matcalc.compiler.plan.low_rank.kronecker import Kronecker, kronecker
from matcalc.compiler.plan.low_rank.narrow import Narrow, located, matrix_of, narrow_at, without
from matcalc.compiler.plan.low_rank.split import Split, factors_of, split
from matcalc.tensor.constructors import add, over_terms, product, transpose
from matcalc.tensor.nodes.node import Node, Operand, terms_of, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import rebuild

Terms = list[tuple[Fraction, Node]]
ROUNDS = 8
"""The most rounds; each replaces one level of a matrix with several terms of low rank."""
MOST_CHANGES = 1000
"""The most changes of products: some formulas with many such matrices would grow without end."""


class TooLongError(Exception):
    """The formula would be too long in low-rank form."""


@dataclass(eq=False)
class LowRank:
    """The rewriting of one plan. `tests` are losses of digits and their limits, `ranks` the ranks by length.

    `products` are the Kronecker products among the matrices; the others are of low rank.

    `may_fit` tells of a length and a rank whether the low-rank form may be taken at some sizes.
    """

    table: Table
    estimate: Callable[[Size], float]
    may_fit: Callable[[Size, Size], bool]
    tests: list[tuple[Node, float]] = field(default_factory=list)
    ranks: dict[Size, dict[Size, None]] = field(default_factory=dict)
    splits: dict[Node, Split | None] = field(default_factory=dict)
    products: dict[Node, Kronecker] = field(default_factory=dict)
    inverted: set[Node] = field(default_factory=set)
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
            last = [self._over_terms] if self.products else []
            nodes = [*found, *(test for test, _ in self.tests)]
            changes = (
                self._by_inverses,
                self._operation,
                *first,
                self._pushed,
                self._solved,
                self._spread,
                self._alone,
            )
            for change in (*changes, *last):
                nodes = _until_settled(nodes, change)
            found, tests = nodes[: len(found)], nodes[len(found) :]
            self.tests[: len(tests)] = [(test, most) for test, (_, most) in zip(tests, self.tests, strict=False)]
        return found

    # ---- matrices

    def _split_all(self, roots: Sequence[Node]) -> bool:
        """Split the matrices under operations that have a form, those of least rank first; return whether any is new.

        Their small matrices are never split: that of `A*A' + c*eye(n)` is `A'*A + c*eye(k)`.
        """
        new = [n.args[0] for n in toposort(roots) if self._has_form(n) and n.args[0] not in self.splits]
        before = len(self.products)
        self._find_products(new)
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
        return bool(pairs) or len(self.products) > before

    def _find_products(self, matrices: Sequence[Node]) -> None:
        """Split the matrices that are a Kronecker product and a multiple of the identity."""
        for matrix in dict.fromkeys(matrices):
            found = kronecker(matrix)
            if found is None or not all(self.may_fit(matrix.shape[0], f.shape[0]) for f in found.factors):
                continue
            self.splits[matrix], self.products[matrix] = None, found
            self.ranks.setdefault(matrix.shape[0], {}).update({f.shape[0]: None for f in found.factors})
            form = self.table.kronecker
            self.tests += [(form.built(test, found), most) for test, most in form.tests]

    def _has_form(self, node: Node) -> bool:
        """Whether a node is an operation on a matrix that may have a form."""
        if node.kind != "op" or not node.args:
            return False
        if self.table.nonsingular.has(node):
            return True
        if node.batch_rank or len(node.args) != 1:
            return False
        return node.rule.role == "inverse" or node.rule.name in self.table.bases[0].operations

    def _split(self, node: Node) -> Split | None:
        """Return the split of the matrix that an operation is applied to, of low rank."""
        return self.splits.get(node.args[0]) if self._has_form(node) else None

    def _product(self, node: Node) -> Kronecker | None:
        """Return the split of the matrix that an operation is applied to, with a Kronecker product."""
        return self.products.get(node.args[0]) if self._has_form(node) else None

    def _form(self, found: Split) -> Form:
        return self.table.bases[found.base.rank]

    def _inverse(self, node: Node) -> Split | Kronecker | None:
        is_inverse = node.kind == "op" and node.rule.role == "inverse"
        return self._split(node) or self._product(node) if is_inverse else None

    # ---- one node

    def _by_inverses(self, node: Node) -> Node:
        """Return an operation that has a value at singular matrices by inverses."""
        further = self.table.nonsingular
        if node.kind != "op" or not node.args or not further.has(node):
            return node
        matrix = node.args[0]
        found = self.splits.get(matrix)
        if found is None and matrix not in self.products:
            return node
        made = further.written(node)
        if found is not None and made is not node and matrix not in self.inverted:
            self.inverted.add(matrix)
            self.tests.append((self._form(found).built(further.loss, found), further.most))
        return made

    def _operation(self, node: Node) -> Node:
        if node.kind != "op" or node.rule.name not in self.table.bases[0].operations:
            return node
        whole = self._product(node)
        if whole is not None:
            return self.table.kronecker.built(self.table.kronecker.operations[node.rule.name], whole)
        found = self._split(node)
        if found is None:
            return node
        form = self._form(found)
        return form.built(form.operations[node.rule.name], found)

    def _alone(self, node: Node) -> Node:
        found = self._inverse(node)
        if isinstance(found, Kronecker):
            return self.table.kronecker.built(self.table.kronecker.alone, found)
        return node if found is None else self._form(found).built(self._form(found).formulas["alone"], found)

    def _over_terms(self, node: Node) -> Node:
        """Return a re-indexed sum as the sum of its re-indexed terms, in which selectors cancel."""
        wide = [k for k, arg in enumerate(node.args) if arg.kind != "selector"] if node.kind == "product" else []
        is_sum = len(wide) == 1 and node.args[wide[0]].kind == "sum"
        return add(over_terms(node, wide[0])) if is_sum else node

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
        wide = {node.args[position].shape for position, _ in self._inverses(node)}
        for position, arg in enumerate(node.args):
            if arg.kind != "sum":
                continue
            meets = arg.shape in wide and any(factors_of(term) is not None for term in arg.args)
            if meets or any(self._holds_inverse(term) for term in arg.args):
                return over_terms(node, position)
        return None

    def _holds_inverse(self, term: Node) -> bool:
        return any(self._inverse(n) is not None for n in (term, *(term.args if term.kind == "product" else ())))

    def _is_inverse(self, node: Node) -> bool:
        return self._inverse(node) is not None

    def _inverses(self, node: Node) -> list[tuple[int, Split | Kronecker]]:
        return [(k, found) for k, arg in enumerate(node.args) if (found := self._inverse(arg)) is not None]

    def _with_pushed(self, node: Node) -> Terms | None:
        return _first(self._push(node, k, found) for k, found in self._inverses(node) if isinstance(found, Split))

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
            for chosen, inner in located(node, rest, meets, factor):
                new = form.built(form.formulas[formula], found)
                others = without(rest, chosen)
                sizes = {**node.sizes, inner: factor.shape[1]}
                own = (leaves, inner) if formula == "right" else (inner, leaves)
                return product(node.coef, [*others, (new, own)], node.out, sizes)
        return None

    def _solve(self, node: Node, position: int, found: Split | Kronecker) -> Node | None:
        """Return a product with `inv(K)*X`, or `X'*inv(K)*Y`, solved; None if nothing narrow meets the inverse."""
        _, (row, column) = node.operands[position]
        if row == column:
            return None
        rest = [operand for k, operand in enumerate(node.operands) if k != position]
        rows, columns = (
            narrow_at(node, rest, i, j, self.estimate, self._is_inverse) for i, j in ((row, column), (column, row))
        )
        if isinstance(found, Split) and rows and columns and self._may_split(rows[0], columns[0]):
            return self._between(node, rest, found, (row, rows[0]), (column, columns[0]))
        best = min((*rows, *columns), key=Narrow.cost, default=None)
        if best is None:
            return None
        meets, leaves = (column, row) if best in columns else (row, column)
        x = matrix_of(best, meets, node.sizes)
        if isinstance(found, Kronecker):
            solved = self.table.kronecker.solution(found, x)
        else:
            own = found if best in columns else _turned(found)
            solved = self._form(own).built(self._form(own).formulas["solved"], own, X=x, W=self._by(own, x))
            self.residuals.update(part for part in (solved, *solved.args) if part.kind == "sum")
        others = without(rest, best.operands)
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
        x, y = (matrix_of(narrow, index, node.sizes) for index, narrow in (left, right))
        z, w = self._by(turned, x), self._by(found, y)
        q = form.built("X - U*C*W", turned, X=x, W=z)
        r = form.built("X - U*C*W", found, X=y, W=w)
        whole = form.built(form.formulas["both"], found, Q=q, R=r, W=w, Z=z)
        others = without(rest, [*one.operands, *other.operands])
        at = tuple(narrow.other for narrow in (one, other) if narrow.other is not None)
        return product(node.coef, [*others, (whole, at)], node.out, node.sizes)


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


def _first(made: Iterator[Node | None]) -> Terms | None:
    found = next((node for node in made if node is not None), None)
    return None if found is None else [(Fraction(1), found)]
