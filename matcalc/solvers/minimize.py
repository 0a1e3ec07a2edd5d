"""Minimise with SciPy: variables of any shape by name, packed into the flat vector that SciPy wants.

The decision: a solver sees one vector of float64, row-major in the order of `wrt`, and a fresh gradient at
each call (SciPy keeps references: a reused buffer makes BFGS, CG and Newton-CG fail without a word). Second
derivatives are compiled only for the methods that ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import matcalc as mc
from matcalc.compiler.runtime.convert import to_array
from matcalc.expressions.derivatives import name_of
from matcalc.language.identifiers import by_name, free, shown

Vector = NDArray[np.float64]

# What a method of scipy.optimize.minimize asks for beyond the value.
GRADIENT = ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr")
PRODUCT = ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr")
HESSIAN = ("dogleg", "trust-exact")
VALUE = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
METHODS = {method.lower(): method for method in (*GRADIENT, *PRODUCT, *HESSIAN, *VALUE)}


@dataclass(frozen=True)
class Packing:
    """Named arrays as one flat vector: row-major, one after the other in the order of `shapes`."""

    shapes: dict[str, tuple[int, ...]]

    @staticmethod
    def of(arrays: Mapping[str, ArrayLike], names: Sequence[str]) -> Packing:
        """Return the packing of `arrays`, in the order of `names`."""
        return Packing({name: np.shape(arrays[name]) for name in names})

    @property
    def size(self) -> int:
        return sum(prod(shape) for shape in self.shapes.values())

    def pack(self, arrays: Mapping[str, ArrayLike]) -> Vector:
        """Return a new vector that holds `arrays`."""
        parts = [np.asarray(arrays[name], np.float64).reshape(-1) for name in self.shapes]
        return np.concatenate(parts) if parts else np.zeros(0)

    def unpack(self, x: ArrayLike) -> dict[str, Vector]:
        """Return the arrays that `x` holds, as views of one copy; a scalar has shape ()."""
        flat = np.array(x, np.float64)  # a copy: with bounds SciPy hands in broadcast arrays
        if flat.shape != (self.size,):
            raise ValueError(f"a vector of shape {flat.shape} does not hold {self.size} variables")
        found, start = {}, 0
        for name, shape in self.shapes.items():
            stop = start + prod(shape)
            found[name] = flat[start:stop].reshape(shape)
            start = stop
        return found


def minimize(
    f: object,
    wrt: Any,
    start: Mapping[Any, ArrayLike],
    data: Mapping[Any, ArrayLike] | None = None,
    method: str = "L-BFGS-B",
    *,
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
    check_facts: bool = False,
    **options: Any,
) -> Any:
    """Minimise the scalar `f` in the symbols `wrt` with scipy.optimize.minimize and compiled derivatives.

    `wrt` is a name, a symbol or a list of them. `start` gives a first value for each of them, `data` a value for each
    other symbol; `options` go to SciPy as they are (`tol=`, `bounds=`, `callback=`, `options=`). The result is SciPy's
    OptimizeResult; its `x` and `jac` are dictionaries by name with arrays of the variables' shapes. With `check_facts`
    the start and the data are checked once for the facts that their symbols are declared to have.

    Shapes: f (); values of `start` and `data` as their symbols; `x` and `jac` of the result as `wrt`, by name.
    Raises: ValueError for a name without a value, and for a method that SciPy does not have; what reading f raises.
    Source: scipy.optimize.minimize, with first and second derivatives as the method asks for them.
    """
    from scipy.optimize import minimize as scipy_minimize

    names = list(map(name_of, wrt if isinstance(wrt, (list, tuple)) else [wrt]))
    start, given = (
        {name_of(key): value for key, value in by_name(values, what).items()}
        for values, what in ((start, "start="), (data or {}, "data="))
    )
    check_names(names, start, given)
    kind = METHODS.get(str(method).lower())
    if kind is None:
        raise ValueError(f"unknown method {shown(method)}; known are {', '.join(sorted(METHODS.values()))}")
    packing = Packing.of(start, names)
    texts = {"declarations": declarations, "dialect": dialect}
    arguments: dict[str, Any] = {"jac": kind not in VALUE}
    if kind in VALUE:
        compiled = mc.compile(mc.expression(f, **texts), target=target)
        arguments["fun"] = value_only(compiled, packing, given)
    else:
        compiled = mc.value_and_gradient(f, names, target=target, **texts)
        arguments["fun"] = value_and_gradient(compiled, packing, given)
    operands = {operand.name: operand for operand in compiled.spec.arguments}
    start = {name: to_array(operands[name], value) if name in operands else value for name, value in start.items()}
    if check_facts:
        compiled({**start, **given}, check_facts=True)
    if kind in PRODUCT or kind in HESSIAN:
        product = hessian_product(f, names, packing, given, target, texts)
        arguments["hessp" if kind in PRODUCT else "hess"] = product if kind in PRODUCT else dense(product)
    result = scipy_minimize(x0=packing.pack(start), method=kind, **arguments, **options)
    result.x = packing.unpack(result.x)
    for field in ("jac", "grad"):
        if np.shape(result.get(field)) == (packing.size,):
            result[field] = packing.unpack(result[field])
    return result


def check_names(names: Sequence[str], start: Mapping[str, object], data: Mapping[str, object]) -> None:
    """Refuse what would be an unclear error later: names that no value is given for, or two are."""
    missing = [name for name in names if name not in start]
    if missing:
        raise ValueError(f"start gives no value for {', '.join(missing)}")
    extra = [name for name in start if name not in names]
    if extra:
        raise ValueError(f"start gives a value for {', '.join(extra)}, which is not in wrt")
    twice = [name for name in names if name in data]
    if twice:
        raise ValueError(f"{', '.join(twice)} is a variable: give its value in start, not in data")


def value_only(compiled: Any, packing: Packing, data: Mapping[str, ArrayLike]) -> Callable[[Vector], float]:
    """Return f(x) as SciPy calls it."""

    def value(x: Vector) -> float:
        return float(compiled({**data, **packing.unpack(x)}))

    return value


def value_and_gradient(
    compiled: Any, packing: Packing, data: Mapping[str, ArrayLike]
) -> Callable[[Vector], tuple[float, Vector]]:
    """Return x -> (f(x), gradient) as SciPy calls it with jac=True."""

    def both(x: Vector) -> tuple[float, Vector]:
        value, gradients = compiled({**data, **packing.unpack(x)})
        return float(value), packing.pack(dict(zip(packing.shapes, gradients, strict=True)))

    return both


def hessian_product(
    f: object,
    names: Sequence[str],
    packing: Packing,
    data: Mapping[str, ArrayLike],
    target: str,
    texts: Mapping[str, str],
) -> Callable[[Vector, Vector], Vector]:
    """Return (x, p) -> Hessian times p; SciPy may hand in p as int8."""
    taken = set(mc.expression(f, **texts).names.scope)
    vectors = [free(f"v_{name}", taken) for name in names]
    rows = mc.hvp(f, list(names), vector=vectors, **texts)
    compiled = mc.compile(list(rows), target=target)

    def product(x: Vector, p: Vector) -> Vector:
        along = dict(zip(vectors, packing.unpack(p).values(), strict=True))
        blocks = compiled({**data, **packing.unpack(x), **along})
        return packing.pack(dict(zip(packing.shapes, blocks, strict=True)))

    return product


def dense(product: Callable[[Vector, Vector], Vector]) -> Callable[[Vector], Vector]:
    """Return x -> the Hessian as a matrix, a product with each unit vector."""

    def matrix(x: Vector) -> Vector:
        return np.stack([product(x, unit) for unit in np.eye(len(x))])

    return matrix
