"""Compares matcalc's answers with the oracle: right, a named error, or wrong. Only this module imports matcalc."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import matcalc as mc
from oracle.cases import Identity, identities
from oracle.data import SIZES
from oracle.values import shaped

DERIVATIVES: dict[str, Callable] = {
    "gradient": mc.gradient,
    "jacobian": mc.jacobian,
    "hessian": mc.hessian,
    "differential": mc.differential,
}


@dataclass(frozen=True)
class Verdict:
    """The outcome: `state` is "right", "error" (matcalc raised, `detail` is the message) or "wrong"."""

    state: str
    detail: str = ""


@cache
def derive(case: Identity):
    """Return matcalc's derivative for a case, in the convention of the case."""
    options = {"convention": "magnus"} if case.convention == "symmetric-independent" else {}
    return DERIVATIVES[case.kind](case.text, case.wrt, declarations=case.let, **options)


def compared(found, expected: np.ndarray, tolerance: float = 1e-8) -> Verdict:
    """Judge a value by |a - b| <= tolerance (1 + |b|)."""
    found = np.asarray(found)
    try:
        expected = shaped(expected, found.shape)
    except ValueError as error:
        return Verdict("wrong", str(error))
    difference = np.abs(found - expected) / (1 + np.abs(expected))
    if np.all(difference <= tolerance):
        return Verdict("right")
    return Verdict("wrong", f"off by {np.max(difference):.2g}")


def arguments(names: Sequence[str], data: dict[str, np.ndarray]) -> dict[str, object]:
    """Pick the named arguments, sizes included."""
    return {str(name): {**SIZES, **data}[str(name)] for name in names}


@cache
def evaluated(case: Identity) -> Verdict:
    """Judge the derivative evaluated with plain NumPy, at two points."""
    try:
        derivative = derive(case)
        for seed in (0, 1):
            data = case.sample(seed)
            verdict = compared(derivative(**arguments(derivative.symbols, data)), case.expected(data))
            if verdict.state != "right":
                return verdict
    except mc.MatcalcError as error:
        return Verdict("error", f"{type(error).__name__}: {error}")
    return verdict


PROGRAMS = 10
"""Number of programs in which all identities are compiled, the k-th of them in the program k % PROGRAMS."""


@cache
def compiled(number: int) -> dict[str, Verdict]:
    """Judge the identities of one program as compiled code."""
    verdicts: dict[str, Verdict] = {}
    chunk = {}
    for case in [case.renamed(f"_{k}") for k, case in enumerate(identities())][number::PROGRAMS]:
        try:
            chunk[case] = derive(case)
        except mc.MatcalcError as error:
            verdicts[case.id] = Verdict("error", f"{type(error).__name__}: {error}")
    return verdicts | together(chunk)


def together(chunk: dict[Identity, mc.Expression]) -> dict[str, Verdict]:
    """Compile all expressions of `chunk` as one program; if that raises, one by one."""
    try:
        function = mc.compile(list(chunk.values()))
    except mc.MatcalcError as error:
        if len(chunk) == 1:
            return {case.id: Verdict("error", f"{type(error).__name__}: {error}") for case in chunk}
        return {key: verdict for case in chunk for key, verdict in together({case: chunk[case]}).items()}
    samples = {case: case.sample(0) for case in chunk}
    data = {name: value for sample in samples.values() for name, value in sample.items()}
    results = function(**arguments(function.args, data))
    return {
        case.id: compared(result, case.expected(samples[case])) for case, result in zip(chunk, results, strict=True)
    }
