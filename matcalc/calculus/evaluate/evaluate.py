"""Evaluates nodes by plain NumPy: slow, obvious, and the reference for compiled code.

A product is one `einsum`. Merges are reshapes, other selectors their 0/1 arrays. Maps and operations are the `value`
expressions of their rules; an operation with batch axes is a loop over them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from matcalc.calculus.derive.differentiate import pullback
from matcalc.calculus.evaluate.constants import Given, depends_on_base
from matcalc.calculus.evaluate.einsum import Factor, contract
from matcalc.calculus.evaluate.lookups import Lookup, checked_indices, contract_through, is_gathered
from matcalc.calculus.evaluate.steps import values_by_step
from matcalc.calculus.exact_deviations import with_exact_deviations
from matcalc.calculus.function_bodies import derivative
from matcalc.errors import NotSupported, RuleError
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.rulebook.fields import filled
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.oracle import reference
from matcalc.tensor.constructors import eye
from matcalc.tensor.facts.ranges import as_float
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.nodes.signature import PLAIN, tensors_of
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.recurrence import arguments_of, sibling
from matcalc.tensor.switches import annihilates, with_masks

if TYPE_CHECKING:
    import numpy as np

Values = dict[Node, "np.ndarray"]


def evaluate(
    roots: Sequence[Node],
    symbols: Mapping[str, Any],
    sizes: Mapping[str, int],
    base: Mapping[str, Any] | None = None,
) -> list[np.ndarray]:
    """Return the values of `roots` as float64 arrays.

    `symbols` maps each symbol's name to an array, `sizes` each size name to an integer. `base` are the symbols before
    they were moved along a direction, if they were: what an operation takes as a constant is computed from these.

    Raises: NoReference for such a constant inside an equation.
    """
    if base is None or base is symbols or not depends_on_base(tuple(roots)):
        return _values(roots, Given(symbols), sizes)
    recorded: list[np.ndarray] = []
    _values(roots, Given(base, recorded.append), sizes)
    again = iter(recorded)
    return _values(roots, Given(symbols, lambda moved: next(again)), sizes)


def _values(roots: Sequence[Node], given: Given, sizes: Mapping[str, int]) -> list[np.ndarray]:
    import numpy as np

    values: Values = {}
    settled, order = _order(tuple(roots))
    with np.errstate(all="ignore"):
        for node in order:
            values[node] = EVALUATE[node.kind](node, values, given, sizes)
    return [values[root] for root in settled]


@lru_cache(maxsize=32)
def _order(roots: tuple[Node, ...]) -> tuple[Sequence[Node], Sequence[Node]]:
    """Return the roots with exact deviations and their nodes in order, without selectors that only index a product.

    Cached, since the same formulas are evaluated at many data.
    """
    settled = with_exact_deviations(roots)
    order = toposort(settled)
    formed = set(settled).union(*(node.args for node in order if node.kind != "product"))
    return settled, [node for node in order if node.kind != "selector" or node in formed]


Sizes = Mapping[str, int]


def _symbol(node: Node, values: Values, given: Given, sizes: Sizes) -> np.ndarray:
    import numpy as np

    data = given.symbols[node.name]
    if type(data) is np.ndarray and data.dtype == np.float64:
        return data
    return np.asarray(data, dtype=np.result_type(data, np.float64))


def _number(node: Node, values: Values, given: Given, sizes: Sizes) -> np.ndarray:
    import numpy as np

    return np.float64(as_float(node.value))  # type: ignore[return-value]


def _size(node: Node, values: Values, given: Given, sizes: Sizes) -> np.ndarray:
    import numpy as np

    return np.float64(rational(node.size, sizes))  # type: ignore[return-value]


def rational(size: Size, sizes: Sizes) -> float:
    """Return the value of a size polynomial that need not be an integer."""
    return as_float(size.substitute({name: Size.of(sizes[name]) for name in size.names}).constant)


def _formed(node: Node, values: Values, sizes: Sizes) -> np.ndarray:
    integers = checked_indices(node, values[node.args[0]], node.shape[0].evaluate(sizes)) if node.args else None
    return node.selector.dense(dict(sizes), integers)


def _product(node: Node, values: Values, given: Given, sizes: Sizes) -> np.ndarray:
    import numpy as np

    masked = with_masks(node)
    if masked is not node:
        new = [arg for arg in masked.args if arg not in values and arg.kind != "selector"]
        values = {**values, **dict(zip(new, _values(new, given, sizes), strict=True))}
        node = masked
    lengths = {k: s.evaluate(sizes) for k, s in enumerate(node.index_sizes)}
    if not any(arg.kind == "selector" for arg in node.args):
        factors = [Factor(values[arg], at, annihilates(arg)) for arg, at in zip(node.args, node.indices, strict=True)]
        return contract(as_float(node.coef), factors, list(node.out), lengths)
    merges, lookups, operands = _operands(node, values, sizes)
    expand = _expander({whole: parts for whole, *parts in merges})
    terms: list[Factor] = []
    for array, indices, is_strong in operands:
        axes = [i for index in indices for i in expand(index)]
        terms.append(Factor(np.reshape(array, [lengths[i] for i in axes]), axes, is_strong))
    out = [i for index in node.out for i in expand(index)]
    result = contract_through(as_float(node.coef), terms, lookups, out, lengths)
    return np.reshape(result, [lengths[i] for i in node.out])


Operands = tuple[list[tuple[int, ...]], list[Lookup], list[tuple["np.ndarray", tuple[int, ...], bool]]]


def _operands(node: Node, values: Values, sizes: Sizes) -> Operands:
    """Split operands into merges (index tuples) that can be reshapes, lookups that are read through, and arrays.

    Each array comes with whether its zeros annihilate.
    """
    merges: list[tuple[int, ...]] = []
    lookups: list[Lookup] = []
    arrays: list[tuple[np.ndarray, tuple[int, ...], bool]] = []
    wholes: set[int] = set()
    merged = {at[0] for arg, at in node.operands if arg.selects("merge")}
    for arg, indices in node.operands:
        if arg.kind != "selector":
            arrays.append((values[arg], indices, annihilates(arg)))
            continue
        if arg.selector.kind == "merge" and indices[0] not in wholes and len(set(indices)) == len(indices):
            wholes.add(indices[0])
            merges.append(indices)
            continue
        found = _integers(arg, values, sizes)
        if found is not None and is_gathered((found, indices), node.out, merged):
            lookups.append((found, indices))
            continue
        arrays.append((_formed(arg, values, sizes), indices, True))
    return merges, lookups, arrays


def _integers(rule: Node, values: Values, sizes: Sizes) -> np.ndarray | None:
    """Return the indices that a lookup reads, or a slice inside its axis; None for another selector."""
    import numpy as np

    if rule.args:
        return checked_indices(rule, values[rule.args[0]], rule.shape[0].evaluate(sizes))
    if rule.selector.kind != "slice":
        return None
    first, (long, short) = rule.selector.offset.evaluate(sizes), (size.evaluate(sizes) for size in rule.shape)
    return np.arange(first, first + short) if 0 <= first <= long - short else None


def _expander(parts_of: Mapping[int, Sequence[int]]) -> Callable[[int], list[int]]:
    def expand(index: int) -> list[int]:
        pending, found = [index], []
        while pending:
            i = pending.pop(0)
            if i in parts_of:
                pending[:0] = parts_of[i]
            else:
                found.append(i)
        return found

    return expand


def _sum(node: Node, values: Values, given: Given, sizes: Sizes) -> np.ndarray:
    total = as_float(node.coefs[0]) * values[node.args[0]]
    for coef, arg in node.terms[1:]:
        total = total + as_float(coef) * values[arg]
    return total


def _map(node: Node, values: Values, given: Given, sizes: Sizes) -> np.ndarray:
    import numpy as np

    function = _oracle_of(node)
    arrays = [values[a] for a in node.args]
    return np.asarray(function(*arguments(node, arrays, sizes, PARAMETERS)))


def _op(node: Node, values: Values, given: Given, sizes: Sizes) -> np.ndarray:
    import numpy as np

    function = _oracle_of(node)
    shape = [s.evaluate(sizes) for s in node.shape]
    result = np.zeros(shape)
    for at in itertools.product(*map(range, shape[: node.batch_rank])):
        arrays = [values[arg][tuple(at[b] for b in batch)] for arg, batch in zip(node.args, node.batches, strict=True)]
        arrays = given.taken(node, arrays)
        value = _called(node, function, arrays, arguments(node, arrays, sizes, PARAMETERS))
        if node.output and value is not np.nan:
            value = value[node.rule.outputs.index(node.output)]
        if np.iscomplexobj(value) and not np.iscomplexobj(result):
            result = result.astype(complex)
        try:
            result[at] = value
        except (TypeError, ValueError):
            rule, shape = node.rule, result[at].shape
            message = f"{rule.address}: [{rule.name}] the value has the shape {np.shape(value)}, not {shape}"
            raise RuleError(message) from None
    return result


def _called(node: Node, function: Callable[..., Any], arrays: Sequence[np.ndarray], arguments: Sequence[Any]) -> Any:
    """Return an oracle's value; NaN if data are not finite and SciPy rejects them or an iteration does not end."""
    import numpy as np

    try:
        return function(*arguments)
    except np.linalg.LinAlgError as error:
        if any(message in str(error) for message in NO_END) and not all(np.all(np.isfinite(a)) for a in arrays):
            return np.nan
        raise np.linalg.LinAlgError(fault(node, error)) from None
    except ValueError:
        if all(np.all(np.isfinite(a)) for a in arrays):
            raise
        return np.nan


NO_END = ("converge", "infs or NaNs")
"""Messages of NumPy for iterations on data that are not finite; other messages concern the data's values."""


def fault(node: Node, error: Exception) -> str:
    """Return the message of an operation without a value: the operation, its arguments and the reason."""
    tensors = [p.name for p in tensors_of(node.rule.signature) if not p.repeated]
    texts = {name: text(formula_of(arg)) for name, arg in zip(tensors, node.args, strict=False)}
    if node.rule.fails is not None:
        return f"{node.rule.spelling}: {filled(node.rule.fails, texts)}"
    why = str(error).removeprefix(f"{node.rule.spelling}: ")
    return why if why.startswith(node.rule.spelling) else f"{node.rule.spelling}: {why} ({', '.join(texts.values())})"


def _oracle_of(node: Node) -> Callable[..., Any]:
    function = reference(default_rulebook(), node.rule)
    if function is None:
        raise NotSupported(f"{node.rule.name} has no value expression ({node.rule.address})")
    return function


def arguments(node: Node, arrays: Sequence[np.ndarray], sizes: Sizes, parameters: Mapping[str, Parameter]) -> list[Any]:
    """Return the arguments of an oracle: tensors and parameters in the signature's order."""
    tensors, params = iter(arrays), iter(node.params)
    result: list[Any] = []
    for declared in node.rule.signature.parameters:
        if declared.kind in PLAIN:
            result.append(parameters[declared.kind](next(params), node, arrays, sizes))
        elif declared.repeated:
            result.extend(tensors)
        else:
            result.append(next(tensors))
    return result


def as_equation(equation: Node, node: Node, arrays: Sequence[np.ndarray], sizes: Sizes) -> Callable[..., np.ndarray]:
    """Return an equation as F(Y, k=0): its left side at Y, or for k = 1 the matrix of its Jacobian there."""
    import numpy as np

    unknown = node.params[1]
    known = {s.name: a for s, a in zip(node.args[1:], arrays[1:], strict=True)}

    def function(value: np.ndarray, k: int = 0) -> np.ndarray:
        root = equation if k == 0 else _dense_slope(equation, unknown)
        found: np.ndarray = evaluate([root], {**known, unknown.name: value}, sizes)[0]
        return found.reshape(value.size, value.size) if k else found

    function.known = all(np.all(np.isfinite(a)) for a in arrays)  # type: ignore[attr-defined]
    function.fault = f"{text(formula_of(node))} has no solution near its start"  # type: ignore[attr-defined]
    return function


@lru_cache(maxsize=256)
def _dense_slope(equation: Node, unknown: Node) -> Node:
    return pullback(equation, eye(*unknown.shape), [unknown], unknown.shape)[0]


def _recurrence(node: Node, values: Values, given: Given, sizes: Sizes) -> np.ndarray:
    """Return a trajectory, step by step; those of the other states are kept for later."""
    import numpy as np

    if node in values:
        return values[node]
    closed = arguments_of(node)[2]
    looked = [index for arg in closed if arg.kind == "selector" for index in arg.args]
    known = {arg: values[arg] for arg in (*closed, *looked)}
    order = toposort(node.bodies, known)

    def bodies(at: Mapping[str, Any]) -> list[np.ndarray]:
        inner, here = dict(known), given.at(at)
        for one in order:
            inner[one] = EVALUATE[one.kind](one, inner, here, sizes)
        return [inner[body] for body in node.bodies]

    for position, states in enumerate(values_by_step(node, values, sizes, bodies)):
        last = states[0 if node.backward else -1]
        values[sibling(node, position)] = np.array(states) if node.kept[position] else last
    return values[node]


Parameter = Callable[[Any, Node, Sequence["np.ndarray"], Sizes], Any]
PARAMETERS: dict[str, Parameter] = {
    "integer": lambda value, node, arrays, sizes: value.evaluate(dict(sizes)),
    "number": lambda value, node, arrays, sizes: as_float(value),
    "function": lambda value, node, arrays, sizes: as_callable(value),
    "equation": as_equation,
    "unknown": lambda value, node, arrays, sizes: value.name,
}
"""The argument of an oracle for a parameter that is no tensor, by its kind."""


def as_callable(body: Node) -> Callable[..., np.ndarray]:
    """Return a function argument as f(x, k=0): the k-th derivative of its body at every entry of x."""
    derived = [body]

    def function(x: np.ndarray, k: int = 0) -> np.ndarray:
        import numpy as np

        while len(derived) <= k:
            derived.append(derivative(derived[-1]))
        flat = [evaluate([derived[k]], {parameter().name: v}, {})[0] for v in np.ravel(x)]
        return np.reshape(np.array(flat), np.shape(x))

    return function


EVALUATE: dict[str, Callable[[Node, Values, Given, Sizes], np.ndarray]] = {
    "symbol": _symbol,
    "number": _number,
    "size": _size,
    "constant": lambda node, values, given, sizes: node.array,
    "selector": lambda node, values, given, sizes: _formed(node, values, sizes),
    "product": _product,
    "sum": _sum,
    "map": _map,
    "op": _op,
    "recurrence": _recurrence,
}
