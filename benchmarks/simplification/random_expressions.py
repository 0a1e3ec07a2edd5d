"""Draws random well-typed expressions as text, and equal spellings of one.

An expression is built from its shape: each form states the shapes of its parts, so every text is well-typed. The forms
are those that people write. Pairs that cancel (`inv(A)*A`, `log(exp(x))`) are more frequent than by chance.
"""

from __future__ import annotations

import random

DECLARATIONS = (
    "A: matrix(n, n); B: matrix(n, n); N: matrix(n, n) nonsingular; S: matrix(n, n) spd; T: matrix(n, n) symmetric; "
    "K: matrix(n, n) skew; Q: matrix(n, n) orthogonal; D: matrix(n, n) diagonal; X: matrix(m, n); Y: matrix(m, n); "
    "x: vector(n); y: vector(n); p: vector(n) positive; z: vector(m); a: scalar; b: scalar; c: scalar positive"
)
SIZES = {"n": 3, "m": 4}
SYMBOLS = {
    "nn": ["A", "B", "N", "S", "T", "K", "Q", "D"],
    "mn": ["X", "Y"],
    "nm": ["X'", "Y'"],
    "mm": ["X*Y'", "X*X'"],
    "n": ["x", "y", "p"],
    "m": ["z"],
    "": ["a", "b", "c"],
}
ANY = ("nn", "mn", "n", "m", "")
ENTRYWISE = ["exp({})", "tanh({})", "sigmoid({})", "softplus({})", "abs({})", "relu({})", "sin({})", "cos({})"]
POSITIVE = ["log(1 + exp({}))", "log({}.^2 + 1)", "sqrt(1 + {}.^2)", "1 ./ (1 + exp(-{}))", "log(exp({}))"]

# For each shape: a form and the shapes of its parts.
FORMS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "": [
        ("{}'*{}", ("n", "n")), ("{}'*{}", ("m", "m")), ("tr({})", ("nn",)), ("tr({}*{})", ("nn", "nn")),
        ("sum({})", ("n",)), ("sum({})", ("mn",)), ("mean({})", ("n",)), ("norm2({})^2", ("n",)),
        ("({})*({})", ("", "")), ("({})/(1 + ({})^2)", ("", "")), ("{}'*{}*{}", ("n", "nn", "n")),
        ("logdet(eye(n) + {0}'*{0})", ("mn",)), ("det({})", ("nn",)), ("logsumexp({})", ("n",)),
        ("log(sum(exp({})))", ("n",)), ("sum(softmax({}))", ("n",)), ("var({})", ("n",)),
        ("sum({0} - mean({0}))", ("n",)),
        ("det(N*S)", ()), ("logdet(S*N)", ()), ("logdet(c*S)", ()), ("tr(inv(S)*S*{})", ("nn",)), ("det(inv(N))", ()),
        ("logdet(inv(N)*S)", ()), ("sum(exp({0})/sum(exp({0})))", ("n",)), ("tr(kron(N, S))", ()),
        ("det(kron(N, S))", ()), ("logdet([S, zeros(n, n); zeros(n, n), N])", ()), ("max({})", ("n",)),
    ],
    "n": [
        ("{}*{}", ("nn", "n")), ("{}'*{}", ("mn", "m")), ("({}).*({})", ("n", "n")), ("({})*({})", ("", "n")),
        ("inv(S)*({})", ("n",)), ("inv(N)*N*({})", ("n",)), ("softmax({})", ("n",)), ("diag({})", ("nn",)),
        ("{0} - mean({0})", ("n",)), ("({0})/sqrt(1 + ({0})'*({0}))", ("n",)), ("exp({})/c", ("n",)),
        ("sigmoid({0}) + sigmoid(-({0}))", ("n",)), ("sum({}, axis=0)", ("mn",)), ("exp({}).*exp({})", ("n", "n")),
        ("S\\({})", ("n",)), ("diag(p)*({})", ("n",)), ("log(p.*exp({}))", ("n",)), ("({}) + ({})", ("n", "")),
        ("exp(-({0}))./(1 + exp(-({0}))).^2", ("n",)), ("T*({0}) + T'*({0})", ("n",)),
    ],
    "m": [
        ("{}*{}", ("mn", "n")), ("({}).*({})", ("m", "m")), ("({})*({})", ("", "m")), ("softmax({})", ("m",)),
        ("sum({}, axis=1)", ("mn",)), ("inv(eye(m) + {0}*{0}')*({1})", ("mn", "m")), ("{0} - sum({0})/m", ("m",)),
    ],
    "nn": [
        ("{}*{}", ("nn", "nn")), ("{}'", ("nn",)), ("{}'*{}", ("mn", "mn")), ("({})*({})'", ("n", "n")),
        ("({}).*({})", ("nn", "nn")), ("diag({})", ("n",)), ("({})*({})", ("", "nn")), ("inv(S)", ()),
        ("inv(N*S)*N", ()),
        ("inv(S)'", ()), ("inv(2*S)", ()), ("inv(N)*({})", ("nn",)), ("inv(S + {0}'*{0})", ("mn",)), ("eye(n)", ()),
        ("inv(eye(n) + {0}'*{0})", ("mn",)), ("N*inv(N)*({})", ("nn",)), ("Q*({})*Q'", ("nn",)),
        ("inv(Q)*({})", ("nn",)),
        ("inv(S) - inv(S)*x*x'*inv(S)/(1 + x'*inv(S)*x)", ()), ("chol(S)*chol(S)'", ()), ("D*({})", ("nn",)),
    ],
    "mn": [
        ("{}*{}", ("mn", "nn")), ("({}).*({})", ("mn", "mn")), ("({})*({})'", ("m", "n")), ("({})*({})", ("", "mn")),
        ("diag({})*{}", ("m", "mn")), ("X*inv(X'*X + S)", ()), ("X*pinv(X)*{}", ("mn",)), ("ones(m)*({})'", ("n",)),
    ],
}  # fmt: skip


def expression(chance: random.Random, depth: int = 3, shape: str | None = None) -> str:
    """Return the text of a random expression of at most this depth."""
    shape = chance.choice(ANY) if shape is None else shape
    if depth == 0 or shape not in FORMS or chance.random() < 0.12:
        return chance.choice(SYMBOLS[shape])
    kind = chance.random()
    if kind < 0.25:
        terms = [part(chance, depth - 1, shape) for _ in range(chance.randint(2, 3))]
        signs = [chance.choice([" + ", " - "]) for _ in terms[1:]]
        coefficients = [chance.choice(["", "", "2*", "3*"]) for _ in terms]
        terms = [c + t for c, t in zip(coefficients, terms, strict=True)]
        return terms[0] + "".join(s + t for s, t in zip(signs, terms[1:], strict=True))
    if kind < 0.42:
        return chance.choice(ENTRYWISE + POSITIVE).format(part(chance, depth - 1, shape))
    form, shapes = chance.choice(FORMS[shape])
    return form.format(*(part(chance, depth - 1, s) for s in shapes))


def part(chance: random.Random, depth: int, shape: str) -> str:
    """Return an expression in a form that can be any operand: a name, a call, or in parentheses."""
    text = expression(chance, depth, shape)
    return text if text.isalnum() else f"({text})"


FACTORS = ["A", "B", "N", "S", "T", "K", "Q", "D", "A'", "inv(S)", "inv(N)", "(A + S)", "B'", "(x*y')", "diag(p)"]
MOST = 12
"""The most factors of a product and terms of a sum whose orders have one form; `x*y'` is two factors."""


def shuffled(chance: random.Random) -> tuple[str, list[str]]:
    """Return the kind of an expression and five equal spellings: other orders, groupings and transposes."""
    kind = chance.choice(["trace", "scalar", "sum", "matrix", "entrywise"])
    return kind, WAYS[kind](chance, chance.randint(3, MOST))


def factors_of(chance: random.Random, count: int, choice: list[str]) -> list[str]:
    """Return at most `count` factors, where each counts as its number of operands."""
    found: list[str] = []
    while (width := sum(map(width_of, found))) < count:
        factor = chance.choice(choice)
        if width + width_of(factor) <= count:
            found.append(factor)
    return found


def width_of(factor: str) -> int:
    """Return the number of operands in a factor of a product."""
    return 2 if factor in ("(x*y')", "(A*x)") else 1


def _trace(chance: random.Random, count: int) -> list[str]:
    factors = factors_of(chance, count, FACTORS)
    ways = []
    for _ in range(5):
        start = chance.randrange(len(factors))
        turned = factors[start:] + factors[:start]
        if chance.random() < 0.5:
            turned = [transposed(f) for f in reversed(turned)]
        ways.append(f"tr({grouped(chance, turned, '*')})")
    return ways


def _scalar(chance: random.Random, count: int) -> list[str]:
    factors = factors_of(chance, count - 2, FACTORS)
    ways = []
    for _ in range(5):
        if chance.random() < 0.5:
            ways.append(grouped(chance, ["x'", *factors, "y"], "*"))
        else:
            ways.append(grouped(chance, ["y'", *(transposed(f) for f in reversed(factors)), "x"], "*"))
    return ways


def _sum(chance: random.Random, count: int) -> list[str]:
    terms = [expression(chance, 1, "n") for _ in range(count // 2)]
    return [grouped(chance, [f"({t})" for t in chance.sample(terms, len(terms))], " + ") for _ in range(5)]


def _matrix(chance: random.Random, count: int) -> list[str]:
    factors = factors_of(chance, count, FACTORS)
    ways = []
    for _ in range(5):
        if chance.random() < 0.5:
            ways.append(grouped(chance, factors, "*"))
        else:
            ways.append(f"({grouped(chance, [transposed(f) for f in reversed(factors)], '*')})'")
    return ways


def _entrywise(chance: random.Random, count: int) -> list[str]:
    factors = ["x", *factors_of(chance, count - 1, ["x", "y", "p", "exp(x)", "(A*x)", "1 ./ p", "(x + y)", "a"])]
    scalars, entries = [f for f in factors if f == "a"], [f"({f})" for f in factors if f != "a"]
    ways = []
    for _ in range(5):
        order = grouped(chance, chance.sample(entries, len(entries)), " .* ")
        ways.append("*".join([*scalars, f"({order})"]))
    return ways


def transposed(factor: str) -> str:
    """Return the transpose of a factor, written."""
    return factor[:-1] if factor.endswith("'") and factor[:-1].isalnum() else f"{factor}'"


def grouped(chance: random.Random, factors: list[str], operator: str) -> str:
    """Return the factors joined, some neighbours in parentheses."""
    if operator == "*" and factors[0].endswith("'") and factors[0][:-1].islower():
        return operator.join(factors)  # a row: every grouping is a product of a row
    if len(factors) > 2 and chance.random() < 0.6:
        split = chance.randrange(1, len(factors))
        left, right = grouped(chance, factors[:split], operator), grouped(chance, factors[split:], operator)
        return f"({left}){operator}({right})"
    return operator.join(factors)


WAYS = {"trace": _trace, "scalar": _scalar, "sum": _sum, "matrix": _matrix, "entrywise": _entrywise}
