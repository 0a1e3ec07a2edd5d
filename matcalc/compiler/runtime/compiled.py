"""Compiled: a function made of generated source, callable with any array-like.

Python calls machine code at once, which looks at the arguments where they are (see `call_slot.py`). What does not fit
(a list, a float32 array, a wrong shape), and every call where Python is not known to be laid out so, takes `__call__`:
first the quick entry of the generated module, then the polite way, which converts, checks, and names what is wrong.
Nothing is shared between calls but compiled code, so a function may run in many threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.compiler.runtime import further_entries
from matcalc.compiler.runtime.ahead import Key, Pair, bound
from matcalc.compiler.runtime.bind import bind
from matcalc.compiler.runtime.blas_choice import DEFAULT
from matcalc.compiler.runtime.bound import Bound
from matcalc.compiler.runtime.cache_entries import recording
from matcalc.compiler.runtime.call_slot import connect, with_call_slot
from matcalc.compiler.runtime.convert import Array, check_outs, needs_copy, to_array, to_size
from matcalc.compiler.runtime.entry_code import has_entry
from matcalc.compiler.runtime.modules import does_blas, keep, load_text
from matcalc.compiler.runtime.places import check_places
from matcalc.compiler.runtime.plan_text import Plan
from matcalc.compiler.runtime.result_shapes import output_shapes, solve_sizes
from matcalc.compiler.runtime.save import saved_text
from matcalc.compiler.runtime.source import into_name, numba_text, numpy_text
from matcalc.compiler.runtime.sparse import check_sparse_facts, check_stored, stored
from matcalc.compiler.runtime.spec import CompiledSpec, flatten, nest
from matcalc.compiler.runtime.write_file import write_text
from matcalc.errors import NotSupported
from matcalc.language.identifiers import by_name, file_path
from matcalc.locks import loading

# What the quick entry raises for arguments that need the polite way.
UNFIT = (AttributeError, TypeError, ValueError, OverflowError)
TEXTS = {"numba": numba_text, "numpy": numpy_text}


class Compiled:
    """A compiled function: `fn(X, w)`, `fn(X=X, w=w)`, `fn(X, w, out=(None, G))`, `fn(X, w, check_facts=True)`.

    An argument of any name can be given in a dictionary, `fn({"out": x})`: as a keyword, `out` and `check_facts` are
    always the options.

    Attributes: `args`, `source`, `plan`, `stats`, `faults`, `numba`, `numba_into`, `cfunc()`, `bind(X=X)`,
    `save(path)`.
    """

    def __new__(cls, spec: CompiledSpec) -> Compiled:
        """Return an object that machine code is called through, where the function has such an entry."""
        is_plain = cls is Compiled and spec.target == "numba" and not spec.sparse and not _is_polite(spec)
        return object.__new__(CALLED if is_plain and CALLED is not None and has_entry(spec) else cls)

    def __init__(self, spec: CompiledSpec) -> None:
        if spec.target not in TEXTS:
            raise NotSupported(f"no runtime for the target {spec.target!r}", hint=f"targets: {', '.join(TEXTS)}")
        self.spec = spec
        with loading, recording() as record:
            start = time.perf_counter()
            self.source = TEXTS[spec.target](spec)
            middle = time.perf_counter()
            loaded = load_text(self.source, spec.name, stays=False)
        self._lease = loaded.lease
        self.module = loaded.module
        text = spec.source if spec.target == "numba" else spec.numpy_source
        into = getattr(loaded.module, into_name(text))
        self._into: Callable[..., int] = into if spec.target == "numpy" else loaded.module.run
        is_polite = _is_polite(spec)
        quick = None if is_polite else getattr(loaded.module, spec.name, None)
        self._sparse = bool(spec.sparse)
        self._run: Callable[..., int] | None = None if is_polite else getattr(loaded.module, "run", None)
        self._entry: Callable[..., Any] = quick or self._polite
        self._shapes: Callable[..., Any] = getattr(loaded.module, f"{spec.name}_shapes", _refuse)
        self._seconds = dict(spec.seconds) | {
            "kernels": middle - start,
            "compile": time.perf_counter() - middle,
        }
        self._cache = "built" if record.built else "hit"
        self._note = record.note
        self._twins: dict[Callable[..., Any], Any] = {}
        self.address = _address(into) if type(self) is CALLED else 0
        self._machine = connect(self, spec, self.address, Compiled.__call__) if self.address else None
        self._kept: dict[Key, Pair | None] = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._sparse:
            return self._with_sparse(args, kwargs)
        if kwargs or (len(args) == 1 and isinstance(args[0], dict)):
            out, check = kwargs.pop("out", None), kwargs.pop("check_facts", None)
            values = self._bound(args, kwargs)
            if not check:
                try:
                    return self._entry(*values) if out is None else self._filled(values, out)
                except np.linalg.LinAlgError:
                    raise
                except UNFIT:
                    pass
            return self._polite(*values, out=out, check_facts=check)
        try:
            return self._entry(*args)
        except np.linalg.LinAlgError:
            raise
        except UNFIT:
            return self._polite(*self._bound(args, kwargs))

    def bind(self, given: Mapping[str, Any] | None = None, /, **keywords: Any) -> Bound:
        """Return the function of the other arguments, these fixed: `fn.bind(X=X, y=y)(w)`.

        What depends on these alone, Gram matrices, factors, is computed now where that saves work in each call; the
        `plan` of the bound function says it. Do not change data that are bound, bind again: those of float64 in C
        order are not copied, and what was computed from them stays.

        Raises: TypeError for a name that is no argument, or a value that is no array of its rank (ShapeError);
            LinAlgError where what is computed now fails.
        """
        named = by_name({} if given is None else given, "bind()")
        twice = next((name for name in keywords if name in named), None)
        if twice is not None:
            raise TypeError(f"{self.spec.name} is given {twice} twice")
        return bound(self, self._kept, {**named, **keywords})

    def _filled(self, values: Sequence[Any], out: Any) -> Any:
        """Write into exact arrays that share no memory; raise one of UNFIT for others, before anything is written."""
        if self._run is None:
            raise ValueError
        places: dict[int, Any] = flatten(self.spec.nesting, out, "out")
        results: list[Any] = []
        known = [value for value in values if isinstance(value, np.ndarray)]
        for k, shape in enumerate(self._shapes(*values)):
            place = places[k] if shape else np.empty(1)
            if place.shape != (shape or (1,)) or (not shape and places[k] is not None):
                raise ValueError
            if any(np.may_share_memory(place, other) for other in known):
                raise ValueError
            results.append(place)
            known.append(place)
        status = self._run(*values, *results)
        if status > self.spec.numeric_faults:
            raise ValueError
        if status:
            raise np.linalg.LinAlgError(self.spec.faults[status - 1])
        made = [r if o.shape else r.item() for r, o in zip(results, self.spec.outputs, strict=True)]
        return nest(self.spec.nesting, made)

    def _with_sparse(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call with the arrays of each sparse matrix in its place."""
        out, check = kwargs.pop("out", None), kwargs.pop("check_facts", None)
        values = self._bound(args, kwargs)
        if self.spec.check_facts if check is None else check:
            check_sparse_facts(self.spec)
        inputs = stored(self.spec, values)
        try:
            if out is None and not check:
                try:
                    return self._entry(*inputs)
                except np.linalg.LinAlgError:
                    raise
                except UNFIT:
                    pass
            return self._polite(*inputs, out=out, check_facts=check)
        except np.linalg.LinAlgError:
            check_stored(self.spec, inputs)
            raise

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        return bind(self.spec.name, self.spec.names, args, kwargs)

    @property
    def args(self) -> tuple[str, ...]:
        """The names of the arguments, in order."""
        return self.spec.names

    @property
    def plan(self) -> Plan:
        """Kernel calls and loops with their flop and byte counts; printed, with their least times on this machine."""
        spec = self.spec
        blas = does_blas(self.source)
        text = spec.plan if blas == DEFAULT else f"{spec.plan}\nblas: {blas}"
        return Plan(text, spec.costs, dict(spec.typical), spec.hinted)

    @property
    def faults(self) -> tuple[str, ...]:
        """What the statuses 1, 2, ... of `numba_into` mean; last, sizes that do not fit and arrays that overlap."""
        return (*self.spec.faults, *further_entries.FAULTS)

    @property
    def stats(self) -> dict[str, Any]:
        """Seconds of each stage, whether compiled code came from the cache, what does BLAS, and a note for the user."""
        return {**self._seconds, "cache": self._cache, "blas": does_blas(self.source), "note": self._note}

    @property
    def numba(self) -> Any:
        """The njit function that allocates its results and raises LinAlgError, for own njit code."""
        return self._twin(further_entries.allocating)

    @property
    def numba_into(self) -> Any:
        """The njit function that writes into given arrays, checks sizes and returns a status."""
        return self._twin(further_entries.into)

    def cfunc(self) -> Any:
        """Return Numba's handle (`.address`, `.ctypes`) of a C function.

        It is `int64 f(double **in, int64 *sizes, double **out)`: arguments and results in order, all by
        address, the sizes in the order of `size_names(spec)`, the status as from `numba_into`. Sizes are not
        checked.
        """
        return self._twin(further_entries.c_entry)

    def _twin(self, make: Callable[[CompiledSpec, str], Any]) -> Any:
        """Return another way in, made once. Its callers hold addresses: from then on the machine code stays."""
        with loading:
            if make not in self._twins:
                keep(self._lease)
                self._twins[make] = make(self.spec, self.module.__name__)
            return self._twins[make]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the function as a stand-alone file that needs NumPy, SciPy and, to be fast, Numba.

        A file that is there is replaced as a whole and keeps its mode; a link is followed.

        Raises: ParseError for a path that names no file; OSError, also for what is no regular file; NotSupported for a
        function that no file can hold.
        """
        place = file_path(path)
        write_text(place, saved_text(self.spec))

    def _polite(self, *values: Any, out: Any = None, check_facts: bool | None = None) -> Any:
        """Convert and check the arguments, given in order, then call."""
        spec = self.spec
        values = tuple(bind(spec.name, spec.entered, values, {}))
        count = len(spec.arguments)
        arrays = [to_array(a, v) for a, v in zip(spec.arguments, values[:count], strict=True)]
        given = {n: to_size(n, v) for n, v in zip(spec.sizes, values[count:], strict=True)}
        inputs: list[Any] = [a if o.shape else a[()] for a, o in zip(arrays, spec.arguments, strict=True)]
        inputs += given.values()
        shapes = self._output_shapes(arrays, given, inputs)
        if spec.check_facts if check_facts is None else check_facts:
            from matcalc.calculus.evaluate.check_data import check_declared

            check_declared((o.name, o.facts, a) for o, a in zip(spec.arguments, arrays, strict=True))
        if out is None:
            return self._finish(inputs, [np.empty(shape or (1,)) for shape in shapes])
        parts = flatten(spec.nesting, out, "out")
        wanted = check_outs(spec.outputs, parts, shapes)
        results = []
        for k, place in enumerate(wanted):
            is_free = place is not None and not needs_copy(place, arrays)
            results.append(place if is_free else np.empty(shapes[k] or (1,)))
        return self._finish(inputs, results, wanted)

    def _output_shapes(
        self, arrays: Sequence[Array], given: Mapping[str, int], inputs: Sequence[Any]
    ) -> Sequence[tuple[int, ...]]:
        """Return the shapes of the results: by generated code, or with the polynomials where that refuses."""
        try:
            shapes: Sequence[tuple[int, ...]] = self._shapes(*inputs)
            if all(length >= 0 for shape in shapes for length in shape):
                return shapes
        except UNFIT:
            pass
        return output_shapes(self.spec, solve_sizes(self.spec, [a.shape for a in arrays], given))

    def _finish(self, inputs: Sequence[Any], results: list[Any], wanted: Sequence[Array | None] = ()) -> Any:
        """Call, raise for a fault, copy what was not computed in its place, and nest."""
        if self.spec.target == "numpy":
            with np.errstate(all="ignore"):
                status = self._into(*inputs, *results)
        else:
            status = self._into(*inputs, *results)
        if status > self.spec.numeric_faults:
            check_places(self.spec, inputs)
        if status:
            raise np.linalg.LinAlgError(self.spec.faults[status - 1])
        with np.errstate(over="ignore"):
            for k, place in enumerate(wanted):
                if place is not None and place is not results[k]:
                    place[...] = results[k]
                    results[k] = place
            parts = zip(results, self.spec.outputs, strict=True)
            values = [np.asarray(r, o.dtype) if o.shape else r.item() for r, o in parts]
        return nest(self.spec.nesting, values)

    def __reduce__(self) -> tuple[object, ...]:
        return (Compiled, (self.spec,))

    def __repr__(self) -> str:
        return f"<compiled {self.spec.name}({', '.join(self.args)})>"


def _is_polite(spec: CompiledSpec) -> bool:
    """Whether every call takes the polite way: to check facts, or to round results."""
    return spec.check_facts or any(o.dtype != "float64" for o in spec.outputs)


def _address(into: Any) -> int:
    """Return where the machine code of an njit function of one signature is."""
    compiled = into.overloads[into.signatures[0]]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def _refuse(*_: Any) -> Any:
    """Stand for the generated function of a module that has none."""
    raise ValueError


CALLED = with_call_slot(Compiled)
