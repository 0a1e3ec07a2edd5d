"""Provides value, pullback and second pullback of a formula for frameworks with automatic differentiation.

Each is a function of arrays that returns arrays. Each call lists the arguments to differentiate, so that nothing is
computed for data. Value and pullback are the two passes of `mc.pullback`, with the values saved between them. The
second pullback is the gradient of G'(J V): the derivative along V and a Hessian-vector product of G'F. There is no
third pullback.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import matcalc as mc
from matcalc.api.equivalent import with_numbers
from matcalc.cached import cached_property
from matcalc.calculus.derive.conventions import check_variable
from matcalc.compiler.call.bind import bind
from matcalc.compiler.call.function_for_target import check_on_numpy
from matcalc.compiler.call.sparse import refuse_sparse
from matcalc.compiler.spec.result_shapes import output_shapes, solve_sizes
from matcalc.errors import NotDifferentiable, NotSupported
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import with_wrt
from matcalc.language.identifiers import free
from matcalc.solvers.problem_input import sizes_by_name
from matcalc.tensor.constructors import inner, symbol
from matcalc.tensor.nodes.node import Node

Array: TypeAlias = NDArray[Any]
Places: TypeAlias = Sequence[int]
THIRD = "a formula is differentiated twice, not three times: differentiate it with matcalc first"
"""The error message for a third derivative."""


class Passes:
    """A formula of any shape as functions of arrays in the order of `args`; each pass is compiled on its first call.

    `varying` are the numbers of the arguments that can be differentiated: all but those declared constant or index.
    """

    def __init__(self, e: Expression, target: str, sizes: Mapping[str, int]) -> None:
        check_on_numpy(target)
        e = with_numbers(e)
        if e.names.bound:
            hint = "pass it as an argument of the function"
            raise NotSupported(
                f"indices in a function of a framework that are data: {next(iter(e.names.bound))}", hint=hint
            )
        if e.names.containers:
            e = Expression(e.node, replace(e.names, containers={}), reference=e.reference)
        self.expression, self.target = e, target
        self._value = mc.compile(e, target=target)
        spec = self._value.spec
        refuse_sparse(spec, "a function of a framework")
        self.name = spec.name
        self.args = tuple(operand.name for operand in spec.arguments)
        symbols = [e.names.symbols[name] for name in self.args]
        self.is_index = tuple(operand.dtype != "float64" for operand in spec.arguments)
        self.varying = tuple(k for k, node in enumerate(symbols) if is_variable(node))
        self.ranks = tuple(len(operand.shape) for operand in spec.arguments)
        self.rank = len(spec.outputs[0].shape)
        missing = [name for name in spec.sizes if name not in sizes]
        if missing:
            raise ValueError(f"no argument determines the size {missing[0]}: give sizes={{'{missing[0]}': ...}}")
        self._sizes = {name: sizes[name] for name in spec.sizes}
        self._told = dict(sizes)
        self._two: dict[Places, Any] = {}
        self._seconds: dict[tuple[Places, Places], Callable[..., Any]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return Passes, (self.expression, self.target, self._told)

    @property
    def content(self) -> str:
        """The text that identifies the formula: its generated code."""
        spec = self._value.spec
        return f"{spec.source}\n{spec.numpy_source}\n{spec.declarations}\n{self._sizes}"

    def bound(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
        """Return the arguments of a call in order."""
        return bind(self.name, self.args, args, keywords)

    def shape(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return the shape of the value for arguments of these shapes."""
        spec = self._value.spec
        (found,) = output_shapes(spec, solve_sizes(spec, shapes, self._sizes))
        return found

    def value(self, arrays: Sequence[Array]) -> Array:
        """Return the value as a new array."""
        return np.asarray(self._value(*arrays, *self._sizes.values()))

    def saved_shapes(self, shapes: Sequence[Sequence[int]], requested: Places) -> list[tuple[int, ...]]:
        """Return the shapes of the arrays that `forward` saves for arguments of these shapes."""
        spec = self._passes(requested).first.spec
        return list(output_shapes(spec, solve_sizes(spec, shapes, self._sizes)))[1:]

    def forward(self, arrays: Sequence[Array], requested: Places) -> list[Array]:
        """Return the value, then the saved arrays that `pull` for the arguments `wanted` needs."""
        return [np.asarray(part) for part in self._passes(requested).first(*arrays, *self._sizes.values())]

    def pull(self, arrays: Sequence[Array], saved: Sequence[Array], G: Array, requested: Places) -> list[Array]:  # noqa: N803
        """Return the cotangents of the arguments `wanted` for a cotangent G of the value.

        If `saved` is empty, the saved arrays are computed again.
        """
        two = self._passes(requested)
        saves = len(two.first.spec.outputs) > 1
        known = saved if saved or not saves else self.forward(arrays, requested)[1:]
        given = (*arrays, *self._sizes.values())
        kept, sizes = (given[k] for k in two.kept), (given[k] for k in two.sizes)
        return [np.asarray(part) for part in two.second(*kept, *known, G, *sizes)]

    def pull_again(
        self, arrays: Sequence[Array], G: Array, along: Places, V: Sequence[Array], requested: Places  # noqa: N803
    ) -> list[Array]:  # fmt: skip
        """Return the cotangents of G and of the arguments `wanted`, for cotangents V of `pull`'s results `along`."""
        made = self._second_pass(tuple(along), tuple(requested))
        names = (*self.args, self._bar, *self._along(along))
        named = dict(zip(names, (*arrays, G, *V), strict=True))
        return [np.asarray(part) for part in made(named)]

    @cached_property
    def _bar(self) -> str:
        return free("G", set(self.expression.names.scope))

    def _along(self, along: Places) -> list[str]:
        taken = {*self.expression.names.scope, self._bar}
        return [free(f"d{self.args[k]}", taken) for k in along]

    def _names(self, places: Places) -> list[str]:
        return [self.args[k] for k in places]

    def _passes(self, requested: Places) -> Any:
        if (key := tuple(requested)) not in self._two:
            names = self._names(requested)
            self._two[key] = mc.pullback(self.expression, names, target=self.target)
        return self._two[key]

    def _second_pass(self, along: Places, requested: Places) -> Callable[..., Any]:
        if (along, requested) not in self._seconds:
            compiled = mc.compile(self._second(along, requested), target=self.target)
            names = compiled.args

            def called(known: Mapping[str, Any]) -> Any:
                return compiled(*({**known, **self._told}[name] for name in names))

            self._seconds[along, requested] = called
        return self._seconds[along, requested]

    def _second(self, along: Places, requested: Places) -> list[Expression]:
        pushed = mc.jvp(self.expression, self._names(along), tangent=self._along(along))
        bar = symbol(self._bar, self.expression.node.shape)
        paired = Expression(inner(pushed.node, bar), pushed.names.with_symbol(bar, "cotangent"))
        return [pushed, *(paired.gradient(self._names(requested)) if requested else ())]


def is_variable(node: Node) -> bool:
    """Whether formulas can be differentiated in a symbol."""
    try:
        check_variable(node)
    except NotDifferentiable:
        return False
    return True


def passes(
    f: Any,
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
    sizes: Mapping[Any, int] | None = None,
) -> Passes:
    """Read a formula for a framework.

    Raises: ValueError for a size that no argument determines; what reading f raises.
    """
    if isinstance(f, (list, tuple)):
        raise NotSupported("a list of formulas as one function of a framework", hint="make a function of each formula")
    e = with_wrt(f, [], declarations, dialect)
    return Passes(e, target, sizes_by_name(sizes, e.names))
