"""Writes names, sizes and expressions as text, the same for every target except for templates of functions.

User names are unchanged unless they collide with a word of the target, a kernel or an earlier name; then they get an
underscore. Expressions have brackets only where precedence requires them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import lcm

from matcalc.compiler.entrywise import (
    Apply,
    At,
    Expr,
    Guard,
    Index,
    Literal,
    Number,
    Product,
    Read,
    Select,
    Sum,
    as_quotient,
)
from matcalc.compiler.lowering_entries import FIELD, template_of
from matcalc.compiler.program import Call, Each, Loop, Program, called_words, walk
from matcalc.compiler.targets import ON_NUMPY
from matcalc.compiler.verify.entries import replaced
from matcalc.language.identifiers import WORDS, free
from matcalc.tensor.facts.ranges import digits
from matcalc.tensor.sizes.size import COMPOUND, Compound, Size, floordiv

CALLED = re.compile(r"[\w.]+\(.*\)$")
DIVIDES = re.compile(r"/|\*\*")
RESERVED = (
    *("np", "sl", "sp", "math", "numba", "njit", "status", "OPTIONS", "scipy", "special", "linalg", "sparse"),
    *("guarded_entries", "zeroed", "added", "plus"),
)
SUM, PRODUCT, ATOM = 1, 2, 3


class Names:
    """The spelling of every name of a Program, in the function `function`."""

    def __init__(self, program: Program, target: str, function: str = "", reserved: Iterable[str] = ()) -> None:
        self.target = target
        self.program = program
        self.table = program.table
        used = called_words(program, target if target in ON_NUMPY else "")
        used |= {f"{word}_numpy" for word in used}  # names of some of them in a saved file, which has both targets
        stem = function.removesuffix("_into")
        own = {f"{stem}{form}_{k}" for form in ("", "_numpy", "_numba") for k in ("into", *program.constants)}
        self.taken = {*WORDS, *RESERVED, *used, *own, *reserved}
        self.spelled: dict[str, str] = {}
        self.sizes: dict[str, Size] = {}
        self.flat: dict[str, str] = {}  # names of buffers in merged shapes in the current loop
        self.entries: dict[Compound, Size] = {}  # names of entries of index arrays in the current loop
        for name in _ordered(program):
            self.give(name)
        for source in program.sources:
            self.size_name(source.name)
        for name in program.size_args:
            self.size_name(name)
        for step in walk(program.steps):
            if isinstance(step, Loop):
                for axis, _ in step.axes:
                    self.give(axis)
                for let in step.lets:
                    self.spelled[let.value] = free(program.called.get(let.value, let.value), self.taken)
            elif isinstance(step, Each):
                self.give(step.axis)

    def give(self, name: str) -> str:
        """Return the spelling of `name`, a new one at its first occurrence."""
        if name not in self.spelled:
            self.spelled[name] = free(name, self.taken)
        return self.spelled[name]

    def local(self, word: str) -> str:
        """Return the spelling of a variable of the generated code, even if the Program uses the same word."""
        key = f"{word} of the text"
        if key not in self.spelled:
            self.spelled[key] = free(word, self.taken)
        return self.spelled[key]

    def entry(self, value: str, at: At) -> str:
        """Return the text of an entry of a value, or the value; a scalar output is an array of one entry."""
        buffer = self.table[self.program.buffer_of.get(value, value)]
        name = self.flat.get(buffer.name) or self.give(buffer.name)
        if not buffer.shape:
            return f"{name}[0]" if buffer.role == "output" else name
        return f"{name}[{', '.join(map(self.size, at))}]" if at else name

    def size_name(self, name: str) -> str:
        text = self.give(name)
        if text != name:
            self.sizes[name] = Size.of(text)
        return text

    def size(self, size: Index) -> str:
        """Return an integer expression for a size or an index."""
        if isinstance(size, str):
            return self.give(size)
        if size.is_integer:
            return str(size)
        size = replaced(size, self.entries) if self.entries else size
        renamed = {n: Size.of(self.spelled[n]) for n in size.names if self.spelled.get(n, n) != n}
        size = size.substitute(renamed) if renamed else size
        return str(_integral(size))


def _integral(size: Size) -> Size:
    """Return a size with non-integer coefficients replaced by one floor division, which is exact."""
    total = size.over(lambda a: Size.of(a) if isinstance(a, str) else COMPOUND[a.operator](*map(_integral, a[1:])))
    scale = lcm(*(c.denominator for _, c in total.terms))
    return total if scale == 1 else floordiv(total * scale, Size.of(scale))


def _ordered(program: Program) -> list[str]:
    first = [*program.inputs, *program.outputs]
    return first + [b.name for b in program.buffers if b.name not in first]


def number(value: Number | Size, names: Names) -> str:
    """Return a float literal, or a size as a float expression."""
    if isinstance(value, Size):
        word = "float" if names.target == "numba" else "np.float64"  # so that 1/0 is infinite, as in Numba
        return f"{word}({names.size(value)})"
    return digits(value)


class Expressions:
    """The text of expressions; `read` writes an entry of a value, `where` a selection, as the target needs them."""

    def __init__(
        self,
        names: Names,
        read: Callable[[Read], tuple[str, int]],
        where: Callable[[str, str], tuple[str, int]],
    ) -> None:
        self.names = names
        self.read = read
        self.where = where

    def text(self, expr: Expr) -> str:
        return self._spell(expr)[0]

    def tight(self, expr: Expr, level: int = ATOM) -> str:
        text, own = self._spell(expr)
        return text if own >= level else f"({text})"

    def _spell(self, expr: Expr) -> tuple[str, int]:
        if isinstance(expr, Literal):
            text = number(expr.value, self.names)
            return text, PRODUCT if text.startswith("-") else ATOM
        if isinstance(expr, Read):
            return self.read(expr)
        if isinstance(expr, Sum):
            return self._sum(expr)
        if isinstance(expr, Product):
            return self._product(expr)
        if isinstance(expr, Apply):
            return self._apply(expr)
        return self._select(expr)

    def _sum(self, expr: Sum) -> tuple[str, int]:
        text = ""
        for coef, term in expr.terms:
            negative = coef < 0
            scaled = term if abs(coef) == 1 else Product(abs(Fraction(coef)), (term,))
            body = self.tight(scaled, PRODUCT)
            if not text:
                text = f"-{body}" if negative else body
            else:
                text += f" - {body}" if negative else f" + {body}"
        return text or "0.0", SUM if text else ATOM

    def _product(self, expr: Product) -> tuple[str, int]:
        factors = [self._power(f, count) for f, count in Counter(expr.factors).items()]
        if not factors:
            return number(expr.coef, self.names), PRODUCT
        if len(factors) == 1 and expr.coef == 1 and len(expr.factors) > 1:
            return factors[0][1:-1], PRODUCT
        coef, divisor = as_quotient(expr.coef)
        over = f"/{number(Fraction(divisor), self.names)}" if divisor != 1 else ""
        if coef == -1:
            return "-" + "*".join(factors) + over, PRODUCT
        if coef != 1:
            factors.insert(0, number(coef, self.names))
        is_atom = len(factors) == 1 and not factors[0].startswith("-") and not over
        return "*".join(factors) + over, ATOM if is_atom else PRODUCT

    def _power(self, factor: Expr, count: int) -> str:
        """Return a factor, or a power in brackets: as written, `x.*y.^2` is NaN where `y.^2` is 0 and x infinite."""
        text = self.tight(factor)
        return text if count == 1 else f"({'*'.join([text] * count)})"

    def _apply(self, expr: Apply) -> tuple[str, int]:
        template = template_of(expr.function, self.names.target)

        def fill(found: re.Match[str]) -> str:
            if found.group(1).startswith("p"):
                return number(expr.params[int(found.group(1)[1:] or 0)], self.names)
            before, after = template[: found.start()].rstrip()[-1:], template[found.end() :].lstrip()[:1]
            arg = expr.args[int(found.group(1))]
            if (
                self.names.target != "numba"
                and isinstance(arg, Literal)
                and arg.value == 0
                and DIVIDES.search(template)
            ):
                return "np.float64(0)"  # so that 1/0 is infinite, as in Numba
            enclosed = before in ("(", ",") and after in (")", ",")
            return self.tight(arg, SUM if enclosed else ATOM)

        text = FIELD.sub(fill, template)
        return text, ATOM if CALLED.match(text) or text.startswith("(") and _closed(text) else SUM

    def _select(self, expr: Select) -> tuple[str, int]:
        return self.where(self.guards(expr.guards), self.tight(expr.body, SUM))

    def guards(self, guards: tuple[Guard, ...]) -> str:
        both = " and " if self.names.target == "numba" else " & "
        tests = [self.guard(g) for g in guards]
        return both.join(f"({t})" if len(tests) > 1 and both == " & " else t for t in tests)

    def guard(self, guard: Guard) -> str:
        """Return the test with positive terms on the left and negative ones on the right."""
        size, right = guard.size, Size.of(0)
        if all(isinstance(atom, str) for monomial, _ in size.terms for atom, _ in monomial):
            right = sum((-part for part in size.parts if part.terms[0][1] < 0), right)
        return f"{self.names.size(size + right)} {guard.relation} {self.names.size(right)}"


def _closed(text: str) -> bool:
    """Whether the bracket that opens `text` closes at its end."""
    depth = 0
    for k, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return k == len(text) - 1
    return False


def operands(call: Call, names: Names) -> dict[str, str]:
    """Return the fields of a call's template."""
    fields: dict[str, str] = {}
    for field, operand in (*call.results, *call.operands):
        text = names.entry(operand.value, operand.lead)
        fields[field] = text
        fields[f"{field}.t"] = "1" if operand.flip else "0"
        fields[f"{field}.T"] = f"{text}.T" if operand.flip else text
    for letter, size in call.sizes:
        fields.setdefault(letter, names.size(size))
    for name, value in call.params:
        fields[name] = names.size(value) if isinstance(value, Size) else value
    return fields
