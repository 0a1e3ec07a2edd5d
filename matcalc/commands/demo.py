"""Implements `matcalc demo`: a real model on real data, from its formula to the fitted coefficients.

The model is L2-regularised logistic regression on the Wisconsin breast-cancer data. Everything printed comes from the
public interface, in the order of a user's questions: the formulas, their derivation, the program, the numeric check,
the fit, and its time compared with SciPy's finite differences.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

import matcalc as mc

Array = NDArray[np.float64]
T = TypeVar("T")

LOSS = "sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w"
DECLARATIONS = "X: matrix(m, n); y: vector(m); w: vector(n); lam: scalar positive"


def breast_cancer() -> tuple[Array, Array]:
    """Return X (569 x 30, columns of mean 0 and standard deviation 1) and y (+1 malignant, -1 benign)."""
    rows = [line.split(",") for line in stored("breast_cancer.csv").splitlines()[1:]]
    y = np.array([1.0 if row[0] == "M" else -1.0 for row in rows])
    X = np.array([row[1:] for row in rows], np.float64)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def stored(name: str) -> str:
    """Return the text of a file in `matcalc/data`."""
    return (files("matcalc") / "data" / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Reference:
    """The coefficients that another program found for the same model and data."""

    origin: str
    lam: float
    loss: float
    w: Array


def reference() -> Reference:
    """Return the stored solution of scikit-learn."""
    record = json.loads(stored("breast_cancer_reference.json"))
    return Reference(record["origin"], record["lam"], record["loss"], np.array(record["w"]))


def run(out: TextIO = sys.stdout, target: str = "numba") -> int:
    """Print the demo to `out`; return 0 if check and fit agree with the reference, else 1."""
    page = Page(out)
    X, y = breast_cancer()
    known = reference()
    data: dict[str, Any] = {"X": X, "y": y, "lam": known.lam}
    page.title("matcalc demo: logistic regression on the Wisconsin breast-cancer data")
    page.field("data", f"{len(X)} biopsies, {X.shape[1]} standardised features; UCI repository, CC BY 4.0")
    page.field("let", DECLARATIONS)
    page.field("loss", LOSS)
    page.field("simplified", mc.expression(LOSS, DECLARATIONS).simplify())
    formulas(page)
    program(page, target)
    right = check(page)
    close = fit(page, data, known, target)
    return 0 if right and close else 1


def formulas(page: Page) -> None:
    """Show gradient, Hessian and Hessian-vector product as formulas, and the derivation of the gradient."""
    page.title("Derivatives, as formulas")
    gradient = mc.gradient(LOSS, "w", declarations=DECLARATIONS)
    hessian = mc.hessian(LOSS, "w", declarations=DECLARATIONS)
    product = mc.hvp(LOSS, "w", declarations=DECLARATIONS)
    page.field("gradient", gradient)
    page.field("Hessian", hessian)
    page.field("H * v", product)
    page.field("LaTeX", gradient.latex())
    page.title("How the gradient was derived")
    page.line(str(gradient.explain()))


def program(page: Page, target: str) -> None:
    """Show the generated source of value and gradient."""
    page.title(f"The generated program: value and gradient, target {target}")
    with page.working("compiling"):
        both = mc.value_and_gradient(LOSS, "w", declarations=DECLARATIONS, target=target)
    page.line(both.source.rstrip())


def check(page: Page) -> bool:
    """Show the numeric check of the derivatives."""
    page.title("Numeric check, against differences on random data")
    with page.working("checking"):
        report = mc.check(LOSS, "w", declarations=DECLARATIONS)
    page.line(str(report))
    return bool(report)


def fit(page: Page, data: dict[str, Any], known: Reference, target: str) -> bool:
    """Fit with the compiled gradient and Hessian-vector product; return whether it agrees with the reference."""
    page.title("The fit: trust-ncg with compiled gradient and Hessian-vector product")
    start = {"w": np.zeros(data["X"].shape[1])}
    common: dict[str, Any] = {"declarations": DECLARATIONS, "target": target}
    with page.working("fitting"):
        result = mc.minimize(LOSS, "w", start, data, method="trust-ncg", options={"gtol": 1e-10}, **common)
    w = result.x["w"]
    accuracy = float(np.mean(np.sign(data["X"] @ w) == data["y"]))
    difference = float(np.max(np.abs(w - known.w)))
    page.field("iterations", result.nit)
    page.field("loss", f"{result.fun:.12g}   (reference {known.loss:.12g})")
    page.field("accuracy", f"{accuracy:.4f}   on the training data")
    page.field("largest difference", f"{difference:.1e}   to the coefficients of the reference")
    page.field("reference", known.origin)
    compare_speed(page, data, start["w"], target)
    return difference <= 1e-6


def compare_speed(page: Page, data: dict[str, Any], start: Array, target: str) -> None:
    """Time the same fit with the compiled gradient and with SciPy's differences of the compiled loss."""
    from scipy.optimize import minimize

    page.title("The same fit by L-BFGS-B, gradient compiled or by SciPy's finite differences")
    both = mc.value_and_gradient(LOSS, "w", declarations=DECLARATIONS, target=target).bind(data)
    value = mc.compile(LOSS, declarations=DECLARATIONS, target=target).bind(data)
    options = {"gtol": 1e-6, "ftol": 1e-14, "maxiter": 1000, "maxfun": 100_000}
    with page.working("timing"):
        exact, exact_time = timed(lambda: minimize(both, start, jac=True, method="L-BFGS-B", options=options))
        rough, rough_time = timed(lambda: minimize(value, start, method="L-BFGS-B", options=options))
    page.line("gradient             iterations  calls        loss         time")
    for label, found, seconds in (("compiled", exact, exact_time), ("finite differences", rough, rough_time)):
        page.line(f"{label:20s} {found.nit:10d} {found.nfev:6d} {found.fun:14.9f} {1e3 * seconds:8.1f} ms")
    page.line(f"{rough_time / exact_time:.0f} times faster")


def timed(solve: Callable[[], T], repeats: int = 3) -> tuple[T, float]:
    """Return the result of `solve` and its shortest time in seconds."""
    best = float("inf")
    found = solve()
    for _ in range(repeats):
        began = time.perf_counter()
        found = solve()
        best = min(best, time.perf_counter() - began)
    return found, best


class Page:
    """The output: plain text; on a terminal, titles are bold and long steps show a progress message."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.terminal = out.isatty()

    def title(self, text: str) -> None:
        self.line(f"\n\x1b[1m{text}\x1b[0m" if self.terminal else f"\n{text}\n{'-' * len(text)}")

    def field(self, label: str, text: object) -> None:
        self.line(f"{label:20}{text}")

    def line(self, text: str) -> None:
        print(text, file=self.out, flush=True)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show `what` on a terminal while the block runs, then erase it."""
        if not self.terminal:
            yield
            return
        self.out.write(f"{what} ...")
        self.out.flush()
        try:
            yield
        finally:
            self.out.write("\r\x1b[K")
            self.out.flush()
