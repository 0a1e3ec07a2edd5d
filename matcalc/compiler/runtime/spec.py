"""What a compiled function is made of, as plain data: enough to build, check, document, save and pickle it.

Whoever has a Program fills in a `CompiledSpec`; the runtime knows neither nodes nor plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from matcalc.tensor.size import Size
from matcalc.tensor.sizes_from_shapes import Condition, described, undetermined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from matcalc.compiler.program import Checked

# The nesting of the outputs: the number of one, or a tuple of nestings.
Nesting = int | tuple["Nesting", ...]


LONGEST_AXIS = 2**31 - 1
"""The largest length or stride that BLAS and LAPACK take, whose integers have 32 bits."""

ARRAYS = 3
"""How many arrays a sparse matrix is."""


@dataclass(frozen=True, slots=True)
class Later:
    """A function by the names of its module and its own: a pickle holds these, and the import waits for the call."""

    module: str
    name: str

    def __call__(self, *args: Any) -> Any:
        return getattr(import_module(self.module), self.name)(*args)


class Again:
    """What a function was asked for with, from which another process makes anew what it reads: once for all of it."""

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

    `about` is said of it in documentation ("spd", "the gradient in w"). `sample` is a NumPy expression for
    random data of an argument, in terms of `rng`, `{shape}` and `np`; empty: standard normal entries.
    `facts` are those that an argument can be checked for, `known` those that data for it need. `dtype` is int64 for
    places of an axis, float32 for results that are rounded to it. A result that is `blank` is handed to machine code
    full of zeros, which then writes only what is not.
    """

    name: str
    shape: tuple[Size, ...] = ()
    about: str = ""
    sample: str = ""
    facts: tuple[str, ...] = ()
    dtype: str = "float64"
    known: tuple[str, ...] = ()
    blank: bool = False

    @property
    def memory(self) -> str:
        """The type of the array that code writes a result to: one of float32 is rounded from it."""
        return self.dtype if self.dtype.startswith("int") else "float64"

    @property
    def maker(self) -> str:
        """What makes the array of a result, in NumPy's words."""
        return "np.zeros" if self.blank else "np.empty"

    @property
    def declared(self) -> str:
        """The declaration, for messages."""
        return described(self.name, self.shape, self.dtype == "int64")


@dataclass(frozen=True, slots=True)
class SparseOperand:
    """A sparse matrix, as it is declared: its values, columns and starts are arguments, from number `first` on.

    `ordered`: columns are to ascend in each row, each once; else entries stored twice are added up on the way.
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
    """The result `result` is the derivative of the result `of` in an argument, or in several along the `along`."""

    result: str
    of: str
    arguments: tuple[str, ...]
    along: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """Data by name, sizes that are arguments among them, and what the results are there."""

    data: Mapping[str, NDArray[Any]]
    results: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Reference:
    """What functions should return, by an evaluation that knows no compiled code.

    `projections` are the NumPy texts, in M, of projections on the linear set that an argument is in, by its name.
    """

    cases: tuple[Case, ...]
    projections: Mapping[str, str] = field(default_factory=dict)


Texts = tuple[str, str, str]
"""A formula as text and as LaTeX; and the text of what is computed, "" where it is the same."""


class Formula:
    """What a result is, in text and LaTeX: given, or written when one of them is first read."""

    __slots__ = ("_place", "_texts", "_write", "name")

    def __init__(self, name: str, text: str, latex: str = "", computed: str = "") -> None:
        self.name = name
        self._texts: Texts | None = text, latex, computed
        self._write: Callable[..., Texts] | None = None
        self._place: tuple[int, ...] = ()

    @classmethod
    def later(cls, name: str, write: Callable[..., Texts], *place: int) -> Formula:
        """Return the formula whose texts `write` returns at its place: called once, if at all."""
        made = cls(name, "")
        made._texts, made._write, made._place = None, write, place
        return made

    @property
    def text(self) -> str:
        """The formula as text."""
        return self._written()[0]

    @property
    def latex(self) -> str:
        """The formula as LaTeX, empty where there is none."""
        return self._written()[1]

    @property
    def computed(self) -> str:
        """The formula as it is computed, with marks for what is singular, as text."""
        return self._written()[2] or self.text

    def kept(self, again: Again, place: int) -> Formula:
        """Return the formula for another process, where `again` gives what nobody has read here."""
        return self if self._write is None else Formula.later(self.name, again, place)

    def _written(self) -> Texts:
        if self._texts is None:
            assert self._write is not None
            self._texts = self._write(*self._place)
            self._write = None  # nodes need not stay for texts that are there
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
    imports and decorators: scalar arguments are floats, `sizes` integers, results arrays to be written,
    scalar ones of shape (1,); the value returned is 0 or the number of a fault, counted from 1.
    `check_facts`: every call from Python checks its arguments for their facts. `conditions` on sizes are checked
    before the arrays are read. `data` are what the last faults are about: places outside an axis. `work` says what a
    call costs, `flops` are its operations; `oracle` knows what the results of functions should be. `sparse` are the
    matrices of which three arguments each are the arrays. `costs` are those of the steps: the line
    in the plan, flops, bytes; `typical` are the sizes at which plans were compared, `hinted` which of them were given.
    `checked` says at which data the function was called and compared with its formulas as written, or why not.
    `with_fixed` gives the function for calls with arguments of these names fixed, sizes known: what its `ahead` returns
    are the last arguments of it. `blas_axes` are sizes that a routine of BLAS or LAPACK takes: every entry refuses
    those above LONGEST_AXIS.
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
    def numeric_faults(self) -> int:
        """How many statuses, the first ones, are faults of linear algebra."""
        return len(self.faults) - len(self.data)

    @property
    def derivatives(self) -> tuple[Derivative, ...]:
        """Which results are gradients of which."""
        given, made = self.arguments, self.outputs
        rows = ((made[s.gradient].name, made[s.value].name, given[s.argument].name) for s in self.slopes)
        return tuple(Derivative(gradient, value, (argument,)) for gradient, value, argument in rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that a caller gives, sizes last: a sparse matrix is one argument, and tells its sizes."""
        if not self.sparse:
            return self.entered
        return (*(operand.name for operand in self.given), *self.asked)

    @property
    def asked(self) -> tuple[str, ...]:
        """The sizes that a caller gives: no shape of what is given tells them."""
        return _asked(tuple((o.name, o.shape) for o in self.given), self.sizes) if self.sparse else self.sizes

    @property
    def entered(self) -> tuple[str, ...]:
        """The names of what machine code is given: the arrays of a sparse matrix one by one."""
        return (*(a.name for a in self.arguments), *self.sizes)

    @property
    def declared(self) -> CompiledSpec:
        """The function as its callers see it: arguments as declared, of sizes those that are given."""
        if not self.sparse:
            return self
        known = {operand.name: k for k, operand in enumerate(self.given)}
        slopes = tuple(replace(s, argument=known[self.arguments[s.argument].name]) for s in self.slopes)
        return replace(self, arguments=self.given, sizes=self.asked, slopes=slopes, sparse=())

    @property
    def given(self) -> tuple[Operand, ...]:
        """The arguments as declared, with a sparse matrix in the place of its arrays."""
        matrices = {s.first: s.declared for s in self.sparse}
        arrays = {s.first + k for s in self.sparse for k in range(1, ARRAYS)}
        return tuple(matrices.get(k, a) for k, a in enumerate(self.arguments) if k not in arrays)


@lru_cache(maxsize=64)
def _asked(declared: tuple[tuple[str, tuple[Size, ...]], ...], sizes: tuple[str, ...]) -> tuple[str, ...]:
    return undetermined(declared, sizes)


def too_long(size: Size) -> str:
    """Return the message about an axis that is longer than BLAS and LAPACK take."""
    return f"the axis {size} is longer than {LONGEST_AXIS}, the most that BLAS and LAPACK take"


def nest(nesting: Nesting, values: list[object]) -> object:
    """Return the values in the nesting of the outputs."""
    if isinstance(nesting, int):
        return values[nesting]
    return tuple(nest(part, values) for part in nesting)


def flatten(nesting: Nesting, values: object, name: str) -> dict[int, object]:
    """Return the values by output number.

    Raises: ValueError where their nesting is another.
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
