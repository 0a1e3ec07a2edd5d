"""Computes the expected values of saved functions at some data, from the formulas as written, never from the code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matcalc.compiler.files.save_test import fitting_sizes
from matcalc.compiler.spec.spec import Case, CompiledSpec, Reference
from matcalc.evidence.numeric.expected_results import Argument, projection_text, reference_numbers

TESTED_SIZES = ((5, -2), (6, -1))  # the first length, and the step to each next one


def reference(specs: Sequence[CompiledSpec]) -> Reference:
    """Return data at two sets of sizes, and the values of the formulas there."""
    arguments = {}
    for spec in specs:
        for o in spec.arguments:
            axes = tuple(c.length for c in spec.data if o.name in c.index.names) if o.dtype != "float64" else None
            arguments[o.name] = Argument(o.name, o.shape, o.facts, axes, () if o.facts else o.known)
    formulas = [{f.name: f.text for f in spec.formulas} for spec in specs]
    named = [[*filter(None, [spec.declarations]), *(f"{n}: size" for n in spec.sizes)] for spec in specs]
    cases: list[Case] = []
    for sizes in fitting_sizes(specs, TESTED_SIZES):
        found = (
            None
            if len(cases) == len(TESTED_SIZES)
            else reference_numbers(formulas, ["; ".join(words) for words in named], list(arguments.values()), sizes)
        )
        if found is not None:
            size_data = {n: np.asarray(sizes[n]) for spec in specs for n in spec.sizes}
            pairs = [pair for spec in specs for pair in zip(spec.outputs, spec.formulas, strict=True)]
            results = {output.name: found[1][formula.name] for output, formula in pairs}
            cases.append(Case({**found[0], **size_data}, results))
    return Reference(tuple(cases), {name: projection_text(a.facts or a.hull) for name, a in arguments.items()})
