"""Random texts for every dialect and call that reads text: only errors of matcalc's own may be raised.

Texts that are accepted must also print, and read back to the same node. Texts grow from a grammar, or are mutations of
accepted texts. Run it by hand for any length of time:

    python tests/formula/elaborate/fuzz.py 20000 --seed 1
"""

import argparse
import random
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from formula.notation.generate import is_promised

import matcalc as mc
from matcalc.rulebook.load import default_rulebook

DECLARED = (
    "A: matrix(m, n); B: matrix(n, p); M: matrix(n, n); S: matrix(n, n) symmetric; W: matrix(n, n) spd; x: vector(n); "
    "y: vector(m); z: vector(n); c: scalar; d: scalar positive; T: tensor(m, n, k); q: size; r: size; E: matrix(0, n)"
)
NAMES = [
    "A",
    "B",
    "M",
    "S",
    "W",
    "x",
    "y",
    "z",
    "c",
    "d",
    "T",
    "E",
    "pi",
    "n",
    "m",
    "k",
    "p",
    "q",
    "r",
    "lam",
    "Q",
    "u",
    "i",
    "j",
    "l",
    "t",
]
SIZES = [
    "n",
    "m",
    "p",
    "q",
    "r",
    "2*n",
    "q+1",
    "q-1",
    "n//2",
    "min(q,r)",
    "max(m,n)",
    "0",
    "1",
    "2",
    "3",
    "q*r",
    "n%2",
    "(q+r)//2",
    "-1",
    "1e400",
    "q/2",
]
NUMBERS = ["0", "1", "2", "3", "-1", "0.5", "1e400", "1e-400", "1/3", ".5", "2.", "1e3", "999999999999999999999", "7"]
INFIX = ["+", "-", "*", "*", ".*", "./", "/", "\\", "^", ".^", "@", "//", "%", "**", "∘", "'*", "==", ">"]
SPELLINGS = sorted(default_rulebook().spellings)
KEYWORDS = ["axis=0", "axis=1", "axis=-1", "axis=2", "axis=q", "axis=x", "ddof=1", "ddof=q", "k=2", "start=x"]
JUNK = list("()[]{}:;,.'^*/\\+-=<>%@!&|~#\"`$?_ \n\t\0") + [
    "->",
    "...",
    "ᵀ",
    "²",
    "λ",
    "é",
    "\u202e",
    "𝟙",
    "'",
    "//",
    "==",
]
FORMS = [*["infix"] * 4, *["call"] * 3, "sign", "transpose", "power", "part", "block", "index", "sum", "compare"]
INDICES = ["i", "j", "k", "l", "a", "b", "t", "n", "x"]


class Case(NamedTuple):
    """A text, the call that reads it, and the declarations."""

    entrance: str
    text: str
    declarations: str = ""


class Grower:
    """Grows texts from a grammar; most are well formed, some of them well typed."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def expression(self, depth: int) -> str:
        if depth <= 0 or self.chance.random() < 0.15:
            return self.leaf()
        return getattr(self, self.chance.choice(FORMS))(depth - 1)

    def leaf(self) -> str:
        group = self.chance.choice([NAMES, NAMES, NAMES, NUMBERS, SIZES])
        return self.chance.choice(group)

    def infix(self, depth: int) -> str:
        return f"{self.expression(depth)} {self.chance.choice(INFIX)} {self.expression(depth)}"

    def sign(self, depth: int) -> str:
        return f"-{self.expression(depth)}"

    def transpose(self, depth: int) -> str:
        mark = self.chance.choice(["'", ".T", "^T", "^-1", "^-T", "^.5"])
        return f"({self.expression(depth)}){mark}"

    def power(self, depth: int) -> str:
        exponent = self.chance.choice([*SIZES, *NUMBERS, "c", "x", "T", "-x"])
        return f"({self.expression(depth)}){self.chance.choice(['^', '.^'])}{exponent}"

    def call(self, depth: int) -> str:
        args = [self.argument(depth) for _ in range(self.chance.choice([0, 1, 1, 1, 1, 2, 2, 2, 3, 4]))]
        if self.chance.random() < 0.15:
            args.append(self.chance.choice(KEYWORDS))
        return f"{self.chance.choice(SPELLINGS)}({', '.join(args)})"

    def argument(self, depth: int) -> str:
        if self.chance.random() < 0.08:
            return self.chance.choice(
                ["exp", "log", "t -> t^2", "t -> t*c", "t -> 1/t", "sqrt", "abs", "t -> x", "E..."]
            )
        return self.chance.choice(SIZES) if self.chance.random() < 0.2 else self.expression(depth)

    def part(self, depth: int) -> str:
        places = [self.place() for _ in range(self.chance.choice([1, 1, 2, 2, 3]))]
        base = self.expression(depth)
        return f"{base if base.isalnum() else f'({base})'}[{', '.join(places)}]"

    def place(self) -> str:
        size = lambda: self.chance.choice(SIZES)  # noqa: E731
        return self.chance.choice(
            [
                ":",
                "::-1",
                "0",
                "-1",
                size(),
                f"{size()}:",
                f":{size()}",
                f"{size()}:{size()}",
                "::2",
                "i",
                "j",
                "c",
                f"-({size()}):",
            ]
        )

    def block(self, depth: int) -> str:
        rows = [
            ", ".join(self.expression(depth - 1) for _ in range(self.chance.choice([1, 2, 2, 3])))
            for _ in range(self.chance.choice([1, 1, 2]))
        ]
        return f"[{'; '.join(rows)}]"

    def index(self, depth: int) -> str:
        return f"{{{','.join(self.listed())}: {self.entries(depth)}}}"

    def sum(self, depth: int) -> str:
        return f"sum{{{','.join(self.listed() or ['i'])}: {self.entries(depth)}}}"

    def listed(self) -> list[str]:
        return self.chance.sample(INDICES[:6], self.chance.choice([0, 1, 1, 2, 2, 3])) + (
            ["n"] if self.chance.random() < 0.03 else []
        )

    def entries(self, depth: int) -> str:
        """Return the body of an index form: factors of few letters, so that indices meet."""
        terms = []
        for _ in range(self.chance.choice([1, 1, 2])):
            factors = [self.entry(depth) for _ in range(self.chance.choice([1, 2, 2, 3]))]
            terms.append(self.chance.choice(["*", "*", "*", "/"]).join(factors))
        return self.chance.choice([" + ", " - "]).join(terms)

    def entry(self, depth: int) -> str:
        i, j, k = (self.chance.choice("ijkl") for _ in range(3))
        size, more = self.chance.choice(SIZES), self.chance.choice(SIZES)
        plain = [
            f"A[{i},{j}]", f"B[{i},{j}]", f"x[{i}]", f"y[{i}]", f"M[{i},{j}]", f"T[{i},{j},{k}]", f"ones({size})[{i}]",
            f"eye({size})[{i},{j}]", f"[{i} == {j} + {k}]", f"[{i} >= {j} + ({size})]", f"[{i} == {j} + ({size})]",
            f"[{i} + {j} == {size} - 1]", f"[{i} == ({j} + {more}) % ({size})]", f"[{i} == {j}*({size}) + {k}]",
            f"[{i} != {j}]", "c", "2", f"x[{size}]", f"{{{i}: x[{i}]*c}}[{j}]", f"exp(x[{i}])", f"x[{i}]^2",
        ]  # fmt: skip
        if depth > 0 and self.chance.random() < 0.2:
            return self.chance.choice(
                [self.sum(depth - 1), f"exp({self.entries(depth - 1)})", f"({self.entries(depth - 1)})^2"]
            )
        return self.chance.choice(plain)

    def compare(self, depth: int) -> str:
        relation = self.chance.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"where({self.expression(depth)} {relation} {self.expression(depth)}, {self.expression(depth)}, 0)"

    def declaration(self) -> str:
        kind = self.chance.choice(
            ["scalar", "vector", "matrix", "matrix", "tensor", "size", "index", "Matrix", "entry"]
        )
        count = {"vector": 1, "matrix": 2, "tensor": 3}.get(kind, 0)
        count = self.chance.choice([count, count, count, count + 1])
        sizes = f"({', '.join(self.chance.choice(SIZES) for _ in range(count))})" if count else ""
        facts = self.chance.sample(["symmetric", "spd", "positive", "lower", "constant", "orthogonal", "integer"], k=2)
        shown = " ".join([kind + sizes, *facts[: self.chance.choice([0, 0, 0, 1, 2])]])
        return f"{self.chance.choice([*NAMES, 'é', 'lambda', 'out'])}: {shown}"

    def declarations(self) -> str:
        return self.chance.choice(["; ", "\n", ";"]).join(self.declaration() for _ in range(self.chance.randint(1, 4)))

    def numpy(self, depth: int) -> str:
        if depth <= 0:
            return self.leaf()
        inner = [self.numpy(depth - 1) for _ in range(3)]
        name = self.chance.choice(
            ["sum", "exp", "linalg.inv", "linalg.norm", "where", "einsum", "trace", "max", "diag", "kron"]
        )
        return self.chance.choice(
            [
                f"{inner[0]} {self.chance.choice(['+', '-', '*', '@', '/', '**', '//', '%'])} {inner[1]}",
                f"np.{name}({inner[0]})", f"np.{name}({inner[0]}, {inner[1]})", f"np.{name}({inner[0]}, axis=0)",
                f"np.sum({inner[0]}, {self.chance.choice(NUMBERS)})", f"({inner[0]}).T", f"({inner[0]}).sum(axis=-1)",
                f"({inner[0]})[{self.place()}]", f"np.reshape({inner[0]}, ({self.chance.choice(SIZES)}, -1))",
                f"[{inner[0]}, {inner[1]}]", f"({inner[0]}).reshape(-1)", f"np.zeros(({self.chance.choice(SIZES)}, 2))",
            ]
        )  # fmt: skip


FIELDS = ["definition", "value", "differential", "derivative", "facts", "where", "degree", "transpose", "rewrites"]
RULES = """[twice]
signature  = "twice(X: matrix(m, n)) -> matrix(m, n)"
definition = "2*X"
value      = "2*X"

[part_]
signature  = ["part_(x: vector(n), k: integer) -> scalar"]
definition = ["x[k]"]
facts      = ["positive(x) => positive(Y)"]

[[rewrite]]
let  = "X: matrix(m, n)"
rule = "twice(X) => X + X"
"""


def mutated(chance: random.Random, text: str) -> str:
    """Return a text with a few parts cut, doubled, exchanged or filled with junk."""
    for _ in range(chance.choice([1, 1, 1, 2, 3, 6])):
        at, to = sorted(chance.choices(range(len(text) + 1), k=2))
        to = min(to, at + chance.choice([1, 1, 2, 5, 20]))
        piece = chance.choice([*JUNK, *NAMES, *NUMBERS, *SIZES, text[at:to] * 2, text[to:at:-1], ""])
        text = text[:at] + piece + text[to:]
    return text


def cases(seed: int, count: int) -> list[Case]:
    """Return random cases; the same seed gives the same."""
    chance = random.Random(seed)
    grow = Grower(chance)
    return [_case(chance, grow) for _ in range(count)]


def _case(chance: random.Random, grow: Grower) -> Case:
    draw = chance.random()
    let = chance.choice([DECLARED, DECLARED, DECLARED, ""])
    if draw < 0.5:
        return Case("matrix", grow.expression(chance.choice([1, 2, 3, 3, 4])), let)
    if draw < 0.7:
        return Case("matrix", mutated(chance, grow.expression(3)), let)
    if draw < 0.82:
        text = grow.numpy(chance.choice([1, 2, 3]))
        return Case("numpy", text if chance.random() < 0.6 else mutated(chance, text), let)
    if draw < 0.92:
        text = grow.declarations()
        return Case("declarations", text if chance.random() < 0.6 else mutated(chance, text))
    if draw < 0.94:
        field, text = chance.choice(FIELDS), chance.choice([grow.expression(2), mutated(chance, "dX + X => X")])
        return Case("define", mutated(chance, "f(X: matrix(m, n), k: integer) -> matrix(m, n)"), f"{field}\0{text}")
    return Case("rules", mutated(chance, RULES))


def outcome(case: Case) -> str:
    """Return the outcome of a case: `read`, or the name of an error of matcalc's own.

    Raises: every other error; AssertionError where an accepted text does not read back.
    """
    try:
        if case.entrance in ("matrix", "numpy"):
            _read(mc.expression(case.text, case.declarations, case.entrance))
        elif case.entrance == "declarations":
            mc.symbols(case.text)
            mc.expression("c", case.text)
        elif case.entrance == "define":
            field, _, text = case.declarations.partition("\0")
            _define(case.text, field, text)
        else:
            _load(case.text)
    except mc.MatcalcError as error:
        assert str(error).strip(), case
        return type(error).__name__
    return "read"


def _read(e: mc.Expression) -> None:
    """Require that an expression prints and reads back to the same node."""
    try:
        shown = str(e)
    except mc.NotSupported:  # a literal of order 3
        return
    declared = e.declarations
    assert e.latex()
    back = mc.expression(shown, declared)
    assert back.node is e.node or not is_promised(e.node), f"{shown!r} with {declared!r} reads as {str(back)!r}"


def _define(signature: str, field: str, text: str) -> None:
    values = text.split(";") if field in ("facts", "where", "rewrites") else text
    try:
        mc.define(signature, **{"definition": "X", field: values})
    finally:
        _forget()


def _load(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.toml"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            mc.load_rules(path)
        finally:
            _forget()


BOOK = default_rulebook()


def _forget() -> None:
    """Restore the rulebook that was in force before."""
    from matcalc.rulebook.load import adopt

    adopt(lambda book: BOOK)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found: Counter[str] = Counter()
    for k, case in enumerate(cases(given.seed, given.count)):
        began = time.process_time()
        try:
            found[f"{case.entrance}: {outcome(case)}"] += 1
        except Exception as error:  # an error that this run searches for
            found[f"{case.entrance}: FAULT"] += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            print(
                f"#{k} {case!r}\n    {type(error).__name__}: {str(error)[:300]} ({where.filename}:{where.lineno})",
                flush=True,
            )
        if time.process_time() - began > 5:
            print(f"#{k} SLOW {time.process_time() - began:.1f} s {case!r}", flush=True)
    for what, count in sorted(found.items()):
        print(f"{count:7d}  {what}")


if __name__ == "__main__":
    main()
