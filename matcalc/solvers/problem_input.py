"""Checks a solver's inputs (formulas, variables, data, start, sizes) and makes formulas callable on vectors.

All faults of the input are found here, before anything is compiled. Error messages use the caller's names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import matcalc as mc
from matcalc.cached import cached_property
from matcalc.compiler.call.convert import to_array, to_size
from matcalc.compiler.call.function_for_target import check_on_numpy
from matcalc.compiler.call.sparse import to_csr
from matcalc.compiler.spec.spec import Operand
from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import expressions, with_wrt
from matcalc.expressions.unused import check_used, shared
from matcalc.language.containers import spread
from matcalc.language.declare import Declarations
from matcalc.language.identifiers import by_name, free, nearest
from matcalc.language.kinds import INDEX, SPARSE
from matcalc.solvers.packing import Packing, Vector
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.sizes_from_shapes import solve
from matcalc.tensor.symbols import Names

LONG = 10**8
"""The flops of a call above which planning and compiling again for fixed arguments pays: a tenth of a second."""


@dataclass(frozen=True)
class Evaluator:
    """A compiled function of the vector of the variables or of their arrays; other arguments are fixed."""

    compiled: Any
    fixed: Mapping[str, Any]
    packing: Packing

    def __call__(self, x: ArrayLike, **more: Any) -> Any:
        return self.of({**self.packing.unpack(x), **more})

    def of(self, arrays: Mapping[str, Any]) -> Any:
        """Return the values for arrays by name."""
        known = {**self.fixed, **arrays}
        function = self.function
        return function(*(known[name] for name in function.args))

    @property
    def plan(self) -> str:
        """The plan, including parts that are computed once from the fixed arguments."""
        return str(self.function.plan)

    @cached_property
    def function(self) -> Any:
        """The compiled function; if a call is long, it is bound to the fixed arguments, which precomputes parts."""
        spec, names = self.compiled.spec, self.compiled.args
        fixed = {name: value for name, value in self.fixed.items() if name in names}
        sizes = {name: value for name, value in self.fixed.items() if isinstance(value, int)}
        is_known = spec.flops is not None and set(spec.flops.names) <= sizes.keys()
        is_long = is_known and spec.flops.amount(sizes) > LONG
        return self.compiled.bind(fixed) if fixed and is_long else self.compiled


@dataclass(frozen=True)
class Inputs:
    """Formulas over one scope with values of all other symbols; `start` has a value of each variable, or is None.

    With `sparse`, Jacobians and Hessians are SciPy CSR arrays.
    """

    formulas: tuple[Expression, ...]
    packing: Packing
    fixed: Mapping[str, Any]
    start: dict[str, Vector] | None
    target: str
    sparse: bool = False

    @property
    def names(self) -> list[str]:
        """The variables, in order."""
        return list(self.packing.shapes)

    @property
    def x0(self) -> Vector | None:
        """The packed start, or None."""
        return None if self.start is None else self.packing.pack(self.start)

    @property
    def scope(self) -> Names:
        """All names of the formulas."""
        return reduce(Names.joined, (e.names for e in self.formulas))

    def evaluator(self, outputs: Any) -> Evaluator:
        """Compile a nesting of formulas; return it as a function of x and further arguments by name."""
        return self.called(mc.compile(outputs, target=self.target))

    def called(self, compiled: Any) -> Evaluator:
        """Return a compiled function as a function of x and further arguments by name."""
        return Evaluator(compiled, self.fixed, self.packing)

    def new_symbol(self, label: str, like: Expression) -> Expression:
        """Return a symbol with an unused name and the shape of a formula."""
        return symbol_like(free(label, set(self.scope.scope)), like.node)


def read_inputs(
    f: Any,
    wrt: Any,
    data: Mapping[Any, ArrayLike] | None,
    start: Mapping[Any, ArrayLike] | None = None,
    sizes: Mapping[Any, int] | None = None,
    declarations: Declarations = "",
    dialect: str = "matrix",
    target: str = "numba",
    more: Sequence[str] = (),
    check_facts: bool = False,
) -> Inputs:
    """Read a formula, further ones (`more`) in the same scope, and the values of their symbols.

    Raises: ValueError, UnknownName, ShapeError or TypeError for invalid input; what reading the formulas raises.
    """
    check_on_numpy(target)
    many = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    first = with_wrt(f, many, shared(declarations), dialect)
    names = [node.name for node in first.symbols_of(many)]
    others = expressions(list(more), shared(declarations), dialect, first.names.symbols) if more else []
    check_used(declarations, [f, *more], [first, *others], names)
    read = (Expression(first.node, first.names_with(many), first.row), *others)
    scope = reduce(Names.joined, (e.names for e in read))
    formulas = tuple(Expression(e.node, replace(e.names, bound={}, containers={}), e.row) for e in read)
    values = {**scope.bound, **spread(_named(data, "data="), scope.containers)}
    starts = {} if start is None else spread(_named(start, "start="), scope.containers)
    check_names(names, None if start is None else starts, values)
    known = {node.name: node for node in scope.ordered()}
    for what, given in (("data", values), ("start", starts)):
        for name in given:
            if name not in scope.symbols:
                raise UnknownName(f"{what} gives a value for {name}, which no formula has{nearest(name, list(known))}")
    missing = [name for name in known if name not in names and name not in values]
    if missing:
        raise ValueError(f"data gives no value for {', '.join(missing)}")
    sparse = [name for name in values if SPARSE in scope.symbols[name].facts]
    if check_facts and sparse:
        raise NotSupported(f"check_facts= evaluates the formula, which takes a dense copy of the sparse {sparse[0]}")
    arrays = {name: _array(scope.symbols[name], value) for name, value in {**values, **starts}.items()}
    shapes = [(name, scope.symbols[name].shape) for name in arrays]
    lengths = sizes_by_name(sizes, scope)
    found = solve(shapes, {name: array.shape for name, array in arrays.items()}, lengths)
    packing = Packing({name: _shape(scope.symbols[name], found) for name in names})
    begun = {name: arrays[name] for name in names} if start is not None else None
    for name, value in (begun or {}).items():
        if not np.all(np.isfinite(value)):
            raise ValueError(f"the start of {name} is not finite")
    if check_facts and start is None:
        raise ValueError("check_facts= needs start=: it checks values")
    if check_facts:
        for e in formulas:
            e({name: arrays[name] if name in arrays else found[name] for name in e.symbols}, check_facts=True)
    fixed = {name: _fixed(value) for name, value in arrays.items() if name not in names}
    return Inputs(formulas, packing, {**found, **fixed}, begun, target)


def sizes_by_name(sizes: Mapping[Any, int] | None, scope: Names) -> dict[str, int]:
    """Return sizes as integers by name.

    Raises: UnknownName for a name that is not a size; TypeError for a value that is no integer.
    """
    lengths = {name: to_size(name, value) for name, value in _named(sizes, "sizes=").items()}
    for name in lengths:
        if name not in scope.size_names:
            raise UnknownName(f"sizes: {name} is not a size of the formulas{nearest(name, list(scope.size_names))}")
    return lengths


def check_names(names: Sequence[str], start: Mapping[str, object] | None, data: Mapping[str, object]) -> None:
    """Raise ValueError for variables without a start, other names in `start`, and variables with a value in `data`."""
    twice = [name for name in names if name in data]
    if twice:
        raise ValueError(f"{', '.join(twice)} is a variable: give its value in start, not in data")
    if start is None:
        return
    missing = [name for name in names if name not in start]
    if missing:
        raise ValueError(f"start gives no value for {', '.join(missing)}")
    extra = [name for name in start if name not in names]
    if extra:
        raise ValueError(f"start gives a value for {', '.join(extra)}, which is not in wrt")


def symbol_like(name: str, like: Node) -> Expression:
    """Return a symbol of the shape of a node."""
    node = symbol(name, like.shape)
    return Expression(node, Names({name: node}, (name,)))


def scalar(e: Expression) -> Expression:
    """Return an objective as a scalar.

    Raises: ShapeError if it is no scalar.
    """
    if all(size.is_integer and size == 1 for size in e.node.shape):
        return e if not e.node.shape else Expression((e[(0,) * len(e.node.shape)]).node, e.names)
    shape = ", ".join(map(str, e.shape))
    hint = "for the sum of squares write norm2(...)^2"
    raise ShapeError(f"the objective has shape ({shape}): a solver minimises a scalar", hint=hint)


def _named(values: Mapping[Any, Any] | None, what: str) -> dict[str, Any]:
    return {name_of(key): value for key, value in by_name(values or {}, what).items()}


def _fixed(value: Vector) -> Any:
    return value if value.ndim else value.item()


def _array(node: Node, value: Any) -> Any:
    """Return a value as an array; a sparse matrix as SciPy's CSR."""
    return (to_csr if SPARSE in node.facts else to_array)(_operand(node), value)


def _operand(node: Node) -> Operand:
    return Operand(node.name, node.shape, dtype="int64" if INDEX in node.data[1] else "float64")


def _shape(node: Node, sizes: Mapping[str, int]) -> tuple[int, ...]:
    unknown = [name for size in node.shape for name in size.names if name not in sizes]
    if unknown:
        raise ValueError(
            f"the size {unknown[0]} of {node.name} is not known: give start= or sizes={{'{unknown[0]}': ...}}"
        )
    return tuple(size.evaluate(sizes) for size in node.shape)
