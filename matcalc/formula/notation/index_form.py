"""Writes index form, for nodes without matrix notation: `{i,j,k,l: 2*(V'*V)[j,l]*eye(m)[i,k]}`.

Factors are the contracted parts of the network, each in matrix form with the names of its axes. A repeated output index
is an identity between two names. An index whose length no factor determines gets a factor `ones(n)[k]`. A selector is a
condition. Index names differ from those of symbols and sizes and from those in nested index forms, so that no name is
ever captured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from matcalc.formula.forms import factor_reading
from matcalc.formula.forms import form as forms
from matcalc.formula.forms.contraction import Net, Other, reduce_net
from matcalc.formula.forms.factor_reading import Piece
from matcalc.formula.forms.form import ATOM, POWER, Form, played
from matcalc.formula.forms.selectors import triangle_as_tensor
from matcalc.formula.forms.slices import slice_as_matrix
from matcalc.formula.notation.index_names import Names
from matcalc.formula.notation.length import tokens
from matcalc.formula.notation.node_reading import quotient
from matcalc.language import syntax
from matcalc.language.index_sums import held_in
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.tensor.nodes.node import Indices
from matcalc.tensor.sizes.selectors import Selector, is_within
from matcalc.tensor.sizes.size import Size, volume
from matcalc.tensor.sizes.size_tree import tree_of


def index_body(names: Names, net: Net, out: Indices, tops: Sequence[Form], bottoms: Sequence[Form]) -> Form:
    """Return a network as an index form; its output names are the first free ones."""
    outputs = names.fresh(len(out))
    return forms.index_form(outputs, body(names, net, out, outputs, tops, bottoms))


def body(
    names: Names,
    net: Net,
    out: Indices,
    outputs: Sequence[str],
    tops: Sequence[Form],
    bottoms: Sequence[Form],
) -> Form:
    """Return the formula of one entry of a network, at the named output indices."""
    reduce_net(net)
    _write_out_slices(net)
    for other in [o for o in net.others if o.kind == "triangle"]:
        triangle_as_tensor(net, other)
    _split_repeated(net)
    taken = {*outputs, *forms.used([*tops, *bottoms]), *_used(net)}
    label: dict[int, str] = {}
    identities: list[Form] = []
    for index, name in zip(out, outputs, strict=True):
        if index in label:
            identities.append(names.entry(played("identity", net.size(index)), (label[index], name)))
        label.setdefault(index, name)
    sources = {other.at[0]: other for other in net.others if _is_subscript(net, other, out)}
    inner = sorted((i for i in net.indices() if i not in label), key=sources.__contains__)
    label.update(zip(inner, names.fresh(len(inner), taken), strict=True))
    surrounding = {*outputs, *label.values()}
    entries = _factors(names, net, label, surrounding, outputs)
    factors, divisors = entries.above, entries.below
    tops = [names.apart(f, surrounding) for f in tops]
    bottoms = [names.apart(f, surrounding) for f in bottoms]
    measured = {*entries.held_above, *entries.held_below, *(i for i in out if out.count(i) > 1)}
    conditions: list[Form] = []
    looked_up = {label[i]: _entry_of(other.lookup, [label[i] for i in other.at[1:]]) for i, other in sources.items()}
    for other in net.others:
        if other.form is None and other not in sources.values():
            conditions += conditions_of(other.selector, [label[i] for i in other.at], other.lookup)
            entries.held_above.update(other.at)
    measured.update(i for other in net.others if other.lookup is not None for i in other.at[1:])
    unmeasured = [i for i in label if i not in measured]
    lengths = [names.entry(played("all_ones", net.size(i)), (label[i],)) for i in unmeasured]
    entries.held_above.update(unmeasured)
    above = [*tops, *factors, *identities, *lengths, *conditions]
    form = _with_entries(quotient(above, [*bottoms, *divisors]), looked_up)
    inside = _summed_inside(form.ast, frozenset(outputs))
    alone = [
        label[i] for i in inner if label[i] not in looked_up and (not entries.is_repeated(i) or label[i] in inside)
    ]
    form = forms.index_sum(alone, form) if alone else form
    ordered = frozenset(run for f in [*factors, *divisors] if f.body is None for run in f.ordered)
    return replace(form, used=form.used | surrounding, ordered=ordered)


def _is_subscript(net: Net, other: Other, out: Indices) -> bool:
    """Whether an index of a lookup is summed and only subscripts hold it: then they are the entries of data."""
    if other.lookup is None:
        return False
    index = other.at[0]
    elsewhere = any(index in one.at for one in net.others if one.form is None and one is not other)
    is_held = net.touches(index) or any(index in one.at for one in net.others if one.form is not None)
    return is_held and not elsewhere and index not in (*out, *other.at[1:])


def _entry_of(lookup: Form | None, at: Sequence[str]) -> Form:
    assert lookup is not None
    if lookup.ast.head == "index_form":  # of indices at indices, g[J[i, k]]
        names: tuple[str, ...] = lookup.ast.value  # type: ignore[assignment]
        body = syntax.renamed(lookup.ast.args[0], dict(zip(names, at, strict=True)))
        return Form(body, ATOM, lookup.tokens)
    return forms.entry(lookup, at) if at else lookup


def _with_entries(form: Form, entries: Mapping[str, Form]) -> Form:
    """Return a formula with entries of data for names of indices."""
    if not entries:
        return form

    def change(ast: Ast) -> Ast:
        return entries[str(ast.value)].ast if ast.head == "name" and ast.value in entries else ast

    return replace(
        form, ast=syntax.rebuild(form.ast, change), tokens=form.tokens + sum(e.tokens for e in entries.values())
    )


def _summed_inside(ast: Ast, outputs: frozenset[str]) -> frozenset[str]:
    """Return the names that a nested index form would sum by itself."""
    if not any(part.head in syntax.BINDERS for part in syntax.walk(ast)):
        return frozenset()
    return frozenset().union(*held_in(ast, lambda _: True, outputs).summed.values())


def _write_out_slices(net: Net) -> None:
    """Read slices as matrices if neither length is known to contain the other: `[i == j]` would be two masks."""
    unknown = [o for o in net.others if o.kind == "slice" and not is_within(o.selector)]
    for other in unknown:
        slice_as_matrix(net, other)
    if unknown:
        reduce_net(net)


def _split_repeated(net: Net) -> None:
    """Replace the repeated index of a selector by a new one, tied by an identity, as its conditions require."""
    for position, other in enumerate(net.others):
        if other.form is not None:
            continue
        at: list[int] = []
        for index in other.at:
            twin = len(net.sizes) if index in at else index
            if index in at:
                net.sizes = [*net.sizes, net.sizes[index]]
                net.put(factor_reading.leaf(played("identity", net.size(index)), 2, symmetric=True), index, twin)
            at.append(twin)
        net.others[position] = other._replace(at=tuple(at))


def _used(net: Net) -> frozenset[str]:
    columns = [p for weights in net.weights.values() for p in weights]
    found = [factor_reading.read(p) for p in [*columns, *(e.piece for e in net.edges)]]
    return forms.used([*found, *(o.form for o in net.others if o.form is not None)])


@dataclass(slots=True)
class _Entries:
    """The entries that are factors and divisors, and how many of them hold each index."""

    above: list[Form] = field(default_factory=list)
    below: list[Form] = field(default_factory=list)
    held_above: Counter[int] = field(default_factory=Counter)
    held_below: Counter[int] = field(default_factory=Counter)

    def is_repeated(self, index: int) -> bool:
        """Whether an unlisted index is summed implicitly over the whole quotient.

        The divisor is one factor; an index that only the divisor holds would be summed in it.
        """
        return self.held_above[index] > 1 or (self.held_above[index] > 0 and self.held_below[index] > 0)


def _factors(names: Names, net: Net, label: dict[int, str], surrounding: set[str], outputs: Sequence[str]) -> _Entries:
    """Return the entries of a reduced network."""
    entries = _Entries()
    for other in net.others:
        if other.form is not None:
            form = names.apart(other.form, surrounding)
            entries.above.append(names.entry(form, [label[i] for i in other.at], outputs))
            entries.held_above.update(other.at)
    columns = [(piece, (index,)) for index in sorted(net.weights) for piece in net.weights[index]]
    for piece, at in [*((edge.piece, edge[:2]) for edge in net.edges), *columns]:
        _add_entry(names, entries, piece, at, label, surrounding, outputs)
    return entries


def _add_entry(
    names: Names,
    entries: _Entries,
    piece: Piece,
    at: Sequence[int],
    label: dict[int, str],
    surrounding: set[str],
    outputs: Sequence[str],
) -> None:
    power = _power_of_a_name(piece.inverse, [label[i] for i in at]) if piece.inverse is not None else None
    if power is not None:
        entries.below.append(power)
        entries.held_below.update(at)
        return
    # `(v.^2)[i]` as a divisor would be read as the reciprocal of a product, not as v.^-2
    divides = piece.inverse is not None and factor_reading.read(piece.inverse).ast.head != "power"
    shown = piece.inverse if divides and piece.inverse else piece
    flip = shown.rank == 2 and shown.costs[1] < shown.costs[0]
    form = names.apart(factor_reading.read(shown, flip), surrounding)
    subscripts = [label[i] for i in at]
    target, held = (entries.below, entries.held_below) if divides else (entries.above, entries.held_above)
    target.append(names.entry(form, subscripts[::-1] if flip else subscripts, outputs))
    held.update(at)


def _power_of_a_name(divisor: Piece, subscripts: Sequence[str]) -> Form | None:
    """Return `v[i]^2`, an entry of `v.^2`; None for a divisor that is no power of a name."""
    form = factor_reading.read(divisor)
    if form.ast.head != "power" or form.ast.args[0].head != "name":
        return None
    base, exponent = form.ast.args
    entry = forms.entry(Form(base, ATOM, 1, 0, form.names), subscripts)
    ast = syntax.power(entry.ast, exponent)
    return replace(form, ast=ast, level=POWER, tokens=entry.tokens + form.tokens - 1)


def conditions_of(selector: Selector, at: Sequence[str], lookup: Form | None = None) -> list[Form]:
    """Return the condition of a selector on named indices; `lookup` are the indices of a lookup."""
    if lookup is not None:
        entry = _entry_of(lookup, at[1:])
        ast = syntax.condition(syntax.name(at[0]), "==", entry.ast)
        return [Form(ast, ATOM, entry.tokens + 4, 0, (), 0)]
    return [_condition(*sides) for sides in RULES[selector.kind](selector, [syntax.name(index) for index in at])]


Condition = tuple[Ast, str, Ast]


def _condition(left: Ast, relation: str, right: Ast) -> Form:
    ast = syntax.condition(left, relation, right)
    return Form(ast, ATOM, tokens(text(ast)), 0, (), 0)


def _sum(*terms: Ast) -> Ast:
    return syntax.add(terms, [1] * len(terms)) if terms[1:] else terms[0]


def _shifted(offset: Size, *indices: Ast) -> Ast:
    """Return indices plus an offset."""
    if offset == 0:
        return _sum(*indices)
    is_negative = [c < 0 for _, c in offset.terms] == [True]
    signs = [*[1] * len(indices), -1 if is_negative else 1]
    return syntax.add([*indices, tree_of(-offset if is_negative else offset)], signs)


def _times(index: Ast, size: Size) -> Ast:
    return index if size == 1 else syntax.product([index, tree_of(size)], ["*"])


def _merge(selector: Selector, at: Sequence[Ast]) -> list[Condition]:
    strides = [volume(selector.shape[position:]) for position in range(2, len(at) + 1)]
    return [(at[0], "==", _sum(*map(_times, at[1:], strides)))]


def _triangle(selector: Selector, at: Sequence[Ast]) -> list[Condition]:
    p, i, j = at
    pairs = syntax.product([j, _sum(j, syntax.number(1)), syntax.number(2)], ["*", "//"])
    return [(p, "==", syntax.add([i, _times(j, selector.shape[1]), pairs], [1, 1, -1])), (i, ">=", j)]


def _shift(selector: Selector, at: Sequence[Ast]) -> list[Condition]:
    moved = syntax.product([_shifted(selector.offset, at[1]), tree_of(selector.shape[1])], ["%"])
    return [(at[0], "==", moved)]


RULES: dict[str, Callable[[Selector, Sequence[Ast]], list[Condition]]] = {
    "merge": _merge,
    "slice": lambda s, at: [(at[0], "==", _shifted(s.offset, at[1]))],
    "mask": lambda s, at: [(at[0], ">=", _shifted(s.offset, at[1]))],
    "flip": lambda s, at: [(_sum(at[0], at[1]), "==", tree_of(s.shape[0] - 1))],
    "shift": _shift,
    "conv": lambda s, at: [(at[0], "==", _shifted(s.offset, at[1], at[2]))],
    "triangle": _triangle,
}
