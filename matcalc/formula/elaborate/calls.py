"""Chooses the rulebook entry of a call, by the number, ranks and kinds of its arguments, and infers its shape.

The signature of the entry is sufficient for this. The sizes in it are unknowns of this call, bound by the lengths of
the arguments. Elementwise entries broadcast scalars. The others carry named axes as batches. With `axis=` the other
axes become named axes, which then return to the result's shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from matcalc.errors import ShapeError
from matcalc.formula.elaborate.callee import Callee, check_axis
from matcalc.formula.inference.expansion import equal_shapes, expanded, no_expansion
from matcalc.formula.inference.inference import (
    Inference,
    as_scalar,
    common_axes,
    einsum,
    is_one_by_one,
    origins,
    shown,
)
from matcalc.formula.inference.required_sizes import Pair, require
from matcalc.formula.inference.typed import ONE, Typed, kind, typed_exact
from matcalc.formula.inference.unify import bounded, is_unknown
from matcalc.language.declare import Declaration, write_signature
from matcalc.language.syntax import Ast, call_name, walk
from matcalc.language.write import text as write
from matcalc.tensor.nodes.signature import (
    EXTREMA,
    PLAIN,
    Binding,
    add_sizes,
    array_name,
    output_of,
    result_shape,
    size_of,
)
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    from matcalc.rulebook.load import Candidate

MOST_SHOWN = 6  # arguments in a message
DOES_NOT_FIT, MUST_HAVE = " does not fit, ", " must have the shape "


@dataclass(slots=True)
class Call:
    """The meaning of a call: candidate, parameters of its tensor arguments, and the other parameters by name.

    `sizes` are the values of the signature's size names, `arrays` the shapes.
    """

    candidate: Candidate
    parameters: tuple[Declaration, ...]
    params: dict[str, Any]
    sizes: dict[str, Size]
    arrays: dict[str, tuple[Size, ...]]


def infer_call(inference: Inference, ast: Ast, callee: Callee, values: Sequence[Typed]) -> Typed:
    """Return the value of a call; `values` are those of the arguments, then that of `axis`."""
    arguments = list(values)
    exact = [v.exact for v in arguments if v.exact is not None]
    extremum = EXTREMA.get(callee.candidates[0].rule.spelling) if callee.candidates else None
    if extremum and 1 < len(arguments) == len(exact) and callee.axis is None:
        return typed_exact(bounded(reduce(extremum, exact)), ast)
    axis = _axis(inference, callee, arguments.pop(), arguments) if callee.axis is not None else None
    candidates = callee.candidates
    check_axis(inference, ast, callee, arguments)
    if callee.axis is not None and axis is None:  # along a vector: over the whole vector; not for elementwise functions
        candidates = [c for c in candidates if all(p.kind != "entry" for p in c.signature.parameters)]
        if not candidates:
            raise inference.fault(f"'{call_name(ast)}' acts on each entry and takes no axis", ast)
    return call_candidates(inference, ast, callee.spelling, candidates, arguments, callee.keywords, axis)


def call_rule(inference: Inference, ast: Ast, name: str, values: Sequence[Typed]) -> Typed:
    """Return a rulebook entry applied to values."""
    return call_candidates(inference, ast, name, inference.rulebook.candidates(name), values, [], None)


def call_candidates(
    inference: Inference,
    ast: Ast,
    spelling: str,
    candidates: Sequence[Candidate],
    values: Sequence[Typed],
    keywords: Sequence[str],
    axis: int | None,
) -> Typed:
    """Return the first candidate that accepts the values, applied to them; prefer one whose matrices can be square."""
    for squeeze in (False, True):
        tried = [(c, _match(inference, c, values, keywords, axis, squeeze)) for c in candidates]
        taking = [(candidate, pairs) for candidate, pairs in tried if pairs is not None]
        if taking:
            candidate, matched = next((pair for pair in taking if _may_be_square(inference, pair[1])), taking[0])
            return _apply(inference, ast, candidate, matched, axis)
    fold = next((c for c in candidates if c.rule.associative and len(c.signature.parameters) == 2), None)
    if fold is not None and len(values) > 2 and not keywords and axis is None:
        total = values[0]
        for value in values[1:]:
            total = call_candidates(inference, ast, spelling, candidates, [total, value], (), None)
        return total
    raise _no_match(inference, ast, spelling, candidates, values, keywords)


def _match(
    inference: Inference,
    candidate: Candidate,
    values: Sequence[Typed],
    keywords: Sequence[str],
    axis: int | None,
    squeeze: bool,
) -> list[Pair] | None:
    """Return the values with their parameters if the numbers of arguments, ranks and kinds fit."""
    parameters = list(candidate.signature.parameters)
    named = {p.name: p for p in parameters}
    if any(key not in named for key in keywords):
        return None
    positional = [p for p in parameters if p.name not in keywords]
    actual = len(values) - len(keywords)
    repeated = positional and positional[-1].repeated
    if repeated:
        positional = positional[:-1] + [positional[-1]] * max(actual - len(positional) + 1, 0)
    if len(positional) != actual:
        return None
    pairs: list[Pair] = []
    reduced = axis is not None
    for parameter, value in zip([*positional, *(named[key] for key in keywords)], values, strict=True):
        fitted = _fit(inference, candidate, parameter, value, reduced, squeeze)
        if fitted is None:
            return None
        if parameter.kind not in PLAIN:
            reduced = False
        pairs.append((parameter, fitted))
    if repeated and all(parameter.kind in PLAIN for parameter, _ in pairs):
        return None  # dd(f) without a point
    return pairs


def _fit(
    inference: Inference,
    candidate: Candidate,
    parameter: Declaration,
    value: Typed,
    reduced: bool,
    squeeze: bool,
) -> Typed | None:
    """Return the value in the form that the parameter takes; None if it does not fit."""
    if parameter.kind == "function" or value.form == "function":
        return value if parameter.kind == "function" and value.form == "function" else None
    if parameter.kind == "integer":
        exact = value.exact
        return value if exact is not None and all(c.denominator == 1 for _, c in exact.terms) else None
    if parameter.kind == "number":
        return value if value.exact is not None and value.exact.is_integer else None
    if parameter.kind in ("array", "entry"):
        return value
    if value.row and candidate.rule.keeps_rows:
        value = _as_matrix(inference, value)
    rank = 1 if reduced else value.rank  # along an axis the operation acts on a vector, whatever the other axes
    if rank == len(parameter.sizes):
        return value
    if squeeze and parameter.kind == "scalar" and is_one_by_one(inference, value):
        return as_scalar(inference, value)
    return None


def _may_be_square(inference: Inference, pairs: list[Pair]) -> bool:
    """Whether every matrix that must be square is square or still unknown."""
    for parameter, value in pairs:
        required = {str(size.value) for size in parameter.sizes}
        if parameter.kind != "matrix" or len(required) != 1 or value.rank != 2:
            continue
        rows, columns = map(inference.sizes.resolve, value.shape)
        if rows is not columns and not is_unknown(rows) and not is_unknown(columns):
            return False
    return True


def _as_matrix(inference: Inference, value: Typed) -> Typed:
    """Return a row as a 1 x n matrix."""
    core = inference.labels(value)
    return einsum(inference, value.ast, [(value, core)], (inference.label(ONE), *core))


def _apply(inference: Inference, ast: Ast, candidate: Candidate, pairs: list[Pair], axis: int | None) -> Typed:
    require(inference, ast, candidate, pairs, axis)
    if any(parameter.kind == "entry" for parameter, _ in pairs):
        if axis is not None:
            raise inference.fault(f"'{call_name(ast)}' acts on each entry and takes no axis", ast)
        return _entrywise(inference, ast, candidate, pairs)
    if axis is None:
        return _operation(inference, ast, candidate, pairs)
    first = next(k for k, (parameter, _) in enumerate(pairs) if parameter.kind not in PLAIN)
    parameter, value = pairs[first]
    core = inference.labels(value)
    others = core[:axis] + core[axis + 1 :]
    along = einsum(inference, value.ast, [(value, core)], (core[axis],), axes=value.axes + others)
    result = _operation(inference, ast, candidate, [*pairs[:first], (parameter, along), *pairs[first + 1 :]])
    own = inference.labels(result)
    out = others if not own else (*others[:axis], *own, *others[axis:])
    axes = tuple(label for label in result.axes if label not in others)
    return einsum(inference, ast, [(result, own)], out, axes=axes)


def _entrywise(inference: Inference, ast: Ast, candidate: Candidate, pairs: list[Pair]) -> Typed:
    """Apply an elementwise entry to operands of one shape and scalars; those of `.^` and in NumPy expand."""
    values = [value for parameter, value in pairs if parameter.kind not in PLAIN]
    expands = inference.broadcasts or ast.head == "power"
    leader = next((value for value in values if value.rank), values[0])
    fitted: list[Typed] = []
    for value in values:
        if not expands and value.rank and not equal_shapes(inference, leader, value):
            if not is_one_by_one(inference, value):
                raise _unequal(inference, ast, leader, value)
            value = as_scalar(inference, value)
        fitted.append(value)
    axes = common_axes(fitted)
    found = expanded(inference, fitted, axes)
    if found is None:
        if ast.head == "power":
            raise no_expansion(inference, ast, values, [str(ast.value)])
        raise _unequal(inference, ast, leader, next(value for value in values if value.shape != leader.shape))
    kind_, aligned = found
    data = Call(candidate, _tensors(pairs), _params(pairs), _integer_sizes(pairs), {})
    return Typed("call", ast, kind_.shape, aligned + _functions(pairs), data, axes, kind_.row)


def _unequal(inference: Inference, ast: Ast, a: Typed, b: Typed) -> ShapeError:
    """Return the error for operands of an elementwise entry without a common shape."""
    name = call_name(ast) if ast.head == "call" else str(ast.value)
    message = f"'{name}' of operands of unequal shape: {inference.describe(a)} and {inference.describe(b)}"
    sizes = next((pair for pair in zip(a.shape, b.shape, strict=False) if not inference.same(*pair)), ())
    return inference.fault(message, ast, about=(a.ast, b.ast), sizes=sizes)


def _operation(inference: Inference, ast: Ast, candidate: Candidate, pairs: list[Pair]) -> Typed:
    """Apply an operation: the shapes of its arguments bind its signature's sizes."""
    sizes: dict[str, Size] = _Unknowns(inference)
    sizes.update(_integer_sizes(pairs))
    arrays: dict[str, tuple[Size, ...]] = {}
    values: list[Typed] = []
    for parameter, value in pairs:
        if parameter.kind in PLAIN:
            continue
        values.append(value)
        if parameter.kind == "array":
            _bind_array(inference, ast, parameter, value, arrays)
        else:
            _bind_sizes(inference, ast, candidate, parameter, value, sizes)
    add_sizes(candidate.rule, sizes)
    shape = tuple(map(bounded, result_shape(output_of(candidate.signature, candidate.output), Binding(sizes, arrays))))
    for size in shape:
        if any(c < 0 for _, c in size.terms):
            inference.check_least(size, ast, lambda: f"{shown(ast)} has a negative length")
    data = Call(candidate, _tensors(pairs), _params(pairs), dict(sizes), arrays)
    return Typed("call", ast, shape, (*values, *_functions(pairs)), data, common_axes(values))


class _Unknowns(dict[str, Size]):
    """Sizes by name; a name that is not bound yet is a new unknown."""

    def __init__(self, inference: Inference) -> None:
        super().__init__()
        self._inference = inference

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = self._inference.sizes.fresh()
        return self[name]


def _bind_array(
    inference: Inference, ast: Ast, parameter: Declaration, value: Typed, arrays: dict[str, tuple[Size, ...]]
) -> None:
    name = array_name(parameter)
    shape = arrays.setdefault(name, value.shape)
    if not inference.same_shape(shape, value.shape):
        message = f"'{call_name(ast)}' takes arguments of one shape: {inference.describe(value)} differs"
        raise inference.fault(message, ast, about=ast.args)


def _bind_sizes(
    inference: Inference,
    ast: Ast,
    candidate: Candidate,
    parameter: Declaration,
    value: Typed,
    sizes: dict[str, Size],
) -> None:
    """Bind the sizes of a parameter by the shape of its argument.

    Raises: ShapeError.
    """
    if len(parameter.sizes) != value.rank:
        raise inference.fault(f"'{call_name(ast)}' takes no axis of a tensor", ast)
    for written, length in zip(parameter.sizes, value.shape, strict=True):
        required = inference.sizes.resolve(size_of(written, sizes))
        if inference.same(required, length):
            continue
        name = call_name(ast) if ast.head == "call" else candidate.rule.spelling
        kinds = {str(size.value) for size in parameter.sizes}
        actual = inference.size_text(length)
        if parameter.kind == "matrix" and len(kinds) == 1:
            message = f"{name} takes a square matrix, and {inference.describe(value)} is not square"
        elif "?" in required.key:
            message = f"{name}: no whole number makes {write(written)} the {actual} of {inference.describe(value)}"
        else:
            needed = inference.size_text(required)
            message = f"{name}: {inference.describe(value)}{DOES_NOT_FIT}{needed} and {actual} differ"
        hint = origins(inference, (required, length), (ast, value.ast))
        raise inference.fault(message, ast, hint=hint, about=(value.ast,))


def _tensors(pairs: list[Pair]) -> tuple[Declaration, ...]:
    return tuple(parameter for parameter, _ in pairs if parameter.kind not in PLAIN)


def _functions(pairs: list[Pair]) -> tuple[Typed, ...]:
    return tuple(value for parameter, value in pairs if parameter.kind == "function")


def _params(pairs: list[Pair]) -> dict[str, Any]:
    """Return the parameters that are not tensors: sizes, numbers as sizes, functions as typed values."""
    return {p.name: value if p.kind == "function" else value.exact for p, value in pairs if p.kind in PLAIN}


def _integer_sizes(pairs: list[Pair]) -> dict[str, Size]:
    return {p.name: value.exact for p, value in pairs if p.kind == "integer" and value.exact is not None}


def _axis(inference: Inference, callee: Callee, value: Typed, arguments: Sequence[Typed]) -> int | None:
    """Return the number of the axis that `axis=` names; None for the only axis of a vector."""
    assert callee.axis is not None
    tensor = next((v for v in arguments if v.form != "function"), None)
    rank = tensor.rank if tensor is not None else 0
    exact = value.exact
    if callee.axis.head == "block" and rank > 1:
        listed = [x.value for x in walk(callee.axis) if x.head == "number"]
        if sorted(listed) == list(range(rank)):  # type: ignore[type-var]
            return None
    if exact is None or not exact.is_integer or exact.constant.denominator != 1:
        raise inference.fault("axis is a number, 0 or 1", callee.axis)
    axis = int(exact)
    if not -rank <= axis < rank:
        axes = ", ".join(map(str, range(rank)))
        message = f"axis {axis} of a value of {rank} axes"
        raise inference.fault(message, callee.axis, hint=f"axes are {axes}" if rank else "a scalar has no axis")
    return axis % rank if rank > 1 else None


def _no_match(
    inference: Inference,
    ast: Ast,
    spelling: str,
    candidates: Sequence[Candidate],
    values: Sequence[Typed],
    keywords: Sequence[str],
) -> ShapeError:
    """Return the error for arguments that no signature accepts."""
    shown_ = [_kind_text(inference, value) for value in values[:MOST_SHOWN]]
    actual = ", ".join(shown_ + ["..."] * (len(values) > MOST_SHOWN))
    unknown = [key for key in keywords if all(key not in {p.name for p in c.signature.parameters} for c in candidates)]
    message = f"'{spelling}' has no parameter '{unknown[0]}'" if unknown else f"'{spelling}' does not take ({actual})"
    written = [write_signature(c.signature) for c in candidates[:4]]
    hint = "it is  " + "\n     or  ".join(written)
    kinds = {p.kind for c in candidates for p in c.signature.parameters[:1]}
    if len(values) == 1 and values[0].rank == 2 and kinds == {"vector"}:
        hint = f"give the axis: {spelling}(..., axis=0) down each column, axis=1 along each row\n{hint}"
    alone = all(len(c.signature.parameters) == 1 for c in candidates)
    if len(values) == 2 and alone and not unknown and values[0].rank and values[1].exact is not None:
        hint = f"give the axis by its name: {spelling}(..., axis={shown(values[1].ast)}), counted from 0; {hint}"
    return inference.fault(message, ast, hint=hint, about=[v.ast for v in values])


def _kind_text(inference: Inference, value: Typed) -> str:
    if value.form == "function":
        return "function"
    form = kind(value)
    shape = ", ".join(map(inference.size_text, value.shape))
    return form if form == "scalar" else f"{'vector' if form == 'column' else form}({shape})"
