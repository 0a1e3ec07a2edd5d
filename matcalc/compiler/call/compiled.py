"""Defines `Compiled`, a function made of generated source and callable with any array-like.

Python calls machine code directly, which reads the argument objects itself (see `call_slot.py`). Other arguments (a
list, a float32 array, a wrong shape) take `__call__`. So do all calls if the memory layout of objects is unknown or a
private member of Numba is gone. `__call__` converts, checks, and reports errors. Calls share nothing but compiled
code, so a function may run in many threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from matcalc.cached import cached_property
from matcalc.compiler.blas.blas_routines import DEFAULT
from matcalc.compiler.call.bind import bind
from matcalc.compiler.call.convert import Array, check_outs, needs_copy, to_array, to_size
from matcalc.compiler.entry.call_slot import Exactly, connect, exact_object, with_call_slot
from matcalc.compiler.llvm import object_code_cache
from matcalc.compiler.machine.machine_code import Ready
from matcalc.compiler.spec.result_shapes import new_result, output_shapes, solve_sizes
from matcalc.compiler.spec.spec import CompiledSpec, Operand, flatten, nest
from matcalc.errors import NotSupported
from matcalc.language.identifiers import by_name
from matcalc.locks import loading, uncollected
from matcalc.store import artefacts
from matcalc.store.events import recording

if TYPE_CHECKING:
    from matcalc.compiler.call.bound import Bound
    from matcalc.compiler.call.plan_text import Plan
    from matcalc.compiler.call.precompute import Key, Pair
    from matcalc.compiler.kernels.modules import Lease

TARGETS = ("numba", "numpy")


class Found(NamedTuple):
    """Machine code, the seconds of its stages, whether it was built now, and a note for the user."""

    object_code: Ready
    seconds: Mapping[str, float]
    cache: str
    note: str


def beside() -> Any:
    """Import and return the rarely used parts of compiled functions."""
    from matcalc.compiler.call import on_demand

    return on_demand


class Compiled:
    """A compiled function: `fn(X, w)`, `fn(X=X, w=w)`, `fn(X, w, out=(None, G))`, `fn(X, w, check_facts=True)`.

    An argument of any name can be given in a dictionary, `fn({"out": x})`: as a keyword, `out` and `check_facts` are
    always the options. Attributes: `args`, `source`, `plan`, `stats`, `faults`, `numba`, `numba_into`, `cfunc()`,
    `bind(X=X)`, `save(path)`.
    """

    _found: Found | None = None
    ready: Ready | None = None  # how machine code is called, if it is not left to Numba
    _into: Callable[..., int]  # writes results of exact arguments into arrays, and returns the status
    _machine: Any = None
    _exact: Any = None  # takes exact arguments, the arrays of sparse matrices among them
    _blas: str | None = None  # the BLAS library, if it is known without the kernels

    def __new__(cls, spec: CompiledSpec) -> Compiled:
        """Return an object with a call slot if machine code can take the calls of the function."""
        if cls is not Compiled or CALLED is None or spec.target != "numba":
            return object.__new__(cls)
        found = _found(spec)
        has_table = beside().has_table(spec) if found is None else found.object_code.table is not None
        is_called = has_table and not (spec.sparse or _needs_fallback(spec))
        made: Compiled = object.__new__(CALLED if is_called else cls)
        made._found = found
        return made

    def __init__(self, spec: CompiledSpec) -> None:
        if spec.target not in TARGETS:
            raise NotSupported(f"no runtime for the target {spec.target!r}", hint=f"targets: {', '.join(TARGETS)}")
        self.spec = spec
        self._sparse = bool(spec.sparse)
        self._twins: dict[Callable[..., Any], Any] = {}
        self._kept: dict[Key, Pair | None] = {}
        if self._found is not None:
            self._run_object_code(self._found)
        else:
            with loading, uncollected(), recording() as record:
                spent = self._run_text()
            self._seconds = dict(spec.seconds) | spent
            self._cache, self._note = "built" if record.built else "hit", record.note
        if self.ready is None:
            return
        self._into = Exactly(spec, self.ready.into)
        if type(self) is CALLED:
            self._machine = connect(self, self.ready, spec, Compiled.__call__)
        elif CALLED is not None and not _needs_fallback(spec) and self.ready.table is not None:
            self._exact = exact_object(self.ready, spec)

    def _run_text(self) -> dict[str, float]:
        """Run the text of the module; return the seconds of each stage."""
        start = time.perf_counter()
        text = self._text
        middle = time.perf_counter()
        self._lease: Lease | None = beside().lease_of(self.spec, text)
        self._into = beside().into_of(self.spec, self._lease.module)
        self.ready = beside().ready_of(self.spec, self._into)
        return {"kernels": middle - start, "compile": time.perf_counter() - middle}

    def _run_object_code(self, found: Found) -> None:
        """Use machine code without running its text."""
        self._lease, self.ready = None, found.object_code
        self._seconds = {**dict(self.spec.seconds), **found.seconds}
        self._cache, self._note = found.cache, found.note
        self._blas = None if artefacts.has("blas") else DEFAULT

    @property
    def address(self) -> int:
        """The address of the machine code that takes the calls; 0 if Python takes them."""
        return 0 if self.ready is None else self.ready.into.address

    @property
    def module(self) -> ModuleType:
        """The module of the source; it is run now if only its machine code was loaded."""
        with loading:
            if self._lease is None:
                self._lease = beside().lease_of(self.spec, self._text)
            return self._lease.module

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Bind the arguments; let machine code take those by name, and convert and check others."""
        out, check = kwargs.pop("out", None), kwargs.pop("check_facts", None)
        values = self._bound(args, kwargs)
        if self._sparse:
            return self._with_sparse(values, out, check)
        if args and isinstance(args[0], dict) and out is None and not check and self._machine is not None:
            return self(*values)  # machine code checks them, now in order
        return self._called(values, out, check)

    def _called(self, inputs: Sequence[Any], out: Any, check: bool | None) -> Any:
        """Call with exact arguments, or convert and check them."""
        if self._exact is not None and not check:
            try:
                return self._exactly(inputs, out)
            except TypeError:  # they are not exact, or the code reports a fault
                pass
        return self._fallback(*inputs, out=out, check_facts=check)

    def _exactly(self, inputs: Sequence[Any], out: Any) -> Any:
        """Call machine code; raise TypeError unless it takes the arguments and reports no fault."""
        return self._exact(*inputs) if out is None else self._exact(*inputs, out=out)

    def bind(self, given: Mapping[str, Any] | None = None, /, **keywords: Any) -> Bound:
        """Return the function of the remaining arguments, with these fixed: `fn.bind(X=X, y=y)(w)`.

        Parts that depend on the fixed arguments alone (Gram matrices, factors) are computed now if that saves work in
        each call; see the `plan` of the bound function. Call `bind` again after the data change: arrays of float64 in C
        order are not copied, and the parts computed from them are not updated.

        Raises: TypeError for a name that is not an argument or a value that is no array; ShapeError for another rank;
            LinAlgError if the computation at binding fails.
        """
        named = by_name({} if given is None else given, "bind()")
        twice = next((name for name in keywords if name in named), None)
        if twice is not None:
            raise TypeError(f"{self.spec.name} is given {twice} twice")
        return cast("Bound", beside().bound(self, self._kept, {**named, **keywords}))

    def _with_sparse(self, values: Sequence[Any], out: Any, check: bool | None) -> Any:
        """Call with each sparse matrix replaced by its arrays."""
        if self.spec.check_facts if check is None else check:
            beside().check_sparse_facts(self.spec)
        inputs = beside().stored(self.spec, values)
        try:
            return self._called(inputs, out, check)
        except np.linalg.LinAlgError:
            beside().check_stored(self.spec, inputs)
            raise

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        return bind(self.spec.name, self.spec.names, args, kwargs)

    @property
    def args(self) -> tuple[str, ...]:
        """The names of the arguments, in order."""
        return self.spec.names

    @cached_property
    def _text(self) -> str:
        """The text of the module."""
        return str(beside().text_of(self.spec))

    @property
    def source(self) -> str:
        """The program that runs, under a header with the formula of each result."""
        return f"{beside().header(self.spec)}\n\n{self._text}"

    @property
    def plan(self) -> Plan:
        """Kernel calls and loops with their flops and bytes; printing adds their least times on this machine."""
        return cast("Plan", beside().plan_of(self.spec, self._text))

    @property
    def faults(self) -> tuple[str, ...]:
        """The meanings of the statuses 1, 2, ... of `numba_into`; the last two: misfit sizes, shared memory."""
        return (*self.spec.faults, *beside().njit_and_c_entries.FAULTS)

    @property
    def checked(self) -> str:
        """The data at which the function was compared with its formulas as written, or why there was no comparison."""
        return self.spec.checked

    @property
    def stats(self) -> dict[str, Any]:
        """Seconds of each stage, whether compiled code came from the cache, the BLAS library, a note for the user."""
        blas = self._blas or beside().does_blas(self._text)
        return {**self._seconds, "cache": self._cache, "blas": blas, "note": self._note}

    @property
    def numba(self) -> Any:
        """The njit function that allocates its results and raises LinAlgError, for the user's own njit code."""
        return self._twin(beside().njit_and_c_entries.allocating)

    @property
    def numba_into(self) -> Any:
        """The njit function that writes into arrays of the caller, checks sizes and returns a status."""
        return self._twin(beside().njit_and_c_entries.into)

    def cfunc(self) -> Any:
        """Return Numba's handle (`.address`, `.ctypes`) of a C function.

        It is `int64 f(double **in, int64 *sizes, double **out)`. Arguments and results are in order, all by address;
        sizes are in the order of `size_names(spec)`; the status is that of `numba_into`. Sizes are not checked.
        """
        return self._twin(beside().njit_and_c_entries.c_entry)

    def _twin(self, make: Callable[[CompiledSpec, str], Any]) -> Any:
        """Return a further entry, built once. Its callers hold addresses, so the machine code is never freed."""
        with loading:
            if make not in self._twins:
                module = self.module
                if self._lease is not None:
                    beside().keep(self._lease)
                self._twins[make] = make(self.spec, module.__name__)
            return self._twins[make]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the function as a stand-alone file that needs NumPy, SciPy and, for speed, Numba.

        An existing file is replaced as a whole and keeps its mode; a link is followed.

        Raises: ParseError for a path that names no file; OSError if writing fails or the path is no regular file;
        NotSupported for a function that cannot be saved.
        """
        beside().save(self.spec, path)

    def _fallback(self, *values: Any, out: Any = None, check_facts: bool | None = None) -> Any:
        """Convert and check the arguments, which are in order, then call."""
        spec = self.spec
        values = tuple(bind(spec.name, spec.entered, values, {}))
        count = len(spec.arguments)
        arrays = [to_array(a, v) for a, v in zip(spec.arguments, values[:count], strict=True)]
        given = {n: to_size(n, v) for n, v in zip(spec.sizes, values[count:], strict=True)}
        inputs: list[Any] = [_number(a, o) for a, o in zip(arrays, spec.arguments, strict=True)]
        inputs += given.values()
        shapes = output_shapes(spec, solve_sizes(spec, [a.shape for a in arrays], given))
        if spec.check_facts if check_facts is None else check_facts:
            from matcalc.calculus.evaluate.check_data import check_declared

            check_declared((o.name, o.facts, a) for o, a in zip(spec.arguments, arrays, strict=True))
        if out is None:
            return self._finish(inputs, [new_result(o, shape) for o, shape in zip(spec.outputs, shapes, strict=True)])
        parts = flatten(spec.nesting, out, "out")
        targets = check_outs(spec.outputs, parts, shapes)
        results = []
        for operand, shape, place in zip(spec.outputs, shapes, targets, strict=True):
            is_free = place is not None and not needs_copy(place, arrays)
            result = place if place is not None and is_free else new_result(operand, shape)
            if is_free and operand.zero_filled:
                result[...] = 0.0
            results.append(result)
        return self._finish(inputs, results, targets)

    def _finish(self, inputs: Sequence[Any], results: list[Any], targets: Sequence[Array | None] = ()) -> Any:
        """Call, raise for a fault, copy results that were not computed in the caller's arrays, and nest."""
        status = self._fill(inputs, results)
        if status > self.spec.numeric_faults:
            beside().check_indices(self.spec, inputs)
        if status:
            raise np.linalg.LinAlgError(self.spec.faults[status - 1])
        with np.errstate(over="ignore"):
            for k, place in enumerate(targets):
                if place is not None and place is not results[k]:
                    place[...] = results[k]
                    results[k] = place
            parts = zip(results, self.spec.outputs, strict=True)
            values = [np.asarray(r, o.dtype) if o.shape else r.item() for r, o in parts]
        return nest(self.spec.nesting, values)

    def _fill(self, inputs: Sequence[Any], results: Sequence[Any]) -> int:
        """Write the results of exact arguments into arrays; return the status."""
        with np.errstate(all="ignore"):
            return self._into(*inputs, *results)

    def __reduce__(self) -> tuple[object, ...]:
        return (Compiled, (self.spec,))

    def __repr__(self) -> str:
        return f"<compiled {self.spec.name}({', '.join(self.args)})>"


def _found(spec: CompiledSpec) -> Found | None:
    """Return the machine code of a function, from the disk or compiled now; None if only Numba can compile it."""
    start = time.perf_counter()
    with loading, uncollected(), recording() as record:
        ready = object_code_cache.recalled(spec)
        spent = {"load": time.perf_counter() - start}
        made = beside().natively(spec) if ready is None else (ready, spent)
    return None if made is None else Found(made[0], made[1], "built" if record.built else "hit", record.note)


def _number(array: Array, operand: Operand) -> Any:
    """Return an argument in the type that compiled code takes: an array, a number or a Python integer."""
    return array if operand.shape else array[()] if operand.dtype == "float64" else int(array)


def _needs_fallback(spec: CompiledSpec) -> bool:
    """Whether every call takes the fallback: to check facts or to round results."""
    return spec.check_facts or any(o.dtype != "float64" for o in spec.outputs)


CALLED = with_call_slot(Compiled)
