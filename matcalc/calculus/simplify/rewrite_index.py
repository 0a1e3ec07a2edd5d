"""Tells from the text of a rewrite which nodes it may fit, so that most rewrites are never built.

A rewrite is built as a pattern when a node has the head of its left side and contains all that the left side names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from matcalc.calculus.simplify.compiled_rewrites import RANKS, ROWS, kinds
from matcalc.calculus.simplify.index_by_word import MOST_TERMS, Outline, of_argument, of_rank
from matcalc.calculus.simplify.unfolded import unfolded
from matcalc.formula.elaborate.rule_formula import tree_of
from matcalc.language.syntax import SUMS, Ast, call_name, names_in, walk
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rewrite, Rule

CALLED = re.compile(r"([^\W\d]\w*)\(")
"""A name that is called, in the text of a formula."""
CANCELLED = {"scalar": {"sum"}}
"""Words and arguments that the readings of a left side may lack: x - mean(x) is 0 for a scalar."""
HEADS = {"sum": "sum", "product": "product", "part": "product", "index_sum": "product"}
"""The kind of the node that a tree with this head becomes."""


WITH_AXES = ("vector", "matrix", "array")
"""The kinds of variables that are not scalars in all readings."""


class Entry(NamedTuple):
    """What is known of a rewrite with its array variables in one reading, its `kind`.

    `heads` are the heads of the nodes that it may fit, empty if any. `words` are words that each such node contains.
    `rank` is the rank of these nodes, None if it is not evident or a factor may have fewer axes. `terms` is their least
    number of terms.
    """

    kind: str
    heads: frozenset[str]
    words: frozenset[str]
    rank: int | None = None
    terms: int = 1

    def may_fit(self, node: Outline) -> bool:
        """Whether the rewrite may fit a node with this outline."""
        if (self.heads and node.head not in self.heads) or not self.words <= node.words:
            return False
        is_ranked = self.rank is None or node.rank is None or node.rank == self.rank or node.head == "product"
        return is_ranked and (node.terms >= self.terms or node.head != "sum")


@lru_cache(maxsize=2048)
def called(rewrite: Rewrite, book: Rulebook) -> frozenset[str]:
    """Return the operations called in the text of a left side, without reading it as a formula."""
    rules = (_meant(name, book) for name in CALLED.findall(rewrite.left))
    return frozenset(rule.name for rule in rules if rule is not None and rule.kind != "definition")


def marks_in(rewrite: Rewrite, book: Rulebook) -> bool:
    """Whether the text of a right side calls an operation that is printed in another form."""
    return any(one.rule.shown for name in CALLED.findall(rewrite.right) for one in book.spellings.get(name, ()))


def readings(rewrite: Rewrite, node: Outline, book: Rulebook) -> Iterator[str]:
    """Yield the readings of array variables in which a rewrite may fit a node with this outline."""
    for entry in entries(rewrite, book):
        if entry.may_fit(node) and unfolded_entry(rewrite, entry.kind, book).may_fit(node):
            yield entry.kind


@lru_cache(maxsize=2048)
def entries(rewrite: Rewrite, book: Rulebook) -> tuple[Entry, ...]:
    """Return the entries of a rewrite from its left side as written, one for each reading of its array variables."""
    tree = tree_of(rewrite.left)
    declared = _kinds_of_variables(rewrite)
    names, heads = _names(tree, book, declared), _heads(tree, book, declared)
    arrays = {name for name, kind in declared.items() if kind == "array"}
    mapped = any(_is_mapped(ast, arrays, book) for ast in walk(tree))
    by_rows = frozenset({"product"} if heads else ())
    return tuple(
        Entry(
            kind,
            heads | by_rows if kind == ROWS else heads,
            _without_cancelled(names | {of_rank(RANKS[kind])} if mapped else names, kind),
        )
        for kind in kinds(rewrite)
    )


@lru_cache(maxsize=2048)
def unfolded_entry(rewrite: Rewrite, kind: str, book: Rulebook) -> Entry:
    """Return what the left side tells when its definitions are replaced, in one reading of its array variables."""
    if kind == ROWS:
        return _by_rows(unfolded_entry(rewrite, "vector", book))
    if not kind and not _calls_definition(rewrite, book):
        return Entry(kind, frozenset(), frozenset())
    tree = tree_of(rewrite.left)
    declared = _kinds_of_variables(rewrite)
    whole = unfolded(tree, {name: RANKS.get(kind if its == "array" else its) for name, its in declared.items()}, book)
    words = _without_cancelled(_names(whole.tree, book, declared), kind if whole.vanishes else "")
    terms = _count_of_terms(whole.tree, declared) if whole.rank == 0 else 1
    heads = _heads(whole.tree, book, declared)
    if whole.vanishes and "product" in heads:
        heads = frozenset()  # the mean of a scalar, x/1
    return Entry(kind, heads, words, None if rewrite.factor else whole.rank, terms)


def _calls_definition(rewrite: Rewrite, book: Rulebook) -> bool:
    candidates = (one for name in CALLED.findall(rewrite.left) for one in book.spellings.get(name, ()))
    return any(candidate.rule.kind == "definition" for candidate in candidates)


def _kinds_of_variables(rewrite: Rewrite) -> dict[str, str]:
    return {d.name: d.kind for d in rewrite.variables}


def _without_cancelled(words: frozenset[str], kind: str) -> frozenset[str]:
    """Return the words that a left side has in a reading of its array variables."""
    if kind not in CANCELLED:
        return words
    return frozenset(word for word in words if word.rpartition(" ")[2] not in CANCELLED[kind])


def _by_rows(of_vectors: Entry) -> Entry:
    """Return the entry of a rewrite of vectors with these as the rows of matrices."""
    may_be_spread = of_vectors.heads and of_vectors.terms == 1
    heads = of_vectors.heads | {"product"} if may_be_spread else of_vectors.heads
    rank = None if of_vectors.rank is None else of_vectors.rank + 1
    return Entry(ROWS, heads, of_vectors.words, rank, of_vectors.terms)


def _count_of_terms(tree: Ast, declared: Mapping[str, str]) -> int:
    """Return the least number of terms of a sum of scalars, at most MOST_TERMS.

    Only terms with equal arrays may cancel. By rows, terms without arrays become one term.
    """
    found, stack = Counter[frozenset[str]](), [tree]
    while stack:
        term = stack.pop()
        if term.head in SUMS:
            stack += term.args
        else:
            found[frozenset(name for name in names_in(term) if declared.get(name) in WITH_AXES)] += 1
    return min(max(list(found.values()).count(1), 1), MOST_TERMS)


def _meant(called: str, book: Rulebook, count: int | None = None) -> Rule | None:
    """Return the rule that a call means, with this `count` of arguments; None if there are several or none.

    A definition that calls an operation of its own name, as that of the rows of a matrix, means this operation too.
    """
    meant = {
        candidate.rule
        for candidate in book.spellings.get(called, ())
        if count is None or len(candidate.signature.parameters) == count
    }
    if len(meant) > 1:
        meant = {r for r in meant if r.kind != "definition" or called not in CALLED.findall(r.definition(0) or "")}
    return meant.pop() if len(meant) == 1 else None


def _rule(ast: Ast, book: Rulebook) -> Rule | None:
    if ast.head != "call":
        return None
    compared = ast.args[0] if ast.args and ast.args[0].head == "compare" else None
    if compared is not None:
        return _meant(f"{call_name(ast)}{compared.value}", book, len(ast.args) + 1)
    return _meant(call_name(ast), book) or _meant(call_name(ast), book, len(ast.args))


def _heads(tree: Ast, book: Rulebook, declared: Mapping[str, str]) -> frozenset[str]:
    """Return the head of the node that a left side becomes; nothing if it is not evident."""
    rule = _rule(tree, book)
    if rule is not None and rule.kind != "definition":
        return frozenset({rule.name})
    if tree.head == "power" and tree.value == ".^" and _is_no_count(tree, declared) and _is_whole(tree.args[0]):
        return frozenset({book.playing("fixed_power").name})
    return frozenset({HEADS[tree.head]} if tree.head in HEADS else ())


def _is_whole(base: Ast) -> bool:
    """Whether a base is evidently no product, whose power is a product of powers."""
    is_simple = base.head in ("name", "power", "sum", "index_sum")
    if not is_simple or any(inner.head in ("product", "negative") for inner in walk(base)):
        return False
    return base.head != "sum" or len(set(map(repr, base.args))) == len(base.args)


def _names(tree: Ast, book: Rulebook, declared: Mapping[str, str]) -> frozenset[str]:
    """Return the operations in a left side, also in definitions that it calls; "selector" and "sum" if it needs one.

    `declared` are the kinds of its variables, by name. Functions, conditions and sizes are no nodes inside.
    """
    names: set[str] = set()
    for ast in walk(tree, ("function", "condition")):
        rule = _rule(ast, book) if _has_variables(ast, declared) else None
        if rule is not None:
            definition = tree_of(rule.definition(0) or "") if rule.kind == "definition" else None
            names |= {rule.name} if definition is None else _names(definition, book, {})
            if definition is None and rule.kind != "map":
                names |= {of_argument(rule.name, word) for arg in ast.args for word in _argument(arg, book, declared)}
        elif ast.head == "block" or _selects(ast):
            names.add("selector")
        elif _is_quotient(ast) or (ast.head == "power" and _is_no_count(ast, declared)):
            names.add(book.playing("fixed_power").name)
        if ast is not tree and ast.head == "sum":
            names.add("sum")
    return frozenset(names)


def _argument(tree: Ast, book: Rulebook, declared: Mapping[str, str]) -> frozenset[str]:
    """Return the head of the node that an argument of an operation becomes; nothing if it is not evident."""
    parts = [arg for arg in tree.args if _has_tensors(arg, declared)]
    is_distinct = len(set(map(repr, tree.args))) == len(tree.args) > 1
    if tree.head == "sum" and parts and is_distinct:
        return frozenset({"sum"})
    if tree.head == "product" and len(parts) > 1 and is_distinct and {"*"}.issuperset(tree.value):  # type: ignore[arg-type]
        return frozenset({"product"})
    rule = _rule(tree, book) if _has_tensors(tree, declared) else None
    return frozenset({rule.name} if rule is not None and rule.kind != "definition" else ())


def _has_tensors(tree: Ast, declared: Mapping[str, str]) -> bool:
    """Whether a tree contains a variable that is a tensor."""
    return any(declared.get(name, "number") not in ("number", "integer", "function") for name in names_in(tree))


def _has_variables(call: Ast, declared: Mapping[str, str]) -> bool:
    """Whether a call has no names, or one of a variable: min(m, n) is a size."""
    inside = names_in(call)
    return not declared or not inside or any(name in declared for name in inside)


def _is_mapped(ast: Ast, arrays: set[str], book: Rulebook) -> bool:
    """Whether a tree calls a map with an array variable."""
    rule = _rule(ast, book)
    given = rule is not None and rule.kind == "map"
    return given and any(arg.head == "name" and arg.value in arrays for arg in ast.args)


def _is_no_count(power: Ast, declared: Mapping[str, str]) -> bool:
    """Whether an exponent is a number but not a positive integer, which would yield a product of equal factors."""
    exponent = power.args[1]
    if exponent.head == "name":
        return declared.get(str(exponent.value)) == "number"
    if power.value != ".^":
        return False
    if exponent.head in ("negative", "product"):
        return all(arg.head == "number" for arg in exponent.args)
    return exponent.head == "number" and exponent.value.denominator > 1  # type: ignore[attr-defined]


def _is_quotient(ast: Ast) -> bool:
    """Whether a product divides by something that is not a number."""
    divides = zip(ast.value, ast.args[1:], strict=True) if ast.head == "product" else ()  # type: ignore[call-overload]
    return any(operator in ("/", "./") and divisor.head != "number" for operator, divisor in divides)


def _selects(ast: Ast) -> bool:
    """Whether a tree is a condition that is more than an identity: [p == i*n + j], [i >= j]."""
    return ast.head == "condition" and (ast.value != "==" or any(side.head != "name" for side in ast.args))
