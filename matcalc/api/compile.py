"""Provides `compile` and `value_and_gradient`: compiled functions, built or loaded from the cache.

A request in text alone is looked up in the cache before anything is parsed or imported. If it is there, its machine
code is loaded unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from matcalc.compiler.call import spec_cache
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.spec.spec import Again, Later
from matcalc.errors import NotSupported
from matcalc.pipeline.inputs import CompileInputs, GradientInputs, Inputs

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from matcalc.expressions.operands.handle import Key, Symbol, Wrt
    from matcalc.expressions.read_input import Readables
    from matcalc.language.containers import Results
    from matcalc.language.declare import Declarations
    from matcalc.pipeline.inputs import Outputs
    from matcalc.sparse_results.function import SparseFunction
    from matcalc.tensor.symbols import Names


def compile(  # noqa: A001 - the interface names it so
    outputs: Outputs,
    args: Sequence[Symbol] | None = None,
    target: str = "numba",
    dtype: DTypeLike = "float64",
    sizes: Mapping[Key, int] | None = None,
    declarations: Declarations = "",
    dialect: str = "matrix",
    name: str = "f",
    check_facts: bool = False,
    guards: str = "allow",
    threads: int = 1,
    check: bool = True,
    checkpoints: int | str | None = None,
    sparse: bool = False,
) -> Any:
    """Return a compiled function of one formula or of a nesting of several.

    `args` sets the order of the arguments (names or symbols). `sizes` are typical sizes; they affect speed only.
    Results of `dtype="float32"` are computed in float64 and rounded once. With `check_facts` every call from Python
    checks that its arguments have their declared facts, as `fn(..., check_facts=True)` does for one call. Every access
    to an array is proved to be inside it for all sizes, or is guarded; `fn.plan` ends with the count. `guards="refuse"`
    raises if an access needs a guard. With `threads`, calls on large data whose work separates over rows (leading axes)
    are divided into that many shares. The shares run in parallel and are added in order. Other calls use that many BLAS
    threads. `fn.stats` reports which, and why.

    Before the function is returned, it is called at small random data and compared with the formulas as written;
    `fn.checked` reports the data. `check=False` omits the comparison.

    A gradient of a recurrence reads its states in reverse order. With `checkpoints=k`, at most k of them are stored at
    a time, and the others are computed again, each as rarely as that allows. With `"sqrt"`, k is twice the square root
    of the number of steps, so each step is repeated about twice.

    With `sparse`, results that are matrices are SciPy CSR arrays. Their pattern follows from the formula: entries that
    can be nonzero for some data of these sizes. Only these are computed. `sparsity` shows the pattern.

    Raises: NotSupported if the target lacks an operation, if a guard is needed and `guards="refuse"`, or if a
        recurrence needs all its states in spite of `checkpoints`; InternalError
        if the function differs from its formulas; TypeError or ValueError for an invalid number of threads; and the
        errors of reading the formulas.
    """
    inputs = CompileInputs(
        outputs, args, target, dtype, sizes, declarations, dialect, name, check_facts, guards, check, checkpoints
    )
    return _sparse(inputs, threads) if sparse else _made(inputs, threads)


def value_and_gradient(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    dialect: str = "matrix",
    convention: str = "projected",
    target: str = "numba",
    sizes: Mapping[Key, int] | None = None,
    name: str = "f",
    check_facts: bool = False,
    dtype: DTypeLike = "float64",
    threads: int = 1,
    check: bool = True,
    checkpoints: int | str | None = None,
) -> Compiled:
    """Return a compiled function with result (value, gradient); the gradient is a tuple if `wrt` is a list.

    The gradient in a container, `params`, is a container like the argument: `fn(params, X, y)`. Arrays that a Python
    function reads from its closure or from globals are bound: they are no arguments, and later changes of them have no
    effect. `fn.whole` is the function of all arguments.

    `threads` and `checkpoints` are as in `compile`.
    """
    return _made(
        GradientInputs(
            f, wrt, declarations, dialect, convention, target, sizes, name, check_facts, dtype, check, checkpoints
        ),
        threads,
    )


def _made(inputs: Inputs, threads: int) -> Compiled:
    """Return the function from the cache, or build it."""
    if type(threads) is not int or threads != 1:
        from matcalc.pipeline import build
        from matcalc.rows.in_threads import in_threads

        request = build.request_for(inputs)
        return as_called(in_threads(inputs, threads, request), request.names, request.results)
    start = time.perf_counter()
    is_plain = isinstance(inputs.declarations, str) and "." not in inputs.declarations
    key = spec_cache.key(inputs) if is_plain else ()  # containers are not in the specification
    spec = spec_cache.read(key)
    if spec is not None:
        return Compiled(replace(spec, seconds=(("recall", time.perf_counter() - start),)))
    from matcalc.compiler.targets import TARGETS
    from matcalc.pipeline import build

    request = build.request_for(inputs)
    made = build.build(request, TARGETS)
    again = Again(Later(build.__name__, "writers"), inputs)
    formulas = [formula.for_cache(again, k) for k, formula in enumerate(made.spec.formulas)]
    spec_cache.write(key, replace(made.spec, formulas=tuple(formulas)))
    return as_called(made, request.names, request.results)


def _sparse(inputs: CompileInputs, threads: int) -> SparseFunction:
    """Return the function with sparse results.

    Raises: NotSupported for threads and for results in containers.
    """
    from matcalc.pipeline import build
    from matcalc.sparse_results.build import sparse_function

    if threads != 1:
        raise NotSupported("a function with sparse results has one thread", hint="leave out threads=")
    request = build.request_for(inputs)
    if request.results is not None or request.names.containers:
        raise NotSupported("sparse results are not nested in containers", hint="pass a list of formulas")
    made = sparse_function(request)
    return made.bind(request.names.bound) if request.names.bound else made


def as_called(made: Compiled, names: Names, results: Results | None) -> Compiled:
    """Return a compiled function as it is called: with the data of Python functions bound, and with containers."""
    flat: Any = made.bind(names.bound) if names.bound else made
    if names.containers or results is not None:
        from matcalc.compiler.call.with_containers import WithContainers

        flat = WithContainers(flat, names.containers, results, {})
    return cast("Compiled", flat)
