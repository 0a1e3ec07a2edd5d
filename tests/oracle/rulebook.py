"""Auxiliary rulebook entries, which occur only in derivatives, by the `value` texts of their files.

The files are read as tables and their Python is run slice by slice; nothing of matcalc is imported.
"""

import itertools
import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import scipy.linalg as sl
import scipy.special as sp

from oracle.arrays import column, integer, is_vector, real_only, scalar

FOLDER = Path(__file__).resolve().parents[2] / "rules"
PARAMETER = re.compile(r"(\w+)(\.\.\.)?:\s*(\w+)")
CYCLES = {"exp": ("exp",), "sinh": ("sinh", "cosh")}
"""Functions as arguments, each with its derivatives in a cycle."""


@cache
def entries():
    """Return the table of each entry by its name, and by that of each of its outputs."""
    found = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if not isinstance(entry, dict) or "signature" not in entry or "value" not in entry:
                continue
            found[name] = (entry, None)
            first = entry["signature"] if isinstance(entry["signature"], str) else entry["signature"][0]
            outputs = re.findall(r"(\w+): ", first.split("->")[1])
            found |= {f"{name}_{output}": (entry, k) for k, output in enumerate(outputs)}
    return found


@cache
def prelude():
    space = {"np": np, "sp": sp, "sl": sl}
    for path in sorted(FOLDER.glob("*.py")):
        if path.name != "many_digits.py":
            text = re.sub(r"(?m)^from matcalc\.rules\..*$", "", path.read_text(encoding="utf-8"))
            exec(compile(text, path, "exec"), space)  # the rule files are ours; all share one scope
    return space


@cache
def function(name, count):
    """Return the value of an entry as a function, with the kinds of its `count` arguments."""
    entry, output = entries()[name]
    texts = entry["signature"] if isinstance(entry["signature"], list) else [entry["signature"]]
    values = entry["value"] if isinstance(entry["value"], list) else [entry["value"]]
    for text, value in zip(texts, values, strict=False):
        parameters = PARAMETER.findall(text[text.index("(") : text.index("->")])
        plain = [p for p in parameters if not p[1]]
        if len(plain) == count or (len(plain) < count and len(plain) < len(parameters)):
            names = ", ".join(f"*{p}" if more else p for p, more, _ in parameters)
            kinds = [kind for _, _, kind in plain]
            kinds += [p[2] for p in parameters if p[1]] * (count - len(plain))
            return eval(f"lambda {names}: ({value}\n)", prelude()), kinds, output  # the rule files are ours
    raise KeyError(name)


def knows(name):
    return name in entries()


def function_argument(name):
    """Return a named function as values expect it: f(x, k) is its k-th derivative."""
    cycle = CYCLES[name]
    return lambda x, k=0: getattr(np, cycle[k % len(cycle)])(x)


def called(name, arguments, axis=None):
    """Return the value of an entry; arguments are two-dimensional arrays, functions by name."""
    f, kinds, output = function(name, len(arguments))
    if axis is not None:
        at = integer(axis)
        whole = arguments[kinds.index("array") if "array" in kinds else kinds.index("vector")]
        parts = [
            called(name, [column(part) if a is whole else a for a in arguments]).reshape(-1)
            for part in (whole.T if at == 0 else whole)
        ]
        found = np.stack(parts, axis=1 if at == 0 else 0)
        return found.reshape(-1, 1) if parts[0].size == 1 else found
    result = f(*itertools.starmap(given, zip(kinds, arguments, strict=True)))
    result = np.asarray(result if output is None else result[output], float)
    return scalar(result) if result.ndim == 0 else column(result) if result.ndim == 1 else result


def given(kind, value):
    """Return an argument in the form that a value expects."""
    if kind == "function":
        return function_argument(value)
    if kind == "integer":
        return integer(value)
    value = real_only(value)
    if kind in ("scalar", "number"):
        return value.item()
    is_flat = kind == "vector" or (kind == "array" and is_vector(value) and value.shape[1] == 1)
    return value.reshape(-1) if is_flat else value
