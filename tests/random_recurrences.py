"""Random recurrences as text and as a loop in NumPy: states, lags, quantities, both directions."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Data = dict[str, Any]
DECLARED = {
    "A": "A: matrix(n, n)", "Q": "Q: matrix(n, n)", "B": "B: matrix(n, m)", "U": "U: matrix(T, n)",
    "V": "V: matrix(T, m)", "x0": "x0: vector(n)", "c": "c: vector(n)", "e": "e: vector(T)", "a": "a: scalar",
}  # fmt: skip
STARTS = {"s": "a", "v": "x0", "m": "Q"}
CONSTANTS = {"s": ("a", "a"), "v": ("U[t, :]", "U[t]"), "m": ("Q", "Q")}
SHAPES: dict[str, tuple[int, ...]] = {"s": (), "v": (3,), "m": (3, 3)}
LAST = {
    "s": ("{}^2", "{}**2"),
    "v": ("c'*{}", "c@{}"),
    "m": ("tr(A*{})", "np.trace(A@{})"),
}
EACH = {
    "s": ("{}[t]^2", "{}[t]**2"),
    "v": ("{}[t]'*U[t, :]", "{}[t]@U[t]"),
    "m": ("tr({}[t]*A)*e[t]", "np.trace({}[t]@A)*e[t]"),
}
NEXT = {
    "s": ("e[t]*{}[t+1]^2", "e[t]*{}[t+1]**2"),
    "v": ("norm2({}[t+1] - U[t, :])^2/2", "np.sum(({}[t+1] - U[t])**2)/2"),
    "m": ("tr({}[t+1]*{}[t]')", "np.trace({}[t+1]@{}[t].T)"),
}
"""Terms of a loss that read a state after the step."""
WHOLE = [("tanh", "np.tanh"), ("sigmoid", "1/(1 + np.exp(-1.0*{}))"), ("sin", "np.sin")]
"""Functions around a whole step."""
TERMS = {
    "s": [
        ("s", "{0}*e[t]", "{0}*e[t]"),
        ("vv", "{0}'*{1}/3", "({0}@{1}/3)"),
        ("s", "sin({0})", "np.sin({0})"),
        ("m", "tr({0})/4", "(np.trace({0})/4)"),
        ("", "t/10", "(t/10)"),
        ("v", "c'*{0}", "(c@{0})"),
    ],
    "v": [
        ("v", "A*{0}", "(A@{0})"),
        ("v", "tanh({0})", "np.tanh({0})"),
        ("sv", "{0}*{1}", "({0}*{1})"),
        ("mv", "{0}*{1}", "({0}@{1})"),
        ("vv", "{0}.*{1}", "({0}*{1})"),
        ("", "B*V[t, :]", "(B@V[t])"),
    ],
    "m": [
        ("m", "A*{0}*A'", "(A@{0}@A.T)"),
        ("vv", "{0}*{1}'", "np.outer({0},{1})"),
        ("sm", "{0}*{1}", "({0}*{1})"),
        ("m", "inv(3*eye(n) + {0}*{0}')", "np.linalg.inv(3*np.eye(3)+{0}@{0}.T)"),
        ("m", "{0}'", "{0}.T"),
    ],
}
"""Terms of a step by the kind of the result: the kinds of operands, the text, and the same in NumPy."""


@dataclass
class Recurrence:
    """A random loss of recurrences: its text, its step in Python line by line, and its value in Python."""

    text: str
    backward: bool
    states: list[str]
    quantities: list[str]
    kinds: dict[str, str]
    lags: dict[str, int]
    lines: list[str] = field(default_factory=list)
    loss: str = ""

    @property
    def names(self) -> list[str]:
        used = set(re.findall(r"[A-Za-z]\w*", self.text))
        return [name for name in DECLARED if name in used]

    @property
    def declarations(self) -> str:
        return "; ".join(DECLARED[name] for name in self.names)

    def value(self, data: Data, steps: int) -> Any:
        """Return the value by a loop over the steps; complex data give a complex value."""
        frame: Data = {**data, "np": np, "T": steps, "sum": sum}
        dtype = complex if any(np.iscomplexobj(x) for x in data.values()) else float
        for state in self.states:
            kind, lag = self.kinds[state], self.lags[state]
            frame[state] = np.zeros((steps + lag, *SHAPES[kind]), dtype)
            for k in range(lag):
                frame[state][steps if self.backward else k] = data[STARTS[kind]]
        for quantity in self.quantities:
            frame[quantity] = np.zeros((steps, *SHAPES[self.kinds[quantity]]), dtype)
        for t in reversed(range(steps)) if self.backward else range(steps):
            frame["t"] = t
            for line in self.lines:
                exec(line, frame)  # noqa: S102 - lines of this file
        return eval(self.loss, frame)  # noqa: S307 - a line of this file


def random_recurrence(seed: int) -> Recurrence:
    """Return the recurrence of a seed."""
    return _Maker(seed).made()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = r = random.Random(seed)
        self.backward = r.random() < 0.35
        self.states = [f"{'zvM'[r.randrange(3)]}{k}" for k in range(r.randint(1, 3))]
        self.quantities = [f"{'qwK'[r.randrange(3)]}{k + 5}" for k in range(r.randint(0, 2))]
        letters = {"z": "s", "v": "v", "M": "m", "q": "s", "w": "v", "K": "m"}
        self.kinds = {name: letters[name[0]] for name in (*self.states, *self.quantities)}
        self.lags = {s: 2 if not self.backward and r.random() < 0.2 else 1 for s in self.states}

    def reads(self, kind: str, allowed: list[str]) -> tuple[str, str]:
        """Return a value of this kind that a step may read, as text and in Python."""
        found = []
        for name in allowed:
            if self.kinds[name] != kind:
                continue
            if name in self.quantities:
                found.append((f"{name}[t]", f"{name}[t]"))
                continue
            offsets = ["t+1"] if self.backward else ["t", "t+1"][: self.lags[name]]
            found += [(f"{name}[{at}]", f"{name}[{at}]") for at in offsets]
        return self.random.choice(found or [CONSTANTS[kind]])

    def body(self, kind: str, allowed: list[str]) -> tuple[str, str]:
        terms = []
        for _ in range(self.random.randint(1, 3)):
            kinds, *forms = self.random.choice(TERMS[kind])
            operands = [self.reads(one, allowed) for one in kinds]
            terms.append([form.format(*(o[k] for o in operands)) for k, form in enumerate(forms)])
        first, second = (" + ".join(term[k] for term in terms) for k in range(2))
        return f"({first})/3", f"({second})/3"

    def made(self) -> Recurrence:
        equations, lines = [], []
        for k, name in enumerate(self.quantities):
            shown, python = self.body(self.kinds[name], self.states + self.quantities[:k])
            equations.append(f"{name}[t] = {shown}")
            lines.append(f"{name}[t] = {python}")
        for name in self.states:
            shown, python = self.body(self.kinds[name], self.states + self.quantities)
            start, lag = STARTS[self.kinds[name]], self.lags[name]
            after = "t" if self.backward else f"t+{lag}"
            begins = ["T"] if self.backward else list(map(str, range(lag)))
            equations += [f"{name}[{at}] = {start}" for at in begins]
            equations.append(f"{name}[{after}] = {shown}")
            if self.random.random() < 0.25:
                function, python_function = self.random.choice(WHOLE)
                whole = python_function if "{}" in python_function else python_function + "({})"
                shown, python = f"{function}({shown})", whole.format(f"({python})")
                equations[-1] = f"{name}[{after}] = {shown}"
            lines.append(f"{name}[{after}] = {python}")
        self.random.shuffle(equations)
        loss = [self.term_of_loss(name) for name in (*self.states, *self.quantities)]
        text = f"{' + '.join(shown for shown, _ in loss)} where {', '.join(equations)}, t < T"
        python = " + ".join(python for _, python in loss)
        return Recurrence(text, self.backward, self.states, self.quantities, self.kinds, self.lags, lines, python)

    def term_of_loss(self, name: str) -> tuple[str, str]:
        way, kind = self.random.randrange(5), self.kinds[name]
        if name in self.quantities:
            way = min(max(way, 2), 3)
        if way < 2:
            last = f"{name}[0]" if self.backward else f"{name}[T]"
            return LAST[kind][0].format(last), LAST[kind][1].format(last)
        if way == 2:
            shown, python = (form.format(name) for form in EACH[kind])
            return f"sum{{t: {shown}}}", f"sum(({python}) for t in range(T))"
        if way == 4:
            shown, python = (form.replace("{}", name) for form in NEXT[kind])
            return f"sum{{t: {shown}}}", f"sum(({python}) for t in range(T))"
        return f"sum({name}.^2)/5", f"np.sum({name}**2)/5"


def random_data(seed: int, steps: int) -> Data:
    """Return data of one length."""
    rng = np.random.default_rng([seed, steps])
    return {
        "A": rng.normal(size=(3, 3)) / 2, "Q": rng.normal(size=(3, 3)) / 2, "B": rng.normal(size=(3, 2)),
        "U": rng.normal(size=(steps, 3)), "V": rng.normal(size=(steps, 2)), "x0": rng.normal(size=3),
        "c": rng.normal(size=3), "e": rng.normal(size=steps), "a": 0.7,
    }  # fmt: skip
