"""matcalc: a symbolic matrix-calculus compiler.

A formula over matrices becomes its derivative, as a mathematician writes it, and fast code for both.
Names are loaded when first used, so that `import matcalc` and `matcalc --help` are instant.
"""

from __future__ import annotations

import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from matcalc.locks import loading, uncollected

__version__ = "0.1.0"

_loaded_at = time.time_ns()
"""Time at which this process began to load matcalc: the code in memory is older than any file changed since."""

_HOMES = {
    "matcalc.errors": (
        "InternalError", "MatcalcError", "NotDifferentiable", "NotSupported", "ParseError", "RuleError", "ShapeError",
        "UnknownName",
    ),
    "matcalc.expressions.expression": ("Expression",),
    "matcalc.api.compile": ("compile", "value_and_gradient"),
    "matcalc.api.plain_sources": ("plain",),
    "matcalc.api.pullback": ("pullback",),
    "matcalc.api.batch": ("batch", "scores"),
    "matcalc.api.check": ("check",),
    "matcalc.api.equivalent": ("equivalent",),
    "matcalc.api.convex": ("convex",),
    "matcalc.api.scan": ("scan",),
    "matcalc.api.structure": ("structure",),
    "matcalc.api.sparsity": ("sparsity",),
    "matcalc.api.define": ("check_rules", "define", "load_rules"),
    "matcalc.solvers.minimize": ("minimize",),
    "matcalc.rows.split": ("split",),
    "matcalc.api.functions": (
        "differential", "expression", "from_sympy", "function", "gradient", "hessian", "hvp", "jacobian", "jvp",
        "symbols", "vjp",
    ),
}  # fmt: skip

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)

_HOME_OF["load_ipython_extension"] = "matcalc.commands.notebook"  # for %load_ext matcalc


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is not None:
        with loading, uncollected():
            return getattr(import_module(home), name)
    if name.startswith("_") or not name.isidentifier() or find_spec(f"matcalc.{name}") is not None:
        raise AttributeError(f"module 'matcalc' has no attribute {name[:80]!r}")
    with loading:
        from matcalc.expressions.calling import function

    return function(name)


def __dir__() -> list[str]:
    with loading:
        from matcalc.expressions.calling import names

    return [*__all__, *names(), "__version__"]
