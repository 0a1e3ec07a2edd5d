"""Reads a text of the matrix language into nested tuples `(head, ...)`, by recursive descent.

A sum is `("+", a, b)`, a product `("*", a, b)` with the operator as head, and so on. `Reader` follows the table of
precedences, one method per level.
"""

import re
from functools import lru_cache

TOKEN = re.compile(
    r"\s+"
    r"|(?P<number>(?:\d+\.\d+|\.\d+|\d+\.(?![-+*/^])|\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\dᵀ][^\Wᵀ]*)"
    r"|(?P<op>//|\.[-+]|\.\*|\./|\.\^|\.T\b|\*\*|->|<=|>=|==|!=|[-+*=%/\\@^'(){}\[\],;:<>∘⊙ᵀ])"
)
REMARK = re.compile(r'(?: where|,) \w+\([^()"]*\) = "[^"]*"')
"""Words behind a formula about an operation, which do not change its value."""
SAME = {"∘": ".*", "⊙": ".*", "@": "*", "**": "^", ".T": "'", "ᵀ": "'"}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Unreadable(ValueError):
    """The text is outside the language that this evaluator reads."""


@lru_cache(maxsize=1000)
def read(text: str, names: frozenset[str] = frozenset()) -> tuple:
    """Return the tree of `text`; `names` are the declared symbols (`^T` is a transpose unless T is one)."""
    reader = Reader(tokens(REMARK.sub("", text)), names)
    tree = reader.expression()
    if reader.peek():
        raise Unreadable(f"unexpected {reader.peek()!r} in {text!r}")
    return tree


def tokens(text: str) -> list[tuple[str, str]]:
    """Split `text` into (kind, spelling) pairs."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Unreadable(f"cannot read {text[at]!r} in {text!r}")
        if match.lastgroup:
            found.append((match.lastgroup, SAME.get(match.group(), match.group())))
        at = match.end()
    return found


class Reader:
    """The tokens not yet read, and one method for each level of precedence."""

    def __init__(self, found: list[tuple[str, str]], names: frozenset[str]) -> None:
        self.found, self.names, self.at = found, names, 0

    def peek(self, ahead: int = 0) -> str:
        where = self.at + ahead
        return self.found[where][1] if where < len(self.found) else ""

    def kind(self) -> str:
        return self.found[self.at][0] if self.at < len(self.found) else ""

    def take(self, expected: str = "") -> str:
        spelling = self.peek()
        if not spelling or (expected and spelling != expected):
            raise Unreadable(f"expected {expected or 'more'}, found {spelling or 'the end'}")
        self.at += 1
        return spelling

    def accept(self, spelling: str) -> bool:
        if self.peek() != spelling or not spelling:
            return False
        self.at += 1
        return True

    def comparison(self) -> tuple:
        left = self.expression()
        if self.peek() in COMPARISONS:
            return ("compare", self.take(), left, self.expression())
        return left

    def expression(self) -> tuple:
        left = self.term()
        while self.peek() in ("+", "-", ".+", ".-"):
            left = (self.take(), left, self.term())
        return left

    def term(self) -> tuple:
        left = self.signed()
        while self.peek() in ("*", ".*", "./", "/", "//", "\\", "%"):
            left = (self.take(), left, self.signed())
        return left

    def signed(self) -> tuple:
        if self.accept("-"):
            return ("negative", self.signed())
        if self.accept("+"):
            return self.signed()
        return self.powers()

    def powers(self) -> tuple:
        base = self.postfix()
        while self.peek() in ("^", ".^", "'") or (base[0] == "'" and self.peek() == "["):
            operator = self.take()
            if operator == "[":
                base = ("part", base, tuple(self.subscripts()))
                continue
            if operator == "'":
                base = ("'", base)
                continue
            negative = False
            while self.peek() in ("-", "+"):
                negative ^= self.take() == "-"
            if operator == "^" and self.peek() == "T" and "T" not in self.names:
                self.take()
                base = ("'", ("call", "inv", (base,), ()) if negative else base)
                continue
            exponent = self.postfix()
            base = (operator, base, ("negative", exponent) if negative else exponent)
        return base

    def postfix(self) -> tuple:
        base = self.atom()
        while self.accept("["):
            base = ("part", base, tuple(self.subscripts()))
        return base

    def subscripts(self) -> list[tuple]:
        found = []
        while True:
            found.append(self.subscript())
            if self.accept("]"):
                return found
            self.take(",")

    def subscript(self) -> tuple:
        ends = [None if self.peek() in (":", ",", "]") else self.expression()]
        while self.accept(":"):
            ends.append(None if self.peek() in (":", ",", "]") else self.expression())
        return ends[0] if len(ends) == 1 else ("slice", *ends, *[None] * (3 - len(ends)))

    def atom(self) -> tuple:
        kind, spelling = self.kind(), self.take()
        if kind == "number":
            return ("number", float(spelling))
        if kind == "name":
            if spelling == "sum" and self.accept("{"):
                return ("total", *self.index_form()[1:])
            return self.call(spelling) if self.accept("(") else ("name", spelling)
        if spelling == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if spelling == "[":
            return self.block()
        if spelling == "{":
            return self.index_form()
        raise Unreadable(f"unexpected {spelling!r}")

    def call(self, name: str) -> tuple:
        positional, keywords = [], []
        while not self.accept(")"):
            if self.kind() == "name" and self.peek(1) == "->":
                parameter = self.take()
                self.take("->")
                positional.append(("function", parameter, self.expression()))
            elif self.kind() == "name" and self.peek(1) == "=":
                keyword = self.take()
                self.take("=")
                keywords.append((keyword, self.expression()))
            else:
                positional.append(self.comparison())
            if not self.accept(","):
                self.take(")")
                break
        return ("call", name, tuple(positional), tuple(keywords))

    def block(self) -> tuple:
        """Read a block matrix, or a condition over indices such as `[k == i + j]`."""
        first = self.comparison()
        if first[0] == "compare":
            self.take("]")
            return first
        rows = [[first]]
        while not self.accept("]"):
            if self.accept(";"):
                rows.append([self.expression()])
            else:
                self.take(",")
                rows[-1].append(self.expression())
        return ("block", tuple(tuple(row) for row in rows))

    def index_form(self) -> tuple:
        names = []
        while not self.accept(":"):
            names.append(self.take())
            self.accept(",")
        body = self.expression()
        self.take("}")
        return ("index", tuple(names), body)
