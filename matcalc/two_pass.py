"""The two passes of a pullback: forward computes the value and what backward needs, backward the cotangents.

What is saved is the frontier of the pullback: the largest parts of it that do not depend on the cotangent.
They are computed once by forward, together with the value, and handed to backward as arrays.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matcalc.compiling import build
from matcalc.differentiate import depends_on
from matcalc.expressions import Expression
from matcalc.names import Names
from matcalc.node import Node, toposort
from matcalc.reading import with_wrt
from matcalc.runtime.compiled import Compiled
from matcalc.substitute import rebuild
from matcalc.tensor import symbol

PLAIN = ("number", "size", "constant", "selector")


@dataclass(frozen=True, slots=True)
class TwoPass:
    """`forward(*args) -> (out, saved)` and `backward(saved, G) -> cotangents`.

    `G` has the shape of the value, or further axes in front of it, which the cotangents then have too.
    """

    first: Compiled
    second: Compiled
    rank: int
    many: bool

    @property
    def args(self) -> tuple[str, ...]:
        """Names of the arguments of `forward`."""
        return self.first.args

    @property
    def source(self) -> str:
        """The generated text of both passes."""
        return f"{self.first.source}\n\n{self.second.source}"

    def forward(self, *args: Any, **values: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the value, and what `backward` needs."""
        value, *saved = self.first(*args, **values)
        return value, tuple(saved)

    def backward(self, saved: Sequence[Any], G: Any) -> Any:  # noqa: N803 - the cotangent's name in formulas
        """Return the cotangent of each variable; a tuple where several were asked for."""
        import numpy as np

        bar = np.asarray(G, dtype=np.float64)
        batch = bar.shape[: bar.ndim - self.rank]
        if not batch:
            return self._shaped(self.second(*saved, bar))
        rows = [self.second(*saved, bar[at]) for at in itertools.product(*map(range, batch))]
        columns = [np.array(part) for part in zip(*rows, strict=True)]
        return self._shaped(tuple(c.reshape(*batch, *c.shape[1:]) for c in columns))

    def _shaped(self, cotangents: tuple[Any, ...]) -> Any:
        return cotangents if self.many else cotangents[0]


def pullback(
    f: Any,
    wrt: Any,
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
    sizes: Mapping[str, int] | None = None,
) -> TwoPass:
    """Return the compiled forward and backward pass of a formula of any shape."""
    start = time.perf_counter()
    value = with_wrt(f, wrt, declarations, dialect).simplify()
    found = value.vjp(wrt)
    many = isinstance(found, tuple)
    cotangents = list(found) if many else [found]
    bar = cotangents[0].names.symbols["G"]
    order = toposort([e.node for e in cotangents])
    active = depends_on(order, [bar])
    saved = frontier(order, active, [e.node for e in cotangents])
    taken = set(cotangents[0].names.symbols)
    stand_ins = {
        node: symbol(_label(k, taken), node.shape, sorted(node.facts)) for k, node in enumerate(saved)
    }
    seconds = [("derive", time.perf_counter() - start)]
    names = value.names_with(wrt)
    forward = [Expression(node, names) for node in (value.node, *saved)]
    nesting = tuple(range(len(forward)))
    labels = ["value", *(s.name for s in stand_ins.values())]
    first = build(forward, labels, nesting, None, target, "float64", sizes, "forward", (), seconds)
    inner = Names(
        {s.name: s for s in (*stand_ins.values(), bar)}, tuple(s.name for s in (*stand_ins.values(), bar))
    )
    backward = [Expression(_rebuilt(e.node, stand_ins), inner) for e in cotangents]
    back_labels = [f"cotangent_{x.name}" for x in value.symbols_of(wrt)]
    second = build(
        backward, back_labels, tuple(range(len(backward))), None, target, "float64", sizes, "backward", (), []
    )
    return TwoPass(first, second, len(value.node.shape), many)


def frontier(order: Sequence[Node], active: set[Node], roots: Sequence[Node]) -> list[Node]:
    """Return the parts that do not depend on the cotangent and are read by what does, in order."""
    read = {a for node in order if node in active for a in node.args} | set(roots)
    return [n for n in order if n in read and n not in active and n.kind not in PLAIN]


def _label(number: int, taken: set[str]) -> str:
    label = f"saved{number + 1}"
    while label in taken:
        label += "_"
    return label


def _rebuilt(node: Node, stand_ins: Mapping[Node, Node]) -> Node:
    return rebuild(node, dict(stand_ins))
