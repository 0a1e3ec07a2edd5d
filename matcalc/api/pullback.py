"""Builds the two passes of a pullback: forward computes the value and saves arrays, backward the cotangents.

Forward also computes the expensive parts of the pullback that do not depend on the cotangent. Backward gets them as
arrays, with the arguments that it reads again.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from matcalc.calculus.derive.conventions import vjps
from matcalc.calculus.derive.unrestricted import unrestricted
from matcalc.calculus.simplify.shortest import shortest, shortest_of
from matcalc.calculus.simplify.simplify import simplify
from matcalc.compiler.call.bind import bind
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.call.convert import to_array
from matcalc.compiler.plan import to_save
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.written.verify import verify
from matcalc.expressions.derivatives import each
from matcalc.expressions.numpy_bridge.numeric_arguments import Value
from matcalc.expressions.operands.handle import Key, Wrt
from matcalc.expressions.read_input import Readables, with_wrt
from matcalc.expressions.wrt import whole_symbols
from matcalc.language.containers import Form, Results, by_position, filled, grouped, spread, variables_in
from matcalc.language.declare import Declarations
from matcalc.language.identifiers import free
from matcalc.pipeline.build import build
from matcalc.pipeline.requests import Output, Request, as_computed
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.substitute import substitute
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    import numpy.typing as npt

Saved: TypeAlias = "Sequence[object]"
"""Unchanged arguments and computed arrays."""
Cotangents: TypeAlias = "Value | tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class TwoPass:
    """`forward(*args) -> (out, saved)` and `backward(saved, G) -> cotangents`.

    `G` has the shape of the value, or further leading axes, which the cotangents then have too. `saved` holds
    references to the arguments that backward reads again, computed arrays, and the sizes that only arguments determine.
    `saved` and `sizes` are the indices of those arguments. `data` are the arrays that a Python function reads itself.
    """

    first: Compiled
    second: Compiled
    saved: tuple[int, ...]
    sizes: tuple[int, ...]
    rank: int
    many: bool
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def args(self) -> tuple[str, ...]:
        """Names of the arguments of `forward`."""
        return tuple(name for name in self.first.args if name not in self.data)

    @property
    def source(self) -> str:
        """The generated text of both passes."""
        return f"{self.first.source}\n\n{self.second.source}"

    def forward(self, /, *args: object, check_facts: bool = False, **values: object) -> tuple[Value, Saved]:
        """Return the value, and the data for `backward`; with `check_facts` first check the facts of the arguments."""
        given = dict(zip(self.args, bind(self.first.spec.name, self.args, args, values), strict=True))
        known = {**self.data, **given}
        bound = [known[name] for name in self.first.args]
        value, *saved = self.first(*bound, check_facts=True) if check_facts else self.first(*bound)
        return value, (*(bound[k] for k in self.saved), *saved, *(bound[k] for k in self.sizes))

    def backward(self, saved: Saved, G: npt.ArrayLike) -> Cotangents:  # noqa: N803 - the cotangent's name in formulas
        """Return the cotangent of each variable; a tuple for several variables."""
        import numpy as np

        count = len(self.second.args) - 1
        if not isinstance(saved, tuple) or len(saved) != count:
            raise TypeError(f"saved is the tuple of {count} values that forward returns beside the value")
        last = count - len(self.sizes)

        def pulled(one: object) -> tuple[Value, ...]:
            found: tuple[Value, ...] = self.second(*saved[:last], one, *saved[last:])
            return found

        bar = to_array(self.second.spec.arguments[-1], G, batched=True)
        batch = bar.shape[: bar.ndim - self.rank]
        if not batch:
            return self._shaped(pulled(bar))
        if 0 in batch:
            one = pulled(np.zeros(bar.shape[len(batch) :]))
            return self._shaped(tuple(np.zeros((*batch, *np.shape(c))) for c in one))
        rows = [pulled(bar[at]) for at in itertools.product(*map(range, batch))]
        columns = [np.array(part) for part in zip(*rows, strict=True)]
        return self._shaped(tuple(c.reshape((*batch, *c.shape[1:])) for c in columns))

    def _shaped(self, cotangents: tuple[Value, ...]) -> Cotangents:
        return cotangents if self.many else cotangents[0]


@dataclass(frozen=True, slots=True)
class TwoPassOfContainers:
    """Both passes of a formula with parameters in containers; `flat` are those of the single arrays.

    A container of cotangents has the class of its argument, which `saved` remembers. Attributes that it lacks are those
    of `flat`.
    """

    flat: TwoPass
    forms: Mapping[str, Form]
    results: Results | None

    @property
    def args(self) -> tuple[str, ...]:
        """Names of the arguments of `forward`."""
        return tuple(grouped(self.flat.args, self.forms))

    def forward(self, /, *args: object, check_facts: bool = False, **values: object) -> tuple[Value, Saved]:
        """Return the value, and the data for `backward`, as `flat.forward` does.

        Raises: TypeError for a container with other keys.
        """
        alone = by_position(args, self.args, self.forms)
        bound = bind(self.flat.first.spec.name, self.args, () if alone else args, {**alone, **values})
        given = dict(zip(self.args, bound, strict=True))
        value, saved = self.flat.forward(**spread(given, self.forms), check_facts=check_facts)
        return value, (saved, {name: given[name] for name in self.forms})

    def backward(self, saved: Saved, G: npt.ArrayLike) -> Any:  # noqa: N803 - the cotangent's name in formulas
        """Return the cotangent of each variable, in its container.

        Raises: TypeError for saved data that are not those of `forward`.
        """
        if not isinstance(saved, tuple) or len(saved) != 2 or not isinstance(saved[1], dict):
            raise TypeError("saved is the pair that forward returns beside the value")
        made = self.flat.backward(cast("Saved", saved[0]), G)
        if self.results is None:
            return made
        return filled(self.results, made if isinstance(made, tuple) else [made], saved[1])

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the passes of single arrays."""
        if name.startswith("_") or name == "flat":
            raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")
        return getattr(self.flat, name)


def pullback(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    dialect: str = "matrix",
    target: str = "numba",
    sizes: Mapping[Key, int] | None = None,
    check: bool = True,
) -> TwoPass:
    """Return the compiled forward and backward pass of a formula of any shape; matcalc chooses the saved arrays.

    Both passes are compared with the formula as written before they are returned; `check=False` omits this.

    Shapes: `forward` returns the value, as f, and the saved data. `backward(saved, G)` takes a cotangent as f, or a
        batch of them with leading axes. It returns arrays as `wrt` behind these axes, a tuple if `wrt` is a list, a
        container if `wrt` is one.
    Raises: the errors of reading f; UnknownName; NotDifferentiable; NotSupported if the target lacks an operation;
        InternalError if a pass differs from the formula.
    """
    start = time.perf_counter()
    e = with_wrt(f, whole_symbols(wrt, "the pullback"), declarations, dialect)
    containers = variables_in(wrt, e.names.containers)
    wrt = wrt if containers is None else containers.wrt
    xs, names = e.symbols_of(wrt), e.names_with(wrt)
    value, inputs, taken = shortest(e.computed), names.ordered(), set(names.scope)
    bar = symbol(free("G", taken), value.shape)
    loose = unrestricted(e.computed, xs)
    root = simplify(value if loose.root is e.computed else loose.root)
    cotangents = [loose.restored(form.shown) for form in shortest_of(vjps(root, loose.variables, bar))]
    if check:
        traces = [Derivation("vjp", e.node, (x,), cotangent=bar) for x in xs]
        verify(each(cotangents, traces), e.reference, names)
    saved = to_save(cotangents, inputs, [bar])
    stand_ins = _stand_ins(saved, {*taken, bar.name})
    seconds = [("derive", time.perf_counter() - start)]
    forward = {"value": value, **{s.name: node for node, s in stand_ins.items()}}
    first = build(replace(_pass("forward", forward, names, target, sizes), seconds=seconds, check=check))
    roots = [substitute(node, stand_ins) for node in cotangents]
    kept = _kept(inputs, roots, [*stand_ins.values(), bar])
    arguments = (*kept, *stand_ins.values(), bar)
    inner = Names({s.name: s for s in arguments}, tuple(s.name for s in arguments))
    backward = {f"cotangent_{x.name}": root for x, root in zip(xs, roots, strict=True)}
    second = build(replace(_pass("backward", backward, inner, target, sizes), check=check))
    positions = tuple(first.args.index(s.name) for s in kept)
    known = tuple(first.args.index(name) for name in second.args if name in first.spec.sizes)
    made = TwoPass(first, second, positions, known, value.rank, isinstance(wrt, (list, tuple)), names.bound)
    if not e.names.containers:
        return made
    results = None if containers is None else containers.results(0)
    return cast("TwoPass", TwoPassOfContainers(made, e.names.containers, results))


def _pass(name: str, nodes: Mapping[str, Node], names: Names, target: str, sizes: Mapping[Key, int] | None) -> Request:
    """Return the request for one of the passes, whose outputs are labelled nodes."""
    outputs = [Output(label, node, None, as_computed(node, names)) for label, node in nodes.items()]
    return Request(outputs, names, tuple(range(len(outputs))), name, target=target, sizes=sizes)


def _stand_ins(saved: Sequence[Node], taken: set[str]) -> dict[Node, Node]:
    """Return a new symbol for each node that forward saves."""
    found = {}
    for number, node in enumerate(saved, 1):
        found[node] = symbol(free(f"saved{number}", taken), node.shape, sorted(node.facts))
    return found


def _kept(inputs: Sequence[Node], roots: Sequence[Node], others: Sequence[Node]) -> list[Node]:
    """Return the inputs that backward reads, or that determine a size which nothing else determines."""
    read = set(toposort(roots))
    required = {name for node in roots for size in node.shape for name in size.names}
    known = {name for node in others for size in node.shape for name in size.names}
    missing = required - known
    return [x for x in inputs if x in read or missing & {n for size in x.shape for n in size.names}]
