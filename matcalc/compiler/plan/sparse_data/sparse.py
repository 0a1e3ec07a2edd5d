"""Rewrites formulas with sparse matrices into operations on stored entries, before planning.

A sparse symbol is three arrays: the values of its stored entries, row by row, their columns, and the start of each row.
A node is then one of three things: a node without sparse matrices; a *pattern*, a matrix with entries only where a
sparse matrix stores entries, represented by the vector of their values; or a sum of both. Products distribute over such
sums: `norm2(X - U*V')^2` is the sum of three terms, and rounds as they do. Products combine a pattern with all operands
that share one of its indices (`csr_mv`, `csr_mm` and their transposes of `codegen/kernels.toml`). Elementwise functions
apply to the values. Other operands of elementwise products are computed at the stored entries alone. So no array of the
size of the matrix is ever formed; a formula that needs one raises an error that names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.compiler.plan.sparse_data.sparse_entries import Entries
from matcalc.compiler.plan.sparse_data.sparse_forms import LINEAR, Form, Mixed, NeedsDense, Pattern, Stored, needs_dense
from matcalc.compiler.plan.sparse_data.sparse_products import Contracting
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free
from matcalc.language.kinds import SPARSE
from matcalc.tensor.constructors import add, apply, number, operate, over_terms, power, product, symbol
from matcalc.tensor.nodes.node import Node, everything, toposort
from matcalc.tensor.product import has_square, square_of
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import remake

INDEX_TYPE = "int32"
"""The type of columns and starts: SciPy's own where it is wide enough."""


class Sparse(NamedTuple):
    """The stored arrays of sparse symbols; `unordered` ones may store entries twice and in any order."""

    stored: Mapping[Node, Stored]
    unordered: frozenset[Stored] = frozenset()

    @property
    def dtypes(self) -> dict[str, str]:
        """The types of the index arrays, by name."""
        return {array.name: INDEX_TYPE for s in self.stored.values() for array in (s.columns, s.starts)}

    def inputs(self, symbols: Sequence[Node]) -> list[Node]:
        """Return symbols, each sparse one replaced by its arrays."""
        return [array for s in symbols for array in (self.stored[s].arrays if s in self.stored else (s,))]


def is_sparse(node: Node) -> bool:
    """Whether a symbol is declared as a sparse matrix."""
    return node.kind == "symbol" and SPARSE in node.facts


def sparse_of(inputs: Sequence[Node], taken: set[str]) -> Sparse:
    """Return new symbols for the arrays of sparse inputs, and add their names to `taken`."""
    found = {}
    for node in filter(is_sparse, inputs):
        count = Size.of(free(f"{node.name}_stored", taken))
        arrays = [("values", count), ("columns", count), ("starts", node.shape[0] + 1)]
        found[node] = Stored(node, *(symbol(free(f"{node.name}_{what}", taken), (size,)) for what, size in arrays))
    return Sparse(found)


def without_sparse(forms: Sequence[Sequence[Node]], sparse: Sparse) -> list[list[Node]]:
    """Return the forms that need no dense copy, rewritten on the stored entries; all forms have the same values.

    Raises: NotSupported with the error of the first form if all forms need a dense copy.
    """
    found, faults = [], []
    for form in forms:
        try:
            found.append(Rewriting(sparse.stored).roots(form))
        except NotSupported as fault:
            faults.append(fault)
    if not found:
        raise faults[0]
    return found


def takes_any_order(forms: Sequence[Sequence[Node]], stored: Stored) -> bool:
    """Whether entries stored twice, and columns in any order, make no difference to values.

    This holds if the stored values are only multiplied by factors independent of them, added, and passed to operations
    that are linear in them.
    """
    return all(_adds_up(form, stored.values) for form in forms)


def _adds_up(roots: Sequence[Node], values: Node) -> bool:
    linear = {values}
    for node in toposort(roots):
        held = [arg for arg in node.args if arg in linear]
        if not held or (node.kind == "op" and node.rule.name in LINEAR):
            continue
        if node.kind == "sum" and len(held) == len(node.args):
            linear.add(node)
        elif node.kind == "product" and len(held) == 1 and node.rank <= 1:
            if node.rank:
                linear.add(node)
        else:
            return False
    return True


class Rewriting:
    """The form of each node on the stored entries."""

    def __init__(self, stored: Mapping[Node, Stored]) -> None:
        self.stored = stored
        self.forms: dict[Node, Form] = {}
        self.contracting = Contracting(Entries(self.form))

    def roots(self, nodes: Sequence[Node]) -> list[Node]:
        """Return nodes without sparse matrices.

        Raises: NotSupported that names the node that would need a dense copy.
        """
        found = []
        for node in nodes:
            form = self.form(node)
            if isinstance(form, (Pattern, Mixed)):
                form = needs_dense(node, "is a result")
            if isinstance(form, NeedsDense):
                raise NotSupported(form.message, hint=form.hint)
            found.append(form)
        return found

    def form(self, root: Node) -> Form:
        """Return the form of a node."""
        for node in toposort([root]):
            if node not in self.forms:
                self.forms[node] = self._found(node)
        return self.forms[root]

    def _found(self, node: Node) -> Form:
        if node in self.stored:
            return Pattern(self.stored[node], self.stored[node].values, False)
        forms = [self.forms[arg] for arg in node.args]
        held = [f for f in forms if isinstance(f, (Pattern, Mixed))]
        fault = next((f for f in forms if isinstance(f, NeedsDense)), None)
        if not held and fault is None:
            return remake(node, {arg: f for arg, f in zip(node.args, forms, strict=True) if isinstance(f, Node)})
        if node.kind == "product":
            return self._product(node, forms)
        if fault is not None:
            return fault
        if node.kind == "sum":
            return self._sum(node, forms)
        if node.kind == "map":
            return self._map(node, forms)
        if has_square(node) and isinstance(forms[0], Pattern) and not node.batch_rank:
            return operate(node.rule, [forms[0].values], node.params)  # a norm: zeros do not change it
        squared = self.form(square_of(node)) if has_square(node) else None
        if isinstance(squared, Node) and squared is not node:
            return power(squared, Fraction(1, 2))
        return needs_dense(node, "is not an operation on stored entries")

    def _product(self, node: Node, forms: Sequence[Form]) -> Form:
        """Return a product contracted, or distributed over a sum of sparse and other terms."""
        position = next((k for k, f in enumerate(forms) if isinstance(f, Mixed)), None)
        if position is None:
            return self.contracting.contracted(node, forms)
        terms = over_terms(node, position)
        found = [self.form(term) for _, term in terms]
        fault = next((f for f in found if isinstance(f, NeedsDense)), None)
        if fault is not None:
            return fault
        if all(isinstance(f, Node) for f in found):
            return add([(c, f) for (c, _), f in zip(terms, found, strict=True) if isinstance(f, Node)])
        return self._together(node, [(c, f) for (c, _), f in zip(terms, found, strict=True)])

    def _sum(self, node: Node, forms: Sequence[Form]) -> Form:
        return self._together(node, list(zip(node.coefs, forms, strict=True)))

    def _together(self, node: Node, terms: Sequence[tuple[object, Form]]) -> Form:
        """Return a sum of patterns as one pattern, if all have their entries at the same indices."""
        first = next(f for _, f in terms if isinstance(f, (Pattern, Mixed)))
        if isinstance(first, Mixed) or not all(isinstance(f, Pattern) and f.has_entries_of(first) for _, f in terms):
            return Mixed(node) if node.kind == "sum" else needs_dense(node, "adds a sparse matrix to other arrays")
        values = [(c, f.values) for c, f in terms if isinstance(f, Pattern)]
        return Pattern(first.of, add(values), first.transposed)  # type: ignore[arg-type]

    def _map(self, node: Node, forms: Sequence[Form]) -> Form:
        """Return an elementwise function of the stored values, if it is 0 at all entries that are not stored."""
        first = next(f for f in forms if isinstance(f, (Pattern, Mixed)))
        at_zero: list[Node] = []
        args: list[Node] = []
        for form in forms:
            if isinstance(first, Pattern) and isinstance(form, Pattern) and form.has_entries_of(first):
                at_zero.append(number(0))
                args.append(form.values)
                continue
            same = _number_everywhere(form)
            if isinstance(first, Mixed) or same is None:
                return needs_dense(node, "is a function of a sparse matrix and other arrays")
            at_zero.append(same)
            args.append(product(1, [(same, ())], (0,), {0: first.of.values.shape[0]}))
        assert isinstance(first, Pattern)
        if not _is_zero(apply(node.rule, at_zero, node.params)):
            return needs_dense(node, "is not 0 at entries that are not stored")
        return Pattern(first.of, apply(node.rule, args, node.params), first.transposed)


def _number_everywhere(form: Form) -> Node | None:
    """Return the exact number that all entries of a node equal, else None."""
    if isinstance(form, Node) and form.kind == "product" and not form.args:
        return number(form.coef)
    return None


def _is_zero(node: Node) -> bool:
    """Whether a formula of numbers alone is 0."""
    if any(part.kind in ("symbol", "size") for part in everything([node])):
        return False
    (value,) = evaluate([node], {}, {})
    return bool(value == 0)
