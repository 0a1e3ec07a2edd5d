"""Checks the questions of the page: records of text fields with limits; anything else is rejected.

Only matcalc's own readers read the text. It is never evaluated, imported, or used as a path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matcalc.errors import NotSupported

LONGEST = 4000
"""The most characters of a formula, or of declarations."""

TOPICS = ("read", "derive", "write", "explain", "compare", "convex", "check", "plan", "graph")
DIALECTS = ("matrix", "numpy", "latex")
DERIVATIVES = ("gradient", "jacobian", "hessian", "differential", "hvp")
FORMS = ("text", "named", "latex", "sympy", "numba", "numpy", "c")
PARTS = ("formula", "derivative")

CHOICES: Mapping[str, tuple[str, ...]] = {
    "topic": TOPICS, "dialect": DIALECTS, "how": DERIVATIVES, "form": FORMS, "part": PARTS,
}  # fmt: skip
LIMITS = {"formula": LONGEST, "declarations": LONGEST, "other": LONGEST, "wrt": 200}


class Refused(ValueError):  # noqa: N818 - named for the event
    """Raised for an invalid question; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a formula; `other` is a formula to compare with, `wrt` has names separated by commas."""

    topic: str
    formula: str
    declarations: str = ""
    dialect: str = "matrix"
    wrt: str = ""
    how: str = "gradient"
    form: str = "text"
    part: str = "derivative"
    other: str = ""

    @property
    def variables(self) -> str | list[str]:
        """The only name of `wrt`, or the list of several. Raises: NotSupported if there is none."""
        names = [name.strip() for name in self.wrt.split(",") if name.strip()]
        if not names:
            raise NotSupported("choose a variable first: with respect to what?")
        return names[0] if len(names) == 1 else names


def question(record: object) -> Question:
    """Return the question in a record of the page.

    Raises: Refused for unknown fields, and for values that are no text, too long, or none of the choices.
    """
    if not isinstance(record, dict):
        raise Refused("a question is an object of text fields")
    for name, value in record.items():
        if name not in CHOICES and name not in LIMITS:
            raise Refused("the question has an unknown field")
        if not isinstance(value, str):
            raise Refused(f"{name} is text")
        if name in CHOICES and value not in CHOICES[name]:
            raise Refused(f"{name} is one of {', '.join(CHOICES[name])}")
        if name in LIMITS and len(value) > LIMITS[name]:
            raise Refused(f"{name} has {len(value)} characters, and {LIMITS[name]} are read here")
    if "topic" not in record or "formula" not in record:
        raise Refused("a question has a topic and a formula")
    return Question(**record)
