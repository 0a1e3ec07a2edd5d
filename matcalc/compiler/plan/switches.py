"""Lowers products with switches to selections, never to multiplications by 0.

A switch at output indices alone selects entries of the product of the others; one at all indices selects summands.
With any other switch the contraction could not use BLAS, so it treats the switch's zeros as numbers. If NaN results, a
separate function recomputes it index by index. If no NaN results, all operands multiplied by 0 were finite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from matcalc.compiler.code.code import REST, Call, Function, If, Name, Return, View
from matcalc.compiler.code.parameters import parameter_kind
from matcalc.compiler.entrywise import Read
from matcalc.compiler.kernels.native_kinds import Kind
from matcalc.compiler.lowering_entries import Kernel, Part, read_kernel
from matcalc.compiler.plan.products.session import Ref, Session
from matcalc.compiler.plan.values.values import Operand, Run
from matcalc.compiler.terms import letters_of
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import apply, operate, power, product, symbol
from matcalc.tensor.lookups import is_index
from matcalc.tensor.nodes.node import Indices, Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import rebuild, substitute
from matcalc.tensor.switches import annihilates, is_mask, switches_of, with_masks

RESULT, FAST, OPERAND, VALUE = "result_", "fast_", "a_", "value_"

Term = tuple[Node, Indices]


def selections(roots: Sequence[Node]) -> list[Node]:
    """Return the roots with switches in products as selections, except those in contractions that are mended."""
    return rebuild(rebuild(roots, with_masks), _selection_of)


def _selection(node: Node) -> Node:
    positions = switches_of(node)
    if not positions or len(node.args) == 1:
        return node
    every = tuple(dict.fromkeys((*node.out, *(i for at in node.indices for i in at))))
    if any(set(node.indices[k]) == set(every) for k in positions):
        return _as_sum(node, positions, every)
    outer = [k for k in positions if set(node.indices[k]) <= set(node.out)]
    if not outer:
        return node
    kept = tuple(dict.fromkeys(node.out))
    rest = [term for k, term in enumerate(node.operands) if k not in outer]
    inside = _selection_of(product(node.coef, rest, kept, node.sizes))
    return _selected_product(node, [node.operands[k] for k in outer], inside, kept)


def _selection_of(node: Node) -> Node:
    return _selection(node) if node.kind == "product" else node


def _as_sum(node: Node, positions: Sequence[int], every: Indices) -> Node:
    """Return the sum over all points of the product of all operands, selected."""
    rest = [term for k, term in enumerate(node.operands) if k not in positions]
    inside = product(node.coef, rest, every, node.sizes)
    return _selected_product(node, [node.operands[k] for k in positions], inside, every)


def _selected_product(node: Node, switches: Sequence[Term], inside: Node, at: Indices) -> Node:
    """Return a node with indices `at`, selected by switches and with the output of `node`."""
    return product(1, [(_selected(inside, switches, at, node.sizes), at)], node.out, node.sizes)


# ---- contractions


def is_mended(session: Session, node: Node) -> bool:
    """Whether a product is contracted with zeros as numbers, and recomputed where NaN results.

    Such zeros are those of switches, of a triangle that no operand is cut to, as in `cumsum(x)`, and of permutations
    that are formed.
    """
    holds_numbers = len(node.args) > 1 and any(arg.kind != "selector" for arg in node.args)
    is_finite = all(arg.finite for arg in node.args)
    return holds_numbers and any(
        annihilates(arg)
        and not session.is_unformed(arg)
        and not (is_finite and is_mask(arg))
        or _is_triangle(arg)
        and not _is_cut(node, position)
        for position, arg in enumerate(node.args)
    )


def _is_triangle(node: Node) -> bool:
    return node.kind == "selector" and node.selector.kind == "mask"


def _is_cut(node: Node, position: int) -> bool:
    """Whether the triangle at this position has output indices alone, or the indices of another operand."""
    at = set(node.indices[position])
    others = (set(t) for k, t in enumerate(node.indices) if k != position and node.args[k].kind != "selector")
    return at <= set(node.out) or any(at <= other for other in others)


def mended(session: Session, node: Node, ref: Ref) -> Ref:
    """Return the reference to a mended product; `ref` is its value with switches as numbers."""
    session.refs[node] = ref
    fast = session.array(node)
    symbols: dict[Node, Node] = {}
    terms: list[Term] = [(_over_symbols(session, a, symbols), at) for a, at in node.operands]
    exact = _index_by_index(node, terms)
    kernel = _kernel(session, node, exact, list(symbols.values()))
    run = Run(kernel, [], [Operand(FAST, fast)], comment=node)
    run.operands += [Operand(f"{OPERAND}{s.name}", session.array(arg)) for arg, s in symbols.items()]
    run.fault = kernel.fails
    run.params = tuple((n, Size.of(n)) for n in kernel.parts[0].program.size_args)
    result = session.graph.run(run, [(RESULT, exact.shape, "float64")])[0]
    if not node.rank:
        result = session.graph.point((), Read(result.name, (Size.of(0),)))
    return Ref(result, tuple(range(node.rank)))


def _index_by_index(node: Node, terms: Sequence[Term]) -> Node:
    """Return the sum over all points at which no switch is off.

    Each index of a switch is summed over the selected product of all terms with that index. If switches are off
    at all values of the index, the other terms are switched off too. Terms without switches are contracted as usual.
    """
    sizes = node.sizes
    is_switch = [annihilates(arg) or _is_triangle(arg) for arg in node.args]
    switches = [term for term, is_one in zip(terms, is_switch, strict=True) if is_one]
    values = [term for term, is_one in zip(terms, is_switch, strict=True) if not is_one]
    left = {i for _, at in switches for i in at}.difference(node.out)
    while left:
        index = min(left, key=lambda i: (len(_indices_with(i, [*values, *switches])), i))
        left.remove(index)
        every = _indices_with(index, [*values, *switches])
        kept = tuple(i for i in every if i != index)
        here = [term for term in switches if index in term[1]]
        inside = _selected(product(1, [term for term in values if index in term[1]], every, sizes), here, every, sizes)
        values = [term for term in values if index not in term[1]]
        switches = [term for term in switches if index not in term[1]]
        if values and here:
            switches.append(_any_on(here, index, sizes))
        values.append((product(1, [(inside, every)], kept, sizes), kept))
    kept = tuple(dict.fromkeys(node.out))
    core = _selected(product(node.coef, values, kept, sizes), switches, kept, sizes)
    return product(1, [(core, kept)], node.out if node.rank else (len(sizes),), {**sizes, len(sizes): Size.of(1)})


def _indices_with(index: int, terms: Sequence[Term]) -> Indices:
    """Return the indices of all terms that have one index."""
    return tuple(dict.fromkeys(i for _, at in terms if index in at for i in at))


def _selected(value: Node, switches: Sequence[Term], at: Indices, sizes: Mapping[int, Size]) -> Node:
    """Return a node at indices, selected by switches: where one is off, the node and other switches may be NaN."""
    if not switches:
        return value
    both, selected = map(default_rulebook().playing, ("both_switches", "selected_product"))
    switch, *others = [product(1, [term], at, sizes) for term in switches]
    for other in others:
        switch = apply(both, [switch, other])
    return apply(selected, [switch, value])


def _any_on(switches: Sequence[Term], index: int, sizes: Mapping[int, Size]) -> Term:
    """Return 1 if all switches are on at some value of an index, else 0."""
    kept = tuple(i for i in _indices_with(index, switches) if i != index)
    count = product(1, [(_as_one(node), at) for node, at in switches], kept, sizes)
    return _as_one(count), kept


def _as_one(switch: Node) -> Node:
    """Return 1 where a switch is not 0, else 0."""
    if switch.kind == "selector":
        return switch
    return apply(default_rulebook().playing("selected_product"), [switch, power(switch, Fraction(-1))])


def _over_symbols(session: Session, node: Node, symbols: dict[Node, Node]) -> Node:
    """Return an operand over symbols; an operation that need not be formed has symbols for its arguments."""
    if node.kind in ("selector", "number", "size"):
        data = [s for s in toposort(node.args) if is_index(s)]
        for s in data:
            symbols.setdefault(s, symbol(f"x{len(symbols)}_", s.shape, s.data[1]))
        return substitute(node, {s: symbols[s] for s in data}) if data else node
    if session.is_unformed(node):
        args = [_over_symbols(session, a, symbols) for a in node.args]
        return operate(node.rule, args, node.params, node.batches, node.output, ())
    if node not in symbols:
        symbols[node] = symbol(f"x{len(symbols)}_", node.shape)
    return symbols[node]


def _kernel(session: Session, node: Node, exact: Node, symbols: Sequence[Node]) -> Kernel:
    """Return the entry of a mended contraction in the form of kernels.toml, with the sum point by point as its part."""
    name = f"mended_{node.digest.hex()[:6]}"
    program = session.plan(((VALUE, exact),), tuple(symbols))
    sizes = program.size_args
    part = Part(f"{name}_points", program, (VALUE, *(s.name for s in symbols), *sizes))
    operands = [f"{FAST}{letters_of(FAST, node.rank)}"]
    operands += [f"{OPERAND}{s.name}{letters_of(s.name, s.rank)}" for s in symbols]
    fields = [*(f"{{{OPERAND}{s.name}}}" for s in symbols), *(f"{{{n}}}" for n in sizes)]
    first = f"{{{FAST}}}" if node.rank else f"np.array([{{{FAST}}}])"
    out = letters_of("out", exact.rank)
    entry = {
        "pattern": f"{RESULT}{out} = {name}({', '.join(operands)}){out}",
        "bytes": "0",
        "fails": "; ".join(program.faults),
        "words": f"a copy, or if it has NaN the same by {part.name}",
        "numpy": f"mended({first}, {part.spelled('numpy')}, {', '.join(fields)})",
        "array": f"mended({{{FAST}}}, {part.name}_array, {', '.join(fields)})",
        "numba": f"{name}({', '.join([first, *fields])}, {{{RESULT}}})",
    }
    return replace(read_kernel(name, entry, 0), parts=(part,), functions=(_function(name, node, exact, part),))


def _function(name: str, node: Node, exact: Node, part: Part) -> Function:
    """Return the function that computes a contraction point by point if its fast value holds NaN."""
    fast, value = Name(FAST), Name(VALUE)
    data = [(n, parameter_kind(part.program, n)) for n in part.parameters[1:]]
    exactly = Return(Call(part.name, (value, *(Name(n) for n, _ in data))))
    body = (
        If(Call("holds_nan", (View(fast, REST),)), (exactly,)),
        Return(Call("copied", (View(fast, REST), View(value, REST)))),
    )
    parameters = ((FAST, Kind("float64", max(node.rank, 1))), *data, (VALUE, Kind("float64", exact.rank)))
    doc = (f"Return {FAST} as {VALUE}, where it holds NaN the sum point by point.",)
    return Function(name, parameters, body, doc, is_inner=True)
