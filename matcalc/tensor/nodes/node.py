"""Defines Node, one hash-consed tensor expression in normal form, and the walks over its DAG.

Nodes of equal structure are the same object. So `is` decides equality, sharing is free, and every pass can key its
results by node. Only `constructors.py`, which knows the normal form, makes nodes; this module only knows their fields.
The kinds are few and closed: transpose, trace, diagonal and Kronecker product are index tuples of a product.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Container, Iterable, Sequence
from fractions import Fraction
from functools import wraps
from hashlib import blake2b
from math import inf
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from matcalc.language.exact_numbers import check_bits
from matcalc.locks import held_at_fork
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    import numpy as np

    from matcalc.rulebook.rule import Rule
    from matcalc.tensor.sizes.selectors import Selector

Answer = TypeVar("Answer")
Shape = tuple[Size, ...]
Indices = tuple[int, ...]
Exchange = tuple[Indices, int]


class Range(NamedTuple):
    """The interval that contains all entries of a node; open ends exclude the bound."""

    low: float = -inf
    high: float = inf
    low_open: bool = False
    high_open: bool = False

    @property
    def positive(self) -> bool:
        return self.low > 0 or (self.low == 0 and self.low_open)

    @property
    def nonnegative(self) -> bool:
        return self.low >= 0

    @property
    def nonzero(self) -> bool:
        return self.positive or self.high < 0 or (self.high == 0 and self.high_open)


ANY = Range()
ONE = Fraction(1)

LONG = 1500
"""Tokens of the longest formula that is written as a tree, three or four thousand characters."""


def _payload(position: int) -> Any:
    """Return a property that reads one entry of a node's data."""
    return property(lambda node: node.data[position])


class Node:
    """A tensor expression. Attributes are read-only; the names below read the payload.

    Kinds: symbol, number, size, constant, selector, product, sum, map, op, recurrence.
    A product is `value[out] = coef * sum over indices not in out of prod_k args[k][indices[k]]`.
    A repeated index in `out` is the identity on its axes; an index of `out` that no operand has is broadcasting.
    """

    __slots__ = (
        "__weakref__",
        "args",
        "commuting",
        "data",
        "digest",
        "exchanges",
        "facts",
        "finite",
        "ground",
        "kind",
        "length",
        "range",
        "shape",
        "structural",
        "switches",
        "tilt",
    )

    kind: str
    args: tuple[Node, ...]
    data: tuple[Any, ...]
    shape: Shape
    facts: frozenset[str]
    ground: object  # the form that proves that it is definite or never negative, if there is one
    range: Range
    digest: bytes
    tilt: tuple[int, int]  # number of leaf matrices that are transposed, and of all leaf matrices
    length: int  # estimated number of tokens in its printed form
    commuting: int  # the first of the trailing axes of a sum or map of rank 3 or more that commute; else the rank
    exchanges: tuple[Exchange, ...]  # other axis orders that change at most its sign, each with the sign
    switches: bool  # whether it is 0 where its conditions do not hold, even beside infinity or NaN
    structural: bool  # whether it depends on no data: its zeros are those of masks
    finite: bool  # whether it is finite for all finite data, overflow aside

    name: str = _payload(0)  # of a symbol
    value: Fraction = _payload(0)  # of a number
    size: Size = _payload(0)  # of a size node
    selector: Selector = _payload(0)  # its rule; the only operand of a lookup is the node of its indices
    coef: Fraction = _payload(0)  # in front of a product
    indices: tuple[Indices, ...] = _payload(1)  # of each operand of a product
    out: Indices = _payload(2)  # output indices of a product
    index_sizes: Shape = _payload(3)  # of each index of a product, by number
    coefs: tuple[Fraction, ...] = _payload(0)  # of the terms of a sum
    rule: Rule = _payload(0)  # the rulebook's entry of a map or op
    params: tuple[Any, ...] = _payload(1)  # of a map or op: Fraction, Size or (functions) Node
    batches: tuple[Indices, ...] = _payload(2)  # the leading batch axes of each argument of an op
    batch_rank: int = _payload(3)  # number of leading batch axes of an op
    steps: Size = _payload(0)  # number of steps of a recurrence
    backward: bool = _payload(1)  # whether a recurrence runs from its last index to 0
    states: tuple[Node, ...] = _payload(2)  # bound symbols of a recurrence
    slices: tuple[Node, ...] = _payload(3)  # bound symbols of its sequences at one step
    bodies: tuple[Node, ...] = _payload(4)  # the step of each state, over the bound symbols
    position: int = _payload(5)  # which of the states this is
    kept: tuple[bool, ...] = _payload(6)  # whether a recurrence is the trajectory of each state, or its last value
    output: str = _payload(4)  # which output of an op with several this is; empty if there is one

    @property
    def array(self) -> np.ndarray:
        """The entries of a constant, read-only."""
        import numpy as np

        return np.frombuffer(self.data[0], dtype=np.float64).reshape([int(s) for s in self.shape])

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands of a product, each with its index tuple."""
        return tuple(zip(self.args, self.indices, strict=True))

    @property
    def sizes(self) -> dict[int, Size]:
        """The size of each index of a product."""
        return dict(enumerate(self.index_sizes))

    @property
    def terms(self) -> tuple[tuple[Fraction, Node], ...]:
        """The terms of a sum, each with its coefficient."""
        return tuple(zip(self.coefs, self.args, strict=True))

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_zero(self) -> bool:
        return (self.kind == "product" and not self.coef) or (self.kind == "number" and not self.value)

    def selects(self, kind: str) -> bool:
        """Return whether this is a selector of a kind."""
        return self.kind == "selector" and self.selector.kind == kind

    def is_number(self, value: int) -> bool:
        return self.kind == "number" and self.value == value

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"<{label(self)} ({shape}) {self.digest.hex()[:6]}>"


Operand = tuple[Node, Indices]
"""An operand of a product with the indices of its axes."""


class OpenProduct(NamedTuple):
    """A product as a flat list of operands: no constructor has grouped it or separated closed scalars."""

    coef: Fraction
    args: tuple[Node, ...]
    indices: tuple[Indices, ...]
    out: Indices
    index_sizes: Shape

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands of the product, each with its index tuple."""
        return tuple(zip(self.args, self.indices, strict=True))

    def dissolved(self, position: int) -> OpenProduct:
        """Return the product with one operand, itself a product, replaced by its own operands; new indices are last."""
        inner, at = self.operands[position]
        renamed = dict(zip(inner.out, at, strict=True))
        summed = [index for index in range(len(inner.index_sizes)) if index not in renamed]
        renamed.update({index: len(self.index_sizes) + k for k, index in enumerate(summed)})
        return OpenProduct(
            self.coef * inner.coef,
            (*self.args[:position], *inner.args, *self.args[position + 1 :]),
            (
                *self.indices[:position],
                *(tuple(renamed[i] for i in own) for own in inner.indices),
                *self.indices[position + 1 :],
            ),
            self.out,
            (*self.index_sizes, *(inner.index_sizes[index] for index in summed)),
        )


_interned: weakref.WeakValueDictionary[tuple[Any, ...], Node] = weakref.WeakValueDictionary()
_lock = held_at_fork(RLock())


def intern(
    kind: str,
    args: tuple[Node, ...],
    data: tuple[Any, ...],
    shape: Shape,
    describe: Callable[[Node], None],
) -> Node:
    """Return the one node of this structure; `describe` fills in the facts, range, tilt and length of a new one."""
    key = (kind, args, data, shape)
    found = _interned.get(key)
    if found is not None:
        return found
    node = object.__new__(Node)
    node.kind, node.args, node.data, node.shape = kind, args, data, shape
    node.digest = _digest(kind, args, data, shape)
    node.facts, node.range, node.tilt, node.length, node.switches = frozenset(), ANY, (0, 0), 1, False
    node.structural, node.finite = False, True
    node.commuting, node.exchanges, node.ground = len(shape), (), None
    describe(node)
    with _lock:
        return _interned.setdefault(key, node)


def _digest(kind: str, args: tuple[Node, ...], data: tuple[Any, ...], shape: Shape) -> bytes:
    parts = [kind.encode(), *(a.digest for a in args), _encode(data), _encode(shape)]
    return blake2b(b"\0".join(parts), digest_size=16).digest()


def _encode(value: object) -> bytes:
    if type(value) is int:  # most are
        return b"%d" % value
    if isinstance(value, tuple):
        return b"(" + b",".join(map(_encode, value)) + b")"
    if isinstance(value, bytes):
        return value
    if isinstance(value, Fraction):
        check_bits(max(value.numerator.bit_length(), value.denominator.bit_length()))
    if isinstance(value, frozenset):
        return _encode(tuple(sorted(value)))
    digest = getattr(value, "digest", None)
    return digest if isinstance(digest, bytes) else str(value).encode()


def cached_on_node(answer: Callable[[Node], Answer]) -> Callable[[Node], Answer]:
    """Return a function of a node that caches each result for the lifetime of its node, by a weak reference.

    A result must not refer to its node.
    """
    cached: weakref.WeakKeyDictionary[Node, Answer] = weakref.WeakKeyDictionary()

    @wraps(answer)
    def look_up(node: Node) -> Answer:
        if node not in cached:
            cached[node] = answer(node)
        return cached[node]

    return look_up


def terms_of(node: Node) -> list[tuple[Fraction, Node]]:
    """Return the terms of a sum or of a multiple of one; the only term of any other node is itself."""
    is_multiple = node.kind == "product" and len(node.args) == 1 and node.out == node.indices[0]
    if is_multiple and len(set(node.out)) == node.rank and node.args[0].kind == "sum":
        return [(node.coef * c, a) for c, a in node.args[0].terms]
    return list(node.terms) if node.kind == "sum" else [(ONE, node)]


def exponent_of(node: Node) -> tuple[Node, Fraction]:
    """Return base and exponent of a node; a node that is not a power has exponent 1."""
    if node.kind == "map" and node.rule.role == "fixed_power":
        return node.args[0], node.params[0]
    return node, ONE


def parity_of(node: Node) -> str:
    """Return whether an elementwise function is "even" or "odd", as powers are; "" for another."""
    exponent = exponent_of(node)[1]
    if exponent == 1 or exponent.denominator > 1:
        return node.rule.parity or ""
    return "odd" if exponent % 2 else "even"


def tilt_of(nodes: Iterable[Node]) -> tuple[int, int]:
    """Return how many of the leaf matrices in nodes are transposed, and how many leaf matrices there are."""
    tilts = [node.tilt for node in nodes]
    return sum(against for against, _ in tilts), sum(leaves for _, leaves in tilts)


def toposort(roots: Node | Iterable[Node], known: Container[Node] = ()) -> list[Node]:
    """Return all nodes that `roots` reach, operands before users, each once, in a deterministic order.

    Nodes in `known` are left out, with the nodes that only they reach.
    """
    order: list[Node] = []
    done: set[Node] = set()
    stack = [(root, False) for root in reversed([roots] if isinstance(roots, Node) else list(roots))]
    while stack:
        node, entered = stack.pop()
        if entered:
            order.append(node)
        elif node not in done and node not in known:
            done.add(node)
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args) if a not in done)
    return order


def everything(roots: Node | Iterable[Node]) -> list[Node]:
    """Return the nodes of `toposort`, then the nodes inside functions and equations that are parameters."""
    found: dict[Node, None] = {}
    pending: Node | list[Node] = roots if isinstance(roots, Node) else list(roots)
    while pending:
        new = [node for node in toposort(pending) if node not in found]
        found.update(dict.fromkeys(new))
        parameters = [p for n in new if n.kind in ("map", "op") for p in n.params]
        parameters += [body for n in new if n.kind == "recurrence" for body in n.bodies]
        pending = [p for p in parameters if isinstance(p, Node) and p not in found]
    return list(found)


def label(node: Node) -> str:
    """Return a short word for a node, for drawings and messages."""
    if node.kind in ("symbol", "number", "size", "selector"):
        return str(node.data[0])
    if node.kind in ("map", "op"):
        return node.rule.name + (f"_{node.output}" if node.kind == "op" and node.output else "")
    return node.kind


def sizes_used(nodes: Sequence[Node]) -> list[str]:
    """Return the size names that nodes use anywhere, sorted."""
    names: set[str] = set()
    for node in everything(nodes):
        sizes = [*node.shape]
        if node.kind == "product":
            sizes += node.index_sizes
        elif node.kind == "size":
            sizes.append(node.size)
        elif node.kind == "selector":
            sizes.append(node.selector.offset)
        elif node.kind == "recurrence":
            sizes.append(node.steps)
        elif node.kind in ("op", "map"):
            sizes += [p for p in node.params if isinstance(p, Size)]
        names.update(n for size in sizes for n in size.names)
    return sorted(names)
