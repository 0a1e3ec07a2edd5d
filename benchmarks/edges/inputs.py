"""Degenerate inputs with their expected derivatives, from tests/cases/rules.json, the rulebook and edges.toml."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.special

import matcalc as mc
from benchmarks.accuracy.peer import PEERS, formula_of
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.evidence.numeric.sampling import projected
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.signature import PLAIN

HERE = Path(__file__).parent
CASES = HERE.parent.parent / "tests" / "cases" / "rules.json"
KIND = ("scalar", "vector({})", "matrix({})")
MODULES = {"np": np, "sl": scipy.linalg, "sp": scipy.special}
TRIALS = 300
"""Number of random points at which the inequality of a convex function is tested."""

JSON = dict[str, "JSON"] | list["JSON"] | str | float | None
Array = np.ndarray


@dataclass(frozen=True)
class Edge:
    """`expected` maps (argument, "vjp" or "second") to the expected derivative; `facts` are those of each argument.

    With `weights` the expected second derivative is the sum weighted by them, one number.
    """

    text: str
    let: str
    why: str
    kind: str
    data: Mapping[str, Array]
    facts: Mapping[str, tuple[str, ...]]
    G: Array
    V: Array
    expected: Mapping[tuple[str, str], Array]
    words: Mapping[str, str]
    rtol: float = 1e-8
    atol: float = 0.0
    weights: Array | None = None
    plain: Mapping[str, str] = field(default_factory=dict)
    source: str = "of this folder"

    def formula(self, framework: str) -> str | None:
        return self.words.get(framework, self.words.get("both"))

    def direction(self, wrt: str) -> Array:
        return self.V if np.shape(self.V) == np.shape(self.data[wrt]) else np.ones(np.shape(self.data[wrt]))

    def projected(self, wrt: str, gradient: Array) -> Array:
        """Return a gradient in all entries as the gradient in an argument with the declared facts."""
        facts = self.facts[wrt]
        return projected(gradient, facts) if facts and np.all(np.isfinite(gradient)) else gradient

    @property
    def place(self) -> str:
        return "; ".join(f"{name} = {short(a)}" for name, a in self.data.items())

    def is_subgradient(self, wrt: str, g: Array) -> bool:
        """Whether f(x + d) >= f(x) + <g, d> at random d, for convex f, by matcalc's own value."""
        value = mc.expression(self.text, self.let)
        rng = np.random.default_rng(1)
        weights = np.asarray(self.G, dtype=float)

        def at(x: Array) -> float:
            changed = {**self.data, wrt: x}
            with np.errstate(all="ignore"):
                return float(np.sum(weights * value(**{str(n): changed[str(n)] for n in value.symbols})))

        x = np.asarray(self.data[wrt], dtype=float)
        start = at(x)
        for _ in range(TRIALS):
            d = self.projected(wrt, rng.standard_normal(x.shape)) * 10.0 ** rng.uniform(-3, 1)
            if at(x + d) < start + float(np.sum(g * d)) - 1e-9 * (1 + abs(start)):
                return False
        return True


def edges() -> Iterator[Edge]:
    """Yield all degenerate inputs."""
    own = tomllib.loads((HERE / "edges.toml").read_text(encoding="utf-8"))
    for case in json.loads(CASES.read_text(encoding="utf-8")):
        for listed in case.get("edge", ()):
            yield _listed(case, listed, own["listed"].get(case["op"], {}))
    for entry in own["edge"]:
        yield _own(entry)
    for rule in default_rulebook().rules.values():
        for edge in rule.edges:
            if edge.get("kind") in ("undefined", "error") or {"derivative", "pullback", "second"} & edge.keys():
                yield _of_rule(rule, edge)  # an edge with a value only has no derivative to compare


def _listed(case: Mapping[str, JSON], listed: Mapping[str, JSON], words: Mapping[str, str]) -> Edge:
    data = {name: np.asarray(a, dtype=float) for name, a in listed["at"].items()}
    facts = _facts(case["let"])
    let = "; ".join(f"{n}: {_kind(np.shape(a))} {' '.join(facts[n])}" for n, a in data.items())
    undefined = listed["kind"] == "undefined" or "grad" not in listed
    text = case["text"]
    if undefined:
        G = np.ones(_shape_of(text, let))
        due = {(name, "vjp"): 0.0 for name in data}
        return Edge(text, let, listed["why"], "undefined", data, facts, G, 0.0, due, words, source=CASES.name)
    G = np.asarray(listed["cot"], dtype=float)
    expected = {(name, "vjp"): np.asarray(g, dtype=float) for name, g in listed["grad"].items()}
    d2 = listed.get("d2")
    V, F = (np.asarray(d2[name], dtype=float) for name in "EF") if d2 else (0.0, None)
    if d2:
        expected[d2["sym"], "second"] = np.asarray(d2["value"], dtype=float)
    tight = {"rtol": listed["rtol"]} if "rtol" in listed else {"atol": 1e-8}
    more = {"weights": F, "source": CASES.name, **tight}
    return Edge(text, let, listed["why"], listed["kind"], data, facts, G, V, expected, words, **more)


def _own(entry: Mapping[str, JSON]) -> Edge:
    data = {name: np.asarray(a, dtype=float) for name, a in entry["at"].items()}
    text, let = entry["text"], entry["let"]
    G = np.asarray(entry.get("cot", 1.0), dtype=float)
    kind = entry.get("kind", "value")
    V: Array = 0.0
    expected: dict[tuple[str, str], Array] = {}
    for name, formula in entry["grad"].items():
        expected[name, "vjp"] = _number(formula or "0", data, G, V)
    if "second" in entry:
        V = np.asarray(entry["second"][0], dtype=float)
        expected[next(iter(entry["grad"])), "second"] = _number(entry["second"][1], data, G, V)
    words = {name: entry[name] for name in ("both", "torch", "jax") if name in entry}
    return Edge(text, let, entry["why"], kind, data, _facts(let), G, V, expected, words, atol=entry.get("atol", 1e-300))


def _of_rule(rule: Rule, edge: Mapping[str, JSON]) -> Edge:
    """Return an edge of a rule; of its second derivatives only those along one argument."""
    plain = {p.name: edge["at"][p.name] for p in rule.parameters if p.kind in PLAIN and p.name in edge["at"]}
    data = {name: _read(text) for name, text in edge["at"].items() if name not in plain}
    facts = {p.name: tuple(p.facts) for p in rule.parameters if p.name in data}
    let = "; ".join(f"{name}: {_kind(np.shape(a))} {' '.join(facts[name])}" for name, a in data.items())
    part = edge.get("part", "")
    text = f"{rule.name}{'_' if part else ''}{part}({', '.join(plain.get(name, name) for name in edge['at'])})"
    listed = {**edge.get("derivative", {}), **edge.get("pullback", {})}
    kind = edge.get("kind", "value")
    kind = "undefined" if kind == "error" or not (listed or "second" in edge) else kind
    G = _read(edge["G"]) if "G" in edge else np.ones(_shape_of(text, let))
    expected = {(name, "vjp"): _read(given) for name, given in listed.items()}
    expected |= {(name, "vjp"): 0.0 for name in data if kind == "undefined"}
    along = edge.get("along", {name: "1" for name in edge.get("second", {})})
    alone = [name for name in edge.get("second", {}) if list(along) == [name]]
    expected |= {(name, "second"): _read(edge["second"][name]) for name in alone}
    V = _read(along[alone[0]]) if alone else 0.0
    words = {name: formula for name in PEERS if (formula := formula_of(name, rule.name, part))}
    sizes = [np.max(np.abs(a), initial=0.0, where=np.isfinite(a)) for a in map(np.asarray, expected.values())]
    more = {"plain": plain, "source": "of the rulebook", "rtol": 1e-10, "atol": 1e-10 * max(sizes)}
    return Edge(text, let, edge.get("why", ""), kind, data, facts, G, V, expected, words, **more)


def _read(text: str) -> Array:
    """Return the value of a formula without symbols; a list is evaluated entry by entry, as some may be infinite."""
    text = text.strip()
    if text in ("inf", "-inf"):
        return np.asarray(float(text))
    if text.startswith("[") and "inf" in text:
        rows = [[float(_read(entry)) for entry in row.split(",")] for row in text.strip("[]").split(";")]
        return np.array(rows)[:, 0] if len(rows[0]) == 1 else np.array(rows)
    return np.asarray(evaluate([build_formula(text, (), default_rulebook(), {}, sizes={})], {}, {})[0])


def _number(formula: str, data: Mapping[str, Array], G: Array, V: Array) -> Array:
    return np.asarray(eval(formula, {**MODULES, **data, "G": G, "V": V}), dtype=float)  # the table is our own


def _facts(let: str) -> dict[str, tuple[str, ...]]:
    """Return the facts behind each declaration."""
    found = {}
    for part in let.split(";"):
        name, declared = part.split(":")
        found[name.strip()] = tuple(re.sub(r"\w+\s*\([^)]*\)|\bscalar\b", " ", declared).split())
    return found


def _kind(shape: tuple[int, ...]) -> str:
    return KIND[len(shape)].format(", ".join(map(str, shape)))


def _shape_of(text: str, let: str) -> tuple[int, ...]:
    return tuple(int(str(k)) for k in mc.expression(text, let).shape)


def short(a: Array) -> str:
    """Return an array as text on one line; a diagonal matrix as `diag`."""
    array = np.asarray(a, dtype=float)
    if array.ndim == 2 and len(array) > 1 and np.array_equal(array, np.diag(np.diag(array)) if _square(array) else 0):
        return f"diag({_listed_numbers(np.diag(array))})"
    if array.ndim == 2:
        return "[" + "; ".join(_listed_numbers(row) for row in array) + "]"
    return f"[{_listed_numbers(np.ravel(array))}]"


def _square(a: Array) -> bool:
    return bool(a.shape[0] == a.shape[1])


def _listed_numbers(row: Array) -> str:
    return ", ".join(f"{x:g}" for x in row)
