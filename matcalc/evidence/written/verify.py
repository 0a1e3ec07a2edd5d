"""Entry of the check for layers that run without NumPy."""

from __future__ import annotations

from collections.abc import Iterable

from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.reference import Reference
from matcalc.tensor.symbols import Names

PACKAGES = {"numpy": "NumPy", "scipy": "SciPy"}
"""Display names of the packages that evaluate references."""


def verify(claims: Iterable[Claim], reference: Reference, names: Names) -> str:
    """Compare results with the formula as written; return the points compared, or why there are none.

    Formulas are also derived without NumPy; then nothing can be evaluated and nothing is compared.

    Raises: InternalError for a wrong result.
    """
    try:
        from matcalc.evidence.written.claims import checked

        return checked(list(claims), reference, names)
    except ModuleNotFoundError as error:
        package = PACKAGES.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        return f"not checked: {package} is not installed"
