"""Defines the syntax tree of the matrix language, which the parser builds and which notation builds for printing.

One record serves reading and writing. So these are inverse to each other, and text, LaTeX and SymPy are three
printings of one tree. The tree knows spelling, not meaning: `A*B` is a product, be it a matrix product or a
scaling. Elaboration, which knows the shapes, decides the meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import is_
from typing import Any, TypeVar

SUMS = ("sum", "dotted_sum")
ONE_ENTRY, BLOCK = "entry", "block"
"""The value of an `empty` size of zeros in a block: 1 if nothing else determines it, or an error then."""
Item = TypeVar("Item")
ENTRIES = "entries"
"""The value of a block that contains numbers only, no parts of several rows or columns."""
BINDERS = ("index_form", "index_sum")
"""Heads that list indices; the indices have a meaning only inside."""
COUNTED_SUM = "counted_sum"
"""The head of a sum over the numbers 0, ..., n, for writers only: its operands are the summand and n."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ast:
    """A node of the syntax tree; `head` is its kind, which determines the meaning of `value`.

    number: Fraction; name, word (quoted): str; sum, dotted_sum: tuple of +1/-1 for each term; product: tuple of the
    operators between the factors, left to right; power: "^" or ".^"; call: (name, ((keyword, Ast), ...));
    block: ENTRIES or None; index_form, index_sum: tuple of index names; condition, compare: the relation;
    function: the parameter;
    transpose: "^T" if written so (only elaboration knows whether T is a name), else None;
    spread: the argument `E...` of a rule, repeated;
    shared: (name, Ast), a tree that may occur several times, written once under its name;
    leaf: (object, function, reference): an existing value, a function that returns its tree for writing, and its
    source (None if only the object has it).
    `span` is the character range in the text, `at` the position of the operator for a caret.
    """

    head: str
    args: tuple[Ast, ...] = ()
    value: object = None
    span: tuple[int, int] = (0, 0)
    at: int = -1

    @property
    def caret(self) -> int:
        """The position that an error about this node points to."""
        return self.at if self.at >= 0 else self.span[0]

    def __repr__(self) -> str:
        """Return heads and values in prefix form, without recursion."""
        shown: list[str] = []
        for node in walk(self):
            inner = [shown.pop() for _ in children(node)][::-1]
            own = "" if node.value is None else f" {_shown_value(node)}"
            shown.append(f"({' '.join([node.head + own, *inner])})")
        return shown[0]


def walk(root: Ast, closed: Collection[str] = ()) -> Iterator[Ast]:
    """Yield the nodes of `root`, operands before their users, left to right.

    A node with a head in `closed` is yielded without its operands.
    """
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        if node.head not in closed:
            stack += node.args if node.head != "call" else children(node)
    return reversed(order)


def distinct(root: Ast) -> Iterator[Ast]:
    """Yield the nodes of a tree, each object once: a tree of shared nodes is as long as its graph."""
    seen, stack = {id(root)}, [root]
    while stack:
        node = stack.pop()
        yield node
        for inner in children(node):
            if id(inner) not in seen:
                seen.add(id(inner))
                stack.append(inner)


def operands_first(
    root: Item, operands: Callable[[Item], Sequence[Item]], known: Container[Item] = ()
) -> Iterator[Item]:
    """Yield all items that `operands` reaches from a root, operands before users, except those already `known`."""
    stack = [(root, False)]
    while stack:
        item, entered = stack.pop()
        if item in known:
            continue
        inner = () if entered else operands(item)
        if not inner:
            yield item
            continue
        stack.append((item, True))
        stack.extend((operand, False) for operand in reversed(inner))


def children(node: Ast) -> tuple[Ast, ...]:
    """Return the operands of `node`, keyword arguments of a call last; a shared tree is not an operand."""
    if node.head != "call":
        return node.args
    return node.args + tuple(value for _, value in call_keywords(node))


def names_in(root: Ast) -> list[str]:
    """Return the names in a tree, left to right, with repetitions."""
    return [str(node.value) for node in walk(root) if node.head == "name"]


def value_of_leaf(leaf: Ast) -> Any:
    """Return the value of a leaf."""
    return leaf.value[0]  # type: ignore[index]


def tree_of_leaf(leaf: Ast) -> Ast:
    """Return the tree that a leaf is written as."""
    return leaf.value[1]()  # type: ignore[index,no-any-return]


def reference_of_leaf(leaf: Ast) -> Any:
    """Return the source of a leaf's value, as the layer above records it; None if it records none."""
    return leaf.value[2]  # type: ignore[index]


def definition(part: Ast) -> Ast:
    """Return the tree of a shared part."""
    return part.value[1]  # type: ignore[index,no-any-return]


def part_name(part: Ast) -> str:
    """Return the name of a shared part."""
    return part.value[0]  # type: ignore[index,no-any-return]


def parts_in(root: Ast) -> list[Ast]:
    """Return the shared parts of a tree, each once, before the parts that contain it."""
    found: dict[Ast, Ast] = {}
    entered: set[Ast] = set()
    stack = [part for part in walk(root) if part.head == "shared"][::-1]
    while stack:
        part = stack[-1]
        key = definition(part)
        if key in entered:
            found.setdefault(key, part)
            stack.pop()
            continue
        entered.add(key)
        inner = [p for p in walk(definition(part)) if p.head == "shared" and definition(p) not in entered]
        stack.extend(reversed(inner))
    return list(found.values())


def whole(root: Ast) -> Iterator[Ast]:
    """Yield the nodes of the shared parts of a tree, each part once, then those of the tree."""
    for part in parts_in(root):
        yield from walk(definition(part))
    yield from walk(root)


def exchanged(node: Ast, operands: Sequence[Ast]) -> Ast:
    """Return `node` with other operands, in the order of `children`; `node` itself if none differs."""
    if all(map(is_, operands, children(node))):
        return node
    value = node.value
    if node.head == "call":
        named = operands[len(node.args) :]
        value = call_name(node), tuple((key, new) for (key, _), new in zip(call_keywords(node), named, strict=True))
    return Ast(node.head, tuple(operands[: len(node.args)]), value, node.span, node.at)


def rebuild(root: Ast, change: Callable[[Ast], Ast], closed: Collection[str] = ()) -> Ast:
    """Return a tree with each node changed after its operands; operands of heads in `closed` stay unchanged."""
    return rebuilt(root, lambda node, new: change(new), closed)


def rebuilt(root: Ast, change: Callable[[Ast, Ast], Ast], closed: Collection[str] = ()) -> Ast:
    """Return a tree as `rebuild` does; `change(node, new)` gets each node unchanged and with its changed operands."""
    made: list[Ast] = []
    for node in walk(root, closed):
        new = node
        if node.head not in closed and (count := len(children(node))):
            new, made[-count:] = exchanged(node, made[-count:]), []
        made.append(change(node, new))
    return made[0]


def replaced(root: Ast, old: Ast, new: Ast) -> Ast:
    """Return a tree with one of its nodes replaced."""
    return rebuild(root, lambda node: new if node is old else node)


def renamed(root: Ast, names: Mapping[str, str]) -> Ast:
    """Return a tree with names replaced simultaneously, including those that index forms list."""
    if all(old == new for old, new in names.items()):
        return root

    def change(node: Ast) -> Ast:
        if node.head == "name":
            return Ast("name", (), names.get(str(node.value), node.value), node.span, node.at)
        if node.head in BINDERS:
            return replace(node, value=tuple(names.get(n, n) for n in node.value))  # type: ignore[attr-defined]
        return node

    return rebuild(root, change)


def call_name(node: Ast) -> str:
    """Return the name of the called function."""
    return node.value[0]  # type: ignore[index,no-any-return]


def call_keywords(node: Ast) -> tuple[tuple[str, Ast], ...]:
    """Return the keyword arguments of a call."""
    return node.value[1]  # type: ignore[index,no-any-return]


def with_order(name: str, order: Ast) -> str:
    """Return the spelling of a call with a number or word after its argument, `norm, 1`; "" for another argument."""
    return f"{name}, {order.value}" if order.head in ("number", "name", "word") else ""


def number(value: Fraction | int) -> Ast:
    return Ast("number", (), Fraction(value))


def name(text: str) -> Ast:
    return Ast("name", (), text)


def call(function: str, /, *args: Ast, **keywords: Ast) -> Ast:
    return Ast("call", args, (function, tuple(keywords.items())))


def transpose(x: Ast) -> Ast:
    return Ast("transpose", (x,))


def word(text: str) -> Ast:
    return Ast("word", (), text)


def negative(x: Ast) -> Ast:
    return Ast("negative", (x,))


def power(base: Ast, exponent: Ast, elementwise: bool = False) -> Ast:
    return Ast("power", (base, exponent), ".^" if elementwise else "^")


def product(factors: Sequence[Ast], operators: Sequence[str]) -> Ast:
    return Ast("product", tuple(factors), tuple(operators))


def times(factors: Sequence[Ast], operator: str = "*") -> Ast:
    """Return a product with one operator, or a single factor itself."""
    return product(factors, [operator] * (len(factors) - 1)) if len(factors) > 1 else factors[0]


def transposed(x: Ast) -> Ast:
    """Return the transpose of a tree; of a transpose, its operand."""
    return x.args[0] if x.head == "transpose" else transpose(x)


def leaf_of(value: object, written: Callable[[], Ast], reference: object = None) -> Ast:
    return Ast("leaf", (), (value, written, reference))


def shared(name_: str, tree: Ast, span: tuple[int, int] = (0, 0)) -> Ast:
    return Ast("shared", (), (name_, tree), span)


def add(terms: Sequence[Ast], signs: Sequence[int], dotted: bool = False) -> Ast:
    return Ast("dotted_sum" if dotted else "sum", tuple(terms), tuple(signs))


def part(base: Ast, *subscripts: Ast) -> Ast:
    return Ast("part", (base, *subscripts))


def index_form(names: Sequence[str], body: Ast) -> Ast:
    return Ast("index_form", (body,), tuple(names))


def index_sum(names: Sequence[str], body: Ast) -> Ast:
    return Ast("index_sum", (body,), tuple(names))


def condition(left: Ast, relation: str, right: Ast) -> Ast:
    return Ast("condition", (left, right), relation)


def compare(left: Ast, relation: str, right: Ast) -> Ast:
    return Ast("compare", (left, right), relation)


def block(rows: Sequence[Sequence[Ast]]) -> Ast:
    return Ast("block", tuple(Ast("row", tuple(row)) for row in rows))


def slice_of(start: Ast | None = None, stop: Ast | None = None, step: Ast | None = None) -> Ast:
    return Ast("slice", tuple(bound or Ast("empty") for bound in (start, stop, step)))


def function(parameter: str, body: Ast) -> Ast:
    return Ast("function", (body,), parameter)


def is_chain(x: Ast) -> bool:
    """Return whether further factors or a sign may be joined to a product: `//` and `%` make it one factor."""
    return x.head == "product" and not {"//", "%"} & set(x.value)  # type: ignore[call-overload]


def factors_of(x: Ast) -> tuple[tuple[Ast, ...], tuple[str, ...]]:
    """Return the factors of a product and the operators between them; any other tree is one factor."""
    return (x.args, x.value) if is_chain(x) else ((x,), ())  # type: ignore[return-value]


def negate(x: Ast) -> Ast:
    """Return -x with the sign on the first factor of a product, where it needs no parentheses."""
    if x.head == "negative":
        return x.args[0]
    if is_chain(x):
        return Ast("product", (negative(x.args[0]), *x.args[1:]), x.value, x.span, x.at)
    return negative(x)


def same(a: Ast, b: Ast) -> bool:
    """Return whether two trees have the same heads and values; their positions in the text do not count."""
    pairs = [(a, b)]
    met: set[tuple[Ast, Ast]] = set()
    while pairs:
        one, other = pairs.pop()
        if one is other or (one, other) in met:
            continue
        if one.head != other.head or _label(one) != _label(other):
            return False
        met.add((one, other))
        inner, outer = _held(one), _held(other)
        if len(inner) != len(outer):
            return False
        pairs.extend(zip(inner, outer, strict=True))
    return True


def operator_position(node: Ast, text: str, k: int) -> int:
    """Return the position in `text` of operator `k` of a sum or product, for a caret."""
    at = node.args[k].span[1]
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _shown_value(node: Ast) -> object:
    return node.value[0] if node.head in ("call", "shared", "leaf") else node.value  # type: ignore[index]


def _held(node: Ast) -> tuple[Ast, ...]:
    return (definition(node),) if node.head == "shared" else children(node)


def _label(node: Ast) -> object:
    if node.head == "shared":
        return None
    if node.head != "call":
        return node.value
    return call_name(node), tuple(key for key, _ in call_keywords(node))
