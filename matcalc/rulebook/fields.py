"""Defines the fields of a rule file, and reads the short texts in them.

Formulas are not read here, only the shorthand of the rulebook, which has one form for each field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from matcalc.errors import MatcalcError
from matcalc.language.identifiers import identifier, nearest
from matcalc.language.latex.layout.latex_names import LOOKS
from matcalc.language.read import read
from matcalc.language.syntax import call_name, with_order
from matcalc.rulebook.roles import ROLES
from matcalc.rulebook.rule import Interval

Report = Callable[[str, str], None]
"""A function of the field at fault ("" for the entry) and the message."""

Types = tuple[type, ...]

RULE_FIELDS: Mapping[str, Types] = {
    "signature": (str, list), "sizes": (str,), "where": (list,), "differential": (str, dict),
    "linear": (dict,), "derivative": (str, dict), "definition": (str, list), "value": (str, list),
    "precise": (str, list),
    "transpose": (str,), "degree": (int, str), "homogeneous": (bool,), "inverse": (bool,), "commutes": (bool,),
    "associative": (bool,), "keeps_rows": (bool,), "real": (bool,), "named": (bool,), "nonempty": (bool, list),
    "per_axis": (bool,), "undoes": (str,), "infinite": (list,), "parity": (str,), "monotone": (str,),
    "through": (str,),
    "curvature": (str,), "interval": (str,), "facts": (list,), "rewrites": (list,), "edge": (list,),
    "aliases": (list, dict), "overload": (str,), "domain": (str,), "inside": (dict,), "fails": (str,), "gauge": (str,),
    "opaque": (str, dict),
    "by_value": (str,), "divided": (str, dict), "difference": (str,), "radius": (str,), "scale": (str,),
    "square": (str,), "weight": (str,), "weighed": (str,), "merge": (str,), "by_total": (str,), "share": (str,),
    "shown": (str,), "shown_in": (str,), "meaning": (str,),
    "source": (str,), "role": (str,), "latex": (str, list, dict), "from_latex": (str, list, dict),
    "numpy": (str, list, dict), "sympy": (str,), "from_sympy": (dict,),
    "equivariant": (list,), "implicit": (str,), "calculus": (bool, str), "annihilates": (bool,), "closed": (bool,),
    "jumps": (list,), "pieces": (dict,), "choices": (dict,), "internal": (bool,), "calls": (list,), "differs": (dict,),
}  # fmt: skip
FACT_FIELDS: Mapping[str, Types] = {
    "kind": (str,), "of": (str,), "implies": (list,), "zero": (str,), "nonnegative": (str,),
    "positive": (str,), "entries": (list,), "tangent": (str,), "sample": (str,), "drawn": (str,), "whole": (str,),
    "projection": (str,), "near": (str,), "transposed": (str,), "negated": (str,), "sums": (bool,), "scaled": (str,),
    "ends": (list,), "thin": (bool,),
    "follows": (list,), "excludes": (list,), "products": (list,),
}  # fmt: skip
REWRITE_WAYS = ("splits", "factor", "numeric")
REWRITE_FIELDS: Mapping[str, Types] = {"let": (str,), "rule": (str,), **dict.fromkeys(REWRITE_WAYS, (bool,))}
CHOICES: Mapping[str, tuple[str, ...]] = {
    "transpose": ("same",), "parity": ("even", "odd"), "monotone": ("increasing", "decreasing"),
    "curvature": ("convex", "concave"), "of": ("any", "matrix", "square"),
    "scaled": ("any", "nonzero", "positive", "integer"),
    "role": tuple(ROLES),
}  # fmt: skip
EDGE_FIELDS: Mapping[str, Types] = {
    "at": (dict,), "part": (str,), "value": (str,), "G": (str,), "derivative": (dict,), "pullback": (dict,),
    "along": (dict,), "second": (dict,), "kind": (str,), "why": (str,),
}  # fmt: skip
EDGE_KINDS = ("value", "mean", "limit", "inf", "undefined", "error", "constant_rank")
TABLE_FIELDS = ("edge", "equivariant")
"""Fields that are lists of tables."""

_WORDS = {str: "a text", list: "a list", dict: "a table", bool: "true or false", int: "a number"}
_FACT_OF = re.compile(r"\s*(\w+)\((\w+)\)\s*$")
_FACTS = re.compile(r"\b(\w+)\((\w+)\)")
_LET = re.compile(r"\s*(\w+)\s*=(?!=)\s*(\S.*)$", re.DOTALL)
_INTERVAL = re.compile(r"\s*([\[(])\s*(\S+)\s*,\s*(\S+)\s*([\])])\s*$")


def check_fields(table: Mapping[str, Any], known: Mapping[str, Types], report: Report) -> dict[str, Any]:
    """Report fields that are unknown, of a wrong type, or not an allowed word; return the others."""
    sound: dict[str, Any] = {}
    for field, value in table.items():
        if field not in known:
            report(field, f"unknown field '{field}'{nearest(field, known)}")
        elif type(value) not in known[field]:
            report(field, f"{field} must be {' or '.join(_WORDS[t] for t in known[field])}")
        elif isinstance(value, list) and field not in TABLE_FIELDS and not _all_texts(value):
            report(field, f"{field} must be a list of texts")
        elif isinstance(value, dict) and not _all_texts(value.values()):
            report(field, f"{field} must be a table of texts")
        elif field in CHOICES and value not in CHOICES[field]:
            report(field, f"{field} is '{value}', not one of: {' '.join(CHOICES[field])}")
        else:
            sound[field] = value
    return sound


def _all_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def filled(message: str, texts: Mapping[str, str]) -> str:
    """Return a message with the names in braces replaced by their texts."""
    return re.sub(r"\{(\w+)\}", lambda found: texts.get(found[1], found[0]), message)


def read_let(text: str) -> tuple[str, str] | None:
    """Return name and formula of `name = formula`, None for another form."""
    match = _LET.match(text)
    return (match[1], match[2].strip()) if match else None


def read_interval(text: str) -> Interval | None:
    """Return `(lo, hi]` as (lo, hi, lo is open, hi is open)."""
    match = _INTERVAL.match(text)
    try:
        lo, hi = (float(match[2]), float(match[3])) if match else (0.0, -1.0)
    except ValueError:
        return None
    return (lo, hi, match[1] == "(", match[4] == ")") if match and lo <= hi else None


def read_point(text: str) -> tuple[float, float] | None:
    """Return the two numbers of `(x, y)`."""
    match = _INTERVAL.match(text)
    try:
        return (float(match[2]), float(match[3])) if match else None
    except ValueError:
        return None


def read_degree(value: int | str) -> Fraction | str:
    """Return a degree: a number as a Fraction, a formula in sizes (`n - 1`) as text."""
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        return str(value)


def read_fact(text: str) -> tuple[str, str] | None:
    """Return `fact(X)` as (fact, X)."""
    match = _FACT_OF.match(text)
    return (match[1], match[2]) if match else None


def read_fact_rule(text: str) -> tuple[tuple[tuple[str, str], ...], str, str] | None:
    """Return `fact(X) and fact(Z) => fact(Y)` as (conditions (fact, parameter), output, fact)."""
    before, arrow, after = text.partition("=>")
    fact = read_fact(after)
    if not arrow or fact is None:
        return None
    parts = re.split(r"\band\b", before) if before.strip() else []
    conditions = [pair for pair in map(read_fact, parts) if pair]
    return (tuple(conditions), fact[1], fact[0]) if len(conditions) == len(parts) else None


def read_latex(value: str | list[str] | Mapping[str, str], report: Report) -> Mapping[str, tuple[str, ...]]:
    """Return templates by the suffix of the name in `latex`: one text, one by number of arguments, or by kind."""
    if not isinstance(value, Mapping):
        return MappingProxyType({"": (value,) if isinstance(value, str) else tuple(value)})
    for kind in value:
        if kind not in LOOKS:
            report("latex", f"latex of '{kind}', not one of: {' '.join(LOOKS)}")
    return MappingProxyType({LOOKS[kind]: (text,) for kind, text in value.items() if kind in LOOKS})


def ordered_calls(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the spellings of calls with a number or a word after the argument, and the faults of the other texts."""
    found: list[str] = []
    faults: list[str] = []
    for text in texts:
        try:
            call = read(text)
        except MatcalcError as error:
            faults.append(str(error))
            continue
        is_call = call.head == "call" and len(call.args) == 2
        spelling = with_order(call_name(call), call.args[1]) if is_call else ""
        wrong_form = f"calls: '{text}' is not of the form  f(x, 1)  or  f(x, 'word')"
        (found if spelling else faults).append(spelling or wrong_form)
    return found, faults


def read_numpy(value: str | list[str] | Mapping[str, str], report: Report) -> Mapping[str, tuple[str, ...]]:
    """Return NumPy's names with the words for their forms of calls."""
    table = value if isinstance(value, Mapping) else dict.fromkeys([value] if isinstance(value, str) else value, "")
    found: dict[str, tuple[str, ...]] = {}
    for name, text in table.items():
        words = tuple(word.strip() for word in text.split(",")) if text else ()
        try:
            for word in words:
                for part in word.removesuffix("'").removesuffix("=").split("="):
                    identifier(part, f"numpy '{name}':")
            found[":".join(identifier(part, "NumPy's name") for part in name.split(":"))] = words
        except MatcalcError as error:
            report("numpy", str(error))
    return MappingProxyType(found)


def read_classes(value: Mapping[str, str], report: Report) -> Mapping[str, str]:
    """Return SymPy's classes with the formulas that they denote."""
    found: dict[str, str] = {}
    for name, text in value.items():
        try:
            found[identifier(name, "SymPy's class")] = text
        except MatcalcError as error:
            report("from_sympy", str(error))
    return MappingProxyType(found)


def read_pattern(text: str, parameters: Sequence[str]) -> list[tuple[tuple[str, ...], str]]:
    """Return argument forms and formulas of `(x, 0) => formula; ...`; a formula alone is in `parameters`."""
    found = []
    for part in text.split(";"):
        left, arrow, right = part.partition("=>")
        words = tuple(word.strip() for word in left.strip().strip("()").split(",")) if arrow else tuple(parameters)
        found.append((words, (right if arrow else left).strip()))
    return found


def stated_facts(domain: str) -> list[tuple[str, str]]:
    """Return the facts that a domain states, `nonsingular(X)` as (nonsingular, X); the rest of it is prose."""
    return [(fact, name) for fact, name in _FACTS.findall(domain)]


def read_rewrite(text: str) -> tuple[str, str, str | None] | None:
    """Return `left => right if condition` as its three parts."""
    left, arrow, rest = text.partition("=>")
    right, _, condition = rest.partition(" if ")
    if not arrow or not left.strip() or not right.strip():
        return None
    return left.strip(), right.strip(), condition.strip() or None
