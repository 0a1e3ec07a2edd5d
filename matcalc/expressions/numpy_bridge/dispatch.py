"""Dispatches a call of NumPy to its meaning on nodes by the function's name; other functions raise.

A function is looked up among those written here by NumPy's names, then among the operations of the rulebook. An
argument with NumPy's default value is ignored; any other unknown argument raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, cast

from matcalc.errors import NotSupported
from matcalc.expressions.numpy_bridge import conditions, elementwise, joining, linalg, products, reductions, shapes
from matcalc.expressions.numpy_bridge.along_axes import entrywise, is_entrywise
from matcalc.expressions.numpy_bridge.arguments import Compared, like, node_of, with_axes
from matcalc.expressions.numpy_bridge.by_rule import ALONG, by_rule, found, operand_of
from matcalc.expressions.numpy_bridge.scipy_caller import scipy_function
from matcalc.language.numpy_names import MODULES, REFUSED
from matcalc.rulebook.notations import spelled
from matcalc.tensor.nodes.node import Node

if TYPE_CHECKING:
    import numpy as np

LINEAR = "numpy.linalg"
ROOMS: Mapping[str, tuple[ModuleType, ...]] = {
    LINEAR: (products, shapes, linalg),  # the last one with a name is used
    "numpy": (shapes, joining, products, reductions, elementwise, conditions),
}
Keywords = Mapping[str, object]
SHAPES = ("shape", "ndim", "size")
"""Functions whose results are attributes of arrays."""
PLACE = "#"
CALL = "__call__"
TYPE = "dtype"
LOGIC = ("where", "select", "logical", "bitwise", "invert", "any", "all", "count_nonzero")
MOVES = frozenset((
    "broadcast_arrays", "broadcast_to", "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "block",
    "expand_dims", "squeeze", "atleast_1d", "atleast_2d", "reshape", "ravel", "transpose", "permute_dims",
    "matrix_transpose", "swapaxes", "moveaxis", "flip", "fliplr", "flipud", "rot90", "roll", "repeat", "tile", "tril",
    "triu", "diag", "diagonal", "split", "array_split",
))  # fmt: skip
"""Functions that move entries alone: of truth values they return truth values."""
PLACES = "write np.where(mask, a, b) for a choice, or pass the places as an argument: i: index(k)"
INSTEAD: Mapping[str, str] = {
    "percentile": "write np.median(x), or np.sort(x)[k] for the k-th smallest entry",
    "quantile": "write np.median(x), or np.sort(x)[k] for the k-th smallest entry",
    "argmax": "write np.max(x) for the entry; its place is no formula",
    "argmin": "write np.min(x) for the entry; its place is no formula",
    "argsort": "write np.sort(x); the places are no formula",
    "argpartition": "write np.sort(x)[:k]; the places are no formula",
    "partition": "write np.sort(x), whose first k entries are the same set:  np.sort(x)[:k]",
    "gradient": "write (x[2:] - x[:-2])/2, with np.diff(x) at the ends",
    "interp": "compute the weights outside, and write (1 - t)*w[i] + t*w[i + 1] with i: index(k)",
    "digitize": "compute the bins outside, and pass them as an argument: i: index(k)",
    "searchsorted": "compute the places outside, and pass them as an argument: i: index(k)",
    "unique": "compute the groups outside, and pass them as an argument: i: index(k)",
    "nonzero": PLACES,
    "flatnonzero": PLACES,
    "argwhere": PLACES,
    "nanmean": "write np.nansum(x)/np.sum(~np.isnan(x))",
    "nanvar": "leave the missing entries out before the function",
    "fft": "formulas are real: write C @ x and S @ x with the matrices of cosines and sines",
    "ifft": "formulas are real: write C @ x and S @ x with the matrices of cosines and sines",
}
"""Functions without a formula -> what to write instead."""


def call_function(function: Callable[..., object], arguments: Sequence[object], keywords: Keywords) -> object:
    """Return the result of a NumPy function on nodes: a node, several, or Python values.

    Raises: NotSupported, which names the function, if it is unknown here; ShapeError.
    """
    name = function.__name__
    shown = f"{function.__module__}.{name}".replace("numpy.", "np.", 1)
    try:
        own = _written(function.__module__).get(name)
        keywords_ = _by_name(function, arguments, keywords)
        if name in MOVES and _is_of_truths(keywords_.values()):
            return _truths(call_function(function, _counted(arguments), _counted(keywords)))
        _check_counted(name, keywords_.values())
        if own is not None:
            return _called(own, keywords_)
        if found(name) is None or name in REFUSED:
            raise NotSupported(
                "this function is not supported on symbols", hint=REFUSED.get(name) or INSTEAD.get(name, "")
            )
        made = by_rule(name, keywords_, function.__module__ == LINEAR)
        return _with_names(function, made) if isinstance(made, tuple) else made
    except NotSupported as fault:
        asking = scipy_function()
        if asking:
            raise NotSupported(f"{asking[0]} computes with numbers, not with formulas", hint=asking[1]) from None
        raise _named(fault, shown) from None


def _is_of_truths(values: Iterable[object]) -> bool:
    """Whether the arrays among arguments, and in lists of arrays, are comparisons."""
    listed: list[object] = []
    for value in values:
        listed += cast("list[object]", value) if type(value) in (list, tuple) else [value]
    arrays = [one for one in listed if isinstance(one, (Node, Compared)) or hasattr(one, "__array__")]
    return bool(arrays) and all(isinstance(one, Compared) for one in arrays)


def _counted(value: Any) -> Any:
    """Return arguments with 1 and 0 for comparisons."""
    if isinstance(value, Mapping):
        return {key: _counted(one) for key, one in value.items()}
    if isinstance(value, Compared):
        return value.indicator
    return type(value)(map(_counted, value)) if type(value) in (list, tuple) else value


def _truths(made: Any) -> Any:
    """Return results of 1 and 0 as comparisons."""
    return conditions.condition_of(made) if isinstance(made, Node) else type(made)(map(_truths, made))


def _with_names(function: Callable[..., object], made: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return several results in NumPy's named tuple, `np.linalg.slogdet(S).logabsdet`."""
    import numpy as np

    numbers = function(np.ones((1, 1)))
    return cast("tuple[Node, ...]", like(numbers, made)) if isinstance(numbers, tuple) else made


def function_named(path: str) -> Callable[..., object] | None:
    """Return NumPy's function of a name, bare or with its modules, if it is known on symbols."""
    import numpy as np

    modules, _, name = path.rpartition(".")
    if name in ("reduce", "accumulate", "outer") and isinstance(owner := function_named(modules), np.ufunc):
        return cast("Callable[..., object]", getattr(owner, name))
    if modules and modules not in MODULES:
        return None
    rooms = [np.linalg] if modules.endswith("linalg") else [np] if modules else [np, np.linalg]
    known = [r for r in rooms if name in SHAPES or found(name) is not None or name in _written(r.__name__)]
    return next((getattr(r, name) for r in known if callable(getattr(r, name, None))), None)


def is_method(name: str) -> bool:
    """Whether arrays have a method of this name that is known here, or the name is a function of one array."""
    import numpy as np

    own = found(name)
    if own is not None and is_entrywise(own.name, 1):
        return True
    return hasattr(np.ndarray, name) and (own is not None or name in _written("numpy"))


@cache
def _written(module: str) -> dict[str, Callable[..., object]]:
    """Return the functions written here for one of NumPy's modules, by name."""
    rooms = ROOMS.get(module, ())
    return {
        name: value
        for room in rooms
        for name, value in vars(room).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "") == room.__name__
        and callable(value)
        and not isinstance(value, type)
    }


def _by_name(function: Callable[..., object], arguments: Sequence[object], keywords: Keywords) -> dict[str, object]:
    """Return the arguments by NumPy's names, without those that have default values, except the axis.

    Raises: TypeError, as NumPy does.
    """
    try:
        parameters = signature(function)
    except ValueError:
        return {**{f"{PLACE}{k}": value for k, value in enumerate(arguments)}, **keywords}
    bound = parameters.bind(*arguments, **keywords)
    bound.apply_defaults()
    remaining: dict[str, object] = {}
    for name, value in bound.arguments.items():
        parameter = parameters.parameters[name]
        if parameter.kind is Parameter.VAR_POSITIONAL:
            remaining.update({f"{PLACE}{k}": one for k, one in enumerate(value)})
        elif parameter.kind is Parameter.VAR_KEYWORD:
            remaining.update(value)
        elif name == ALONG and parameter.default is not Parameter.empty or not _is_default(name, value, parameter):
            remaining[name] = value
    return remaining


def _is_default(name: str, value: object, parameter: Parameter) -> bool:
    if parameter.default is Parameter.empty:
        return False
    if name == "dtype" and value in (float, "float64", "float"):
        return True
    if value is parameter.default:
        return True
    return (
        isinstance(value, (bool, int, float, str))
        and type(value) is type(parameter.default)
        and value == parameter.default
    )


def _called(own: Callable[..., object], keywords_: Keywords) -> object:
    """Call a function written here.

    Raises: NotSupported for an argument that it does not know.
    """
    parameters = signature(own).parameters
    plain = [value for key, value in keywords_.items() if key.startswith(PLACE)]
    named = {key: value for key, value in keywords_.items() if not key.startswith(PLACE)}
    unknown = [key for key, value in named.items() if key not in parameters and (key != ALONG or value is not None)]
    if unknown:
        raise NotSupported(f"the argument {unknown[0]} is not supported")
    kinds = [p.kind for p in parameters.values()]
    if len(plain) > len(kinds) and Parameter.VAR_POSITIONAL not in kinds:
        raise NotSupported("several arrays at once are not supported")
    named = {key: value for key, value in named.items() if key in parameters}
    first = [named.pop(p.name) for p in parameters.values() if p.kind is Parameter.POSITIONAL_ONLY and p.name in named]
    try:
        signature(own).bind(*first, *plain, **named)
    except TypeError as fault:
        raise NotSupported(str(fault)) from None
    return own(*first, *plain, **named)


def call_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[object], keywords: Keywords) -> object:
    """Return the result of a NumPy elementwise function on nodes, or of one of its methods.

    Raises: as `call_function`.
    """
    import numpy as np

    name = ufunc.__name__
    module = "np" if hasattr(np, name) else "scipy.special"
    shown = f"{module}.{name}" if method == CALL else f"{module}.{name}.{method}"
    keywords_ = {key: value for key, value in keywords.items() if not _is_usual(key, value)}
    try:
        if method == CALL:
            made = _entries(name, inputs, keywords_)
            if isinstance(made, Compared) and keywords.get(TYPE) is not None:
                raise NotSupported(f"the argument {TYPE} is not supported")
            return made
        if method == "outer" and len(inputs) == 2 and not keywords_:
            a, b = map(node_of, inputs)
            wide = with_axes(a, range(len(a.shape), len(a.shape) + len(b.shape)))
            return _entries(name, [wide, b], {})
        if found(f"{name}:{method}") is None:
            raise NotSupported("this method is not supported")
        axis = keywords_.pop(ALONG, 0)
        if method != "reduce" and axis is None:
            raise NotSupported("no axis")
        return by_rule(f"{name}:{method}", {"array": inputs[0], ALONG: axis, **keywords_})
    except NotSupported as fault:
        raise _named(fault, shown) from None


def _entries(name: str, inputs: Sequence[object], keywords_: Keywords) -> object:
    _check_counted(name, inputs)
    own = _written("numpy").get(name)
    if own is not None:
        return (
            own(*inputs, **keywords_) if set(keywords_) <= set(signature(own).parameters) else _raise_unknown(keywords_)
        )
    rule = found(name)
    if rule is None or not is_entrywise(rule.name, len(inputs)):
        raise NotSupported("this function is not supported on symbols")
    return entrywise(rule.name, *map(operand_of(rule.name), inputs)) if not keywords_ else _raise_unknown(keywords_)


def _raise_unknown(keywords_: Keywords) -> NoReturn:
    raise NotSupported(f"the argument {next(iter(keywords_))} is not supported")


def _is_usual(key: str, value: object) -> bool:
    """Whether a keyword of an elementwise function has no effect."""
    usual = {"out": (None,), "dtype": (None, float), "where": (True,), "keepdims": (False,)}
    return key in usual and any(value is one for one in usual[key])


def _check_counted(name: str, arguments: Iterable[object]) -> None:
    """Raise for arithmetic of truth values alone, which is logic in NumPy.

    Raises: NotSupported.
    """
    compared = [x for x in arguments if isinstance(x, Compared)]
    others = [x for x in arguments if isinstance(x, Node) or hasattr(x, "__array__")]
    rule = found(name)
    counted = rule is not None and rule.name in (spelled("total"), spelled("average"))
    if compared and not others and not counted and not name.startswith(LOGIC):
        hint = INSTEAD.get(name, "write np.where(condition, 1.0, 0.0) for numbers")
        raise NotSupported("this function is not supported on truth values", hint=hint)


def _named(fault: NotSupported, shown: str) -> NotSupported:
    return NotSupported(f"{shown}: {fault.message}", hint=fault.hint)
