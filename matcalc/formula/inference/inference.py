"""Holds the state of reading formulas, and creates their errors.

One `Inference` serves all the texts that share a scope. It holds the symbols (declared, or inferred from their
spelling), the names of sizes, unknown lengths, the labels of axes, and the bound index names. The modules beside this
one define the meaning of the grammar's forms; they take an Inference and operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from matcalc.errors import MatcalcError, ShapeError
from matcalc.formula.inference.kinds_by_spelling import inferred_rank
from matcalc.formula.inference.typed import ONE, Einsum, Labels, Typed, kind
from matcalc.formula.inference.unify import Fault, Sizes
from matcalc.language.identifiers import supply
from matcalc.language.kinds import INDEX
from matcalc.language.syntax import ONE_ENTRY, Ast, operator_position, value_of_leaf, walk
from matcalc.language.write import ends
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sizes.sizes_from_shapes import Condition, kind_text

if TYPE_CHECKING:
    from matcalc.rulebook.load import Rulebook

AXES = {1: ("length",), 2: ("rows", "columns")}
LETTERS = "mnkpqrstlhdw"  # for sizes without a name
SHOWN = 48  # characters of a sub-expression in a message


@dataclass(slots=True)
class Symbol:
    """A symbol: its shape, perhaps with unknown lengths, and whether it was declared."""

    name: str
    shape: tuple[Size, ...]
    facts: tuple[str, ...] = ()
    declared: bool = True


@dataclass(slots=True)
class Unknown:
    """The unknown of an equation: a name that is bound in the equation alone. `met`: whether it occurs there."""

    name: str
    shape: tuple[Size, ...]
    met: bool = False


Bounds = tuple[
    dict[str, int], dict[str, Typed], dict[str, Unknown], int, dict[Ast, frozenset[str]], dict[Ast, frozenset[str]]
]


@dataclass(slots=True)
class Inference:
    """The state of reading.

    strict: undeclared symbols raise, as in rule files. trusted: required facts of arguments are assumed.
    numpy: vectors are NumPy's, without rows, and `@` of two vectors is the inner product.
    broadcasts: operands expand as NumPy's do, aligned at the last axis.
    ranks: ranks of undeclared names that differ from their spelling. axes: of the rows x_i of matrices in LaTeX.
    lengths: of axes, by label. bound: labels of bound index names. depth: of index forms.
    parameters: the parameter of the function being read. unknowns: those of the equations being read.
    functions, slots: of a rule, with nodes and members.
    free: the open indices of each tree in index form. sums: the indices that each nested form sums.
    form: the outermost index form being read. index_leaves: leaves that are data in subscripts.
    index_labels: label, name, tree and text of each index. shared: values of shared trees. trees: those being read.
    ranges: indices that subscripts limit, by label. blocks: lengths of blocks of zeros, from the others.
    checks: sizes that must not be negative, each with the number of the text. conditions: undecided ones, by text.
    """

    rulebook: Rulebook
    strict: bool = False
    trusted: bool = False
    numpy: bool = False
    broadcasts: bool = False
    ranks: Mapping[str, int] = field(default_factory=dict)
    axes: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    size_names: dict[str, Size] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=Sizes)
    lengths: list[Size] = field(default_factory=list)
    bound: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, Typed] = field(default_factory=dict)
    unknowns: dict[str, Unknown] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    slots: dict[str, tuple[str, ...]] = field(default_factory=dict)
    depth: int = 0
    free: dict[Ast, frozenset[str]] = field(default_factory=dict)
    sums: dict[Ast, frozenset[str]] = field(default_factory=dict)
    form: Ast | None = None
    index_labels: list[tuple[int, str, Ast, str]] = field(default_factory=list)
    index_leaves: set[Ast] = field(default_factory=set)
    blocks: list[tuple[Size, Ast]] = field(default_factory=list)
    ranges: dict[int, Any] = field(default_factory=dict)
    checks: list[tuple[Size, Fault, int]] = field(default_factory=list)
    conditions: dict[int, list[Condition]] = field(default_factory=dict)
    shared: dict[Ast, Typed] = field(default_factory=dict)
    systems: dict[Ast, Any] = field(default_factory=dict)
    trees: tuple[Ast, ...] = ()
    text: str = ""
    number: int = 0

    @property
    def bounds(self) -> Bounds:
        """The current bindings: indices, the parameter of a function, unknowns."""
        return self.bound, self.parameters, self.unknowns, self.depth, self.free, self.sums

    @bounds.setter
    def bounds(self, found: Bounds) -> None:
        self.bound, self.parameters, self.unknowns, self.depth, self.free, self.sums = found

    def without_bounds(self) -> Bounds:
        """Remove all bindings, and return them."""
        before = self.bounds
        self.bounds = {}, {}, {}, 0, {}, {}
        return before

    def without_indices(self) -> Bounds:
        """Remove all indices, and return the bindings before."""
        before = self.bounds
        self.bounds = {}, self.parameters, self.unknowns, 0, {}, {}
        return before

    def label(self, length: Size) -> int:
        """Return a new label for an axis of this length."""
        self.lengths.append(length)
        return len(self.lengths) - 1

    def labels(self, value: Typed) -> Labels:
        """Return new labels for the core axes of a value."""
        first = len(self.lengths)
        self.lengths.extend(value.shape)
        return tuple(range(first, len(self.lengths)))

    def same(self, a: Size, b: Size) -> bool:
        """Equate two lengths if possible; return whether they are equal or may still be."""
        if a is b:
            return True
        text, position = self.text, self.sizes.current
        return self.sizes.equate(a, b, lambda: self.undecided(a, b, text, position))

    def same_shape(self, a: Sequence[Size], b: Sequence[Size]) -> bool:
        """Equate two shapes if possible; return whether they are equal or may still be."""
        return len(a) == len(b) and all(self.same(x, y) for x, y in zip(a, b, strict=True))

    def name_lengths(self, shape: Iterable[Size]) -> None:
        """Register the names in lengths as names of sizes."""
        self.size_names.update({name: Size.of(name) for size in shape for name in size.names})

    def undecided(self, a: Size, b: Size, text: str, position: Ast | None) -> ShapeError:
        """Return the error for an equation between sizes that does not hold, or does not determine them."""
        open_ = [s for s in self.symbols.values() if any("?" in self.sizes.resolve(size).key for size in s.shape)]
        one, other = self.size_text(a), self.size_text(b)
        kinds = "; ".join(f"{s.name}: {self.kind_text(s)}" for s in open_[:4])
        which = " or ".join(s.name for s in open_[:4])
        hint = f"declare the sizes of {which}: {kinds}, undeclared" if open_ else ""
        message = f"cannot make the sizes {one} and {other} equal"
        return ShapeError(message, text=text, at=position.caret if text and position else 0 if text else -1, hint=hint)

    def differ(self, a: Size, b: Size) -> str:
        """Return why two sizes are not equal: `m and k differ`, or `no sizes make 2*m and 5 equal`."""
        has_unknown = any("?" in self.sizes.resolve(size).key for size in (a, b))
        one, other = self.size_text(a), self.size_text(b)
        return f"no sizes make {one} and {other} equal" if has_unknown else f"{one} and {other} differ"

    def check_least(self, size: Size, at: Ast, message: Callable[[], str]) -> None:
        """Require that `size` is not negative; checked when sizes are known, and the message is written only then."""
        text = self.text
        self.checks.append((size, lambda: ShapeError(message(), text=text, at=at.caret), self.number))

    def located(self, fault: MatcalcError, ast: Ast) -> MatcalcError:
        """Add the current position to an error without one."""
        if not fault.text and fault.at < 0:
            fault.text, fault.at = self.text, ast.caret
        return fault

    # Messages: the user's names, bounded in length, with the position.

    def fault(
        self,
        message: str,
        ast: Ast,
        *,
        operator: int = -1,
        hint: str = "",
        about: Sequence[Ast] = (),
        sizes: Sequence[Size] = (),
    ) -> ShapeError:
        """Return a ShapeError at `ast` or one of its operators, the operands `about` marked, with their inferred kinds.

        `sizes`, one of each operand, are those that differ: the error names their origins.
        """
        at = ast.caret
        if operator >= 0 and self.text:
            at = operator_position(ast, self.text, operator)
        lines = (origins(self, sizes, about), hint, self.inferred_kinds(about))
        marks = tuple(dict.fromkeys(part.span for part in about if part.span[0] < part.span[1]))
        return ShapeError(message, text=self.text, at=at, hint="\n  ".join(filter(None, lines)), marks=marks)

    def inferred_kinds(self, asts: Iterable[Ast]) -> str:
        """Return `lam: vector(p), undeclared; ...` for the undeclared symbols in the trees."""
        found: dict[str, None] = {}
        for ast in asts:
            for node in walk(ast):
                if node.head == "name" and node.value in self.symbols and not self.symbols[str(node.value)].declared:
                    found[str(node.value)] = None
                if len(found) == 6:
                    break
        return "; ".join(f"{name}: {self.kind_text(self.symbols[name])}, undeclared" for name in found)

    def kind_text(self, symbol: Symbol) -> str:
        """Return the kind of a symbol as in a declaration: `matrix(m, n)`."""
        return kind_text([self.size_text(size) for size in symbol.shape], INDEX in symbol.facts)

    def size_text(self, size: Size) -> str:
        """Return a size for a message, its unknowns named."""
        resolved = self.sizes.resolve(size)
        if "?" in resolved.key:
            self.name_sizes()
            resolved = self.sizes.resolve(size)
        if "?" in resolved.key:
            resolved = resolved.substitute({name: Size.of("_") for name in resolved.names if name[0] == "?"})
        return str(resolved)

    def describe(self, value: Typed) -> str:
        """Return a sub-expression with its shape: `A*B (n x m)`, `x' (row of n)`."""
        form = kind(value)
        shape = " x ".join(self.size_text(size) for size in value.shape)
        shape = {"scalar": "scalar", "column": f"vector of {shape}", "row": f"row of {shape}"}.get(form, shape)
        return f"{shown(value.ast)} ({shape})"

    def name_sizes(self) -> None:
        """Name the unknown lengths of the symbols m, n, k, p, q, ... in order of appearance."""
        used = {*self.symbols, *self.size_names, *self.bound, *(name for _, name, *_ in self.index_labels)}
        for symbol in self.symbols.values():
            for size in symbol.shape:
                for name in self.sizes.resolve(size).names:
                    if name[0] != "?":
                        used.add(name)
        names = supply(LETTERS, used)
        self.sizes.name_unknowns((size for symbol in self.symbols.values() for size in symbol.shape), names)

    def finish(self) -> None:
        """Solve the remaining equations, name inferred sizes, and run the checks that need sizes.

        Raises: ShapeError for an equation that fails, an index without a length, a bound outside its axis.
        """
        self.sizes.finish(guess=bool(self.ranks))
        self._settle_blocks()
        self._settle()
        self.name_sizes()
        self._settle_blocks("I or 1", r"I_n, \mathbf 1_n")
        for label, name, ast, text in self.index_labels:
            if "?" in self.sizes.resolve(self.lengths[label]).key:
                self.text = text
                hint = f"give its limit, as in  sum{{{name} < n: ...}}"
                raise self.fault(f"the length of index {name} is not known", ast, hint=hint)
        for size, fault, number in self.checks:
            resolved = self.sizes.resolve(size)
            if resolved.terms and all(c < 0 for _, c in resolved.terms):
                raise fault()
            if not is_nonnegative(resolved):
                self.conditions.setdefault(number, []).append(Condition(resolved, fault().message))
        self.index_labels.clear()
        self.checks.clear()

    def _settle_blocks(self, kind: str = "the block 0", form: str = r"\mathbf 0_{m \times n}") -> None:
        """Bind the lengths of blocks that nothing else determines; raise ShapeError for one of any length."""
        for size, ast in self.blocks:
            is_open = (ast.value is None) is (kind == "I or 1") and "?" in self.sizes.resolve(size).key
            if is_open and not (ast.value == ONE_ENTRY and self.same(size, ONE)):
                raise self.fault(f"the size of {kind} is not known", ast, hint=f"write its size, as in  {form}")

    def _settle(self) -> None:
        """Bind inferred sizes that have only one possible value.

        Raises: ShapeError if no values give all symbols lengths.
        """
        if self.sizes.settle(size for symbol in self.symbols.values() for size in symbol.shape):
            return
        kinds = [f"{s.name}: {self.kind_text(s)}" for s in self.symbols.values() if not s.declared]
        message = f"sizes would be negative: {'; '.join(kinds[:6])}"
        raise ShapeError(message, text=self.text, at=0 if self.text else -1)

    def infer_symbol(self, name: str, is_index: bool = False) -> Symbol | None:
        """Return a new symbol: an index, or of the kind of its spelling; None if the spelling implies none."""
        rank = 1 if is_index else self.ranks.get(name, inferred_rank(name))
        if rank is None:
            return None
        facts = (INDEX,) if is_index else ()
        symbol = Symbol(name, tuple(self.sizes.fresh() for _ in range(rank)), facts, False)
        self.symbols[name] = symbol
        return symbol


def origins(inference: Inference, sizes: Sequence[Size], parts: Sequence[Ast]) -> str:
    """Return the origins of sizes: `n is the columns of A, declared A: matrix(m, n); 3 the rows of B, by B*x`."""
    found: dict[str, None] = {}
    for k, (size, part) in enumerate(zip(sizes, parts, strict=False)):
        origin = _origin(inference, inference.sizes.resolve(size), part, last=k == 0)
        if origin:
            found[origin] = None
    return "; ".join(found)


def _origin(inference: Inference, size: Size, part: Ast, last: bool) -> str:
    """Return the origin of a size in a formula: an axis of one of its symbols, the last or the first one."""
    leaves = [symbol for leaf in walk(part) for symbol in _symbols_at(inference, leaf)]
    leaves = leaves[::-1] if last else leaves
    for symbol in sorted(leaves, key=lambda symbol: not symbol.declared):
        axes = [k for k, own in enumerate(symbol.shape) if inference.sizes.resolve(own) is size]
        if not axes:
            continue
        axis = axes[-1] if last else axes[0]
        words = AXES.get(len(symbol.shape), ())
        origin = f"{inference.size_text(size)} is the {words[axis] if words else f'axis {axis}'} of {symbol.name}"
        if symbol.declared:
            return f"{origin}, declared {symbol.name}: {inference.kind_text(symbol)}"
        uses = [shown(use) for use in inference.sizes.met(symbol.shape[axis])]
        return f"{origin}, by {' and '.join(uses[:2])}" if uses else origin
    return ""


def _symbols_at(inference: Inference, leaf: Ast) -> list[Symbol]:
    """Return the symbol of a name; the symbols in a leaf that is a node."""
    if leaf.head == "leaf":
        node: Node = value_of_leaf(leaf)
        return [Symbol(found.name, found.shape, found.data[1]) for found in toposort(node) if found.kind == "symbol"]
    return [inference.symbols[str(leaf.value)]] if leaf.head == "name" and leaf.value in inference.symbols else []


def shown(ast: Ast) -> str:
    """Return the text of a tree, cut in the middle if it is long."""
    return ends(ast, SHOWN, 11)


def einsum(
    inference: Inference,
    ast: Ast,
    operands: Sequence[tuple[Typed, Labels]],
    core: Labels,
    *,
    coef: Fraction = Fraction(1),
    row: bool = False,
    axes: Labels | None = None,
) -> Typed:
    """Return the product of `operands`, each with the labels of its core axes, with the core axes `core`.

    The result depends on the named axes `axes`; the default is all those of its operands.
    """
    axes = common_axes(value for value, _ in operands) if axes is None else axes
    data = Einsum(coef, tuple(value.axes + labels for value, labels in operands), axes + core)
    shape = tuple(inference.lengths[label] for label in core)
    return Typed("einsum", ast, shape, tuple(value for value, _ in operands), data, axes, row)


def broadcast(
    inference: Inference, value: Typed, axes: Labels, core: Labels, positions: Sequence[int | None] | None = None
) -> Typed:
    """Return `value` with exactly these named axes and these core axes, repeated along the axes that it lacks.

    `positions` are the positions of its own axes in `core`, None for an axis of length 1 that is repeated. By default
    its axes are all of `core`, or none if it is a scalar.
    """
    own = core if value.rank else ()
    if positions is not None:
        own = tuple(inference.label(ONE) if position is None else core[position] for position in positions)
    if value.axes == axes and own == core:
        return value
    return einsum(inference, value.ast, [(value, own)], core, row=value.row, axes=axes)


def is_one_by_one(inference: Inference, value: Typed) -> bool:
    """Whether a value has the literal shape (1, 1), which counts as a scalar where a scalar is needed."""
    return value.rank == 2 and all(inference.sizes.resolve(size) is ONE for size in value.shape)


def as_scalar(inference: Inference, value: Typed) -> Typed:
    """Return a value of the literal shape (1, 1) as a scalar."""
    return einsum(inference, value.ast, [(value, inference.labels(value))], ())


def common_axes(values: Iterable[Typed]) -> Labels:
    """Return the named axes of all values, in the order in which the index forms list them (the order of labels).

    So a sum or map in an index form has its axes in the listed order, wherever the indices appear in it.
    """
    return tuple(sorted({label for value in values for label in value.axes}))
