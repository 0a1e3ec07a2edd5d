"""Random recurrences as text and as loops in NumPy.

States with lags 1 to 3, quantities of the step, both directions, a second system that reads the first, data that are
read at `t` and at `t+1`, data at an index; the number of steps is a size, an expression of one, an integer, or follows
from the data.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from dual_arrays import Dual, dual

Data = dict[str, Any]
Pair = tuple[str, str]
"""A formula as text and in Python."""
DECLARED = {
    "A": "A: matrix(n, n)", "Q": "Q: matrix(n, n)", "B": "B: matrix(n, m)", "U": "U: matrix({D}, n)",
    "V": "V: matrix({D}, m)", "W": "W: matrix(p, n)", "x0": "x0: vector(n)", "c": "c: vector(n)", "e": "e: vector({D})",
    "h": "h: vector({L} + 1)", "a": "a: scalar", "b": "b: scalar", "i": "i: index({D})", "j": "j: index({D})",
}  # fmt: skip
INDICES = ("i", "j")
STARTS: dict[str, list[Pair]] = {
    "s": [("a", "a"), ("b", "b"), ("2*a", "2*a"), ("c'*x0", "c@x0")],
    "v": [("x0", "x0"), ("c", "c"), ("A*x0", "A@x0")],
    "m": [("Q", "Q"), ("A'*Q", "A.T@Q")],
}
CONSTANTS: dict[str, list[Pair]] = {
    "s": [("a", "a"), ("e[t]", "e[t]"), ("h[t+1]", "h[t+1]"), ("x0[j[t]]", "x0[j[t]]")],
    "v": [("U[t, :]", "U[t]"), ("W[i[t], :]", "W[i[t]]"), ("c", "c")],
    "m": [("Q", "Q"), ("A", "A")],
}
SHAPES: dict[str, tuple[int, ...]] = {"s": (), "v": (3,), "m": (3, 3)}
LAST: dict[str, Pair] = {"s": ("{}^2", "{}**2"), "v": ("c'*{}", "c@{}"), "m": ("tr(A*{})", "np.trace(A@{})")}
EACH: dict[str, Pair] = {
    "s": ("{}^2", "{}**2"),
    "v": ("{}'*U[t, :]", "{}@U[t]"),
    "m": ("tr({}*A)*e[t]", "np.trace({}@A)*e[t]"),
}
NEXT: dict[str, Pair] = {
    "s": ("e[t]*{}[t+1]^2", "e[t]*{}[t+1]**2"),
    "v": ("norm2({}[t+1] - U[t, :])^2/2", "np.sum(({}[t+1] - U[t])**2)/2"),
    "m": ("tr({}[t+1]*{}[t]')", "np.trace({}[t+1]@{}[t].T)"),
}
"""Terms of a loss that read a state after the step."""
WHOLE: list[Pair] = [
    ("tanh({})", "np.tanh({})"),
    ("sigmoid({})", "(1/(1 + np.exp(-1.0*{})))"),
    ("sin({})", "np.sin({})"),
    ("log1p(exp({}))", "np.log(1 + np.exp({}))"),
]
"""Functions around a whole step."""
TERMS: dict[str, list[tuple[str, str, str]]] = {
    "s": [
        ("s", "{0}*e[t]", "{0}*e[t]"),
        ("vv", "{0}'*{1}/3", "({0}@{1}/3)"),
        ("s", "sin({0})", "np.sin({0})"),
        ("m", "tr({0})/4", "(np.trace({0})/4)"),
        ("", "t/10", "(t/10)"),
        ("v", "c'*{0}", "(c@{0})"),
        ("ss", "where(e[t] > 0, {0}, {1}/2)", "np.where(real(e[t]) > 0, {0}, {1}/2)"),
        ("v", "({0})[j[t]]", "({0})[j[t]]"),
        ("s", "a*{0}", "(a*{0})"),
    ],
    "v": [
        ("v", "A*{0}", "(A@{0})"),
        ("v", "tanh({0})", "np.tanh({0})"),
        ("sv", "{0}*{1}", "({0}*{1})"),
        ("mv", "{0}*{1}", "({0}@{1})"),
        ("vv", "{0}.*{1}", "({0}*{1})"),
        ("", "B*V[t, :]", "(B@V[t])"),
        ("v", "softmax({0})", "(np.exp({0})/np.sum(np.exp({0})))"),
        ("s", "{0}*eye(n)[j[t], :]", "({0}*np.eye(3)[j[t]])"),
        ("v", "b*{0}", "(b*{0})"),
    ],
    "m": [
        ("m", "A*{0}*A'", "(A@{0}@A.T)"),
        ("vv", "{0}*{1}'", "np.outer({0},{1})"),
        ("sm", "{0}*{1}", "({0}*{1})"),
        ("m", "inv(3*eye(n) + {0}*{0}')", "np.linalg.inv(3*np.eye(3)+{0}@{0}.T)"),
        ("m", "{0}'", "{0}.T"),
        ("m", "b*{0}", "(b*{0})"),
    ],
}
"""Terms of a step by the kind of the result: the kinds of operands, the text, and the same in NumPy."""
LENGTHS = [("T", "T"), ("T", "T"), ("T - 1", "T"), ("T + 1", "T + 1"), ("", "T"), ("{number}", "{number}")]
"""Numbers of steps with the lengths of the data: a size, an expression of it, not written, an integer."""


@dataclass
class Recurrence:
    """A random loss of recurrences: its text, its loops in Python line by line, and its value in Python.

    `outputs` are whole states and ranges of them. Texts have `{number}` for a fixed number of steps.
    """

    text: str
    declared: str
    length: tuple[str, str]
    kinds: dict[str, str]
    lags: dict[str, int]
    backward: dict[str, bool]
    loops: list[tuple[bool, list[str]]]
    starts: dict[str, list[str]]
    loss: str
    outputs: list[Pair] = field(default_factory=list)

    @property
    def is_fixed(self) -> bool:
        return "{number}" in self.length[0]

    def at(self, text: str, steps: int) -> str:
        """Return a text for a number of steps."""
        return text.replace("{number}", str(steps))

    def size(self, steps: int) -> Data:
        """Return the size that gives this number of steps."""
        return {} if self.is_fixed else {"T": steps + {"T - 1": 1, "T + 1": -1}.get(self.length[0], 0)}

    def frame(self, data: Data, steps: int) -> Data:
        """Return all states and quantities, by loops over the steps; duals and complex data give such values."""
        frame: Data = {**data, "np": np, "L": steps, "sum": sum, "real": real}
        is_dual = any(isinstance(x, Dual) for x in data.values())
        for name, kind in self.kinds.items():
            lag = self.lags.get(name, 0)
            whole = np.zeros((steps + lag, *SHAPES[kind]), complex)
            frame[name] = Dual(whole, whole.copy()) if is_dual else whole
        for is_backward, lines in self.loops:
            for name, starts in self.starts.items():
                if self.backward[name] is is_backward and any(line.startswith(f"{name}[") for line in lines):
                    for k, start in enumerate(starts):
                        frame[name][k + is_backward * steps] = eval(start, frame)  # noqa: S307 - a line of this file
            for t in reversed(range(steps)) if is_backward else range(steps):
                frame["t"] = t
                with np.errstate(over="ignore"):  # 1/(1 + exp(-x)) of a large -x is 0
                    for line in lines:
                        exec(line, frame)  # noqa: S102 - lines of this file
        return frame

    def value(self, data: Data, steps: int) -> Any:
        """Return the value of the loss."""
        return eval(self.loss, self.frame(data, steps))  # noqa: S307 - a line of this file

    def gradient(self, data: Data, name: str, steps: int) -> Any:
        """Return the gradient by complex steps."""
        return self._moved(data, name, lambda changed: self.value(changed, steps))

    def hvp(self, data: Data, name: str, towards: Any, steps: int) -> Any:
        """Return the derivative of the gradient along a direction: complex steps of tangents."""

        def slope(changed: Data) -> Any:
            return dual(self.value({**changed, name: Dual(changed[name], towards)}, steps)).tangent

        return self._moved(data, name, slope)

    @staticmethod
    def _moved(data: Data, name: str, f: Any) -> Any:
        found = np.zeros(np.shape(data[name]))
        for at in np.ndindex(found.shape):
            moved = np.array(data[name], complex)
            moved[at] += 1e-30j
            found[at] = np.imag(f({**data, name: moved})) / 1e-30
        return found


def real(x: Any) -> Any:
    """Return the real part of a number with or without a tangent."""
    return np.real(x.value if isinstance(x, Dual) else x)


def random_recurrence(seed: int) -> Recurrence:
    """Return the recurrence of a seed."""
    return _Maker(seed).made()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = r = random.Random(seed)
        self.is_backward = r.random() < 0.4
        count = r.randint(1, 3)
        self.states = [f"{'zvM'[r.randrange(3)]}{k}" for k in range(count)]
        self.quantities = [f"{'qwK'[r.randrange(3)]}{k + 5}" for k in range(r.randint(0, 2))]
        self.second = [f"{'zv'[r.randrange(2)]}9"] if r.random() < 0.3 else []
        self.length = r.choice(LENGTHS)
        if self.second and not self.length[0]:
            self.length = LENGTHS[0]
        self.steps = self.length[0] or "T"
        letters = {"z": "s", "v": "v", "M": "m", "q": "s", "w": "v", "K": "m"}
        self.kinds = {name: letters[name[0]] for name in (*self.states, *self.quantities, *self.second)}
        self.lags = {s: r.choice([1, 1, 1, 1, 2, 3]) for s in (*self.states, *self.second)}
        self.backward = {s: self.is_backward for s in self.states} | {s: not self.is_backward for s in self.second}

    def position(self, offset: int) -> str:
        """Return the position of an end, `offset` after the number of the steps."""
        number, _, moved = self.steps.partition(" ")
        total = offset + (int(moved.replace(" ", "")) if moved else 0)
        return f"{number} {'+' if total > 0 else '-'} {abs(total)}" if total else number

    def reads(self, kind: str, old: list[str], new: list[str]) -> Pair:
        """Return a value of this kind that a step may read; `new` states have been computed in this step."""
        found = []
        for name in (name for name in (*old, *new) if self.kinds[name] == kind):
            if name in self.quantities:
                found.append(f"{name}[t]")
                continue
            first, lag = int(self.backward[name]), self.lags[name]
            offsets = list(range(first, first + lag))
            if name in new:
                offsets.append(0 if first else lag)
            found += [f"{name}[t+{k}]" if k else f"{name}[t]" for k in offsets]
        if not found or self.random.random() < 0.15:
            return self.random.choice(CONSTANTS[kind])
        chosen = self.random.choice(found)
        return chosen, chosen

    def body(self, kind: str, old: list[str], new: list[str]) -> Pair:
        terms = []
        for _ in range(self.random.randint(1, 3)):
            kinds, *forms = self.random.choice(TERMS[kind])
            operands = [self.reads(one, old, new) for one in kinds]
            terms.append([form.format(*(o[k] for o in operands)) for k, form in enumerate(forms)])
        first, second = (" + ".join(term[k] for term in terms) for k in range(2))
        if self.random.random() < 0.25:
            shown, python = self.random.choice(WHOLE)
            return shown.format(f"({first})/3"), python.format(f"(({second})/3)")
        return f"({first})/3", f"({second})/3"

    def state(self, name: str, old: list[str], new: list[str]) -> tuple[list[str], str, list[str]]:
        """Return the equations of a state, its line in Python and its starts in Python."""
        shown, python = self.body(self.kinds[name], old, new)
        lag, starts = self.lags[name], [self.random.choice(STARTS[self.kinds[name]]) for _ in range(self.lags[name])]
        if name in self.second and self.kinds[self.states[0]] == self.kinds[name] and self.random.random() < 0.5:
            other = self.states[0]  # an end that is the last state of the other system
            starts[0] = (f"{other}[{self.position(0)}]", f"{other}[L]") if self.backward[name] else (f"{other}[0]",) * 2
        if self.backward[name]:
            at, after = [self.position(k) for k in range(lag)], "t"
        else:
            at, after = list(map(str, range(lag))), f"t+{lag}"
        equations = [f"{name}[{place}] = {start}" for place, (start, _) in zip(at, starts, strict=True)]
        return [*equations, f"{name}[{after}] = {shown}"], f"{name}[{after}] = {python}", [p for _, p in starts]

    def made(self) -> Recurrence:
        equations, lines, other_lines = [], [], []
        starts: dict[str, list[str]] = {}
        for k, name in enumerate(self.quantities):
            shown, python = self.body(self.kinds[name], self.states + self.quantities[:k], [])
            equations.append(f"{name}[t] = {shown}")
            lines.append(f"{name}[t] = {python}")
        for k, name in enumerate(self.states):
            own, line, starts[name] = self.state(name, self.states + self.quantities, self.states[:k])
            equations += own
            lines.append(line)
        for name in self.second:
            own, line, starts[name] = self.state(name, [name, *self.states, *self.quantities], [])
            equations += own
            other_lines.append(line)
        is_open = not self.length[0] and not re.search(r"\b[UVehij]\[t\b", " ".join(equations).replace("h[t+1]", ""))
        steps = [one.partition(" = ")[2] for one in equations if "[t" in one.partition(" = ")[0]]
        if (is_open and not self.is_backward) or (not self.length[0] and not all("[t" in one for one in steps)):
            self.length, self.steps = LENGTHS[0], "T"
        self.random.shuffle(equations)
        names = [*self.states, *self.quantities, *self.second]
        loss = [self.term_of_loss(name) for name in names]
        if self.second and self.random.random() < 0.5:
            loss.append(self.crossed())
        outputs = [self.output(name) for name in self.random.sample(names, min(2, len(names)))]
        limit = [f"t < {self.length[0]}"] if self.length[0] else []
        system = f" where {', '.join([*equations, *limit])}"
        text = " + ".join(shown for shown, _ in loss) + system
        sizes = {"L": self.steps, "D": self.length[1], "number": "{number}"}
        used = set(re.findall(r"[A-Za-z]\w*", " ".join([text, *(shown for shown, _ in outputs)])))
        declared = "; ".join(let.format(**sizes) for name, let in DECLARED.items() if name in used)
        loops = [(self.is_backward, lines), *([(not self.is_backward, other_lines)] if self.second else [])]
        return Recurrence(
            text, declared, self.length, self.kinds, self.lags, self.backward, loops, starts,
            " + ".join(python for _, python in loss), [(shown + system, python) for shown, python in outputs],
        )  # fmt: skip

    def term_of_loss(self, name: str) -> Pair:
        way, kind = self.random.randrange(6), self.kinds[name]
        if name in self.quantities:
            way = min(max(way, 2), 3)
        if way < 2:
            shown, python = self.end_of(name)
            return LAST[kind][0].format(shown), LAST[kind][1].format(python)
        if way == 2:
            shown, python = (form.format(f"{name}[t]") for form in EACH[kind])
            return f"sum{{t: {shown}}}", f"sum(({python}) for t in range(L))"
        if way == 4:
            shown, python = (form.replace("{}", name) for form in NEXT[kind])
            return f"sum{{t: {shown}}}", f"sum(({python}) for t in range(L))"
        if way == 5 and self.lags[name] > 1:
            return f"sum({name}[1:].^2)/5", f"np.sum({name}[1:]**2)/5"
        return f"sum({name}.^2)/5", f"np.sum({name}**2)/5"

    def end_of(self, name: str) -> Pair:
        """Return the state that is computed last, or one beside it."""
        if self.backward[name]:
            return (f"{name}[0]",) * 2
        extra = self.random.randrange(self.lags[name])
        return f"{name}[{self.position(extra)}]", f"{name}[L + {extra}]"

    def crossed(self) -> Pair:
        """Return a sum over steps of a product of states of both systems."""
        shown = f"{self.product(self.states[0], self.second[0], 0)}"
        return f"sum{{t: {shown}}}", f"sum({self.product(self.states[0], self.second[0], 1)} for t in range(L))"

    def product(self, one: str, other: str, form: int) -> str:
        scalars = {
            "s": ("{}", "{}"),
            "v": ("sum({})", "np.sum({})"),
            "m": ("tr({})", "np.trace({})"),
        }
        parts = [scalars[self.kinds[name]][form].format(f"{name}[{at}]") for name, at in ((one, "t"), (other, "t+1"))]
        return "*".join(parts)

    def output(self, name: str) -> Pair:
        """Return a whole state or quantity, or a range of it."""
        shown = name if name in self.quantities else self.random.choice([name, f"{name}[1:]", f"{name}[:-1]"])
        return shown, shown


def random_data(made: Recurrence, seed: int, steps: int) -> Data:
    """Return data for a number of steps."""
    rng = np.random.default_rng([seed, steps])
    long = steps + (made.length[0] == "T - 1")
    return {
        "A": rng.normal(size=(3, 3)) / 2, "Q": rng.normal(size=(3, 3)) / 2, "B": rng.normal(size=(3, 2)),
        "U": rng.normal(size=(long, 3)), "V": rng.normal(size=(long, 2)), "W": rng.normal(size=(4, 3)),
        "x0": rng.normal(size=3), "c": rng.normal(size=3), "e": rng.normal(size=long), "h": rng.normal(size=steps + 1),
        "a": 0.7, "b": -0.6, "i": rng.integers(0, 4, size=long), "j": rng.integers(0, 3, size=long),
    }  # fmt: skip
