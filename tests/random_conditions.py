"""Random functions with conditions on data: guards, branches, helpers, masks, and loops with conditions in their steps.

The text of a function runs on arrays and on symbols. Names are defined before all conditions, and values stay near 1.
`python -m tests.random_conditions FIRST COUNT [TARGET]` compares functions by seed, and prints how many.
"""

from __future__ import annotations

import linecache
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import matcalc as mc

LET = "x: vector(n); a: scalar; b: scalar"
STEP = 1e-6
RELATIONS = ("<", "<=", ">", ">=")
HELPERS = """
def ramp(v):
    if v < -0.5:
        return -0.5
    if v > 0.5:
        return 0.5 + 0.1 * (v - 0.5)
    return v


def part(v, w):
    if v > w and w > 0:
        z = np.tanh(v) * w
    elif v > 0:
        z = v / (1 + v**2)
    else:
        z = 0.3 * w
    return z


"""


class Writer:
    """Writes a random function, one statement after the other."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []

    def one_of(self, *texts: str) -> str:
        return self.random.choice(texts)

    def number(self) -> str:
        return repr(self.random.choice((-0.7, -0.2, 0.1, 0.4, 0.8, 1.3)))

    def scalar(self, names: str = "") -> str:
        p, q = self.one_of("p", "q", "a", "b", *names.split()), self.one_of("p", "q", "a", "b", *names.split())
        return self.one_of(
            f"np.tanh({p} * {q})", f"{p} + {self.number()}", f"np.sin({p}) - {q} / 2", f"ramp({p})", f"part({p}, {q})",
            f"np.tanh(np.sum(u) * {p})", f"max({p}, {q})", f"abs({p}) * {self.number()}",
            f"np.tanh(np.mean(u**2)) + {q}", f"u[0] * {p}", f"({p} if {self.condition()} else {q})",
        )  # fmt: skip

    def vector(self) -> str:
        p = self.one_of("p", "q", "a")
        return self.one_of(
            f"np.sin(u) * {p}", f"np.tanh(u + {p})", f"x - {self.number()} * u", "u[::-1] + x / 2", f"u * ramp({p})",
            f"np.where(u > {p}, u, x)", "np.minimum(u, x)",
        )  # fmt: skip

    def mask(self) -> str:
        return self.one_of(
            f"u > {self.number()}", f"x <= {self.one_of('p', 'q')}", f"(u < 0.5) & (x > {self.number()})"
        )

    def condition(self, names: str = "") -> str:
        relation, p = self.one_of(*RELATIONS), self.one_of("p", "q", "a", "b", *names.split())
        return self.one_of(
            f"{p} {relation} {self.number()}", f"{p} {relation} {self.one_of('a', 'q')} + 0.05",
            f"np.sum(u) {relation} {p} + 0.3", f"not {p} {relation} {self.number()}",
            f"x[0] {relation} {self.number()}",
            f"{p} > 0 and q < 0.9", f"{p} < -0.3 or b > {self.number()}", f"-0.5 < {p} < 0.6", "np.any(u > 0.9)",
            "np.all(x < 1.2)",
        )  # fmt: skip

    def block(self, indent: int, depth: int, count: int) -> None:
        for _ in range(count):
            self.statement(indent, depth)

    def write(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def statement(self, indent: int, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.25:
            self.write(indent, f"{self.one_of('p', 'q')} {self.one_of('=', '=', '+=')} {self.scalar()}")
        elif kind < 0.4:
            self.write(indent, f"u = {self.vector()}")
        elif kind < 0.5:
            mask = self.mask()
            texts = (
                f"p += np.sum(u[{mask}]) / 4",
                f"q = np.tanh(len(u[{mask}]) * p)",
                f"p = np.tanh(x[{mask}] @ u[{mask}])",
            )
            self.write(indent, self.one_of(*texts))
        elif kind < 0.6:
            mask = self.mask()
            self.write(indent, "u = u.copy()")
            self.write(indent, f"m = {mask}")
            self.write(
                indent,
                self.one_of(
                    "u[m] = p", "u[m] = np.sin(x[m])", "u[0] = q", "u[m] *= 0.5", "u *= 0.7", "u[1:] = u[:-1] / 2"
                ),
            )
        elif kind < 0.7:
            self.loop(indent)
        elif kind < 0.8 and depth:
            self.write(indent, f"if {self.condition()}:")
            self.write(
                indent + 1,
                self.one_of("return np.inf", "return -1e3", f"return {self.scalar()}", "return np.sum(u) * p"),
            )
        elif depth:
            self.write(indent, f"if {self.condition()}:")
            self.block(indent + 1, depth - 1, 1 + self.random.randrange(2))
            if self.random.random() < 0.3:
                self.write(indent, f"elif {self.condition()}:")
                self.block(indent + 1, 0, 1)
            if self.random.random() < 0.6:
                self.write(indent, "else:")
                self.block(indent + 1, depth - 1, 1)
        else:
            self.write(indent, f"p = {self.scalar()}")

    def loop(self, indent: int) -> None:
        self.write(indent, self.one_of("for v in x:", "for t, v in enumerate(x):", "for v in u:"))
        self.write(indent + 1, f"if {self.condition('v')}:")
        self.write(indent + 2, self.one_of("continue", f"p = 0.5 * p + {self.scalar('v')} / 3", "q += v / 5"))
        self.write(
            indent + 1, self.one_of(f"p = 0.6 * p + {self.scalar('v')} / 4", "q = 0.5 * q + ramp(v)", "p += v * q / 6")
        )


def source_of(seed: int) -> str:
    """Return the text of a random function."""
    writer = Writer(seed)
    writer.write(1, "p, q, u = a, b, 1.0 * x")
    writer.block(1, 2, 3 + writer.random.randrange(3))
    writer.write(
        1, writer.one_of("return p * q + np.sum(np.sin(u))", "return p + np.tanh(q) * u[0]", "return np.sum(u * p) + q")
    )
    return HELPERS + "def f(x, a, b):\n" + "\n".join(writer.lines) + "\n"


def function_of(seed: int) -> Callable[..., Any]:
    """Return a random function, whose source is found by its name."""
    text, file = source_of(seed), f"<conditions {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np, "__name__": f"conditions_{seed}"}
    exec(compile(text, file, "exec"), scope)
    function: Callable[..., Any] = scope["f"]
    return function


def points(seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        {"x": rng.uniform(-1, 1.5, n), "a": rng.uniform(-1, 1.2), "b": rng.uniform(-1, 1.2)} for n in (3, 2, 5, 4) * 3
    ]


def slope(function: Callable[..., Any], point: dict[str, Any], name: str) -> Any:
    """Return central differences; NaN at jumps and kinks."""
    own = np.array(point[name], dtype=float)
    found, middle = np.zeros(own.shape), float(function(**point))
    for at in np.ndindex(*own.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = own.copy()
            moved[at] += step
            ends.append((float(function(**point | {name: moved if moved.shape else float(moved)})) - middle) / step)
        found[at] = (ends[0] + ends[1]) / 2 if abs(ends[0] - ends[1]) <= 1e-3 * (1 + abs(ends[0])) else np.nan
    return found


def compare(seed: int, target: str = "") -> int:
    """Compare a function and its gradients with the function on arrays; return the number of values, 0 if refused."""
    function, compared = function_of(seed), 0
    try:
        if target:
            both = mc.value_and_gradient(function, ["x", "a", "b"], LET, target=target)
        else:
            e = mc.expression(function, LET)
            gradients = [mc.gradient(e, name) for name in ("x", "a", "b")]
    except (mc.NotSupported, mc.ShapeError):
        return 0
    with np.errstate(all="ignore"):
        for point in points(seed):
            expected = function(**point)
            if target:
                value, found = both(**{one: point[one] for one in both.args})
            else:
                value = e(**{one: point[one] for one in e.symbols})
                found = [g(**{one: point[one] for one in g.symbols}) for g in gradients]
            np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12, err_msg=f"seed {seed}")
            for name, one in zip(("x", "a", "b"), found, strict=True):
                differences = slope(function, point, name)
                known = np.isfinite(differences)
                compared += 1 + int(known.sum())
                np.testing.assert_allclose(
                    np.asarray(one)[known], differences[known], rtol=1e-4, atol=1e-5, err_msg=f"seed {seed}, {name}"
                )
    return compared


if __name__ == "__main__":
    first, count, target = int(sys.argv[1]), int(sys.argv[2]), "".join(sys.argv[3:])
    refused, values, wrong = 0, 0, []
    for seed in range(first, first + count):
        try:
            found = compare(seed, target)
        except Exception as fault:  # noqa: BLE001 - counted, and shown
            wrong.append(seed)
            print(seed, type(fault).__name__, str(fault)[:300], flush=True)
            continue
        values, refused = values + found, refused + (found == 0)
    print(f"{count} functions from seed {first}: {refused} refused, {len(wrong)} wrong {wrong}, {values} values")
