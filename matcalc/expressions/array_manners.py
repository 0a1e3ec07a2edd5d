"""How an expression behaves where an array is expected: NumPy's functions, comparisons, and what a symbol has not.

NumPy hands its functions over by its two protocols; what they mean is `numpy_bridge`. An expression has no value: it is
no condition of an `if`, no number to print and no array to change, and each of these is refused in its own words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, Self

from matcalc.errors import NotSupported, NoValue, ShapeError
from matcalc.expressions.numpy_bridge.arguments import Compared, is_object_array, left_open
from matcalc.expressions.numpy_bridge.conditions import compared, logical_and, logical_not, logical_or
from matcalc.expressions.numpy_bridge.dispatch import call_function, call_ufunc, is_method
from matcalc.expressions.numpy_operators import Arithmetic, Operation
from matcalc.expressions.operators import Marked
from matcalc.language.numpy_names import METHODS, SEVERAL
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import numpy_names
from matcalc.tensor.node import Node
from matcalc.tensor.size import Size
from matcalc.tensor.sizes_from_shapes import Condition as SizeCondition
from matcalc.tensor.symbols import Names

PROPERTIES = ("shape", "ndim", "size")


class Array(Arithmetic):
    """What NumPy takes for an array: its functions of it are those of `numpy_bridge`."""

    __slots__ = ()

    names: Names

    @property
    def shape(self) -> tuple[Any, ...]:
        """Integers, and sizes that equal their text."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.marked.node.shape)

    @property
    def marked(self) -> Marked:
        """The node, with its row mark."""
        raise NotImplementedError

    @property
    def handed(self) -> Any:
        """What stands for the object in a function of NumPy's."""
        raise NotImplementedError

    def _made(self, node: Node, names: Names, row: bool) -> Any:
        raise NotImplementedError

    def _taken_in(self, value: Any) -> Array:
        """Return a number or an array as an expression."""
        raise NotImplementedError

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ in PROPERTIES and len(args) == 1 and not kwargs:
            return getattr(args[0], function.__name__)
        under_way = Handed(self)
        return under_way.made(under_way.call(call_function, function, under_way.taken(args), under_way.taken(kwargs)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        operator = OPERATORS.get(ufunc.__name__)
        if operator is not None and method == "__call__" and not kwargs:
            return self._operated(ufunc.__name__, operator, *inputs)
        under_way = Handed(self)
        made = under_way.call(call_ufunc, ufunc, method, under_way.taken(inputs), under_way.taken(kwargs))
        return under_way.made(made, method == "__call__" and under_way.row)

    def _operated(self, name: str, operator: str, left: Any, right: Any) -> Any:
        """Return what NumPy's function of an operator gives, where one of the operands is an array perhaps."""
        first, second = (x if isinstance(x, Array) else self._taken_in(x) for x in (left, right))
        if operator == PRODUCT and second.marked.row and not first.marked.row and len(first.marked.node.shape) == 1:
            hint = "write np.outer(x, y) for the outer product, or y without .T for the inner one"
            raise ShapeError(f"np.{name} of a vector and a transposed one", hint=hint)
        return getattr(first, operator)(second)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not self.shape and dtype in (None, object):
            import numpy as np

            entry = np.empty((), object)
            entry[()] = self
            return entry
        raise NoValue(
            f"{self} is no array of numbers",
            hint="leave np.asarray out; what holds several is np.stack([x, y]) or np.block([[A, B]])",
        )

    def _compared(self, relation: str, other: Any) -> Any:
        under_way = Handed(self)
        left, right = under_way.taken((self, other))
        return under_way.made(compared(left, relation, right))

    def __lt__(self, other: Any) -> Any:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(">=", other)

    def __abs__(self) -> Any:
        import numpy as np

        return np.absolute(self)

    @property
    def real(self) -> Self:
        """The array itself: all numbers are real here."""
        return self

    # What has no value.

    def __bool__(self) -> bool:
        raise NoValue("the truth of a symbol's value is not known", hint="write np.where(x > 0, a, b) for a choice")

    def __float__(self) -> float:
        raise NoValue(f"{self} is a formula, and has no value as a number")

    def __int__(self) -> int:
        return int(self.__float__())

    def __complex__(self) -> complex:
        return complex(self.__float__())

    def __format__(self, form: str) -> str:
        if form:
            raise NoValue(f"{self} is a formula, which has no value to print as {form!r}")
        return str(self)

    def __contains__(self, other: Any) -> bool:
        raise NoValue("whether a value is among those of symbols is not known")

    def __setitem__(self, at: Any, value: Any) -> None:
        raise NoValue("a formula is not changed in place", hint="write np.where, np.concatenate or np.stack")

    def _changed(self, other: Any) -> Any:
        """Leave `x += y` to `x + y`, but in a function written for NumPy, where it would change an array.

        Raises: NoValue.
        """
        if self.names.traced and self.ndim:
            raise NoValue("an array is not changed in place", hint="write x = x + y for x += y")
        return NotImplemented

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __imatmul__ = __ipow__ = _changed

    def __delitem__(self, at: Any) -> None:
        self[at] = None

    def __getattr__(self, name: str) -> Any:
        """Return NumPy's method of that name, `x.sum(axis=0)`; `exp` and the like are asked for by arrays of objects.

        Raises: AttributeError.
        """
        if not name.startswith("_") and (name in METHODS or is_method(name)):
            return partial(_method, name, self)
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        functions = numpy_names(default_rulebook()).functions
        methods = {name for name, own in functions.items() if own.method}
        return sorted({*super().__dir__(), *METHODS, *methods} - set(INNER))


OPERATORS = {
    "add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__",
    "true_divide": "__truediv__", "power": "__pow__", "matmul": "__matmul__",
}  # fmt: skip
"""NumPy's functions that are Python's operators."""
PRODUCT = "__matmul__"
INNER = (
    "formula", "free_sizes", "handed", "leading_axes", "marked", "names", "names_with", "operand", "row", "symbols_of",
    "unfactored",
)  # fmt: skip
"""What other parts of matcalc ask an expression for: not offered to who types a dot."""


def _method(name: str, a: Array, *args: Any, **keywords: Any) -> Any:
    """Return a method of an array as NumPy's function of that name gives it; a shape may be several arguments."""
    import numpy as np

    function = getattr(np, name, None) or getattr(np, RENAMED.get(name, ""), None)
    if function is None:
        raise AttributeError(f"'{type(a).__name__}' has no attribute '{name}'")
    if name in SEVERAL and len(args) > 1:
        args = (args,)
    return function(a, *args, **keywords)


RENAMED = {"flatten": "ravel"}


class Handed:
    """The arguments of a function under way: what stands for them, and the names of those that are expressions."""

    def __init__(self, owner: Array) -> None:
        self.owner, self.names = owner, Names({}, ())
        self.rows: set[bool] = set()

    @property
    def row(self) -> bool:
        """Whether a vector is a row: all vectors among the operands are.

        Raises: ShapeError where some are.
        """
        if len(self.rows) > 1:
            raise ShapeError("one operand is a row, another a column")
        return True in self.rows

    def taken(self, value: Any) -> Any:
        """Return an argument with what stands for expressions in it in place of them."""
        if isinstance(value, Array):
            self.names = self.names.joined(value.names)
            node = value.marked.node
            if len(node.shape) == 1:
                self.rows.add(value.marked.row)
            return value.handed
        if isinstance(value, ShapeText):
            self.names = self.names.joined(Names({}, (), sizes=value.length.names))
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.taken, value)) if type(value) in (list, tuple) else value
        if isinstance(value, dict):
            return {key: self.taken(one) for key, one in value.items()}
        if is_object_array(value):
            return self.taken(value.tolist())
        return value

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a function gives; conditions on sizes that it leaves open are those of the result."""
        conditions: list[SizeCondition] = []
        token = left_open.set(conditions)
        try:
            made = function(*args)
        finally:
            left_open.reset(token)
        self.names = self.names.under(conditions)
        return made

    def made(self, value: Any, row: bool = False) -> Any:
        """Return what a function gave, nodes as expressions."""
        if isinstance(value, Node):
            return self.owner._made(value, self.names, row and len(value.shape) == 1)
        if isinstance(value, Compared):
            return Condition(value, self.names, self.owner)
        if isinstance(value, (list, tuple)):
            return type(value)(self.made(one, row) for one in value)
        return value


class Condition(Array):
    """A comparison of arrays: what a choice is made by, `np.where(x > 0, a, b)`; 1 and 0 in arithmetic."""

    __slots__ = ("compared", "maker", "names")

    def __init__(self, compared: Compared, names: Names, maker: Array) -> None:
        self.compared, self.names, self.maker = compared, names, maker

    @property
    def handed(self) -> Any:
        """The comparison itself."""
        return self.compared

    @property
    def marked(self) -> Marked:
        """1 where it holds, else 0."""
        return Marked(self.compared.indicator)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape of what is compared."""
        shape: tuple[Any, ...] = self._made(self.marked.node, self.names, False).shape
        return shape

    def __repr__(self) -> str:
        return f"Condition({str(self._made(self.marked.node, self.names, False))!r})"

    def __str__(self) -> str:
        return f"the comparison {self._made(self.marked.node, self.names, False)}"

    def _made(self, node: Node, names: Names, row: bool) -> Any:
        return self.maker._made(node, names, row)

    def _taken_in(self, value: Any) -> Array:
        return self.maker._taken_in(value)

    def _with_other(self, operation: Operation, other: Any, swap: bool = False) -> Any:
        if isinstance(other, Condition):
            raise NotSupported("arithmetic of two truth values", hint="write & for and, | for or, ~ for not")
        return self._made(self.marked.node, self.names, False)._with_other(operation, other, swap)

    def _logical(self, join: Callable[..., Compared], *others: Any) -> Condition:
        if not all(isinstance(other, Condition) for other in others):
            raise NotSupported("& | ~ take comparisons")
        joined = join(self.compared, *(other.compared for other in others))
        names = reduce(Names.joined, (other.names for other in others), self.names)
        return Condition(joined, names, self.maker)

    def __and__(self, other: Any) -> Condition:
        return self._logical(logical_and, other)

    def __or__(self, other: Any) -> Condition:
        return self._logical(logical_or, other)

    def __invert__(self) -> Condition:
        return self._logical(logical_not)

    def astype(self, dtype: Any) -> Any:
        """Return 1 where it holds, else 0.

        Raises: NotSupported for another type than float.
        """
        if dtype not in (float, "float", "float64"):
            raise NotSupported(f"a comparison as {dtype}", hint="write .astype(float)")
        return self._made(self.marked.node, self.names, False)


class ShapeText(Arithmetic, str):
    """A size in a shape: equal to its text, and a number in arithmetic."""

    __slots__ = ("length",)

    length: Size

    def __new__(cls, length: Size) -> Self:
        """Return the text that knows its size."""
        made = str.__new__(cls, length)
        made.length = length
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return ShapeText, (self.length,)
