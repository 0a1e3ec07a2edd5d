"""References: independent evaluators of formulas, with which results are compared.

The reference of a formula read from text is its syntax tree. That of a Python function is the function itself. That of
an expression built by NumPy's functions applies these to arrays. That of any other formula evaluates its node.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError, NoReference
from matcalc.language.containers import Form, Key, items
from matcalc.language.index_sums import with_sums
from matcalc.language.pickling import Record, tree_of, tree_records
from matcalc.language.syntax import Ast, operands_first, reference_of_leaf, value_of_leaf, whole
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.tensor.nodes.node import Node

if TYPE_CHECKING:
    from matcalc.evidence.written.values import Array

FORMULAS = 64
"""The number of formulas whose references stay cached."""

Data: TypeAlias = Mapping[str, Any]
Sizes: TypeAlias = Mapping[str, int]
Run: TypeAlias = "Callable[[Sequence[Any], Data, Sizes, Data], Any]"
"""Computes a value from the values of other references, data, sizes, and the data before they were moved."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Reference:
    """An evaluator that does not use the normal form; `what` describes it.

    `is_written` is false if it does use a node. `origin` computes the value by the system that the formula was read
    from, such as SymPy; it returns None if that system has no value.
    """

    what: str
    run: Run
    args: tuple[Reference, ...] = ()
    is_written: bool = True
    origin: Callable[[Data, Sizes], Array | None] | None = None

    @property
    def is_pure(self) -> bool:
        """Whether the value depends on data and sizes alone: a syntax tree without objects, read from text."""
        return isinstance(self.run, TreeValue) and not self.args and self.origin is None

    def value(self, data: Data, sizes: Sizes, base: Data | None = None) -> Array:
        """Return the value at data; `base` are the data before they were moved along a direction.

        Raises: NoReference; LinAlgError outside a domain; IndexError for an out-of-range index.
        """
        import numpy as np

        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.computed(data, sizes, data if base is None else base)

    def computed(self, data: Data, sizes: Sizes, base: Data) -> Array:
        """Return the value as `value` does; the caller ignores floating-point errors and warnings."""
        import numpy as np

        if self.args:
            found: dict[Reference, Any] = {}
            for one in operands_first(self, lambda reference: reference.args, found):
                if one not in found:
                    found[one] = one.run([found[arg] for arg in one.args], data, sizes, base)
            value = np.asarray(found[self])
        else:
            value = np.asarray(self.run((), data, sizes, base))
        if value.dtype.kind not in "fciub":
            raise NoReference("a value that is not an array of numbers")
        return value

    def values(self, data: Data, sizes: Sizes, base: Data, count: int) -> list[Array]:
        """Return the values at several steps, if the reference is a tree, else an empty list.

        Moved data are `Value`s with the axis STEP_AXIS. The caller ignores floating-point errors and warnings.

        Raises: as `value`.
        """
        if not isinstance(self.run, TreeValue) or self.args or any(n.head == "state" for n in whole(self.run.tree)):
            return []
        return self.run.at_steps(data, sizes, base, count)

    def __reduce__(self) -> tuple[object, ...]:
        number: dict[Reference, int] = {}
        records: list[tuple[Any, ...]] = []
        for one in operands_first(self, lambda reference: reference.args):
            if one not in number:
                number[one] = len(records)
                args = tuple(number[arg] for arg in one.args)
                records.append((one.what, one.run, args, one.is_written, one.origin))
        return _restored, (tuple(records),)


def _restored(records: Sequence[tuple[Any, ...]]) -> Reference:
    """Return a reference from its pickle, a flat list: its depth is not limited by recursion."""
    restored: list[Reference] = []
    for what, run, args, is_written, origin in records:
        restored.append(Reference(what, run, tuple(restored[k] for k in args), is_written, origin))
    return restored[-1]


@dataclass(frozen=True, slots=True)
class NotPickled:
    """Replaces a Python function that cannot be pickled; raises NoReference when called."""

    why: str

    def __call__(self, values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Any:
        raise NoReference(self.why)


class OfPython:
    """Base of evaluators that call a user's Python function; pickles as `NotPickled` if the function does not."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        own = tuple(getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]
        try:
            pickle.dumps(own)
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError):
            return NotPickled, ("its Python function cannot be pickled",)
        return type(self), own


@dataclass(frozen=True, slots=True)
class NodeValue:
    """The value of a node."""

    node: Node

    def __call__(self, values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Array:
        return evaluate([self.node], data, sizes, base)[0]


def values_of(references: Sequence[Reference], data: Data, sizes: Sizes) -> list[Array]:
    """Return the values of references at data; those of nodes are evaluated together.

    Raises: as `Reference.value`.
    """
    nodes = [one.run.node for one in references if isinstance(one.run, NodeValue)]
    known = dict(zip(nodes, evaluate(nodes, data, sizes), strict=True))
    return [known[one.run.node] if isinstance(one.run, NodeValue) else one.value(data, sizes) for one in references]


@dataclass(frozen=True, slots=True, eq=False)
class TreeValue:
    """The value of a syntax tree, computed from the values of its leaves that hold objects, in order."""

    tree: Ast
    leaves: Sequence[Ast]
    numpy: bool
    broadcasts: bool
    explicit: dict[tuple[str, ...], Ast] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Ast, numpy: bool, broadcasts: bool) -> TreeValue:
        leaves = tuple(dict.fromkeys(leaf for leaf in whole(tree) if leaf.head == "leaf"))
        return cls(tree, leaves, numpy, broadcasts)

    def __call__(self, values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Array:
        from matcalc.evidence.written.tree import tree_value

        known = dict(zip(self.leaves, values, strict=True))
        tree = self._with_sums((*data, *sizes))
        return tree_value(tree, data, sizes, base, lambda leaf, *_: known[leaf], self.numpy, self.broadcasts).array

    def at_steps(self, data: Data, sizes: Sizes, base: Data, count: int) -> list[Array]:
        """Return the values at several steps; moved data are `Value`s with the axis STEP_AXIS.

        Raises: NoReference for leaves that hold objects.
        """
        import numpy as np

        from matcalc.evidence.written.tree import tree_value

        if self.leaves:
            raise NoReference("an object at several steps")
        tree = self._with_sums((*data, *sizes))
        found = tree_value(tree, data, sizes, base, _no_leaf, self.numpy, self.broadcasts)
        return list(found.array if found.axes else np.broadcast_to(found.array, (count, *found.array.shape)))

    def _with_sums(self, names: tuple[str, ...]) -> Ast:
        """Return the tree with explicit sums over indices; `names` are not indices."""
        found = self.explicit.get(names)
        if found is None:
            found = self.explicit[names] = with_sums(self.tree, lambda word: word not in names)
        return found

    def __reduce__(self) -> tuple[object, ...]:
        return _tree_value, (tree_records(self.tree), self.numpy, self.broadcasts)


def _no_leaf(leaf: Ast, data: Data, sizes: Sizes) -> Array:
    raise NoReference("an object at several steps")


def _tree_value(records: tuple[Record, ...], numpy: bool, broadcasts: bool) -> TreeValue:
    return TreeValue.of(tree_of(records), numpy, broadcasts)


@dataclass(frozen=True, slots=True)
class CallValue(OfPython):
    """The value of a function of arrays, applied to the values of other references."""

    function: Callable[..., Any]

    def __call__(self, values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Any:
        import numpy as np

        try:
            return self.function(*values)
        except np.linalg.LinAlgError:
            raise
        except (TypeError, ValueError, ArithmeticError, MatcalcError) as error:
            raise _rejected(error, values) from None


@dataclass(frozen=True, slots=True)
class FunctionValue(OfPython):
    """One result of a Python function of data and sizes by name; `at` is the path of keys to it in the returned value.

    `forms` are those of the parameters that are containers.
    """

    function: Callable[..., Any]
    parameters: Sequence[str]
    at: Sequence[Key]
    forms: Mapping[str, Form]

    def __call__(self, values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> Any:
        import numpy as np

        try:
            known = {**{name: int(length) for name, length in sizes.items()}, **data}
            arguments = {name: self._argument(name, known) for name in self.parameters}
            found = self.function(**arguments)
            for key in self.at:
                found = dict(items(found) or ())[key]
            return np.asarray(found)
        except np.linalg.LinAlgError:
            raise
        except Exception as error:  # noqa: BLE001 - any exception: the user's function rejects these data
            raise _rejected(error, [data[leaf] for leaf in self._leaves() if leaf in data]) from None

    def _leaves(self) -> list[str]:
        forms = {name: self.forms.get(name) for name in self.parameters}
        return [leaf for name, form in forms.items() for leaf in (form.names if form else (name,))]

    def _argument(self, name: str, data: Data) -> Any:
        import numpy as np

        form = self.forms.get(name)
        if form is None:
            return data[name] if isinstance(data[name], int) else np.array(data[name])[()]
        return form.filled({leaf: np.array(data[leaf])[()] for leaf in form.names})


def _rejected(error: Exception, values: Sequence[Any]) -> Exception:
    """Return the error for data that a function rejects: complex numbers alone leave its real differences."""
    import numpy as np

    said = f"{type(error).__name__}: {error}"
    return TypeError(said) if any(map(np.iscomplexobj, values)) else NoReference(said)


def of_node(node: Node) -> Reference:
    """Return a reference that evaluates a node, for a formula known only by its node."""
    return Reference("its node", NodeValue(node), is_written=False)


def of_tree(tree: Ast, numpy: bool = False, broadcasts: bool = False) -> Reference:
    """Return the reference of a syntax tree; objects in its leaves have references of their own.

    With `numpy` operators have NumPy's meaning; with `broadcasts` shapes expand as in NumPy.
    """
    value = TreeValue.of(tree, numpy, broadcasts)
    own = [reference_of_leaf(leaf) or of_node(value_of_leaf(leaf)) for leaf in value.leaves]
    return Reference("the formula as written", value, tuple(own))


def of_text(tree: Ast, numpy: bool = False) -> Reference:
    """Return the reference of the tree of a text, cached: formulas of one text share the points that were evaluated."""
    return _of_text(tree, numpy, default_rulebook())


@lru_cache(maxsize=FORMULAS)
def _of_text(tree: Ast, numpy: bool, book: Rulebook) -> Reference:
    return of_tree(tree, numpy, numpy)


def of_call(function: Callable[..., Any], *args: Reference) -> Reference:
    """Return the reference of a function of arrays, applied to the values of other references."""
    return Reference("the same functions at arrays", CallValue(function), args)


def of_function(
    function: Callable[..., Any],
    parameters: Sequence[str],
    at: Sequence[Key] = (),
    forms: Mapping[str, Form] | None = None,
) -> Reference:
    """Return the reference of a Python function written for NumPy: the function itself, at arrays.

    `at` is the path of keys to one result in the returned value; `forms` are those of parameters that are containers.
    """
    return Reference("the function at arrays", FunctionValue(function, tuple(parameters), tuple(at), forms or {}))
