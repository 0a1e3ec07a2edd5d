"""`compile` and `value_and_gradient`: compiled functions, made now or found where an earlier process left them.

What was asked for with text alone is found by that text before anything is parsed, or even imported; then its machine
code is loaded as it is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from matcalc.compiler.runtime import recall
from matcalc.compiler.runtime.compiled import Compiled
from matcalc.compiler.runtime.spec import Again, Later

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from matcalc.building import Outputs
    from matcalc.expressions.handle import Key, Symbol, Wrt
    from matcalc.expressions.read_input import Readables


IN_THREADS = Later("matcalc.rows.in_threads", "in_threads")
"""A layer above, which makes functions of these."""


def compile(  # noqa: A001 - the interface names it so
    outputs: Outputs,
    args: Sequence[Symbol] | None = None,
    target: str = "numba",
    dtype: DTypeLike = "float64",
    sizes: Mapping[Key, int] | None = None,
    declarations: str = "",
    dialect: str = "matrix",
    name: str = "f",
    check_facts: bool = False,
    guards: str = "allow",
    threads: int = 1,
    check: bool = True,
) -> Compiled:
    """Return a compiled function of one formula or of a nesting of several.

    `args` gives another order of arguments (names or symbols), `sizes` hints for typical sizes (costs only). Results of
    `dtype="float32"` are computed in float64 and rounded once. With `check_facts` every call from Python checks its
    arguments for the facts that they are declared to have, as `fn(..., check_facts=True)` does once. Every access is
    proved to be inside its array, for all sizes, or stands under a guard: `fn.plan` ends with the count.
    `guards="refuse"` takes proofs alone. With `threads` calls on large data that separate over their rows (leading
    axes) are done by so many shares of these, side by side, added up in their order; else BLAS takes so many;
    `fn.stats` says which, and why.

    The function is called at small random data before it is returned, and compared with the formulas as they were
    written; `fn.checked` says at which. `check=False` leaves that out.

    Raises: NotSupported for what a target cannot do, and for a guard where they are refused; InternalError for a
    function that differs from its formulas; TypeError and ValueError
    for what is no number of threads; and what reading the formulas raises.
    """
    return _made("asked_of", locals())


def value_and_gradient(
    f: Readables,
    wrt: Wrt,
    declarations: str = "",
    dialect: str = "matrix",
    convention: str = "projected",
    target: str = "numba",
    sizes: Mapping[Key, int] | None = None,
    name: str = "f",
    check_facts: bool = False,
    dtype: DTypeLike = "float64",
    threads: int = 1,
    check: bool = True,
) -> Compiled:
    """Return a compiled function with result (value, gradient), the gradient a tuple where `wrt` is a list.

    `threads` are those of `compile`.
    """
    return _made("asked_with_gradient", locals())


def _made(way: str, given: Mapping[str, Any]) -> Compiled:
    """Return the function that was asked for in a way before, or made by the function of this name."""
    given = dict(given)
    threads = given.pop("threads")
    if type(threads) is not int or threads != 1:
        made: Compiled = IN_THREADS(way, given, threads)
        return made
    start = time.perf_counter()
    key = recall.key(way, given)
    spec = recall.found(key)
    if spec is not None:
        return Compiled(replace(spec, seconds=(("recall", time.perf_counter() - start),)))
    from matcalc import building
    from matcalc.compiler.targets import TARGETS

    made = building.build(getattr(building, way)(**given), TARGETS)
    again = Again(Later(building.__name__, "writers"), way, given)
    formulas = [formula.kept(again, k) for k, formula in enumerate(made.spec.formulas)]
    recall.keep(key, replace(made.spec, formulas=tuple(formulas)))
    return made
