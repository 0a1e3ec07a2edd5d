"""Defines SymPy objects for operations that SymPy lacks: with a name, printing, substitution, evaluation by matcalc.

`Operation` is a matrix, `ScalarOperation` a scalar; both hold the name of the operation, its keywords and its operands.
If the operands are numbers, `doit` evaluates it by plain NumPy, or by SymPy's own method if there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import sympy
from sympy import Basic
from sympy.core.symbol import Str
from sympy.matrices.expressions.matexpr import MatrixElement

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.expressions.sympy_bridge.read import from_sympy
from matcalc.expressions.sympy_bridge.values import keyword_trees, rational
from matcalc.formula.elaborate.formulas_of_nodes import build_tree
from matcalc.language import syntax
from matcalc.language.read import read_argument
from matcalc.language.write import text
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import symbol
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    import numpy.typing as npt
    from sympy.printing.printer import Printer

METHODS: dict[str, Callable[[sympy.Matrix], sympy.Matrix]] = {
    "cofactors": lambda X: X.adjugate(),
    "pseudoinverse": lambda X: X.pinv(),
}
"""Methods of SymPy's explicit matrices for operations of one operand, by role."""


class _Named:
    """The base of both classes: `args` are the name, the keywords as text, sizes of the result, and the operands."""

    args: tuple[Basic, ...]
    sizes = 0

    @property
    def operation(self) -> str:
        """The name of the operation."""
        return str(self.args[0].name)

    @property
    def keywords(self) -> str:
        """Its keywords as text: `axis=0`."""
        return str(self.args[1].name)

    @property
    def operands(self) -> tuple[Basic, ...]:
        return self.args[2 + self.sizes :]

    def _sympystr(self, printer: Printer) -> str:
        words = [printer._print(arg) for arg in self.operands] + [self.keywords] * bool(self.keywords)
        return f"{self.operation}({', '.join(words)})"

    def _latex(self, printer: Printer, exp: str = "") -> str:
        name = self.operation.replace("_", "\\_")
        text = ", ".join(printer._print(arg) for arg in self.operands)
        power = f"^{{{exp}}}" if exp else ""
        return f"\\operatorname{{{name}}}{power}\\left({text}\\right)"

    def doit(self, **hints: bool) -> Basic:
        """Return the value if all operands are numbers, else the operation on evaluated operands."""
        done = [arg.doit(**hints) if hasattr(arg, "doit") else arg for arg in self.operands]
        made = self.func(*self.args[: 2 + self.sizes], *done)  # type: ignore[attr-defined]
        if any(not isinstance(arg, Str) and arg.free_symbols for arg in made.operands):
            return made
        role = default_rulebook().get(self.operation).role or ""
        if role in METHODS and len(done) == 1 and getattr(done[0], "is_Matrix", False):
            return METHODS[role](sympy.Matrix(done[0])).as_immutable()
        return made.value()

    def value(self) -> Basic:
        """Return its value, a number or matrix of numbers, by plain NumPy."""
        import numpy as np

        entries = np.ravel(evaluated(self.operation, self.keywords, *map(_plain, self.operands))).tolist()
        return sympy.ImmutableMatrix(*self.args[2:4], entries) if self.sizes else sympy.Float(*entries)

    def _numpycode(self, printer: Printer, **options: object) -> str:
        """Return the code by which `lambdify` evaluates it."""
        printer.module_imports[__name__].add("evaluated")
        words = [repr(self.operation), repr(self.keywords)]
        for operand in self.operands:
            plain = _plain(operand)
            words.append(repr(plain) if isinstance(plain, str) else printer._print(operand))
        return f"evaluated({', '.join(words)})"


def evaluated(name: str, keywords: str, *operands: npt.ArrayLike) -> float | npt.NDArray[np.float64]:
    """Return the value of an operation of arrays, numbers and names of functions; a vector is a column."""
    parameters = default_rulebook().candidates(name)[0].rule.parameters
    trees, data = [], {}
    for k, operand in enumerate(operands):
        if isinstance(operand, str):
            trees.append(read_argument(operand))
            continue
        array = np.asarray(operand, dtype=float)
        if array.ndim == 0 and np.isfinite(array):
            trees.append(rational(Fraction(repr(float(array)))))
            continue
        array = array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array
        facts = parameters[k].facts if k < len(parameters) and array.ndim == 2 and not parameters[k].repeated else ()
        leaf = symbol(f"a{k}_", [Size.of(length) for length in array.shape], facts)
        trees.append(syntax.leaf_of(leaf, partial(syntax.name, leaf.name)))
        data[leaf.name] = array
    node, _ = build_tree(syntax.call(name, *trees, **keyword_trees(keywords)))
    found = evaluate([node], data, {})[0]
    return float(found) if found.ndim == 0 else found.reshape(len(found), -1) if found.ndim == 1 else found


def _plain(operand: Basic) -> str | float | Basic | npt.NDArray[np.float64]:
    """Return an operand as an array, a number, or the text of a function."""
    if isinstance(operand, Str):
        return str(operand.name)
    if isinstance(operand, sympy.Lambda):
        return f"{operand.variables[0].name} -> {text(from_sympy(operand.expr)[0])}"
    if getattr(operand, "is_Matrix", False) and not operand.free_symbols:
        return np.array(operand.as_explicit().tolist(), dtype=float)
    return float(operand) if operand.is_number else operand


class Operation(_Named, sympy.MatrixExpr):  # type: ignore[misc]
    """A matrix, the result of an operation of the rulebook: `Operation(name, keywords, rows, columns, *operands)`."""

    sizes = 2

    def __new__(cls, name: str | Str, keywords: str | Str, rows: Basic, columns: Basic, *operands: Basic) -> Basic:
        return sympy.MatrixExpr.__new__(
            cls, _str(name), _str(keywords), *map(sympy.sympify, (rows, columns, *operands))
        )

    @property
    def shape(self) -> tuple[Basic, Basic]:
        return self.args[2], self.args[3]

    def _entry(self, i: Basic, j: Basic, **hints: bool) -> MatrixElement:
        return MatrixElement(self, i, j)


class ScalarOperation(_Named, sympy.Expr):  # type: ignore[misc]
    """A scalar, the result of an operation of the rulebook: `ScalarOperation(name, keywords, *operands)`."""

    is_commutative = True
    is_extended_real = True

    def __new__(cls, name: str | Str, keywords: str | Str, *operands: Basic) -> Basic:
        return sympy.Expr.__new__(cls, _str(name), _str(keywords), *map(sympy.sympify, operands))

    def _eval_evalf(self, precision: int) -> Basic | None:
        done = self.doit()
        return done.evalf() if done.is_Number else None


def _str(text: str | Str) -> Str:
    return text if isinstance(text, Str) else Str(text)
