"""Entry of the check for layers that run without NumPy. It remembers which results were compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.reference import Reference
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.symbols import Names

PACKAGES = {"numpy": "NumPy", "scipy": "SciPy"}
"""Display names of the packages that evaluate references."""

MOST_VERDICTS = 32
"""The most comparisons that are remembered for a formula."""

Verdicts = dict[tuple[object, ...], str]
_verdicts: WeakKeyDictionary[Reference, Verdicts] = WeakKeyDictionary()
"""The reports of earlier comparisons with a formula, by all that they depend on. They end with the reference."""


def verify(claims: Iterable[Claim], reference: Reference, names: Names) -> str:
    """Compare results with the formula as written; return the points compared, or why there are none.

    Formulas are also derived without NumPy; then nothing can be evaluated and nothing is compared. A comparison with a
    formula that reads nothing but its data is not repeated for the same results.

    Raises: InternalError for a wrong result.
    """
    found = list(claims)
    if not reference.is_pure or names.bound or default_rulebook().functions:
        return _verified(found, reference, names)
    known, key = _verdicts.setdefault(reference, {}), _key(found, names)
    report = known.get(key)
    if report is None:
        report = known[key] = _verified(found, reference, names)
        for oldest in list(known)[:-MOST_VERDICTS]:
            known.pop(oldest, None)
    return report


def _key(claims: Sequence[Claim], names: Names) -> tuple[object, ...]:
    """Return all that a comparison depends on, apart from the reference."""
    symbols = tuple(names.symbols.items())
    return (*claims, symbols, names.written, names.conditions, names.sizes, default_rulebook())


def _verified(claims: Sequence[Claim], reference: Reference, names: Names) -> str:
    try:
        from matcalc.evidence.written.claims import checked

        return checked(claims, reference, names)
    except ModuleNotFoundError as error:
        package = PACKAGES.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        return f"not checked: {package} is not installed"
