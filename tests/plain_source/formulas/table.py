"""Defines an entry of the table: a formula, its declarations, and the code that an expert writes for it by hand.

The hand-written function takes the symbols by name and returns the value and the derivative for each variable. It is
derived on paper, from mathematics, with NumPy and SciPy alone. Plain source is compared with it: results, number of
lines, time.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

SIZES = (
    {"m": 7, "n": 4, "k": 3, "p": 5, "q": 2, "N": 9},
    {"m": 9, "n": 5, "k": 2, "p": 3, "q": 4, "N": 14},
)
"""The sizes of the two comparisons."""
LARGE = {"m": 400, "n": 100, "k": 20, "p": 50, "q": 10, "N": 3000}
"""The sizes of the benchmark, for formulas without their own."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A formula with its hand-written function.

    - `wrt`: the variables, separated by spaces.
    - `gives`: the derivatives beside the value: `gradient`, `jacobian`, `vjp`, or the second ones `hessian` and `hvp`.
      An `hvp` stands alone.
    - `data`: recipes by symbol, for data that are not normal numbers with the declared facts (`plain_source/data.py`).
    - `sizes`, `large`: changed sizes of the comparisons and of the benchmark.
    """

    name: str
    text: str
    declarations: str
    wrt: tuple[str, ...]
    function: Callable[..., object]
    gives: str = "gradient"
    data: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    large: dict[str, int] = field(default_factory=dict)


FORMULAS: list[Formula] = []
"""The formulas with first derivatives."""
SECOND: list[Formula] = []
"""Their Hessians and Hessian-vector products."""


def formula(text, declarations, wrt, gives="gradient", sizes=None, large=None, **data):
    """Add the decorated function to the table, as the hand-written code of a formula."""

    def added(function):
        entry = Formula(
            function.__name__, text, declarations, tuple(wrt.split()), function, gives, data, sizes or {}, large or {}
        )
        FORMULAS.append(entry)
        return function

    return added


def second(gives):
    """Add the decorated function as the hand-written second derivative of the last formula."""

    def added(function):
        of = FORMULAS[-1]
        name = f"{of.name}_{gives}"
        SECOND.append(Formula(name, of.text, of.declarations, of.wrt, function, gives, of.data, of.sizes, of.large))
        return function

    return added
