"""Determines whether a formula separates over its rows, in one walk of the DAG that finds every total over them.

A node with an axis of rows contains, for each row, a value of that row of the data and of shared values. A node
without one is shared. A product that sums over rows, a reduction of rows, or a size that counts them is a *total*: it
adds up over blocks of rows, or merges as maxima do. A node that has rows and depends on a total belongs to the next
round, which reads the data again. Any other node needs all rows at once and raises an error that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from matcalc.errors import NotSupported
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import add, over_terms, power, product, size_number, symbol
from matcalc.tensor.nodes.node import Indices, Node, toposort
from matcalc.tensor.sizes.size import Monomial, Size, polynomial
from matcalc.tensor.substitute import Batched, instantiate, remake
from matcalc.tensor.symbols import Names

SUM = "a + b"
BY_FEATURES = "sums over rows, X'*X, and functions of each row separate: for a kernel, give features of each row"
SHIFTED = "pass shifted or cut rows as additional data, which separate"
TOTALS = "sums, means, variances, extremes, logs of sums and functions of each row separate"
MOST_TERMS = 400
"""The largest number of terms to which one product is multiplied out."""


@dataclass(frozen=True, slots=True)
class Total:
    """A value over all rows: its node for a block, the symbol for the whole value, and the formula that merges two.

    `round` is the pass over the rows that computes it, from 0. `among` is the symbol of an extreme in the same pass:
    only blocks whose own extreme equals that of all rows add up, since the gradient of a maximum comes from the
    largest rows alone.
    """

    node: Node
    symbol: Node
    merge: str
    round: int
    among: Node | None = None


@dataclass(frozen=True, slots=True)
class Separated:
    """Totals in the order of their passes, and the results in terms of totals and shared values."""

    totals: tuple[Total, ...]
    results: tuple[Node, ...]

    @property
    def rounds(self) -> int:
        return max((total.round for total in self.totals), default=-1) + 1


def separated(
    roots: Sequence[Node], rows: Size, names: Names, apart: Iterable[Node] = (), by_rows: bool = False
) -> Separated:
    """Return nodes over `names` as totals over the size `rows` and results computed from them.

    With `by_rows`, results may have a leading axis of rows.

    Products with sums that mix rows with the symbols `apart` are multiplied out. If these symbols occur as
    polynomials, the totals then depend on rows alone: `X'*X` and `X'*y` for `norm2(X*w - y)^2`.

    Raises: NotSupported, naming the node that needs all rows at once.
    """
    walk = _Walk(rows, set(names.scope), frozenset(apart))
    if not [s for s in names.ordered() if walk.axes(s)]:
        raise NotSupported(f"no argument has an axis of length {rows}")
    results = tuple(walk.all(roots))
    for root, result in zip(roots, results, strict=True):
        if walk.axes(result) and not (by_rows and walk.axes(result) == [0]):
            raise NotSupported(f"the result has a part for each of the {rows} rows", hint=f"it is {short_text(root)}")
        if walk.holds_shares(result):
            raise walk.no_total(root)
    return Separated(tuple(sorted(walk.totals.values(), key=lambda total: total.round)), results)


def sufficient(roots: Sequence[Node], rows: Size, names: Names, free: Iterable[Node]) -> Separated:
    """Return nodes as totals that do not depend on the symbols `free`, and results computed from them.

    Raises: NotSupported, naming a total that depends on them.
    """
    free = list(free)
    found = separated(roots, rows, names, free)
    for total in found.totals:
        changing = [node.name for node in free if node in toposort([total.node])]
        if changing:
            why = f"depends on {' and '.join(changing)} differently in each row"
            raise NotSupported(f"no totals of rows alone suffice: {short_text(total.node)} {why}")
    return found


def short_text(node: Node) -> str:
    """Return the text of a node, cut to 80 characters."""
    from matcalc.formula.notation.write_node import formula_of
    from matcalc.language.write import text

    written = text(formula_of(node, (), {}, True))
    return written if len(written) <= 80 else f"{written[:77]}..."


@dataclass(slots=True)
class _Walk:
    rows: Size
    taken: set[str]
    apart: frozenset[Node] = frozenset()
    made: dict[Node, Node] = field(default_factory=dict)
    totals: dict[Node, Total] = field(default_factory=dict)
    rounds: dict[Node, int] = field(default_factory=dict)
    shares: dict[Node, tuple[Node, Node]] = field(default_factory=dict)
    holding: dict[Node, bool] = field(default_factory=dict)

    def all(self, roots: Sequence[Node]) -> list[Node]:
        """Return nodes in which sums over rows are replaced by totals."""
        for node in toposort(roots):
            if node not in self.made:
                self.made[node] = self.one(node)
        return [self.made[root] for root in roots]

    def one(self, node: Node) -> Node:
        """Return a node over its transformed operands."""
        self.axes(node)
        if node.kind == "size":
            return self.counted(node.size)
        if node.kind == "product":
            return self.of_product(node)
        if node.kind == "op":
            return self.of_operation(node)
        if node.kind == "selector" and not node.args and self.axes(node):
            raise self.refusal(node, "it places some of the rows", SHIFTED)
        return remake(node, self.made)

    def axes(self, node: Node) -> list[int]:
        """Return the axis of rows, if there is one. Raises: NotSupported for several axes or a part of the rows."""
        found = [k for k, size in enumerate(node.shape) if size == self.rows]
        other = next((s for s in node.shape if s != self.rows and set(s.names) & set(self.rows.names)), None)
        if other is not None:
            raise self.refusal(node, f"it has an axis of length {other}", SHIFTED)
        if len(found) > 1:
            raise self.refusal(node, "it pairs each row with each other", BY_FEATURES)
        return found

    def refusal(self, node: Node, why: str, hint: str) -> NotSupported:
        return NotSupported(f"{short_text(node)} needs all {self.rows} rows at once: {why}", hint=hint)

    def round_of(self, node: Node) -> int:
        """Return the first pass over the rows in which a transformed node can be computed."""
        for part in toposort([node]):
            if part not in self.rounds:
                self.rounds[part] = max((self.rounds[a] for a in part.args), default=0)
        return self.rounds[node]

    def total(self, node: Node, merge: str = SUM, among: Node | None = None) -> Node:
        """Return the symbol of the total that adds up, or merges, a node over blocks."""
        if self.holds_shares(node):
            raise self.no_total(next(part for part in toposort([node]) if part in self.shares))
        if node not in self.totals:
            name = next(name for k in range(len(self.taken) + 1) if (name := f"total{k + 1}") not in self.taken)
            self.taken.add(name)
            stand_in = symbol(name, node.shape, sorted(node.facts) if merge == SUM and not among else ())
            made = Total(node, stand_in, merge, self.round_of(node), among)
            self.totals[node] = made
            self.rounds[stand_in] = made.round + 1
        return self.totals[node].symbol

    def counted(self, size: Size) -> Node:
        """Return a size as a number in which the count of rows is a total."""
        if not set(size.names) & set(self.rows.names):
            return size_number(size)
        if not self.rows.is_name:
            raise NotSupported(f"the number of rows is {self.rows}", hint="declare it as a single size name")
        return add([(coefficient, self.monomial(part)) for part, coefficient in size.terms])

    def monomial(self, part: Monomial) -> Node:
        name = self.rows.key
        if any(not isinstance(atom, str) and name in atom.left.names + atom.right.names for atom, _ in part):
            raise NotSupported(f"there is a quotient or bound of the number of rows, {polynomial({part: Fraction(1)})}")
        power = sum(exponent for atom, exponent in part if atom == name)
        rest = polynomial({tuple((a, k) for a, k in part if a != name): Fraction(1)})
        count = self.total(size_number(self.rows)) if power else None
        return product(1, [(size_number(rest), ()), *([(count, ())] * power if count is not None else [])], (), {})

    # ---- products: sums over rows

    def of_product(self, node: Node) -> Node:
        operands, sizes = [(self.made[a], at) for a, at in node.operands], node.sizes
        in_terms = self.apart or any(self.holds_shares(a) and a not in self.shares for a, _ in operands)
        if in_terms and any(size == self.rows and i not in node.out for i, size in sizes.items()):
            return self.by_terms(product(node.coef, operands, node.out, sizes))  # merges nested products
        return self.by_totals(node, operands)

    def by_totals(self, node: Node, operands: list[tuple[Node, Indices]]) -> Node:
        """Return a product over these operands whose sums over rows are totals."""
        sizes = node.sizes
        operands = [(self.within(a), at) for a, at in operands]
        of_rows = [index for index, size in sizes.items() if size == self.rows]
        for index in (i for i in of_rows if i not in node.out):
            operands = self.summed(operands, index, node.out, sizes)
        kept = [i for i in of_rows if i in node.out]
        if len(kept) > 1 or any(node.out.count(i) > 1 for i in kept):
            raise self.refusal(node, "it pairs each row with each other", BY_FEATURES)
        return product(node.coef, operands, node.out, sizes)

    def by_terms(self, node: Node) -> Node:
        """Return a product with sums over rows, multiplied out until no operand mixes rows with the symbols `apart`."""
        settled: list[tuple[Fraction, Node]] = []
        pending = [(Fraction(1), node)]
        while pending:
            coef, one = pending.pop()
            one = self.within(one) if one.kind != "product" else one
            mixed = next((k for k, a in enumerate(one.args) if one.kind == "product" and self.is_mixed(a)), None)
            if one.kind == "sum":
                pending += [(coef * c, a) for c, a in reversed(one.terms)]
            elif mixed is not None:
                pending += [(coef * c, a) for c, a in reversed(over_terms(one, mixed))]
            else:
                settled.append((coef, self.by_totals(one, list(one.operands)) if one.kind == "product" else one))
            if len(pending) + len(settled) > MOST_TERMS:
                raise NotSupported(f"{short_text(node)} multiplied out has more than {MOST_TERMS} terms")
        return add(settled)

    def within(self, node: Node) -> Node:
        """Return a factor in which sums over rows, created by multiplying out, are transformed."""
        if node.kind == "size":
            return self.counted(node.size)
        sums = (
            node.kind == "product"
            and self.apart
            and any(s == self.rows for i, s in node.sizes.items() if i not in node.out)
        )
        return self.by_terms(node) if sums else node

    def is_mixed(self, node: Node) -> bool:
        """Whether a node is a sum with rows of which some terms are shares or depend on the symbols `apart`."""
        is_sum = node.kind == "sum" and self.rows in node.shape
        return is_sum and (self.holds_shares(node) or not self.apart.isdisjoint(toposort([node])))

    def summed(
        self, operands: list[tuple[Node, Indices]], index: int, out: Indices, sizes: dict[int, Size]
    ) -> list[tuple[Node, Indices]]:
        """Return operands with those that share an index of rows replaced by their total over it."""
        group = [(a, at) for a, at in operands if index in at]
        others = [(a, at) for a, at in operands if index not in at]
        outside = {*out, *(i for _, at in others for i in at)}
        kept = tuple(dict.fromkeys(i for _, at in group for i in at if i in outside))
        if any(sizes[i] == self.rows for i in kept):
            raise NotSupported(f"a sum over {self.rows} rows pairs each row with each other", hint=BY_FEATURES)
        held = [place for place, (a, _) in enumerate(group) if self.holds_shares(a)]
        if held:
            return [*others, *self.of_shares(group, held, kept, sizes)]
        return [*others, (self.total(product(1, group, kept, sizes)), kept)]

    # ---- operations: reductions, and shares of the largest rows

    def of_shares(
        self, group: list[tuple[Node, Indices]], held: list[int], kept: Indices, sizes: dict[int, Size]
    ) -> list[tuple[Node, Indices]]:
        """Return the sum of a product with shares: the sum over the chosen rows, divided by their number."""
        place = held[0]
        shares, at = group[place]
        if len(held) > 1 or shares not in self.shares or len(set(at)) < len(at):
            raise self.no_total(shares)
        is_chosen, extreme = self.shares[shares]
        batch = at[: extreme.rank]
        count = product(1, [(is_chosen, at)], batch, sizes)
        kept = (*batch, *(i for i in kept if i not in batch))
        given = product(1, [*group[:place], (is_chosen, at), *group[place + 1 :]], kept, sizes)
        if self.round_of(given) != self.round_of(count):
            raise self.no_total(shares)
        by_count = power(self.total(count, among=extreme), Fraction(-1))
        return [(self.total(given, among=extreme), kept), (by_count, batch)]

    def share(self, node: Node, formula: str) -> Node:
        """Return shares over a transformed operand; record which rows are chosen and the extreme that they attain."""
        made = remake(node, self.made)
        if made.kind != "op":  # transposed, or a multiple
            raise self.no_total(node)
        is_chosen = written_out(made, node.rule, formula)
        (extreme,) = (
            part for part in toposort([is_chosen]) if part.kind == "op" and part.rule.merge and self.loses_rows(part)
        )
        self.shares[made] = is_chosen, self.total(extreme, extreme.rule.merge or SUM)
        return made

    def loses_rows(self, node: Node) -> bool:
        return any(self.axes(a) for a in node.args) and not self.axes(node)

    def holds_shares(self, node: Node) -> bool:
        """Whether a node contains shares, whose sums over rows are not the sums over blocks of rows."""
        if not self.shares:
            return False
        for part in toposort([node]):
            if part not in self.holding:
                self.holding[part] = part in self.shares or any(self.holding[a] for a in part.args)
        return self.holding[node]

    def no_total(self, node: Node) -> NotSupported:
        name = node.rule.name if node.kind == "op" else "it"
        return self.refusal(node, f"{name} does not separate", TOTALS)

    def of_operation(self, node: Node) -> Node:
        over = [k for k, a in enumerate(node.args) if any(i >= len(node.batches[k]) for i in self.axes(a))]
        if not over:
            return remake(node, self.made)
        rule = node.rule
        if formula := rule.by_total:
            return self.all([written_out(node, rule, formula)])[0]
        if rule.share and len(over) == len(node.args) == 1:
            return self.share(node, rule.share)
        if rule.merge is None or len(node.args) > 1 or self.axes(node):
            raise self.no_total(node)
        return self.total(remake(node, self.made), rule.merge)


def written_out(node: Node, rule: Rule, formula: str) -> Node:
    """Return an operation of one argument as its formula, with the operation's batch axes."""
    (argument,) = node.args
    count = len(node.batches[0])
    plain = symbol(rule.parameters[0].name, argument.shape[count:])
    template = build_formula(formula, (), default_rulebook(), {plain.name: plain}, shape=plain.shape)
    batch_sizes = node.shape[: node.batch_rank]
    return instantiate(template, {plain: Batched(argument, node.batches[0])}, {}, batch_sizes).node


def entries(node: Node, sizes: dict[str, int]) -> int:
    """Return the number of entries of a total for these sizes."""
    return prod(size.evaluate(sizes) for size in node.shape)
