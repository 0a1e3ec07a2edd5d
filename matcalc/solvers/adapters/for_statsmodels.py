"""Adapts a log-likelihood to statsmodels' `GenericLikelihoodModel` with exact score, score_obs and Hessian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from matcalc.calculus.derive.summands import summands
from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.expressions.expression import Expression
from matcalc.language.identifiers import nearest, shown
from matcalc.solvers.adapters.library import require
from matcalc.solvers.derivatives import Scalar, Values
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import Inputs, read_inputs


def statsmodels(
    loglike: Any,
    wrt: Any,
    data: Mapping[Any, ArrayLike],
    start: Mapping[Any, ArrayLike] | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    endog: str = "",
    names: Sequence[str] = (),
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
) -> Any:
    """Return a log-likelihood in the symbols `wrt` as a model of statsmodels: `model.fit(method="newton")`.

    `loglike` is the vector of the observations' log-likelihoods, or their sum, which is split into its summands:
    `score_obs`, and with it robust standard errors (`cov_type="HC0"`), needs these. `endog` names the explained data;
    it is needed unless exactly one of the data is a vector. `names` are the parameters' names in tables, by default
    `w[0]`, `w[1]`. `model.unpack(result.params)` returns arrays by name. Fits begin at `start`, if it is passed.

    Raises: ShapeError for a log-likelihood with more axes or another number of observations; ValueError or UnknownName
        for `endog` and `names` that do not fit; as `problem`.
    """
    given = read_inputs(loglike, wrt, data, start, sizes, declarations, dialect, target)
    explained = _endog(given, endog)
    observed, formula = np.asarray(given.fixed[explained]), given.formulas[0]
    shape = tuple(size.evaluate(given.fixed) for size in formula.node.shape)
    if shape not in ((), observed.shape):
        count = f"an array of shape {shape}" if len(shape) != 1 else f"{shape[0]} entries"
        raise ShapeError(f"the log-likelihood has {count} for {len(observed)} observations: give a vector or its sum")
    labels = list(names) or _labels(given)
    if len(labels) != given.packing.size:
        raise ValueError(f"names has {len(labels)} entries for {given.packing.size} parameters")
    node = formula.node if shape else summands(formula.node, given.scope.symbols[explained].shape[0])
    each = None if node is None else Expression(node, formula.names)
    return _model(given, observed, labels, each)


def _endog(given: Inputs, name: str) -> str:
    """Return the name of the explained data."""
    arrays = {key: np.asarray(value) for key, value in given.fixed.items() if key in given.scope.symbols}
    vectors = [key for key, value in arrays.items() if value.ndim == 1]
    if not isinstance(name, str):
        raise TypeError(f"endog is the name of one of the data, not {shown(name)}")
    if name and name not in arrays:
        raise UnknownName(f"endog: {name} is none of the data{nearest(name, list(arrays))}")
    if not name and len(vectors) != 1:
        found = f"the vectors among the data are {', '.join(vectors)}" if vectors else "no data is a vector"
        raise ValueError(f"{found}: name the explained data with endog=")
    if name and arrays[name].ndim != 1:
        raise ShapeError(f"endog: {name} has shape {arrays[name].shape}: the explained data must be a vector")
    return name or vectors[0]


def _labels(given: Inputs) -> list[str]:
    """Return the names of parameters: that of a scalar, those of the entries of arrays."""
    found = []
    for name, shape in given.packing.shapes.items():
        found += [f"{name}[{', '.join(map(str, at))}]" if at else name for at in np.ndindex(*shape)]
    return found


def _model(given: Inputs, observed: Vector, labels: list[str], observations: Expression | None) -> Any:
    require("statsmodels", "solvers")
    from statsmodels.base.model import GenericLikelihoodModel

    formula = given.formulas[0]
    each = None if observations is None else Values(given, observations)
    total: Any = np.sum(formula) if formula.node.shape else formula
    whole = Scalar(given, total)

    def rows() -> Values:
        if each is None:
            raise NotSupported("the log-likelihood is no sum over observations", hint="write it as a vector")
        return each

    class Likelihood(GenericLikelihoodModel):  # type: ignore[misc]
        """A likelihood with the derivatives of a formula; `pack` and `unpack` convert between arrays and parameters."""

        pack, unpack = staticmethod(given.packing.pack), staticmethod(given.packing.unpack)

        def loglike(self, params: Vector) -> float:
            return whole.both(params)[0]

        def score(self, params: Vector) -> Vector:
            return whole.both(params)[1]

        def hessian(self, params: Vector) -> Vector:
            return cast("Vector", whole.hessian(params))

        def loglikeobs(self, params: Vector) -> Vector:
            return rows().value(params)

        def score_obs(self, params: Vector, **_: Any) -> Vector:
            return cast("Vector", rows().jacobian(params))

    model = Likelihood(observed)
    model.data.xnames, model.nparams = labels, len(labels)
    if given.x0 is not None:
        model.start_params = given.x0
    return model
