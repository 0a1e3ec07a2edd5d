"""Makes expressions behave as arrays: NumPy's functions, comparisons, and errors for missing values.

NumPy calls its functions through its two protocols; `numpy_bridge` implements them. An expression has no value: it
cannot be the condition of an `if`, a number to print or an array to change. Each of these has an error of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Self, cast

from matcalc.errors import NoAttribute, NotSupported, NoValue, ShapeError
from matcalc.evidence.written.reference import Reference
from matcalc.expressions.loops.branches import truth_of
from matcalc.expressions.loops.implications import settled
from matcalc.expressions.numpy_bridge.along_axes import RELATIONS
from matcalc.expressions.numpy_bridge.arguments import Compared, is_object_array, left_open, like
from matcalc.expressions.numpy_bridge.conditions import (
    COMPARING,
    compared,
    is_truth,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from matcalc.expressions.numpy_bridge.dispatch import INSTEAD, SHAPES, call_function, call_ufunc, is_method
from matcalc.expressions.numpy_bridge.length import Length
from matcalc.expressions.numpy_bridge.operators import OPERATORS, Arithmetic, Marked, Operation, operated
from matcalc.expressions.numpy_bridge.scipy_caller import scipy_function
from matcalc.expressions.operands.handle import Handle, shown_and_computed
from matcalc.expressions.operands.references import item, of_numpy
from matcalc.expressions.user_code.numbers_of_tables import called_on_numbers
from matcalc.language.numpy_names import METHODS, SEVERAL
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import numpy_names
from matcalc.tensor.lookups import as_number, can_index, is_index
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.sizes_from_shapes import Condition as SizeCondition
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Array(Arithmetic, Handle):
    """An operand of NumPy's functions, which `numpy_bridge` implements."""

    __slots__ = ()

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.node.rank

    kind_of_results = property(type, doc="The class of the results of arithmetic with this object.")

    @property
    def counted(self) -> Array:
        """This object as an operand of arithmetic."""
        return self

    @property
    def handed(self) -> Node | Compared:
        """This object as an argument of NumPy's functions."""
        return as_number(self.computed)

    @property
    def side(self) -> Node | Compared:
        """This object as a side of a comparison, where an index is a number."""
        return self.computed if is_index(self.computed) else self.handed

    @property
    def marked(self) -> Marked:
        """The node that is evaluated, with its row mark."""
        return Marked(as_number(self.computed), self.row)

    def __array_function__(
        self, function: Callable[..., object], types: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        if function.__name__ in SHAPES and len(args) == 1 and not kwargs:
            return getattr(args[0], function.__name__)
        pending = ArrayCall(self, of_numpy(function, args, kwargs))
        try:
            made = pending.call(call_function, function, pending.unwrapped(args), pending.unwrapped(kwargs))
        except NotSupported:
            found, is_known = called_on_numbers(function, args, kwargs)
            if is_known:
                return found
            raise
        return pending.wrapped(made)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        if ufunc.__name__ in OPERATORS and method == "__call__" and not kwargs:
            return operated(ufunc.__name__, *inputs)
        written = of_numpy(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)
        pending = ArrayCall(self, written, compares=ufunc.__name__ in COMPARING)
        made = pending.call(call_ufunc, ufunc, method, pending.unwrapped(inputs), pending.unwrapped(kwargs))
        return pending.wrapped(made, method == "__call__" and pending.row)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> npt.NDArray[np.object_]:
        if not self.node.shape and dtype in (None, object):
            import numpy as np

            entry = np.empty((), object)
            entry[()] = self
            return entry
        asking = scipy_function()
        if asking:
            raise NoValue(f"{asking[0]} computes with numbers, and {self} is a formula", hint=asking[1])
        raise NoValue(
            f"{self} is no array of numbers",
            hint="remove np.asarray; to join several, write np.stack([x, y]) or np.block([[A, B]])",
        )

    def _compared(self, relation: str, other: object) -> Condition:
        pending = ArrayCall(self, of_numpy(RELATIONS[relation], (self, other), {}), compares=True)
        left, right = pending.unwrapped((self, other))
        made: Condition = pending.wrapped(settled(compared(left, relation, right)))
        return made

    def __lt__(self, other: object) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: object) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Condition:
        return self._compared(">=", other)

    def __abs__(self) -> Self:
        import numpy as np

        return cast("Self", np.absolute(self))

    @property
    def real(self) -> Self:
        """The array itself: all numbers are real here."""
        return self

    # Operations that need a value.

    def __bool__(self) -> bool:
        raise NoValue("the truth of a symbol's value is not known", hint="write np.where(x > 0, a, b) for a choice")

    def __float__(self) -> float:
        hint = "leave the conversion out: a compiled function returns numbers"
        raise NoValue(f"{self} is a formula, and has no value as a number", hint=hint)

    def __int__(self) -> int:
        return int(self.__float__())

    def __complex__(self) -> complex:
        return complex(self.__float__())

    def __format__(self, form: str) -> str:
        if form:
            hint = "print it without a format, or print the result of the compiled function"
            raise NoValue(f"{self} is a formula, which has no value to print as {form!r}", hint=hint)
        return str(self)

    def __contains__(self, other: object) -> bool:
        raise NoValue("whether a value is among those of symbols is not known")

    def __setitem__(self, at: object, value: object) -> None:
        raise NoValue("a formula is not changed in place", hint="write np.where, np.concatenate or np.stack")

    def _changed(self, other: object) -> Any:  # the result that Python's operators expect
        """Return NotImplemented, so that `x += y` is `x + y`; in a function written for NumPy it would change an array.

        Raises: NoValue.
        """
        if self.names.traced and self.ndim:
            raise NoValue("an array is not changed in place", hint="write x = x + y for x += y")
        return NotImplemented

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __imatmul__ = __ipow__ = _changed

    def __delitem__(self, at: object) -> None:
        self[at] = None

    def __getattr__(self, name: str) -> Any:
        """Return NumPy's method of that name, `x.sum(axis=0)`; object arrays look up `exp` and the like here too.

        Raises: NoAttribute, an AttributeError.
        """
        if not name.startswith("_") and (name in METHODS or is_method(name)):
            return partial(_method, name, self)
        raise NoAttribute(f"'{type(self).__name__}' has no attribute '{name}'", hint=INSTEAD.get(name, ""))

    def __dir__(self) -> list[str]:
        functions = numpy_names(default_rulebook()).functions
        methods = {name for name, own in functions.items() if own.method}
        return sorted({*super().__dir__(), *METHODS, *methods} - set(INNER))


INNER = (
    "counted", "formula", "free_sizes", "handed", "leading_axes", "marked", "names", "names_with", "operand", "row",
    "side", "symbols_of", "unfactored",
)  # fmt: skip
"""Attributes for other parts of matcalc, hidden from completion."""


def _method(name: str, a: Array, *args: object, **keywords: object) -> object:
    """Return the result of an array's method, by NumPy's function of that name; a shape may be several arguments."""
    import numpy as np

    function = getattr(np, name, None) or getattr(np, RENAMED.get(name, ""), None)
    if function is None:
        raise NoAttribute(f"'{type(a).__name__}' has no attribute '{name}'")
    if name in SEVERAL and len(args) > 1:
        args = (args,)
    return function(a, *args, **keywords)


RENAMED = {"flatten": "ravel"}


class ArrayCall:
    """A call of a function: its arguments with nodes instead of expressions, and the names of these expressions."""

    def __init__(self, owner: Array, reference: Reference | None = None, compares: bool = False) -> None:
        self.owner, self.names, self.reference, self.compares = owner, Names({}, ()), reference, compares
        self.rows: set[bool] = set()
        self.has_marks = False

    @property
    def row(self) -> bool:
        """Whether a vector result is a row: all vectors among the operands are.

        Raises: ShapeError if only some are.
        """
        if len(self.rows) > 1:
            raise ShapeError("one operand is a row, another a column")
        return True in self.rows

    def unwrapped(self, value: object) -> Any:
        """Return an argument with its expressions replaced by nodes and comparisons."""
        if isinstance(value, Array):
            self.names = self.names.joined(value.names)
            self.has_marks = self.has_marks or value.has_marks
            if self.compares and can_index(value.node):
                return value.side
            node = value.marked.node
            if len(node.shape) == 1:
                self.rows.add(value.marked.row)
            return value.handed
        if isinstance(value, Length):
            self.names = self.names.joined(Names({}, (), sizes=value.length.names))
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.unwrapped, value)) if type(value) in (list, tuple) else value
        if isinstance(value, dict):
            return {key: self.unwrapped(one) for key, one in value.items()}
        if is_object_array(value):
            return self.unwrapped(value.tolist())
        return value

    def call(self, function: Callable[..., object], *args: object) -> Any:
        """Return the result of a function; add its undecided conditions on sizes to those of the names."""
        conditions: list[SizeCondition] = []
        token = left_open.set(conditions)
        try:
            made = function(*args)
        finally:
            left_open.reset(token)
        self.names = self.names.under(conditions)
        return made

    def wrapped(self, value: object, row: bool = False, at: Sequence[int] = ()) -> Any:
        """Return a result with its nodes as expressions; `at` is the position of one of several results."""
        if isinstance(value, (Node, Compared)):
            written = reduce(item, at, self.reference)
            if isinstance(value, Compared):
                return Condition(value, self.names, self.owner.kind_of_results, written)
            made, row = self.owner.kind_of_results, row and value.rank == 1
            node, computed = shown_and_computed(value, self.has_marks)
            return made(node, self.names, row, reference=written, computed=computed)
        if isinstance(value, (list, tuple)):
            return like(value, (self.wrapped(one, row, (*at, k)) for k, one in enumerate(value)))
        return value


LOGIC = {"multiply": logical_and, "add": logical_or}
"""Operators of truth values that are logical in NumPy, as * is and."""
INTEGER_DIVISION = ("floor_divide", "remainder")
"""Operations of which NumPy takes truth values as integers, whose quotient by 0 is 0."""


class Condition(Array):
    """A comparison of arrays: the condition of a choice, `np.where(x > 0, a, b)`; 1 and 0 in arithmetic."""

    __slots__ = ("compared", "maker")
    kind_of_results = property(lambda condition: condition.maker, doc="The class of arrays of numbers.")

    def __init__(
        self, compared: Compared, names: Names, maker: type[Array], reference: Reference | None = None
    ) -> None:
        super().__init__(compared.indicator, names, reference=reference)
        self.compared, self.maker = compared, maker

    @property
    def handed(self) -> Compared:
        """The comparison itself."""
        return self.compared

    @property
    def counted(self) -> Array:
        """1 where it holds, else 0."""
        return self.maker(self.node, self.names, reference=self._reference)

    @property
    def shape(self) -> tuple[object, ...]:
        """The shape of the compared arrays."""
        return cast("tuple[object, ...]", self.counted.shape)

    @property
    def T(self) -> Condition:  # noqa: N802 - NumPy's name
        """The transpose."""
        return cast("Condition", _method("transpose", self))

    def __repr__(self) -> str:
        return f"Condition({str(self.counted)!r})"

    def __str__(self) -> str:
        return f"the comparison {self.counted}"

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> object:
        if isinstance(other, Condition) or is_truth(other):
            join = LOGIC.get(operation.numpy)
            if join is None:
                raise NotSupported(
                    f"np.{operation.numpy} of two truth values is not supported",
                    hint="write & for and, | for or, ~ for not, or .astype(float) for numbers",
                )
            return self._logical(join, other)
        if operation.numpy in INTEGER_DIVISION:
            raise NotSupported("// and % take numbers, and this is a comparison", hint="write np.where(x > 0, a, b)")
        return self.counted._with_other(operation, other, swap)

    def __bool__(self) -> bool:
        found = truth_of(self.compared)
        return super().__bool__() if found is None else found

    def _logical(self, join: Callable[..., Compared], *others: object) -> Condition:
        pending = ArrayCall(self)
        operands = pending.unwrapped([self, *others])
        if not all(is_truth(one) for one in operands):
            raise NotSupported("& | ^ ~ take comparisons and truth values")
        made: Condition = pending.wrapped(join(*operands))
        return made

    def __and__(self, other: object) -> Condition:
        return self._logical(logical_and, other)

    def __or__(self, other: object) -> Condition:
        return self._logical(logical_or, other)

    def __xor__(self, other: object) -> Condition:
        return self._logical(logical_xor, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Condition:
        return self._logical(logical_not)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return self._compared("==", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return self._compared("!=", other)

    def __hash__(self) -> int:
        return hash((Condition, self.node))

    def __len__(self) -> int:
        return len(cast("Sized", self.counted))

    def __getitem__(self, at: object) -> Condition:
        part: Array = cast("Any", self.counted)[at]
        return part._compared("!=", 0)

    def __iter__(self) -> Iterator[Condition]:
        return (self[k] for k in range(len(self)))

    def astype(self, dtype: npt.DTypeLike, **options: object) -> Array:
        """Return 1 where it holds, else 0; the condition itself as bool.

        Raises: NotSupported for a type that is none of numbers.
        """
        import numpy as np

        kind = np.dtype(dtype).kind
        if kind not in "bfiu":
            raise NotSupported(f"a comparison as {np.dtype(dtype)} is not supported", hint="write .astype(float)")
        return self if kind == "b" else self.counted
