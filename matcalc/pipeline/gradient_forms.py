"""Derives the gradients of a compiled function: computed forms immediately, printed forms when they are read.

The search for the shortest printed form takes as long as the derivative itself. Most compiled functions are called and
never printed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial

from matcalc.cached import cached_property
from matcalc.calculus.derive import conventions
from matcalc.calculus.derive.marks import forms_of
from matcalc.calculus.derive.unrestricted import unrestricted
from matcalc.calculus.simplify.shortest import Shortened, to_compute
from matcalc.calculus.simplify.simplify import simplify
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.verify import verify
from matcalc.expressions.derivatives import claims_of, each
from matcalc.expressions.expression import Expression
from matcalc.expressions.operands.handle import Wrt
from matcalc.expressions.printing import formula_in
from matcalc.pipeline.requests import Output, Printed
from matcalc.tensor.nodes.node import Node


class GradientForms:
    """The gradients of a scalar in whole symbols, with the output for each.

    Forms are compared with the formula as written before they are returned, the printed ones when they are read.
    `seconds` is the time of the derivation, without the comparison.

    Raises: InternalError for a form that differs from the formula as written.
    """

    def __init__(self, value: Expression, wrt: Wrt, convention: str, check: bool) -> None:
        start = time.perf_counter()
        self.value, self.check = value, check
        self.symbols, self.names = value.symbols_of(wrt), value.names_with(wrt)
        self._free = unrestricted(value.computed, self.symbols)
        self._derived = conventions.gradients(simplify(self._free.root), self._free.variables, convention)
        self.computed = [Shortened(*map(self._free.restored, form)) for form in to_compute(self._derived)]
        self.seconds = time.perf_counter() - start
        self._traces = [Derivation("gradient", value.node, (x,), convention=convention) for x in self.symbols]
        self._verify(each([form.shown for form in self.computed], self._traces))

    @property
    def outputs(self) -> list[Output]:
        """The outputs of a function that computes the gradients."""
        rows = enumerate(zip(self.symbols, self.computed, strict=True))
        return [Output(f"gradient_{x.name}", f.shown, f.unfactored, partial(self._printed, k)) for k, (x, f) in rows]

    def _printed(self, k: int) -> Printed:
        shown, marked = self._forms[k]
        return Printed(shown, marked, partial(formula_in, shown, self.names))

    @cached_property
    def _forms(self) -> list[tuple[Node, Node]]:
        """The shortest forms to print, and the computed forms, which may contain marks."""
        forms = forms_of(self._derived, self._free)
        self._verify(claims_of(forms, self._traces))
        return [(form.shown, form.computed) for form in forms]

    def _verify(self, claims: Iterable[Claim]) -> None:
        if self.check:
            verify(claims, self.value.reference, self.names)
