"""Writes elementwise operations that a language has no word for by their values: the rulebook's expressions as terms.

A value such as `np.where(x > y, a, b)` or `x*np.exp(x)` is arithmetic of elementwise operations, which every language
has. A value that calls other functions has no terms.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import isfinite

from matcalc.plain_source.factorise import rewritten, same_form
from matcalc.plain_source.language import Language
from matcalc.plain_source.terms.term import Call, Pool, Term
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Rule

OPERATORS: Mapping[type[ast.operator], str] = {ast.Mult: "mul", ast.Div: "div", ast.Pow: "power"}
RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
LOGIC: Mapping[type[ast.operator], str] = {ast.BitAnd: "both", ast.BitOr: "either"}


def with_values(pool: Pool, language: Language, roots: Sequence[Term]) -> list[Term]:
    """Return the roots with values in place of elementwise operations that the language lacks."""
    if language.table.get("values"):
        return list(roots)

    def change(term: Term, args: Sequence[Term]) -> Term:
        made = None
        if term.form == "call" and not _has_entry(language, term):
            made = value_term(pool, term, args)
        return made or same_form(pool, term, args)

    return rewritten(pool, roots, change)


def _has_entry(language: Language, term: Term) -> bool:
    return term.data.name in language.calls or f"{term.data.name}/{len(term.args)}" in language.calls


def value_term(pool: Pool, term: Term, args: Sequence[Term]) -> Term | None:
    """Return the value of an elementwise operation as a term, or None if it is no arithmetic of operations."""
    call: Call = term.data
    parameters = call.rule.signatures[min(call.index, len(call.rule.signatures) - 1)].parameters
    if not call.rule.values or len(parameters) != len(args) or any(p.kind != "entry" for p in parameters):
        return None
    text = call.rule.values[call.index if len(call.rule.values) > 1 else 0]
    reading = _Reading(pool, {p.name: arg for p, arg in zip(parameters, args, strict=True)}, term)
    try:
        return reading.term(ast.parse(text, mode="eval").body)
    except KeyError:
        return None


@cache
def _by_function() -> Mapping[str, Rule]:
    """Return the elementwise operation whose value is a call of a function of NumPy or SciPy, by that function."""
    found: dict[str, Rule] = {}
    for rule in default_rulebook().rules.values():
        names = [p.name for p in rule.signatures[0].parameters if p.kind == "entry"]
        for tree in (ast.parse(text, mode="eval").body for text in rule.values[:1]):
            if isinstance(tree, ast.Call) and names and [ast.unparse(arg) for arg in tree.args] == names:
                found.setdefault(ast.unparse(tree.func), rule)
    return found


class _Reading:
    """Reads the expression of a value; a word that is unknown is a KeyError."""

    def __init__(self, pool: Pool, operands: Mapping[str, Term], whole: Term) -> None:
        self.pool, self.operands, self.whole = pool, operands, whole

    def term(self, tree: ast.expr) -> Term:
        """Return the term of an expression."""
        if isinstance(tree, ast.Name):
            return self.operands[tree.id]
        if isinstance(tree, ast.Constant):
            return self._number(tree.value)
        if isinstance(tree, ast.Attribute):
            return self.pool.term({"np.inf": "infinity"}[ast.unparse(tree)])
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return self._negative(self.term(tree.operand))
        if isinstance(tree, ast.BinOp):
            return self._operator(tree)
        if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
            pair = (self.term(tree.left), self.term(tree.comparators[0]))
            return self._made("compare", pair, RELATIONS[type(tree.ops[0])])
        if isinstance(tree, ast.Call) and not tree.keywords:
            return self._call(ast.unparse(tree.func), [self.term(arg) for arg in tree.args])
        raise KeyError(ast.unparse(tree))

    def _number(self, value: object) -> Term:
        if not isinstance(value, int | float) or not isfinite(value):
            raise KeyError(value)
        return self.pool.number(Fraction(repr(value)))

    def _negative(self, term: Term) -> Term:
        return self.pool.number(-term.data) if term.form == "number" else self._made("neg", (term,))

    def _operator(self, tree: ast.BinOp) -> Term:
        pair = (self.term(tree.left), self.term(tree.right))
        if isinstance(tree.op, ast.Add | ast.Sub):
            return self._made("add", pair, (1, 1 if isinstance(tree.op, ast.Add) else -1))
        known = LOGIC if type(tree.op) in LOGIC else OPERATORS
        return self._made(known[type(tree.op)], pair)

    def _call(self, name: str, args: Sequence[Term]) -> Term:
        if name == "np.where":
            return self._made("choice", args)
        if name == "np.isnan":
            return self._made("compare", (args[0], args[0]), "!=")
        rule = _by_function()[name]
        if rule is self.whole.data.rule:
            raise KeyError(name)
        return self._made("call", args, Call(rule, 0, None))

    def _made(self, form: str, args: Sequence[Term], data: object = None) -> Term:
        rank = max(arg.rank for arg in args)
        if any(arg.form in ("row", "column") for arg in args):
            rank = 2
        shape = self.whole.shape if rank == self.whole.rank else next(a.shape for a in args if a.rank == rank)
        return self.pool.term(form, args, data, shape)
