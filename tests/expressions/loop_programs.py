"""Random functions with a loop: text that runs on arrays and on symbols.

A step assigns numbers, writes entries, takes cases by data and by its number, goes around an axis, and has inner loops.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

DECLARATIONS = "y: vector(T); x: vector(n); A: matrix(T, n); a: scalar; k: index(T)"
START = """def loss(y, x, A, a, k):
    s, b, z, w, n = 0.0, 0.5 * a, x.copy(), np.zeros(len(y)), len(x)
"""
END = "    return s + b + np.sum(np.sin(z)) + w @ np.cos(y)\n"
LOOPS = ("range(1, len(y))", "range(len(y))", "range(len(y) - 1, 0, -1)")
INNER = ("range(n)", "range(min(n, t + 1))", "range(t)", "range(max(0, t - 2), t)", "range(t, len(y))")
BOUNDS = {"range(n)": "x[j]", "range(min(n, t + 1))": "x[j] * y[t - j]", "range(t)": "y[t - j] * y[j]",
          "range(max(0, t - 2), t)": "y[j]", "range(t, len(y))": "y[j] * y[j - t]"}  # fmt: skip
"""Ranges of inner loops -> what reads entries at their numbers."""
_numbers = count()


class Program:
    """The text of a function, from a random generator."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.loop = draw, draw.choice(LOOPS)
        lines = [f"    for t in {self.loop}:", *self.statements(2, 8, draw.randint(2, 4))]
        self.text = START + "\n".join(lines) + "\n" + END

    def function(self) -> Callable[..., Any]:
        """Return the function, whose source Python finds."""
        name = f"<loop {next(_numbers)}>"
        linecache.cache[name] = (len(self.text), None, self.text.splitlines(keepends=True), name)
        scope: dict[str, Any] = {"np": np, "__name__": "loop_programs"}
        exec(compile(self.text, name, "exec"), scope)
        found: Callable[..., Any] = scope["loss"]
        return found

    def value(self, depth: int) -> str:
        """Return the text of a number of moderate size."""
        if depth == 0:
            lag = "y[t - 1]" if "1," in self.loop or "1, 0" in self.loop else "y[t]"
            own = "w[t - 1]" if self.loop == LOOPS[0] else "a"
            return self.draw.choice(
                ["y[t]", lag, own, "a", "b", "s / 9", "x[t % n]", "x[(t + 1) % n]", "z[t % n]", "x[k[t]]", "z[k[t]]",
                 "A[t] @ x / n", "A[t, k[t]]", "x[(2 - t) % n]", "A[t, t % n]", "0.3", "t / len(y)"]
            )  # fmt: skip
        one, other = self.value(depth - 1), self.value(depth - 1)
        return self.draw.choice(
            [f"np.tanh({one} + {other})", f"np.sin({one} * {other})", f"0.5 * ({one} - {other})",
             f"({one} if {self.condition(0)} else {other})", f"max({one}, 0.2 * {other})", f"np.exp(-({one}) ** 2)"]
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        """Return the text of a condition."""
        if depth and self.draw.random() < 0.4:
            joint = self.draw.choice(["{} and {}", "{} or {}", "not {}"])
            return joint.format(self.condition(0), self.condition(0))
        return self.draw.choice(
            [f"{self.value(0)} > {self.value(0)}", f"{self.value(0)} < 0.31", "t % 2 == 0", "t > 1", "t == len(y) - 1"]
        )

    def statements(self, depth: int, indent: int, number: int) -> list[str]:
        """Return the lines of a block."""
        return [line for _ in range(number) for line in self.statement(depth, indent)]

    def statement(self, depth: int, indent: int) -> list[str]:
        """Return the lines of a statement, which has further ones inside if `depth` is positive."""
        space, kind = " " * indent, self.draw.random()
        if depth and kind < 0.3:
            lines = [f"{space}if {self.condition(1)}:", *self.statements(depth - 1, indent + 4, 1)]
            if self.draw.random() < 0.6:
                lines += [f"{space}else:", *self.statements(depth - 1, indent + 4, 1)]
            return lines
        if depth and kind < 0.42:
            steps = self.draw.choice(INNER)
            inner = f"{BOUNDS[steps]} * {self.value(1)}"
            return [f"{space}for j in {steps}:", f"{space}    {self.draw.choice(['s', 'b'])} += 0.1 * {inner}"]
        if kind < 0.46 and depth:
            return [f"{space}if {self.condition(0)}:", f"{space}    continue"]
        target = self.draw.choice(
            ["s += {}", "b = {}", "s = 0.5 * s + {}", "w[t] = {}", "w[t] += {}", "z[t % n] = {}", "z[k[t]] += 0.3 * {}",
             "z[(t + 1) % n] += 0.2 * {}", "b = 0.4 * b - {}"]
        )  # fmt: skip
        return [space + target.format(self.value(2))]


def programs(number: int, seed: int) -> Iterator[Program]:
    """Yield random programs."""
    draw = random.Random(seed)
    for _ in range(number):
        yield Program(draw)


def data(seed: int, steps: int, n: int) -> dict[str, Any]:
    """Return arguments of a program."""
    rng = np.random.default_rng(seed)
    return {
        "y": rng.uniform(-0.5, 1, steps), "x": rng.uniform(-0.5, 1, n), "A": rng.uniform(-0.5, 1, (steps, n)),
        "a": float(rng.uniform(0.2, 1)), "k": rng.integers(0, n, steps),
    }  # fmt: skip
