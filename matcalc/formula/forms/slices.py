"""Reads slices as parts of arrays: `x[1:]`, `A[:, 0]`, `A[1:3, :k]`, `A[i, j]`.

A slice ties an index of a long axis to an index of a part of that axis. If the long index is summed, every factor on it
is cut. If the part has length one and nothing else is on it, it becomes a single index, without the axis. Other slices
are read as a matrix, `eye(n)[:, 1:3]`.
"""

from __future__ import annotations

from dataclasses import replace

from matcalc.formula.forms import factor_reading
from matcalc.formula.forms import form as forms
from matcalc.formula.forms.contraction import Edge, Net, Other, column
from matcalc.formula.forms.factor_reading import Cut, Item, Piece, read
from matcalc.formula.forms.form import Form
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.tensor.sizes.size import Size


def fold_slice(net: Net, other: Other) -> bool:
    """Cut all pieces on the long index of a slice, if it is summed."""
    long, short = other.at
    single = _is_single(net, other)
    cut = Cut(_single_index(net, other), False) if single else Cut(_range(net, other), True)
    return cut_axis(net, other, long, None if single else short, cut)


def _is_single(net: Net, other: Other) -> bool:
    """Whether the part of a slice has length one, and nothing else is on it."""
    short = other.at[1]
    return other.selector.shape[1] == 1 and net.around(short, other) is not None and not net.touches(short)


def cut_axis(net: Net, other: Other, long: int, short: int | None, cut: Cut) -> bool:
    """Cut all pieces on the index `long` of a selector, if it is summed; `short` is the remaining index."""
    tensors = [o for o in net.others if o.form is not None and o.at.count(long) == 1]
    around = net.around(long, other, *tensors)
    if around is None or not (around.edges or around.weights or tensors):
        return False
    net.remove(other, around)
    if around.weights:
        part = _cut_column(column(around.weights), cut)
        if short is None:
            net.scalars.append(read(part))  # a single entry
        else:
            net.put(part, short)
    for edge in around.edges:
        _cut_edge(net, edge, long, short, cut)
    for tensor in tensors:
        _cut_tensor(net, tensor, long, short, cut)
    return True


def _cut_tensor(net: Net, tensor: Other, long: int, short: int | None, cut: Cut) -> None:
    """Cut one axis of a tensor, which may become a matrix."""
    assert tensor.form is not None
    axis = tensor.at.index(long)
    form = forms.part(tensor.form, [cut.form if k == axis else EVERYTHING for k in range(len(tensor.at))])
    at = (*tensor.at[:axis], *([] if short is None else [short]), *tensor.at[axis + 1 :])
    net.remove(tensor)
    if len(at) == 2 and at[0] != at[1]:
        net.put(factor_reading.leaf(form, 2), *at)
    else:
        net.others.append(Other(None, form, at))


def _cut_column(vector: Piece, cut: Cut) -> Piece:
    """Cut a column; row sums become those of the remaining rows."""
    if vector.kind == "chain" and vector.items[-1][0].ones and cut.keeps:
        (first, flip), *rest = vector.items
        return factor_reading.chain([(_cut(first, int(flip), cut), flip), *rest])
    return _cut(vector, 0, cut)


def _cut_edge(net: Net, edge: Edge, long: int, short: int | None, cut: Cut) -> None:
    """Cut the factor at the end of a chain that has the long index."""
    *front, (last, flip) = factor_reading.directed(*_items(edge, long))
    axis = 0 if flip else 1
    part = _cut(last, axis, cut)
    left = [] if short is None else [short]
    net.put(factor_reading.chain([*front, (part, flip and bool(left))]), edge.beyond(long), *left)


def _items(edge: Edge, last: int) -> tuple[tuple[Item, ...], bool]:
    """Return the factors of an edge, and whether to reverse them so that `last` comes last."""
    piece = edge.piece
    items = piece.items if piece.kind == "chain" else ((piece, False),)
    return items, edge.row == last


def _cut(piece: Piece, axis: int, cut: Cut) -> Piece:
    """Return a piece with one axis cut; a part of a part is one part, except a range of a range and a second vector."""
    base, cuts = piece.part or (piece, {})
    own = _open_axis(base, cuts, axis)
    if own in cuts or (cut.is_vector and any(c.is_vector for c in cuts.values())):
        base, cuts, own = piece, {}, axis
    merged = {**cuts, own: cut}
    shown = [merged[a].form if a in merged else EVERYTHING for a in range(base.rank)]
    form = forms.part(read(base), shown)
    part = factor_reading.leaf(form, base.rank - sum(not c.keeps for c in merged.values()))
    part.part = base, merged
    return part


def _open_axis(base: Piece, cuts: dict[int, Cut], axis: int) -> int:
    """Return the axis of the base for an axis of the part."""
    left = [a for a in range(base.rank) if a not in cuts or cuts[a].keeps]
    return left[axis]


EVERYTHING = Form(syntax.slice_of(), forms.ATOM, 1, 0, (), 0)


def _single_index(net: Net, other: Other) -> Form:
    """Return the subscript of a single index."""
    return _bound(net, other.selector.offset, other.selector.shape[0])


def _range(net: Net, other: Other) -> Form:
    """Return the subscript `start:stop` of a slice."""
    offset, (length, size) = other.selector.offset, other.selector.shape
    stop = offset + size
    start_form = None if offset == 0 else _bound(net, offset, length)
    stop_form = None if stop == length else _bound(net, stop, length)
    shown = [f for f in (start_form, stop_form) if f is not None]
    bounds = (start_form.ast if start_form else None, stop_form.ast if stop_form else None)
    ast = syntax.slice_of(*bounds)
    return Form(ast, forms.ATOM, 1 + sum(f.tokens for f in shown), 0, (), 0)


def _bound(net: Net, bound: Size, length: Size) -> Form:
    """Return an index of an axis, counted from the end if that is shorter."""
    behind = bound - length
    return net.size_of(behind if behind.is_integer and not bound.is_integer else bound)


def slice_as_matrix(net: Net, other: Other) -> bool:
    """Read a slice as columns of the identity, as one column if its short axis has length one and is summed."""
    if _is_single(net, other):
        return cut_identity(net, other, _single_index(net, other), other.at[0])
    return cut_identity(net, other, _range(net, other), *other.at)


def cut_identity(net: Net, other: Other, cut: Form, *at: int) -> bool:
    """Read a selector as columns of the identity, as one column if it has one index."""
    identity = forms.played("identity", net.size(at[0]))
    columns, rows = (forms.part(identity, cuts) for cuts in ([EVERYTHING, cut], [cut, EVERYTHING]))
    net.remove(other)
    net.put(factor_reading.leaf(columns, len(at), transposed=rows if at[1:] else None), *at)
    return True


def line_of_parts(letter: str, body: Form) -> Form | None:
    """Return `X[i,:] - X[j,:]` for `{t: X[i,t] - X[j,t]}`, None unless all terms are parts with one more index each."""
    terms = body.ast.args if body.ast.head == "sum" else (body.ast,)
    if any(not _is_line(term, letter) for term in terms):
        return None
    whole = {term: _whole(term, letter) for term in terms}
    ast = Ast("sum", tuple(whole[term] for term in terms), body.ast.value) if len(terms) > 1 else whole[terms[0]]
    return replace(body, ast=ast, used=body.used - {letter})


def _is_line(term: Ast, letter: str) -> bool:
    """Return whether a term is a part with a letter as one subscript, names or numbers as others, or its multiple."""
    if term.head == "product" and term.value == ("*",) and term.args[0].head in ("number", "name"):
        return term.args[0].value != letter and _is_line(term.args[1], letter)
    if term.head != "part" or term.args[0].head != "name" or len(term.args) < 3:
        return False
    subscripts = term.args[1:]
    plain = all(x.head == "number" or x.head == "name" for x in subscripts)
    return plain and sum(x.head == "name" and x.value == letter for x in subscripts) == 1


def _whole(term: Ast, letter: str) -> Ast:
    if term.head == "product":
        return syntax.product([term.args[0], _whole(term.args[1], letter)], ["*"])
    base, *subscripts = term.args
    return syntax.part(base, *(syntax.slice_of() if x.value == letter else x for x in subscripts))
