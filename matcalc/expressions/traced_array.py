"""Defines the arrays of a function that is being traced: they can be written in place, as NumPy's.

A write to an array that the function created replaces its node. A part by a subscript is a view: a write to it changes
the array, and it is read again after a write to the array. Of an array and a view by another function, `a.T`, only the
one that was written last can be used. Arguments are never written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from matcalc.errors import NoAttribute, NotSupported, NoValue, ShapeError
from matcalc.expressions.expression import Expression
from matcalc.expressions.loops.parts import is_open_mask, part_by_symbols
from matcalc.expressions.loops.steps import stepped_names
from matcalc.expressions.loops.subscripts import at_step
from matcalc.expressions.numpy_bridge import infinities, subscripts, taking
from matcalc.expressions.numpy_bridge.along_axes import built, leaf
from matcalc.expressions.numpy_bridge.arguments import node_of
from matcalc.expressions.numpy_bridge.index_sets import Looked
from matcalc.expressions.numpy_bridge.operators import Operation
from matcalc.expressions.operands.labels import Labels
from matcalc.expressions.operands.numpy_protocol import ArrayCall, Condition
from matcalc.expressions.user_code.conversions import converted, known_values, shaped_index
from matcalc.expressions.user_code.numpy_writes import OWN, VIEWS, ufunc_at, where_masked
from matcalc.expressions.user_code.subscript_values import is_plain, shift_by, subscript_value
from matcalc.expressions.user_code.writing_methods import WritingMethods, into_out, refuse_changing
from matcalc.language.syntax import call
from matcalc.tensor.lookups import can_index
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names

PART = "[...]"
"""What follows the name of an array in that of a part that a step of a loop reads."""


class Origin(NamedTuple):
    """The array that a view belongs to, its subscripts (None for a view by a function), and the writes it has seen."""

    base: TracedArray
    at: object
    seen: int


def _in_place(sign: str) -> Any:
    """Return the method of an operator that writes its result to the array, as in `a -= b`."""
    return lambda self, other: self._changed_by(sign, other)


class TracedArray(WritingMethods, Expression):
    """An array of a function that is being traced; `argument` is its name if it is an argument."""

    _held: Node
    __slots__ = ("_held", "argument", "distances", "origin", "spoiled", "writes")

    def __init__(self, node: Node, names: Names, row: bool = False, **given: Any) -> None:
        self.origin: Origin | None = None
        self.argument, self.writes, self.spoiled = "", 0, False
        self.distances: TracedArray | None = None  # of condensed distances: the matrix of them
        super().__init__(node, names, False, **given)

    # The node, which a write replaces.

    @property
    def node(self) -> Node:
        """The node; that of a view is read again after a write to its array.

        Raises: NoValue for a view by another function, and for an array of which such a view was written.
        """
        origin = self.origin
        if self.spoiled:
            hint = "reshape a copy: b = a.copy().reshape(...)"
            raise NoValue("an array of which a view by another function was written", hint=hint)
        if origin is not None and origin.base.version != origin.seen:
            if origin.at is None:
                raise NoValue("a view of an array that was written since", hint="take the view after the write")
            fresh: TracedArray = origin.base[origin.at]  # the part, as it is now
            self._held, self.names = fresh._held, fresh.names
            self.origin = fresh.origin
        return self._held

    @node.setter
    def node(self, node: Node) -> None:
        self._held = node

    @property
    def version(self) -> int:
        """The number of writes to the array, and to the array of which it is a view."""
        origin = self.origin
        return self.writes + (origin.base.version if origin is not None else 0)

    def __reduce__(self) -> tuple[object, ...]:
        return Expression(self.node, self.names).__reduce__()

    def made(self, e: object) -> Any:
        """Return an expression as an array of the traced function."""
        return traced_array(e) if isinstance(e, Expression) and not isinstance(e, TracedArray) else e

    def _view(self, e: Any, at: object = None) -> Any:
        """Return results that share entries with this array."""
        if isinstance(e, (list, tuple)):
            return type(e)(self._view(one, at) for one in e)
        e = self.made(e)
        if isinstance(e, TracedArray) and e is not self:
            e.origin = Origin(self, at, self.version)
        return e

    def __array_function__(
        self, function: Callable[..., object], types: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        own = OWN.get(function.__name__)
        if own is not None:
            return own(*args, **kwargs)
        if kwargs.get("out") is not None:
            rest = {key: value for key, value in kwargs.items() if key != "out"}
            return into_out(function(*args, **rest), kwargs["out"], function.__name__)
        made = super().__array_function__(function, types, args, kwargs)
        sources = [a for a in args if isinstance(a, TracedArray)]
        if function.__name__ not in VIEWS or len(sources) != 1 or function.__name__ == "diag" and sources[0].ndim == 1:
            return made
        return sources[0]._view(made)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: object, **kwargs: object) -> object:
        if method == "at":
            ufunc_at(ufunc.__name__, *inputs)
            return None
        out: Any = kwargs.pop("out", None)
        if out is None:
            return self.made(super().__array_ufunc__(ufunc, method, *inputs, **kwargs))
        if not isinstance(out[0], TracedArray) and len(out) == 1 and not kwargs and method == "__call__":
            raise NoValue("an array of numbers is not written with a formula", hint="create it inside the function")
        return into_out(getattr(ufunc, method)(*inputs, **kwargs), out, ufunc.__name__)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        known = self.known()
        return super().__array__(dtype, copy) if known is None else known.astype(dtype or float)

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> object:
        return self.made(super()._with_other(operation, other, swap))

    def __neg__(self) -> Any:
        return self.made(super().__neg__())

    def __pos__(self) -> Any:
        return self.copied()

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """The transpose, a view."""
        return self._view(super().T)

    @property
    def mT(self) -> Any:  # noqa: N802 - NumPy's name
        """The transpose of the last two axes, a view."""
        return self._view(super().mT)

    @property
    def dtype(self) -> Any:
        """NumPy's type of the entries."""
        import numpy as np

        return np.dtype(int if can_index(self.node) else float)

    @dtype.setter
    def dtype(self, value: object) -> None:
        raise NotSupported("the type of an array is not set", hint="write x = x.astype(...)")

    def astype(self, dtype: Any, **options: object) -> Any:
        """Return a copy with entries of another type."""
        import numpy as np

        return self if options.get("copy") is False and np.dtype(dtype) == self.dtype else converted(self, dtype)

    def copied(self, *_: object) -> TracedArray:
        """Return a copy, which can be written."""
        return traced_array(self)

    copy = __copy__ = __deepcopy__ = copied

    def known(self) -> Any:
        """Return the numbers of an array that depends on no symbol but data; None for any other."""
        return known_values(self.node)

    def __bool__(self) -> bool:
        known = self.known()
        if known is not None:
            return bool(known)
        return super().__bool__() if self.ndim else bool(self != 0)

    def __float__(self) -> float:
        known = self.known()
        return super().__float__() if known is None else float(known)

    def __int__(self) -> int:
        return int(self.__float__())

    def __getattr__(self, name: str) -> Any:
        """Return NumPy's method; of an array of numbers every method of NumPy's."""
        try:
            return super().__getattr__(name)
        except NoAttribute:
            refuse_changing(name)
            known = None if name.startswith("_") else self.known()
            if known is None or not hasattr(known, name):
                raise
            return getattr(known, name)

    def by_rule(self, operation: str, *operands: object) -> TracedArray:
        """Return an operation of the rulebook on operands, this array if there are none."""
        pending = ArrayCall(self)
        nodes = [node_of(pending.unwrapped(one)) for one in operands or (self,)]
        node = pending.call(built, call(operation, *map(leaf, nodes)))
        return traced_array(Expression(node, pending.names))

    # Subscripts.

    def __getitem__(self, at: object) -> Any:
        if (part := part_by_symbols(self, at, self._of_step)) is not None:
            return part
        plain, call = self._read(at)
        if plain is None:
            part = self.made(super().__getitem__(subscripts.clipped(at, self.node.shape)))
            is_entry = not part.node.shape and not (isinstance(at, tuple) and Ellipsis in at)
            return part if is_entry else self._view(part, at)
        node = call.call(taking.take, self.node, plain)
        made = traced_array(Expression(node, self.names.joined(call.names)))
        copies = not node.shape or any(map(_is_array_of_indices, at if isinstance(at, tuple) else (at,)))
        return made if copies else self._view(made, at)

    def _of_step(self, node: Node) -> TracedArray:
        return traced_array(Expression(node, self.names.joined(stepped_names(node))))

    def _read(self, at: object) -> tuple[Any, ArrayCall]:
        """Return subscripts with nodes and known numbers for arrays; None for text, which is read elsewhere."""
        call = ArrayCall(self)
        items = at if isinstance(at, tuple) else (at,)
        if any(isinstance(one, str) for one in items):
            return None, call
        found = tuple(subscript_value(one, call) for one in items)
        simple = all(one is None or one is Ellipsis or isinstance(one, (int, slice)) for one in found)
        if simple and all(is_plain(one) for one in found):
            return None, call
        return found, call

    def __setitem__(self, at: object, value: object) -> None:
        self.put_at(at, value)

    def put_at(self, at: object, value: object, adds: bool = False) -> None:
        """Write a value to the entries at subscripts; with `adds` it is added, as often as an index occurs."""
        if not adds and is_open_mask(at):
            self[...] = where_masked(self.copied(), at, value)
            return
        plain, call_ = self._read(at)
        if plain is None:
            plain = at if isinstance(at, tuple) else (at,)
        if any(isinstance(one, str) for one in plain):
            raise NoValue("a part that a text names is not written", hint="write the subscripts as numbers")
        new = call_.unwrapped(value.counted if isinstance(value, Condition) else value)
        if adds:
            self.write(call_.call(taking.added, self.node, plain, node_of(new)), call_.names)
        else:
            self.write(call_.call(infinities.put, self.node, plain, new), call_.names)

    def write(self, node: Node, names: Names) -> None:
        """Replace all entries.

        Raises: NoValue for an argument.
        """
        self.check_own()
        origin = self.origin
        if origin is not None:
            if origin.at is None:
                self._write_apart(node, names)
                return
            origin.base[origin.at] = traced_array(Expression(node, self.names.joined(names)))
            return
        self._held, self.names = node, self.names.joined(names)
        self.writes += 1

    def _write_apart(self, node: Node, names: Names) -> None:
        """Write to a view by another function; NumPy may have copied, so its array can no longer be used."""
        known, owner = self.names.joined(names), self.owner
        owner.spoiled, owner.writes = True, owner.writes + 1
        self.origin, self._held, self.names, self.writes = None, node, known, self.writes + 1

    def check_own(self) -> None:
        """Require that the function created the array.

        Raises: NoValue for an argument or a part of one.
        """
        owner = self.owner
        if owner.argument.endswith(PART):
            hint = "write to the array:  X[t, j] = ...;  or to a copy of the part"
            raise NoValue(f"{owner.argument}, which a loop reads, is not changed in place", hint=hint)
        if owner.argument:
            hint = f"write to a copy: {owner.argument} = {owner.argument}.copy()"
            raise NoValue(f"the argument {owner.argument} is not changed in place", hint=hint)

    def lock(self, name: str) -> None:
        """Refuse writes to entries of an array of this name, which a step of a loop reads."""
        if self.ndim:
            self.argument = (name.removesuffix(PART) or "a part") + PART

    @property
    def owner(self) -> TracedArray:
        """The array that a view belongs to, else the array itself."""
        found = self
        while found.origin is not None:
            found = found.origin.base
        return found

    def _changed_by(self, sign: str, other: object) -> Any:
        """Write the result of an operator to the array: `a -= b`. A scalar gets a new value instead.

        Raises: ShapeError for a result of another shape.
        """
        if not self.node.shape:
            return NotImplemented
        made = getattr(self, f"__{sign}__")(other)
        if made is NotImplemented:
            return made
        if made.node.shape != self.node.shape:
            raise ShapeError(f"a result of shape {made.shape} does not fit an array of shape {self.shape}")
        self.write(made.node, made.names)
        return self

    __iadd__ = _in_place("add")
    __isub__ = _in_place("sub")
    __imul__ = _in_place("mul")
    __itruediv__ = _in_place("truediv")
    __ipow__ = _in_place("pow")
    __imatmul__ = _in_place("matmul")


class TracedIndex(Labels, TracedArray):
    """Data of kind `index` plus a number, `y + 1`, for use in subscripts and as numbers."""

    __slots__ = ("offset",)

    def __init__(self, node: Node, names: Names, row: bool = False, offset: Size | None = None, **given: Any) -> None:
        super().__init__(node, names, row, **given)
        self.offset = offset if offset is not None else Size.of(0)

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> object:
        by = shift_by(operation.numpy, other, swap)
        if by is None:
            return self.counted._with_other(operation, other, swap)
        return TracedIndex(self.node, self.names, offset=self.offset + by)

    def __array_function__(
        self, function: Callable[..., object], types: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        found = shaped_index(self, function.__name__, args[1:], kwargs)
        return super().__array_function__(function, types, args, kwargs) if found is None else found

    kind_of_results = property(lambda _: TracedArray, doc="The class of arrays of numbers.")

    @property
    def counted(self) -> TracedArray:
        """This object as an array of numbers."""
        return TracedArray(self.numbers, self.names)

    @property
    def places(self) -> Looked:
        """The indices that it selects."""
        return Looked(self.node, self.offset)

    def __getitem__(self, at: object) -> Any:
        found = at_step(self.node, at)
        if found is not None:
            step = TracedIndex(found[0], self.names.joined(stepped_names(found[0])), offset=self.offset)
            return step[found[1]] if found[1] else step
        plain, call_ = self._read(at)
        if plain is None:
            plain = at if isinstance(at, tuple) else (at,)
        node = call_.call(taking.take, self.node, plain)
        if not can_index(node):
            raise NotSupported("a part of an index that is no range of its entries")
        return TracedIndex(node, self.names.joined(call_.names), offset=self.offset)

    def astype(self, dtype: Any, **options: object) -> Any:
        """Return itself: its entries are integers."""
        return self


def _is_array_of_indices(at: object) -> bool:
    """Whether NumPy copies the part by this subscript."""
    return isinstance(at, (list, range)) or bool(getattr(at, "shape", ()))


def traced_array(e: Expression) -> TracedArray:
    """Return an expression as a new array of a function that is being traced."""
    names = replace(e.names, traced=True)
    if can_index(e.node):
        return TracedIndex(e.node, names, offset=getattr(e, "offset", None))
    return TracedArray(e.node, names)
