"""Defines Names: the symbols that a formula was written with, in the order of compiled arguments.

Nodes store neither this order nor the source. Names does, and so determines the arguments of a function: symbols as
declared, then new ones, then sizes that no argument determines.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from matcalc.errors import ShapeError, UnknownName
from matcalc.language.containers import Form, grouped
from matcalc.language.identifiers import identifier, nearest
from matcalc.language.kinds import INDEX
from matcalc.tensor.nodes.node import Node, sizes_used
from matcalc.tensor.sizes.sizes_from_shapes import Condition, kind_text, undetermined


@dataclass(frozen=True, slots=True)
class Names:
    """Symbols by name, in the order of compiled arguments; `written` are those that the formula was written with.

    `tangents` are new symbols that represent a direction: structured ones are projected when a value is passed.
    `conditions` are those on sizes that reading did not decide: a part must lie inside the whole.
    `sizes` are names of sizes in scope, which need not occur in a shape.
    `parts` are the nodes that formulas named, `K = A*A'; inv(K)`.
    `undeclared` are those whose kind was inferred.
    `bound` are the entries of symbols that are data of a Python function, by name: they are no arguments.
    `containers` are the forms of parameters that are containers of symbols, by name.
    `traced` marks a function written for NumPy that is being traced: its vectors have no row mark.
    `sympy_symbols` are the SymPy symbols, of sizes too, that a SymPy formula was read from: `sympy` returns these.
    """

    symbols: Mapping[str, Node]
    written: tuple[str, ...]
    tangents: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    sympy_symbols: Mapping[str, Any] = field(default_factory=dict)
    sizes: tuple[str, ...] = ()
    parts: Mapping[str, Node] = field(default_factory=dict)
    undeclared: frozenset[str] = frozenset()
    traced: bool = False
    bound: Mapping[str, Any] = field(default_factory=dict)
    containers: Mapping[str, Form] = field(default_factory=dict)

    def joined(self, other: Names) -> Names:
        """Return the names of both, those of `self` first.

        Raises: ShapeError if a name has two shapes or two sets of facts.
        """
        for name, node in other.symbols.items():
            mine = self.symbols.get(name, node)
            if mine is not node:
                raise ShapeError(f"{name} is declared twice: {declaration(mine)} and {declaration(node)}")
            if name in self.symbols:
                _check_same_data(name, self.bound.get(name), other.bound.get(name))
        sizes = {**self.size_names, **other.size_names}
        both = next((name for name in (*self.symbols, *other.symbols) if name in sizes), None)
        if both is not None:
            raise ShapeError(f"'{both}' is both a size and a symbol", hint="give one of them another name")
        written = tuple(dict.fromkeys(self.written + other.written))
        conditions = tuple(dict.fromkeys(self.conditions + other.conditions))
        symbols, sympy_symbols = {**self.symbols, **other.symbols}, {**self.sympy_symbols, **other.sympy_symbols}
        sizes_ = tuple(dict.fromkeys(self.sizes + other.sizes))
        parts, traced = {**other.parts, **self.parts}, self.traced or other.traced
        declared = (self.symbols.keys() - self.undeclared) | (other.symbols.keys() - other.undeclared)
        undeclared = (self.undeclared | other.undeclared) - declared
        tangents = (*self.tangents, *other.tangents)
        bound = {**self.bound, **other.bound} if self.bound or other.bound else self.bound
        forms = {**other.containers, **self.containers} if other.containers else self.containers
        own = Names(symbols, written, tangents, conditions, sympy_symbols, sizes_, parts, undeclared, traced)
        return replace(own, bound=bound, containers=forms) if bound or forms else own

    def symbol(self, name: str) -> Node:
        """Return the symbol of a name.

        Raises: UnknownName, with the nearest name.
        """
        found = self.symbols.get(name)
        if found is None:
            known = list(self.symbols)
            which = nearest(name, known) or (f"; its symbols are {', '.join(known[:8])}" if known else "")
            raise UnknownName(f"{name} is not a symbol of the formula{which}")
        return found

    @property
    def size_names(self) -> dict[str, None]:
        """The names of sizes: those in the shapes of the symbols, then the others."""
        shown = (n for s in self.symbols.values() for size in s.shape for n in size.names)
        return dict.fromkeys((*shown, *self.sizes))

    @property
    def named_parts(self) -> dict[Node, str]:
        """The nodes that formulas named, by names without another meaning."""
        scope = self.scope
        return {node: name for name, node in self.parts.items() if name not in scope and node.args}

    @property
    def scope(self) -> dict[str, None]:
        """The names of all symbols and of their sizes."""
        return {**dict.fromkeys(self.symbols), **self.size_names}

    def with_symbol(self, node: Node, parameter: str) -> Names:
        """Return the names with a new symbol at the end; `parameter` is the argument with which a user renames it."""
        if node.name in self.scope:
            raise ShapeError(f"the name {node.name} is in use: set {parameter}= to another name")
        tangents = (*self.tangents, node.name) if parameter != "cotangent" else self.tangents
        symbols = {**self.symbols, node.name: node}
        return replace(self, symbols=symbols, written=(*self.written, node.name), tangents=tangents)

    def arguments(self) -> tuple[Node, ...]:
        """Return the written symbols that are no data, in the order of compiled arguments."""
        return tuple(node for node in self.ordered() if node.name not in self.bound)

    def called(self, sizes: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names of the arguments of a call, in which containers replace their symbols; sizes follow."""
        return tuple(grouped([*(node.name for node in self.arguments()), *sizes], self.containers))

    @property
    def outer(self) -> dict[str, Any]:
        """The fields that a formula's text and declarations do not contain."""
        return {"written": self.written, "bound": self.bound, "containers": self.containers}

    def with_whole_containers(self) -> Names:
        """Return the names without data and containers whose symbols were replaced."""
        if not self.bound and not self.containers:
            return self
        bound = {name: entries for name, entries in self.bound.items() if name in self.symbols}
        whole = {name: form for name, form in self.containers.items() if self.symbols.keys() >= set(form.names)}
        return replace(self, bound=bound, containers=whole)

    def without(self, name: str) -> Names:
        """Return the names without one that a formula solves for."""
        remaining = {n: s for n, s in self.symbols.items() if n != name}
        left = replace(self, symbols=remaining, written=tuple(n for n in self.written if n != name))
        return left.with_whole_containers()

    def under(self, conditions: Sequence[Condition]) -> Names:
        """Return the names with further conditions."""
        return replace(self, conditions=tuple(dict.fromkeys((*self.conditions, *conditions))))

    def ordered(self) -> tuple[Node, ...]:
        """Return the written symbols in the order of compiled arguments."""
        chosen = set(self.written)
        return tuple(node for name, node in self.symbols.items() if name in chosen)


def _check_same_data(name: str, mine: Any, theirs: Any) -> None:
    """Raise ShapeError if a symbol stands for different data in two formulas."""
    if mine is not theirs and mine is not None and theirs is not None and mine.tobytes() != theirs.tobytes():
        hint = "give the variable another name in one of the functions, or pass it as an argument"
        raise ShapeError(f"{name} is the name of different data in two functions", hint=hint)


def all_sizes(nodes: Sequence[Node], names: Names, symbols: Sequence[Node] = ()) -> list[str]:
    """Return the names of the sizes that values need: those of the written symbols, or of `symbols`, then free ones."""
    own = (n for s in symbols or names.ordered() for size in s.shape for n in size.names)
    return list(dict.fromkeys((*own, *free_sizes(nodes, names, symbols))))


def declaration(node: Node) -> str:
    """Return the declaration of a symbol, as it is written."""
    return " ".join((f"{node.name}: {kind_text(node.shape, INDEX in node.data[1])}", *marks(node.data[1])))


def marks(facts: Collection[str]) -> list[str]:
    """Return the declared facts that are written after a kind."""
    return sorted(fact for fact in facts if fact != INDEX)


def free_sizes(nodes: Sequence[Node], names: Names, symbols: Sequence[Node] = ()) -> tuple[str, ...]:
    """Return the size names that nodes or symbols use and no symbol's shape determines: in shape order, then sorted.

    With `symbols`, only their shapes determine sizes. The order is the same for a value and all its derivatives.
    """
    ordered = names.ordered()
    shown = [n for s in ordered for size in s.shape for n in size.names]
    return undetermined([(s.name, s.shape) for s in symbols or ordered], [*shown, *sizes_used(nodes)])


def new_names(requested: str | Sequence[str] | None, defaults: Sequence[str], parameter: str) -> list[str]:
    """Return the names of new symbols: those passed as `parameter`, else the defaults.

    Raises: ParseError for an invalid name, ShapeError for a wrong number of names.
    """
    if requested is None:
        return [identifier(name, f"the default of {parameter}=") for name in defaults]
    chosen = [requested] if isinstance(requested, str) else list(requested)
    if len(chosen) != len(defaults):
        raise ShapeError(f"{parameter}= needs {len(defaults)} names, not {len(chosen)}")
    return [identifier(name, f"{parameter}=") for name in chosen]
