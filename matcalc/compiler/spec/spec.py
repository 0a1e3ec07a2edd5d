"""Defines the specification of a compiled function as plain data: enough to build, check, document and save it.

A `CompiledSpec` is filled in from a Program and can be pickled; the runtime knows neither nodes nor plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from matcalc.compiler.code.code_text import Printed
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.sizes_from_shapes import Condition, described, undetermined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from matcalc.compiler.code.code import Code
    from matcalc.compiler.program import Checked

# The nesting of the outputs: the number of an output, or a tuple of nestings.
Nesting = int | tuple["Nesting", ...]


LONGEST_AXIS = 2**31 - 1
"""The largest length or stride that BLAS and LAPACK support: their integers have 32 bits."""

ARRAYS = 3
"""The number of arrays of a sparse matrix."""


@dataclass(frozen=True, slots=True)
class Later:
    """A function identified by its module and name, which a pickle contains; it is imported when called."""

    module: str
    name: str

    def __call__(self, *args: Any) -> Any:
        return getattr(import_module(self.module), self.name)(*args)


class Again:
    """The inputs from which another process recomputes delayed values of a function, all at once on first use."""

    def __init__(self, make: Later, *given: Any) -> None:
        self.make, self.given = make, given
        self._made: Any = None

    def __call__(self, place: int) -> Any:
        if self._made is None:
            self._made = self.make(*self.given)
        return self._made[place]()

    def __reduce__(self) -> tuple[object, ...]:
        return Again, (self.make, *self.given)


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument or a result: the user's name for it and its shape.

    `about` is its description in documentation ("spd", "the gradient in w"). `sample` is a NumPy expression for random
    data of an argument, in terms of `rng`, `{shape}` and `np`; empty: standard normal entries. `facts` are those that a
    call can check in an argument, `known` those that its data must have. `dtype` is int64 for indices, float32 for
    results that are rounded to it. A `zero_filled` result is zeros before the call, and machine code writes only its
    nonzero entries.
    """

    name: str
    shape: tuple[Size, ...] = ()
    about: str = ""
    sample: str = ""
    facts: tuple[str, ...] = ()
    dtype: str = "float64"
    known: tuple[str, ...] = ()
    zero_filled: bool = False

    @property
    def memory(self) -> str:
        """The type of the array that code writes a result to; float32 results are rounded from float64."""
        return self.dtype if self.dtype.startswith("int") else "float64"

    @property
    def maker(self) -> str:
        """The NumPy function that creates the array of a result."""
        return "np.zeros" if self.zero_filled else "np.empty"

    @property
    def declared(self) -> str:
        """The declaration, for messages."""
        return described(self.name, self.shape, self.dtype == "int64")


@dataclass(frozen=True, slots=True)
class SparseOperand:
    """A declared sparse matrix; its values, columns and row starts are arguments, from number `first` on.

    With `ordered`, columns must ascend in each row without duplicates; otherwise code adds up duplicate entries.
    """

    declared: Operand
    first: int
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Slope:
    """The result `gradient` is the gradient of the scalar result `value` in `argument` (all by number)."""

    value: int
    gradient: int
    argument: int


@dataclass(frozen=True, slots=True)
class Derivative:
    """The result `result` is the derivative of `of` in an argument, or in several along the directions `along`."""

    result: str
    of: str
    arguments: tuple[str, ...]
    along: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """Data by name, including sizes that are arguments, and the expected results."""

    data: Mapping[str, NDArray[Any]]
    results: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Reference:
    """The expected results of functions, computed without compiled code.

    `projections` are NumPy texts, by argument name, of the projection of M on the linear set of the argument.
    """

    cases: tuple[Case, ...]
    projections: Mapping[str, str] = field(default_factory=dict)


Texts = tuple[str, str, str]
"""A formula as text and as LaTeX, and the text of the computed formula, "" if it is the same."""


class Formula:
    """The formula of a result in text and LaTeX, passed in or written on first use."""

    __slots__ = ("_place", "_texts", "_write", "name")

    def __init__(self, name: str, text: str, latex: str = "", computed: str = "") -> None:
        self.name = name
        self._texts: Texts | None = text, latex, computed
        self._write: Callable[..., Texts] | None = None
        self._place: tuple[int, ...] = ()

    @classmethod
    def later(cls, name: str, write: Callable[..., Texts], *place: int) -> Formula:
        """Return the formula whose texts `write(*place)` returns; it is called at most once."""
        made = cls(name, "")
        made._texts, made._write, made._place = None, write, place
        return made

    @property
    def text(self) -> str:
        """The formula as text."""
        return self._written()[0]

    @property
    def latex(self) -> str:
        """The formula as LaTeX, "" if there is none."""
        return self._written()[1]

    @property
    def computed(self) -> str:
        """The computed formula as text, with marks for singular parts."""
        return self._written()[2] or self.text

    def for_cache(self, again: Again, place: int) -> Formula:
        """Return the formula for another process, in which `again` supplies texts that were not yet written here."""
        return self if self._write is None else Formula.later(self.name, again, place)

    def _written(self) -> Texts:
        if self._texts is None:
            assert self._write is not None
            self._texts = self._write(*self._place)
            self._write = None  # release the nodes
        return self._texts

    def __reduce__(self) -> tuple[object, ...]:
        if isinstance(self._write, Again):
            return Formula.later, (self.name, self._write, *self._place)
        return Formula, (self.name, *self._written())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and (self.name, *self._written()) == (other.name, *other._written())

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Formula({self.name!r}, {self.text!r}, {self.latex!r})"


@dataclass(frozen=True, slots=True)
class CompiledSpec:
    """A function that can be compiled.

    `source` (Numba) and `numpy_source` define `<some name>_into(arguments..., sizes..., results...)`, without
    imports and decorators. Scalar arguments are floats, `sizes` integers, results arrays to be written, scalar
    results of shape (1,). The return value is 0 or the number of a fault, counted from 1.
    `check_facts`: every call from Python checks the facts of its arguments. `conditions` on sizes are checked before
    arrays are read. `data` are the checks of indices whose failures are the last faults. `work` describes the cost of
    a call in words, `flops` are its operations. `oracle` computes expected results. Each `sparse` matrix occupies three
    arguments. `costs` are those of the steps: the line in the plan, flops, bytes. `typical` are the sizes at which
    plans were compared, `hinted` the ones that the user passed. `checked` states at which data the function was
    compared with its formulas as written, or why not. `with_fixed` returns the function for calls with the named
    arguments fixed and sizes known; the results of its `ahead` are its last arguments. `blas_axes` are sizes passed
    to BLAS or LAPACK: every entry rejects those above LONGEST_AXIS. Where the sizes of `branches` are not negative, the
    function may compute in another form.
    """

    name: str
    arguments: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    nesting: Nesting
    source: str = ""
    numpy_source: str = ""
    target: str = "numba"
    sizes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    formulas: tuple[Formula, ...] = ()
    slopes: tuple[Slope, ...] = ()
    declarations: str = ""
    version: str = ""
    plan: str = ""
    seconds: tuple[tuple[str, float], ...] = ()
    check_facts: bool = False
    conditions: tuple[Condition, ...] = ()
    blas_axes: tuple[Size, ...] = ()
    branches: tuple[Condition, ...] = ()
    data: tuple[Checked, ...] = ()
    work: str = ""
    flops: Size | None = None
    oracle: Callable[[Sequence[CompiledSpec]], Reference] | None = None
    sparse: tuple[SparseOperand, ...] = ()
    costs: tuple[tuple[int, Size, Size], ...] = ()
    typical: tuple[tuple[str, int], ...] = ()
    hinted: tuple[str, ...] = ()
    ahead: CompiledSpec | None = None
    checked: str = ""
    with_fixed: Callable[[CompiledSpec, Sequence[str], Mapping[str, int]], CompiledSpec] | None = None

    @property
    def code(self) -> Code:
        """The Code that `source` is printed from."""
        assert isinstance(self.source, Printed)
        return self.source.code

    @property
    def numeric_faults(self) -> int:
        """The number of leading statuses that are faults of linear algebra."""
        return len(self.faults) - len(self.data)

    @property
    def derivatives(self) -> tuple[Derivative, ...]:
        """The gradients among the results, as derivatives."""
        given, made = self.arguments, self.outputs
        rows = ((made[s.gradient].name, made[s.value].name, given[s.argument].name) for s in self.slopes)
        return tuple(Derivative(gradient, value, (argument,)) for gradient, value, argument in rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of a call's arguments, sizes last; a sparse matrix is one argument and determines its sizes."""
        if not self.sparse:
            return self.entered
        return (*(operand.name for operand in self.call_operands), *self.size_arguments)

    @property
    def size_arguments(self) -> tuple[str, ...]:
        """The sizes that a caller passes, since no shape of an argument determines them."""
        return (
            _size_arguments(tuple((o.name, o.shape) for o in self.call_operands), self.sizes)
            if self.sparse
            else self.sizes
        )

    @property
    def entered(self) -> tuple[str, ...]:
        """The names of the inputs of machine code: each array of a sparse matrix has its own."""
        return (*(a.name for a in self.arguments), *self.sizes)

    @property
    def declared(self) -> CompiledSpec:
        """The function as its callers see it: declared arguments, and only the sizes that callers pass."""
        if not self.sparse:
            return self
        known = {operand.name: k for k, operand in enumerate(self.call_operands)}
        slopes = tuple(replace(s, argument=known[self.arguments[s.argument].name]) for s in self.slopes)
        return replace(self, arguments=self.call_operands, sizes=self.size_arguments, slopes=slopes, sparse=())

    @property
    def call_operands(self) -> tuple[Operand, ...]:
        """The declared arguments, with a sparse matrix in place of its three arrays."""
        matrices = {s.first: s.declared for s in self.sparse}
        arrays = {s.first + k for s in self.sparse for k in range(1, ARRAYS)}
        return tuple(matrices.get(k, a) for k, a in enumerate(self.arguments) if k not in arrays)


@lru_cache(maxsize=64)
def _size_arguments(declared: tuple[tuple[str, tuple[Size, ...]], ...], sizes: tuple[str, ...]) -> tuple[str, ...]:
    return undetermined(declared, sizes)


def too_long(size: Size) -> str:
    """Return the error message for an axis that is too long for BLAS and LAPACK."""
    return f"the axis {size} is longer than {LONGEST_AXIS}, the most that BLAS and LAPACK take"


def nest(nesting: Nesting, values: list[object]) -> object:
    """Return the values in the nesting of the outputs."""
    if isinstance(nesting, int):
        return values[nesting]
    return tuple(nest(part, values) for part in nesting)


def flatten(nesting: Nesting, values: object, name: str) -> dict[int, object]:
    """Return the values by output number.

    Raises: ValueError if their nesting differs.
    """
    if isinstance(nesting, int):
        return {nesting: values}
    if not isinstance(values, tuple | list) or len(values) != len(nesting):
        raise ValueError(f"{name} must have the nesting of the outputs: {len(nesting)} parts")
    found: dict[int, object] = {}
    for part, value in zip(nesting, values, strict=True):
        found |= flatten(part, value, name)
    return found


def size_names(spec: CompiledSpec) -> tuple[str, ...]:
    """Return the names of all sizes, by first appearance."""
    shapes = [operand.shape for operand in (*spec.arguments, *spec.outputs)]
    found = dict.fromkeys(name for shape in shapes for size in shape for name in size.names)
    return tuple(found | dict.fromkeys(spec.sizes))
