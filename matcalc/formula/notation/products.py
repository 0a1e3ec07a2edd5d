"""Reads products: from index tuples to matrix notation.

Scalar operands come first, reciprocals follow a `/`. The rest is a network: `selectors` removes its selectors,
`contraction` reduces it to one column or matrix, `scalar` to a closed chain. If that fails, the product is written in
index form, its contracted parts still in matrix form. The coefficient is ignored here, except for its sign, which may
reverse a difference: `-2*X'*(y - X*w)` is `2*X'*(X*w - y)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from matcalc.formula.forms import factor_reading
from matcalc.formula.forms import form as forms
from matcalc.formula.forms.contraction import Edge, Net, Other, matrix_between, reduce_net, vector_at
from matcalc.formula.forms.factor_reading import Piece, elementwise, read
from matcalc.formula.forms.form import Form, number, played
from matcalc.formula.forms.scalar import scalar_form
from matcalc.formula.forms.selectors import fold_selectors
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.index_form import index_body
from matcalc.formula.notation.node_reading import Reading, quotient
from matcalc.language.syntax import call_name
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import power, size_number
from matcalc.tensor.nodes.labelling import changes_sign
from matcalc.tensor.nodes.node import Indices, Node, OpenProduct, exponent_of
from matcalc.tensor.sizes.size import Size


def product_reading(context: Context, node: OpenProduct) -> Reading:
    """Return the reading of a product without its coefficient."""
    choice = _directions(context, node)
    skew = [position for position, arg in enumerate(node.args) if changes_sign(arg)]
    if skew:
        return _with_skew(context, node, _signs(choice, 1) or {}, skew[:MOST_SKEW])
    plus, transposed = _formula(context, node, _signs(choice, 1) or {})
    signs = _signs(choice, -1)
    if signs is None:
        return Reading(plus, transposed=transposed)
    minus, transposed_minus = _formula(context, node, signs)
    return Reading(plus, minus, _is_natural(choice), transposed, transposed_minus)


MOST_SKEW = 6
"""Most skew factors of a product that are tried both ways; each one doubles the trials."""


def _with_skew(context: Context, node: OpenProduct, signs: dict[Node, int], skew: list[int]) -> Reading:
    """Return the reading of a product with skew factors: K or -K', whichever is shorter."""
    found: dict[int, tuple[Form, Form | None]] = {}
    for count in range(len(skew) + 1):
        for reversed_at in combinations(skew, count):
            form, transposed = _formula(context, node, signs, frozenset(reversed_at))
            sign = -1 if count % 2 else 1
            if sign not in found or form.tokens < found[sign][0].tokens:
                found[sign] = form, transposed
    (plus, transposed), (minus, transposed_minus) = found[1], found[-1]
    return Reading(plus, minus, plus.tokens <= minus.tokens, transposed, transposed_minus)


Choice = dict[Node, tuple[int, bool]]  # how often a difference occurs, and whether its form is the natural one


def _directions(context: Context, node: OpenProduct) -> Choice:
    choice: Choice = {}
    for arg in node.args:
        reading = context.readings[arg]
        if reading.minus is not None or reading.inverse_minus is not None:
            count, _ = choice.get(arg, (0, True))
            choice[arg] = count + 1, reading.natural
    return choice


def _is_natural(choice: Choice) -> bool:
    """Whether the sign is unchanged if each difference is read in its natural direction."""
    return sum(count for count, natural in choice.values() if not natural) % 2 == 0


def _signs(choice: Choice, sign: int) -> dict[Node, int] | None:
    """Return the sign with which each difference is read, such that their product is `sign`."""
    signs = {arg: 1 if natural else -1 for arg, (_, natural) in choice.items()}
    left = sign * (1 if _is_natural(choice) else -1)
    if left > 0:
        return signs
    odd = [arg for arg, (count, _) in choice.items() if count % 2]
    if not odd:
        return None
    plain = [arg for arg in odd if arg.kind == "sum" and not _holds_unit(arg)] or odd
    signs[plain[0]] = -signs[plain[0]]
    return signs


def _holds_unit(node: Node) -> bool:
    """Whether a sum has a term without operands, as `1 - x`; such a difference is not reversed."""
    return any(not arg.args and arg.kind in ("product", "number") for arg in node.args)


def _formula(
    context: Context, node: OpenProduct, signs: dict[Node, int], reversed_at: frozenset[int] = frozenset()
) -> tuple[Form, Form | None]:
    """Return the formula of a product read with these signs, and that of its transpose if it has one.

    The operands at the positions `reversed_at` are read transposed.
    """
    if not node.coef:
        return _zeros(context, node), None
    tops, bottoms = _scalars(context, node, signs)
    if not node.index_sizes:
        return quotient(tops, bottoms), None
    net = _network(context, node, signs, reversed_at)
    closed = _closed_parts(net, node.out)
    if closed is None:
        return index_body(context.names, net, node.out, tops, bottoms), None
    tops += closed
    if not node.out:
        return quotient(_ordered(tops), bottoms), None
    fold_selectors(net)
    tops = _ordered(tops + net.scalars)
    if context.dotted:
        bottoms = _averaged(net, bottoms)
    body = _body(net, node.out)
    if body is None:
        return index_body(context.names, net, node.out, tops, bottoms), None
    forward, backward = (f and forms.divided(forms.extended(tops, f), bottoms).ranked_as(f) for f in body)
    assert forward is not None
    if not any(node.indices) and len(set(node.out)) == len(node.out):
        return forward.repeating(quotient(tops, bottoms) if tops or bottoms else number(1)), None
    line = _line(net, node.out) if context.dotted else None
    if line is None or backward is None:
        return forward, backward
    row, column = (forms.divided(forms.extended(tops, f), bottoms).ranked_as(f) for f in line)
    row, column = replace(row, extent=forms.ROW), replace(column, extent=forms.COLUMN)
    first, last = (row, column) if node.out[1] in net.weights else (column, row)
    return replace(forward, line=first), replace(backward, line=last)


def _averaged(net: Net, bottoms: list[Form]) -> list[Form]:
    """Read row sums divided by their number as averages; return the remaining divisors."""
    reduce_net(net)
    for pieces in net.weights.values():
        for position, piece in enumerate(pieces):
            size, average = piece.average or (None, piece)
            over = next((k for k, b in enumerate(bottoms) if size is not None and b.ast == size.ast), None)
            if over is not None and average.costs[0][1] <= piece.costs[0][1] + 2:
                pieces[position] = average
                return [b for k, b in enumerate(bottoms) if k != over]
    return bottoms


def _line(net: Net, out: Indices) -> tuple[Form, Form] | None:
    """Return the vector that a reduced matrix repeats, as a row and as a column; None for another matrix."""
    if len(set(out)) < 2 or net.edges or len(net.weights) != 1:
        return None
    vector = vector_at(net, next(iter(net.weights)))
    return read(vector, True), read(vector)


def selector_form(context: Context, node: Node) -> Form:
    """Return the formula of a selector that is not in a product."""
    out = tuple(range(node.rank))
    net = Net({}, [], frozenset(out), node.shape, context.size, [Other(node, None, out, _lookup(context, node))])
    fold_selectors(net)
    body = _body(net, out)
    return body[0] if body else index_body(context.names, net, out, [], [])


MOST_AXES = 4  # of `ones` and `zeros`


def _zeros(context: Context, node: OpenProduct) -> Form:
    sizes = [node.index_sizes[i] for i in node.out]
    if len(sizes) > MOST_AXES:
        out = tuple(range(len(sizes)))
        net = Net({}, [], frozenset(out), sizes, context.size, [])
        return index_body(context.names, net, out, [number(0)], [])
    form = played("all_zeros", *(context.size(s) for s in sizes))
    return form.repeating(number(0))


def _scalars(context: Context, node: OpenProduct, signs: dict[Node, int]) -> tuple[list[Form], list[Form]]:
    """Return the formulas of scalar operands as factors and divisors, equal ones as powers."""
    counts: dict[Node, int] = {}
    for arg in node.args:
        if not arg.shape:
            counts[arg] = counts.get(arg, 0) + 1
    tops = _means(context, counts, signs)
    bottoms: list[Form] = []
    for arg, count in counts.items():
        reading = context.readings[arg]
        sign = signs.get(arg, 1)
        below = reading.inverse if sign > 0 else reading.inverse_minus
        form = below or reading.signed(sign)
        sizes = sizes_below(context, arg)
        if sizes:
            bottoms += sizes * count
            continue
        if count > 1:
            form = forms.raised(form, number(count), False)
        (bottoms if below else tops).append(form)
    return _ordered(tops), _ordered(bottoms)


def sizes_below(context: Context, node: Node) -> list[Form]:
    """Return the divisors of a scalar that is a negative power of a size with several terms.

    As one power, `(n - 1)^2`, it would be read as one size. So (n - 1)^-2 divides twice by n - 1, and (n - 1)^(-3/2)
    once by the root of its cube.
    """
    base, exponent = exponent_of(node)
    if exponent >= 0 or base.kind != "size" or len(base.size.terms) < 2:
        return []
    times = -int(exponent) if exponent.denominator == 1 else 1
    return [replace(_root(context, base.size, exponent), is_size=True)] * times


def _root(context: Context, size: Size, exponent: Fraction) -> Form:
    form = context.size(size)
    if exponent.denominator == 1:
        return form
    if exponent == Fraction(-1, 2):
        return played("square_root", form)
    return forms.raised(form, number(-exponent), False)


def _means(context: Context, counts: dict[Node, int], signs: dict[Node, int]) -> list[Form]:
    """Convert sums of all entries, divided by the number of entries, to means."""
    found: list[Form] = []
    for arg in list(counts):
        divisors = [power(size_number(size), Fraction(-count)) for size, count in Counter(_entries(arg)).items()]
        form = context.readings[arg].signed(signs.get(arg, 1))
        if not divisors or any(counts.get(d, 0) < 1 for d in divisors):
            continue
        if counts.get(arg, 0) != 1 or form.ast.head != "call" or call_name(form.ast) != spelled("total"):
            continue
        for used in [arg, *divisors]:
            counts[used] -= 1
            if not counts[used]:
                del counts[used]
        found.append(played("average", *(replace(form, ast=inner, tokens=form.tokens - 3) for inner in form.ast.args)))
    return found


def _entries(node: Node) -> list[Size]:
    """Return the lengths of the array whose entries a scalar adds up; an empty list for another scalar."""
    if node.kind != "product" or node.rank or node.coef != 1 or len({frozenset(at) for at in node.indices}) > 1:
        return []
    return list(node.index_sizes) if all(len(at) == len(node.index_sizes) for at in node.indices) else []


def _ordered(factors: list[Form]) -> list[Form]:
    """Return scalar factors in the order in which a person writes them: names, calls, products."""
    return sorted(factors, key=lambda f: (f.level <= forms.PRODUCT, f.tokens > 1, f.names))


def _network(context: Context, node: OpenProduct, signs: dict[Node, int], reversed_at: frozenset[int]) -> Net:
    leaves: dict[Node, Piece] = {}
    weights: dict[int, list[Piece]] = {}
    edges: list[Edge] = []
    others: list[Other] = []
    tensors: dict[Indices, list[Piece]] = {}
    for position, (arg, indices) in enumerate(node.operands):
        at = indices[::-1] if position in reversed_at else indices
        if not at:
            continue
        if arg.kind == "selector":
            others.append(Other(arg, None, at, _lookup(context, arg)))
            continue
        if arg not in leaves:
            leaves[arg] = _leaf(arg, context.readings[arg], signs.get(arg, 1))
        if len(at) > 2:
            tensors.setdefault(at, []).append(leaves[arg])
        elif len(at) == 1:
            weights.setdefault(at[0], []).append(leaves[arg])
        else:
            edges.append(Edge(at[0], at[1], leaves[arg]))
    others += [Other(None, _at_one_place(same), at) for at, same in tensors.items()]
    return Net(weights, edges, frozenset(node.out), node.index_sizes, context.size, others)


def _at_one_place(same: Sequence[Piece]) -> Form:
    """Return the product of tensors entry by entry; a power of an index form is taken of its entries."""
    form = read(same[0])
    if form.body is None or any(piece is not same[0] for piece in same):
        return read(elementwise((p, False) for p in same))
    return forms.rewrapped(form, forms.raised(form.body, number(len(same)), False)) if len(same) > 1 else form


def _lookup(context: Context, selector: Node) -> Form | None:
    """Return the formula of the indices of a lookup, the only selector that has an operand."""
    return context.readings[selector.args[0]].form if selector.args else None


def _leaf(arg: Node, reading: Reading, sign: int) -> Piece:
    """Return an operand as a piece, with the sign that was chosen for it."""
    symmetric = "symmetric" in arg.facts or arg.rank > 2
    transposed = reading.transposed if sign > 0 else reading.transposed_minus
    piece = factor_reading.leaf(reading.signed(sign), len(arg.shape), symmetric, transposed)
    below = reading.inverse if sign > 0 else reading.inverse_minus
    if below is not None:
        piece.inverse = factor_reading.leaf(below, len(arg.shape), symmetric)
    return piece


def _closed_parts(net: Net, out: Indices) -> list[Form] | None:
    """Move components without output indices out of the network, as scalars; None if one has no formula."""
    if out and all(i in net.fixed for i in net.indices()):
        return []
    found: list[Form] = []
    for part in components(net):
        if any(i in net.fixed for i in part):
            continue
        inner = Net(
            {i: list(w) for i, w in net.weights.items() if i in part},
            [e for e in net.edges if e.row in part],
            frozenset(),
            net.sizes,
            net.size_of,
            [o for o in net.others if o.at[0] in part],
        )
        fold_selectors(inner)
        found += inner.scalars
        if inner.indices():
            form = _tensor_total(inner) or scalar_form(inner)
            if form is None:
                return None
            found.append(form)
        net.weights = {i: w for i, w in net.weights.items() if i not in part}
        net.edges = [e for e in net.edges if e.row not in part]
        net.others = [o for o in net.others if o.at[0] not in part]
    return found


def _tensor(net: Net) -> Other | None:
    """Return the only factor of a network, a tensor of order 3 or more."""
    if len(net.others) != 1 or net.weights or net.edges or net.others[0].form is None:
        return None
    return net.others[0]


def _tensor_total(net: Net) -> Form | None:
    """Return the sum of all entries of a tensor."""
    tensor = _tensor(net)
    if tensor is None or tensor.form is None or not len(set(tensor.at)) == len(tensor.at) <= MOST_AXES:
        return None
    return played("total", tensor.form)


def components(net: Net) -> list[set[int]]:
    """Return the indices of a network in groups that operands connect, in order."""
    groups: list[set[int]] = []
    links = [set(e[:2]) for e in net.edges] + [set(o.at) for o in net.others] + [{i} for i in net.weights]
    for link in links:
        touching = [g for g in groups if g & link]
        groups = [g for g in groups if not g & link] + [link.union(*touching)]
    return sorted(groups, key=min)


def _body(net: Net, out: Indices) -> tuple[Form, Form | None] | None:
    """Return the formulas of a network and of its transpose, None if it has no matrix notation."""
    if not net.weights and not net.edges and not net.others and len(set(out)) == len(out) <= MOST_AXES:
        return played("all_ones", *(net.size(i) for i in out)), None
    tensor = _tensor(net)
    if tensor is not None and tensor.form is not None and tensor.at == out:
        return tensor.form, None
    if len(out) > 2:
        return None
    reduce_net(net)
    if net.others or any(i not in net.fixed for i in net.indices()):
        return None
    if len(out) == 1:
        return read(vector_at(net, out[0])), None
    if out[0] == out[1]:
        return _diagonal(net, out[0]), None
    matrix = matrix_between(net, *out)
    return read(matrix), read(matrix, True)


def _diagonal(net: Net, index: int) -> Form:
    """Return a diagonal matrix: `eye(n)`, `diag(x)`, `A.*eye(n)`."""
    identity = played("identity", net.size(index))
    if index not in net.weights:
        return identity
    column = vector_at(net, index)
    diagonal = played("diagonals", read(column))
    if column.cycle is None:
        return diagonal
    matrix = read(column.cycle, column.cycle.costs[1] < column.cycle.costs[0])
    masked = forms.product([matrix, identity], [".*"])
    return min(diagonal, masked, key=lambda f: f.tokens)
