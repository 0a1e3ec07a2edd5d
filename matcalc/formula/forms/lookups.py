"""Reads lookups as parts: `x[k]`, `X[i, :]`, `X[i, j]` entry by entry, `eye(n)[:, i]`.

A lookup ties an index of an axis to the indices in data. If that index is summed, every factor on it is cut; else the
lookup is columns of the identity, one for each index.
"""

from __future__ import annotations

from matcalc.formula.forms import factor_reading
from matcalc.formula.forms import form as forms
from matcalc.formula.forms.contraction import Edge, Net, Other
from matcalc.formula.forms.factor_reading import Cut, read
from matcalc.formula.forms.slices import cut_axis, cut_identity


def fold_lookup(net: Net, other: Other) -> bool:
    """Cut all pieces on the axis of a lookup, if it is summed."""
    assert other.lookup is not None
    source, *at = other.at
    if len(at) > 1 or source in at:
        return False
    if at and _fold_pair(net, other):
        return True
    return cut_axis(net, other, source, at[0] if at else None, Cut(other.lookup, bool(at), bool(at)))


def _fold_pair(net: Net, one: Other) -> bool:
    """Read a matrix whose rows and columns are looked up together as one part: a column of its entries."""
    for edge in net.edges:
        ends = {edge.row: edge.column, edge.column: edge.row}
        far = ends.get(one.at[0])
        other = next((o for o in net.others if o.kind == one.kind and o is not one and o.at == (far, one.at[1])), None)
        if other is None or far == one.at[0] or not _hold_nothing_else(net, edge, one, other):
            continue
        first, last = (one, other) if edge.row == one.at[0] else (other, one)
        assert first.lookup is not None and last.lookup is not None
        transposed = edge.piece.costs[1] < edge.piece.costs[0]
        shown = [last.lookup, first.lookup] if transposed else [first.lookup, last.lookup]
        net.edges.remove(edge)
        net.remove(one, other)
        net.put(factor_reading.leaf(forms.part(read(edge.piece, transposed), shown), 1), one.at[1])
        return True
    return False


def _hold_nothing_else(net: Net, edge: Edge, one: Other, other: Other) -> bool:
    arounds = [net.around(o.at[0], o) for o in (one, other)]
    return all(a is not None and a.edges == [edge] and not a.weights for a in arounds)


def lookup_as_matrix(net: Net, other: Other) -> bool:
    """Read a lookup as columns of the identity."""
    assert other.lookup is not None
    source, *at = other.at
    if len(at) > 1 or source in at:
        return False
    return cut_identity(net, other, other.lookup, source, *at)
