"""The reference cases: formulas with their derivatives (identities), operations with adjoints (rules)."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.special

from oracle import differences
from oracle.data import SIZES, declared, make
from oracle.data import sample as draw
from oracle.values import evaluate, shaped

FOLDER = Path(__file__).resolve().parent.parent / "cases"
LINEAR = frozenset({"symmetric", "spd", "psd", "diagonal", "lower", "upper", "skew"})


@dataclass(frozen=True)
class Identity:
    """A formula, its variable, and the derivative from a book."""

    id: str
    text: str
    let: str
    wrt: str
    kind: str
    derivative: str
    source: str = ""
    note: str = ""
    convention: str = ""
    data: str = ""

    @property
    def facts(self) -> frozenset[str]:
        """Return the linear facts of the variable."""
        return declared(self.let)[self.wrt][1] & LINEAR

    @property
    def tangent(self) -> str:
        return f"d{self.wrt}"

    @property
    def sizes(self) -> dict[str, int]:
        """Return the sizes that the declarations name."""
        return {name: size for name, size in SIZES.items() if re.search(rf"\b{name}\b", self.let)}

    def renamed(self, mark: str) -> "Identity":
        """Return the case with `mark` appended to its symbols, so that cases can share one program."""
        names = re.compile(rf"\b({'|'.join([*declared(self.let), self.tangent])})\b")
        fields = ("text", "let", "wrt", "derivative", "data")
        return replace(self, **{field: names.sub(rf"\1{mark}", getattr(self, field)) for field in fields})

    def sample(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Draw data, with a tangent that has the linear facts of the variable."""
        data = make(self.let, seed, self.data)
        if self.kind == "differential":
            draw = np.random.default_rng([seed, 3]).standard_normal(data[self.wrt].shape)
            data[self.tangent] = differences.projected(draw, self.facts) if self.facts else draw
        return data

    def reference(self, data: dict[str, np.ndarray]) -> np.ndarray:
        """Evaluate the book's derivative, in the evaluator's own two-dimensional form."""
        return evaluate(self.derivative, data, SIZES)

    def expected(self, data: dict[str, np.ndarray]) -> np.ndarray:
        """Evaluate the book's derivative in the shape and convention of matcalc's interface."""
        value = self.reference(data)
        shape = np.shape(data[self.wrt])
        if self.kind == "gradient":
            value = shaped(value, shape)
            plain = self.facts and not self.convention
            return differences.projected(value, self.facts) if plain else value
        if self.kind in ("jacobian", "hessian"):
            return value
        return shaped(value, evaluate(self.text, data, SIZES).shape)


def identities() -> list[Identity]:
    """Read the table of identities."""
    return [Identity(**case) for case in json.loads((FOLDER / "identities.json").read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Operation:
    """An operation with its value and the adjoint in each argument as NumPy expressions (names, Y and G)."""

    op: str
    text: str
    let: str
    numpy: str
    out: tuple[int, ...]
    vjp: dict[str, str]
    symbols: dict[str, dict]
    edge: tuple[dict, ...] = ()

    def sample(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Draw arguments that have the facts of `assume`."""
        rng = np.random.default_rng([seed, *self.op.encode()])
        return {
            name: draw(rng, tuple(symbol["shape"]), frozenset(symbol["assume"]))
            for name, symbol in self.symbols.items()
        }

    def cotangent(self, seed: int = 0) -> np.ndarray:
        return np.asarray(np.random.default_rng([seed, 11, *self.op.encode()]).standard_normal(self.out))

    def value(self, data: dict[str, np.ndarray]) -> np.ndarray:
        return np.asarray(eval(self.numpy, {**MODULES, **data}), float)  # our own table

    def adjoint(self, wrt: str, data: dict[str, np.ndarray], G: np.ndarray) -> np.ndarray:
        scope = {**MODULES, **data, "G": G, "Y": self.value(data)}
        return np.asarray(eval(self.vjp[wrt], scope), float)  # our own table

    def at(self, shapes: dict[str, tuple[int, ...]]) -> "Operation":
        """Return the operation at other sizes of its arguments."""
        kinds = ("scalar", "vector({})", "matrix({})")
        facts = {name: " ".join(sorted(known)) for name, (_, known) in declared(self.let).items()}
        sizes = {name: ", ".join(map(str, shape)) for name, shape in shapes.items()}
        let = "; ".join(f"{n}: {kinds[len(s)].format(sizes[n])} {facts[n]}" for n, s in shapes.items())
        text = re.sub(r"eye\(\d+\)", f"eye({max(max(s, default=1) for s in shapes.values())})", self.text)
        symbols = {n: {**self.symbols[n], "shape": list(s)} for n, s in shapes.items()}
        return replace(self, let=let, text=text, symbols=symbols)

    def renamed(self, mark: str) -> "Operation":
        """Return the operation with `mark` appended to its symbols, so that cases can share one program."""
        names = re.compile(rf"\b({'|'.join(self.symbols)})\b")
        return replace(self, **{field: names.sub(rf"\1{mark}", getattr(self, field)) for field in ("text", "let")})


MODULES = {"np": np, "sl": scipy.linalg, "sp": scipy.special}


def operations() -> list[Operation]:
    """Read the table of operations."""
    table = json.loads((FOLDER / "rules.json").read_text(encoding="utf-8"))
    return [Operation(**{**case, "out": tuple(case["out"]), "edge": tuple(case.get("edge", ()))}) for case in table]
