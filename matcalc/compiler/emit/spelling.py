"""Writes names, sizes and expressions of a Program as Code, the same for all targets except for templates.

User names are unchanged unless they collide with a word of the target, a kernel or an earlier name; then they get an
underscore.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

from matcalc.compiler.code.code import ZERO, Call, Load, Name, Number, Op, chain, negated
from matcalc.compiler.code.code import Expr as Expression
from matcalc.compiler.code.print_python import expression
from matcalc.compiler.code.read_python import expression_of, field_name, filled, template
from matcalc.compiler.code.sizes import integer
from matcalc.compiler.entrywise import Apply, At, Expr, Guard, Index, Literal, Product, Read, Sum, as_quotient
from matcalc.compiler.entrywise import Number as Value
from matcalc.compiler.lowering_entries import template_of
from matcalc.compiler.program import Call as KernelCall
from matcalc.compiler.program import Each, Loop, Program, called_words, walk
from matcalc.compiler.targets import ON_NUMPY
from matcalc.compiler.verify.entries import replaced
from matcalc.language.identifiers import WORDS, free
from matcalc.tensor.facts.ranges import as_float
from matcalc.tensor.sizes.size import Compound, Size

DIVIDES = re.compile(r"/|\*\*")
RESERVED = (
    *("np", "sl", "sp", "math", "numba", "njit", "status", "OPTIONS", "scipy", "special", "linalg", "sparse"),
    *("guarded_entries", "zeroed", "added", "plus"),
)


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
        self.known: dict[str, Expression] = {}  # expressions for buffers whose values are elsewhere
        self.flat: dict[str, str] = {}  # names of buffers in merged shapes in the current loop
        self.entries: dict[Compound, Size] = {}  # names of entries of index arrays in the current loop
        self.guarded = False  # whether the current statements on arrays read entries of data at indices outside them
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
                for let in step.lets:  # several loops may compute a value
                    if let.value not in self.spelled:
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

    def entry(self, value: str, at: At) -> Expression:
        """Return an entry of a value, or the value; a scalar output is an array of one entry."""
        buffer = self.table[self.program.buffer_of.get(value, value)]
        if buffer.name in self.known:
            return self.known[buffer.name]
        name = Name(self.flat.get(buffer.name) or self.give(buffer.name))
        if not buffer.shape:
            return Load(name, (ZERO,)) if buffer.role == "output" else name
        return Load(name, tuple(map(self.integer, at))) if at else name

    def size_name(self, name: str) -> str:
        text = self.give(name)
        if text != name:
            self.sizes[name] = Size.of(text)
        return text

    def integer(self, size: Index) -> Expression:
        """Return a size or an index as an integer."""
        if isinstance(size, str):
            return Name(self.give(size))
        size = replaced(size, self.entries) if self.entries else size
        renamed = {n: Size.of(self.spelled[n]) for n in size.names if self.spelled.get(n, n) != n}
        return integer(size.substitute(renamed) if renamed else size, self.guarded)

    def size(self, size: Index) -> str:
        """Return the text of a size or an index."""
        return expression(self.integer(size))


def _ordered(program: Program) -> list[str]:
    first = [*program.inputs, *program.outputs]
    return first + [b.name for b in program.buffers if b.name not in first]


def number(value: Value | Size, names: Names) -> Expression:
    """Return a number, or a size as a real number."""
    if isinstance(value, Size):
        word = "float" if names.target == "numba" else "np.float64"  # so that 1/0 is infinite, as in Numba
        return Call(word, (names.integer(value),))
    return Number(as_float(value))


class Expressions:
    """Writes expressions; `read` writes an entry of a value, `where` a selection, as the target needs them."""

    def __init__(
        self,
        names: Names,
        read: Callable[[Read], Expression],
        where: Callable[[Expression, Expression], Expression],
    ) -> None:
        self.names = names
        self.read = read
        self.where = where

    def code(self, expr: Expr) -> Expression:
        if isinstance(expr, Literal):
            return number(expr.value, self.names)
        if isinstance(expr, Read):
            return self.read(expr)
        if isinstance(expr, Sum):
            return self._sum(expr)
        if isinstance(expr, Product):
            return self._product(expr)
        if isinstance(expr, Apply):
            return self._apply(expr)
        return self.where(self.guards(expr.guards), self.code(expr.body))

    def _sum(self, expr: Sum) -> Expression:
        total: Expression | None = None
        for coef, term in expr.terms:
            body = self.code(term if abs(coef) == 1 else Product(abs(Fraction(coef)), (term,)))
            if total is None:
                total = negated(body) if coef < 0 else body
            else:
                total = Op("-" if coef < 0 else "+", (total, body))
        return total or Number(0.0)

    def _product(self, expr: Product) -> Expression:
        """Return a product of powers in brackets: as written, `x.*y.^2` is NaN where `y.^2` is 0 and x infinite."""
        factors = [chain("*", [self.code(f)] * count) for f, count in Counter(expr.factors).items()]
        if not factors:
            return number(expr.coef, self.names)
        coef, divisor = as_quotient(expr.coef)
        if coef == -1:
            factors[0] = Op("-", (factors[0],))
        elif coef != 1:
            factors.insert(0, number(coef, self.names))
        found = chain("*", factors)
        return found if divisor == 1 else Op("/", (found, number(Fraction(divisor), self.names)))

    def _apply(self, expr: Apply) -> Expression:
        text = template_of(expr.function, self.names.target)
        args: Iterable[Expression] = map(self.code, expr.args)
        if self.names.target != "numba" and DIVIDES.search(text):  # so that 1/0 is infinite, as in Numba
            args = (Call("np.float64", (ZERO,)) if arg == Number(0.0) else arg for arg in args)
        fields = {field_name(str(k)): arg for k, arg in enumerate(args)}
        fields |= {field_name(f"p{k or ''}"): number(p, self.names) for k, p in enumerate(expr.params)}
        return filled(template(text).value, fields)

    def seen(self, expr: Expr) -> Expr:
        """Return what an expression reads if its text is that of a read, as of `weighs(x)`; else itself."""
        if isinstance(expr, Apply) and template_of(expr.function, self.names.target) == "{0}":
            return self.seen(expr.args[0])
        if isinstance(expr, Product) and expr.coef == 1 and len(expr.factors) == 1:
            return self.seen(expr.factors[0])
        return self.seen(expr.terms[0][1]) if isinstance(expr, Sum) and [c for c, _ in expr.terms] == [1] else expr

    def guards(self, guards: tuple[Guard, ...]) -> Expression:
        tests = tuple(self.guard(g) for g in guards)
        if len(tests) > 1 and self.names.target == "numba":
            return Op("and", tests)
        return chain("&", tests)

    def guard(self, guard: Guard) -> Expression:
        """Return the test with positive terms on the left and negative ones on the right."""
        size, right = guard.size, Size.of(0)
        if all(isinstance(atom, str) for monomial, _ in size.terms for atom, _ in monomial):
            right = sum((-part for part in size.parts if part.terms[0][1] < 0), right)
        return Op(guard.relation, (self.names.integer(size + right), self.names.integer(right)))


def operands(call: KernelCall, names: Names) -> dict[str, Expression]:
    """Return the fields of a call's template."""
    fields: dict[str, Expression] = {}
    for field, operand in (*call.results, *call.operands):
        entry = names.entry(operand.value, operand.lead)
        fields[field] = entry
        fields[f"{field}.t"] = Number(int(operand.flip))
        fields[f"{field}.T"] = Name(f"{expression(entry)}.T") if operand.flip else entry
    for letter, size in call.sizes:
        fields.setdefault(letter, names.integer(size))
    for name, value in call.params:
        fields[name] = names.integer(value) if isinstance(value, Size) else expression_of(value)
    return fields
