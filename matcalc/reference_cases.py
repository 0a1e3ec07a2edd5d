"""What the functions of a saved file should return: numbers for its test of itself.

The formulas are read once more from their text and evaluated with many digits, by the values of the rules alone; where
one of them has no such value, in double precision. No derivation, no simplification and no compiled code is asked.
Data have the facts that they are declared to have, and few digits where those stay true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.compiler.runtime.save_test import fitting_sizes
from matcalc.compiler.runtime.spec import Array, Case, CompiledSpec, Operand, Reference
from matcalc.errors import MatcalcError, NotSupported
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.node import Node
from matcalc.tensor.size import Size

SIZES = ((5, -2), (6, -1))
DIGITS = 4
AGREES = 1e-10
"""How far double precision may be from many digits, where data are no trap."""


def reference_cases(specs: Sequence[CompiledSpec]) -> Reference:
    """Return data at two choices of sizes with the results there; none where no data have finite results."""
    arguments = {a.name: a for spec in specs for a in spec.arguments}
    try:
        nodes = _formulas(specs)
    except MatcalcError:  # a formula that its text does not give back
        return Reference((), _projections(arguments))
    found: list[Case] = []
    for sizes in fitting_sizes(specs, SIZES):
        case = _case(specs, arguments, nodes, sizes)
        found += [case] if case else []
        if len(found) == len(SIZES):
            break
    return Reference(tuple(found), _projections(arguments))


def _projections(arguments: Mapping[str, Operand]) -> dict[str, str]:
    book = default_rulebook()
    found = {}
    for name, operand in arguments.items():
        text = "M"
        for fact in book.strongest(book.hull(operand.known)):
            text = re.sub(r"\bM\b", text, book.facts[fact].projection or "M")
        if text != "M":
            found[name] = text
    return found


def _formulas(specs: Sequence[CompiledSpec]) -> dict[str, Node]:
    """Return the formulas of the results as they are read from their texts."""
    from matcalc.expressions.read_input import expressions

    found = {}
    for spec in specs:
        declared = "; ".join([spec.declarations, *(f"{name}: size" for name in spec.sizes)])
        texts = {formula.name: formula.text for formula in spec.formulas}
        read = expressions([texts[o.name] for o in spec.outputs], declared)
        found |= {o.name: e.node for o, e in zip(spec.outputs, read, strict=True)}
    return found


def _case(
    specs: Sequence[CompiledSpec], arguments: Mapping[str, Operand], nodes: Mapping[str, Node], sizes: Mapping[str, int]
) -> Case | None:
    """Return data of these sizes with the results, None where none of the ways to draw them gives finite ones."""
    import numpy as np

    from matcalc.evidence.numeric.rule_point import MODES

    outputs = {o.name: o for spec in specs for o in spec.outputs}
    for mode in range(len(MODES)):
        data = {name: _drawn(specs, operand, sizes, mode) for name, operand in arguments.items()}
        try:
            values = _values(list(nodes.values()), data, sizes)
        except (np.linalg.LinAlgError, ValueError, ArithmeticError, IndexError, MatcalcError):
            continue
        results = dict(zip(nodes, values, strict=True))
        shapes = {name: tuple(s.evaluate(dict(sizes)) for s in o.shape) for name, o in outputs.items()}
        if all(np.all(np.isfinite(v)) and v.shape == shapes[name] for name, v in results.items()):
            given = {n: np.asarray(sizes[n]) for spec in specs for n in spec.sizes}
            return Case({**data, **given}, results)
    return None


def _values(nodes: Sequence[Node], data: Mapping[str, Array], sizes: Mapping[str, int]) -> list[Array]:
    """Return the values of formulas, by many digits where those are known.

    Raises: ValueError where double precision is far from them, or they are not real.
    """
    import numpy as np

    from matcalc.calculus.evaluate.evaluate import evaluate
    from matcalc.evidence.precise.arithmetic import doubles
    from matcalc.evidence.precise.nodes import evaluate_precisely

    plain = [np.asarray(value) for value in evaluate(nodes, data, sizes)]
    try:
        precise = [doubles(value) for value in evaluate_precisely(nodes, data, sizes)]
    except NotSupported:
        return plain
    for rough, value in zip(plain, precise, strict=True):
        scale = float(np.max(np.abs(value), initial=0.0)) + 1e-3
        if np.iscomplexobj(value) or not np.max(np.abs(rough - value), initial=0.0) <= AGREES * scale:
            raise ValueError
    return precise


def _drawn(specs: Sequence[CompiledSpec], operand: Operand, sizes: Mapping[str, int], mode: int) -> Any:
    """Return data of an argument, rounded where its facts stay true."""
    import numpy as np

    from matcalc.evidence.numeric.rule_point import MODES, interior
    from matcalc.evidence.numeric.sampling import ROUNDING, defect, places, sample

    rng = np.random.default_rng([7, mode, *operand.name.encode()])
    shape = tuple(s.evaluate(dict(sizes)) for s in operand.shape)
    if operand.dtype != "float64":
        lengths = [c.length for spec in specs for c in spec.data if operand.name in c.index.names]
        return places(rng, shape, [Size.of(0) + length for length in lengths], sizes)
    facts = tuple(f for f in operand.known if f != "constant")
    drawn = np.asarray(sample(rng, shape, interior(facts, mode > 0)) if facts else MODES[mode](rng, shape))
    rounded = np.round(drawn, DIGITS)
    return rounded if all(defect(rounded, fact) <= ROUNDING for fact in facts) else drawn
