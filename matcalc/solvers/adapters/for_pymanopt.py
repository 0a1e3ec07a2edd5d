"""Adapts a formula to pymanopt's `Problem`, with Euclidean derivatives, which pymanopt projects on the manifold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.errors import ShapeError
from matcalc.expressions.read_input import with_wrt
from matcalc.language.identifiers import free, shown
from matcalc.solvers.adapters.library import require
from matcalc.solvers.problem_input import Inputs, read_inputs, scalar


def pymanopt(
    f: Any,
    wrt: Any,
    manifold: Any,
    data: Mapping[Any, ArrayLike] | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
) -> Any:
    """Return the minimisation of the scalar `f` in the symbols `wrt`, points of `manifold`, as a `pymanopt.Problem`.

    `wrt` is a name, or a list of names for a `Product` of as many manifolds. Shapes are those of the manifold's points.

    Raises: ShapeError if the number or shapes of a point's arrays do not match `wrt`; as `problem`.
    """
    require("pymanopt", "solvers")
    from pymanopt.manifolds.manifold import Manifold

    if not isinstance(manifold, Manifold):
        raise TypeError(f"manifold is one of pymanopt.manifolds, not {shown(manifold)}")
    cost = with_wrt(f, wrt, declarations, dialect)
    names = [node.name for node in cost.symbols_of(wrt)]
    point = _point(manifold)
    if len(point) != len(names):
        raise ShapeError(f"a point of {manifold} is {len(point)} arrays, wrt has {len(names)}: {', '.join(names)}")
    start = dict(zip(names, point, strict=True))
    return _problem(read_inputs(cost, names, data, start, sizes, target=target), manifold)


def _point(manifold: Any) -> list[Any]:
    """Return the arrays of a random point, leaving the state of NumPy's generator unchanged."""
    state = np.random.get_state()  # noqa: NPY002 - the generator that pymanopt draws from
    try:
        point = manifold.random_point()
    finally:
        np.random.set_state(state)  # noqa: NPY002
    return list(point) if manifold.num_values > 1 or isinstance(point, (list, tuple)) else [point]


def _problem(given: Inputs, manifold: Any) -> Any:
    from pymanopt import Problem
    from pymanopt.function import numpy

    objective, names = scalar(given.formulas[0]), given.names
    taken = set(given.scope.scope)
    vectors = [free(f"v_{name}", taken) for name in names]
    value, slope = given.evaluator(objective), given.evaluator(list(objective.gradient(names)))
    product = given.evaluator(list(objective.hvp(names, vectors)))

    def parts(found: Sequence[Any]) -> Any:
        return list(found) if len(names) > 1 else found[0]

    @numpy(manifold)
    def cost(*point: Any) -> float:
        return float(value.of(dict(zip(names, point, strict=True))))

    @numpy(manifold)
    def gradient(*point: Any) -> Any:
        return parts(slope.of(dict(zip(names, point, strict=True))))

    @numpy(manifold)
    def hessian(*point_and_vector: Any) -> Any:
        return parts(product.of(dict(zip((*names, *vectors), point_and_vector, strict=True))))

    return Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
