"""Implements np.take_along_axis for indices that are data: `np.take_along_axis(Z, y[:, None], axis=1)`."""

from __future__ import annotations

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.index_sets import Looked, operands_at
from matcalc.expressions.numpy_bridge.taking import take
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


def along(a: Node, places: object, axis: int) -> Node:
    """Return np.take_along_axis for indices that are data, with as many axes as the array.

    Raises: NotSupported for other indices; ShapeError.
    """
    if not isinstance(places, Looked):
        raise NotSupported("np.take_along_axis at a formula", hint="declare the indices as y: index(n)")
    if len(places.shape) != a.rank:
        raise ShapeError(f"np.take_along_axis of {a.rank} axes at indices of {len(places.shape)}")
    out, lengths, own = list(range(a.rank)), dict[int, Size](), list[int]()
    for k, (length, count) in enumerate(zip(a.shape, places.shape, strict=True)):
        if k == axis or length != count and length == 1:
            out[k] = a.rank + k
            lengths[out[k]] = count
        elif length != count and count != 1:
            raise ShapeError(f"np.take_along_axis of {length} entries at {count} indices")
        if count != 1:
            own.append(out[k])
    indices = take(places.indices, tuple(0 if count == 1 else slice(None) for count in places.shape))
    operands = operands_at(Looked(indices, places.offset), a.shape[axis], axis, own, 2 * a.rank)
    held = {label for _, at in operands for label in at}
    free = {label: size for label, size in lengths.items() if label not in held}
    return product(1, [(a, tuple(range(a.rank))), *operands], tuple(out), free)
