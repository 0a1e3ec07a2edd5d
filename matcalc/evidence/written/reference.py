"""References: where the value of a formula comes from that results are compared with.

The reference of a formula read from text is its syntax tree; that of a Python function is the function; that of what
NumPy's functions made of objects is these functions at arrays. What has nothing better refers to its node.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError, NoReference
from matcalc.language.index_sums import with_sums
from matcalc.language.syntax import Ast, given_reference, given_value, operands_first, whole
from matcalc.tensor.node import Node, toposort

if TYPE_CHECKING:
    from matcalc.evidence.written.values import Array

Data: TypeAlias = Mapping[str, Any]
Sizes: TypeAlias = Mapping[str, int]
Run: TypeAlias = "Callable[[Sequence[Any], Data, Sizes, Data], Any]"
"""The value from the values of other references, data, sizes, and the data before they were moved."""


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A value that does not come from the normal form; `what` says where it comes from.

    `is_written` is false where it comes from a node after all. `origin` gives the value once more, as the system gives
    it that the formula was read from; None where it has none.
    """

    what: str
    run: Run
    args: tuple[Reference, ...] = ()
    is_written: bool = True
    origin: Callable[[Data, Sizes], Array | None] | None = None

    def value(self, data: Data, sizes: Sizes, base: Data | None = None) -> Array:
        """Return the value at data; `base` are the data before they were moved along a direction.

        Raises: NoReference; LinAlgError outside of a domain; IndexError for a part outside.
        """
        import numpy as np

        found: dict[Reference, Any] = {}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._run(found, data, sizes, data if base is None else base)
        value = np.asarray(found[self])
        if value.dtype.kind not in "fciub":
            raise NoReference("a value that is no array of numbers")
        return value

    def _run(self, found: dict[Reference, Any], data: Data, sizes: Sizes, base: Data) -> None:
        for one in operands_first(self, lambda reference: reference.args, found):
            if one not in found:
                found[one] = one.run([found[arg] for arg in one.args], data, sizes, base)


def of_node(node: Node) -> Reference:
    """Return the reference of a formula that is known by its node alone."""

    def run(values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Array:
        if data is not base and any(n.kind == "op" and n.rule.takes_constants for n in toposort(node)):
            raise NoReference("an operation that takes its argument as a constant")
        return evaluate([node], data, sizes)[0]

    return Reference("its node", run, is_written=False)


def of_tree(tree: Ast, numpy: bool = False, broadcasts: bool = False) -> Reference:
    """Return the reference of a syntax tree; what leaves of it hold refers on.

    With `numpy` operators mean what they mean there; with `broadcasts` shapes are expanded as NumPy does.
    """
    explicit = lru_cache(maxsize=4)(lambda names: with_sums(tree, lambda word: word not in names))
    leaves = list(dict.fromkeys(leaf for leaf in whole(tree) if leaf.head == "given"))
    own = [given_reference(leaf) or of_node(given_value(leaf)) for leaf in leaves]

    def run(values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Array:
        from matcalc.evidence.written.tree import tree_value

        known = dict(zip(leaves, values, strict=True))
        whole_tree = explicit((*data, *sizes))
        return tree_value(whole_tree, data, sizes, base, lambda leaf, *_: known[leaf], numpy, broadcasts)

    return Reference("the formula as written", run, tuple(own))


def of_call(function: Callable[..., Any], *args: Reference) -> Reference:
    """Return the reference of a function of arrays, applied to others."""

    def run(values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Any:
        import numpy as np

        try:
            return function(*values)
        except np.linalg.LinAlgError:
            raise
        except (TypeError, ValueError, ArithmeticError, MatcalcError) as error:
            raise NoReference(f"{type(error).__name__}: {error}") from None

    return Reference("the same functions at arrays", run, args)


def of_function(function: Callable[..., Any], parameters: Sequence[str], at: Sequence[int] = ()) -> Reference:
    """Return the reference of a Python function written for NumPy: the function itself, at arrays.

    `at` is the place of one result in what it returns.
    """

    def run(values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Any:
        import numpy as np

        given = {name: np.array(data[name])[()] for name in parameters}
        try:
            found = function(**given)
            for place in at:
                found = found[place]
            return np.asarray(found)
        except np.linalg.LinAlgError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the user's function does not take these data
            raise NoReference(f"{type(error).__name__}: {error}") from None

    return Reference("the function at arrays", run)
