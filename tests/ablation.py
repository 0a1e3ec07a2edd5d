"""matcalc with one rewrite, one pass of the planner or one kernel left out must give the same results.

A rewrite is left out by a rulebook without it, a kernel by a table of lowerings without it; a pass is replaced by one
that changes nothing. The tests compare the value and the gradient of formulas in which it takes part.
"""

import itertools
import re
from collections.abc import Callable, Container
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from insertions import Formula, Original, as_number, at, differences, known_formulas

import matcalc as mc
from matcalc.calculus.simplify import rewrite as rewriting
from matcalc.compiler.call import spec_cache
from matcalc.compiler.lowering_entries import Lowerings, load
from matcalc.compiler.plan import compare, expand, joined_forms, lower
from matcalc.compiler.plan.products import build_contraction
from matcalc.compiler.program import Call, Each
from matcalc.evidence.written.points import points
from matcalc.language.read import read
from matcalc.language.syntax import Ast, rebuild
from matcalc.language.write import text as written
from matcalc.rulebook.load import on_trial, shipped_rulebook
from matcalc.store.data_folders import data_folder
from matcalc.testing.forms import forms
from matcalc.testing.strategies import drawn
from matcalc.testing.trees import Tree, write

NUMBERS = {"integer": "1", "number": "5/2"}


# ---- the formulas


@cache
def panel() -> list[Formula]:
    """Return the textbook cases and benchmarks at their first sizes, then a formula for each form of each operation."""
    textbook = {(f.text, f.let, f.wrt): f for f in reversed(known_formulas())}
    return [*reversed(textbook.values()), *filter(None, map(_of_form, forms(shipped_rulebook())))]


def _of_form(form: Any) -> Formula | None:
    made = write(Tree(form, (None,) * len(form.slots)), shipped_rulebook())
    if made is None or not made.leaves:
        return None
    lengths = dict(zip(made.sizes, itertools.cycle((2, 3, 2, 4)), strict=False))
    data = drawn(made, lengths, 1, shipped_rulebook())
    return _numbered(Formula(made.text, made.declarations, made.leaves[0].name, data, lengths))


def _numbered(formula: Formula) -> Formula | None:
    try:
        e = mc.expression(formula.text, formula.let)
        return as_number(formula, e.reference.value(formula.data, formula.sizes).shape)
    except (mc.MatcalcError, np.linalg.LinAlgError):
        return None


def left_side(rewrite: Any) -> Formula | None:
    """Return the left side of a rewrite as a formula of its variables, with data; None where it is none.

    Its function is exp or log1p, its numbers are fixed, and its variables have the facts of its condition.
    """
    numbers = {d.name: NUMBERS[d.kind] for d in rewrite.variables if d.kind in NUMBERS}
    functions = [d.name for d in rewrite.variables if d.kind == "function"]
    asked = {d.name: {*d.facts} for d in rewrite.variables if d.name not in (*numbers, *functions)}
    for fact, name in re.findall(r"(\w+)\((\w+)\)", rewrite.condition or ""):
        asked.get(name, set()).add(fact)
    let = "; ".join(
        f"{d.name}: {_kind(d)} {' '.join(sorted(asked[d.name]))}" for d in rewrite.variables if d.name in asked
    )
    text = rewrite.left
    for name, function in zip(functions, ("exp", "log1p"), strict=False):
        text = re.sub(rf"\b{name}\b", function, text)
    tree = rebuild(read(text), lambda a: read(numbers.get(str(a.value), "0")) if _is_one_of(numbers, a) else a)
    try:
        e = mc.expression(written(tree), let)
        symbols = [e.names.symbols[name] for name in e.names.written]
        for point in points([e.reference], [e.node], e.names, symbols):
            let = e.declarations.replace(", undeclared", "")
            found = Formula(written(tree), let, symbols[0].name, dict(point.data), dict(point.sizes))
            return as_number(found, point.value.shape)
    except (mc.MatcalcError, np.linalg.LinAlgError, IndexError):
        return None
    return None


def _is_one_of(names: Container[str], tree: Ast) -> bool:
    return tree.head == "name" and tree.value in names


def _kind(declaration: Any) -> str:
    if declaration.kind == "array":
        return "vector(n)"
    return declaration.kind + (f"({', '.join(map(written, declaration.sizes))})" if declaration.sizes else "")


@cache
def original(place: int) -> Original | None:
    """Return a formula of the panel with its expected results; None where it has no finite value or gradient."""
    return original_of(panel()[place])


def original_of(formula: Formula) -> Original | None:
    try:
        found = Original(formula)
    except (mc.MatcalcError, np.linalg.LinAlgError, TypeError):
        return None
    return found if found.is_finite else None


# ---- rewrites


@contextmanager
def fired():
    """Yield the set of rewrites that fire, in a separate rulebook without cached results."""
    seen: set[Any] = set()
    apply = rewriting.Rewriter.apply

    def noted(self, node, splits=True):
        found = apply(self, node, splits)
        if found is not None:
            seen.add(found.rewrite)
        return found

    with mock.patch.object(rewriting.Rewriter, "apply", noted), on_trial(replace(shipped_rulebook())):
        yield seen


def fires(rewrite: Any, right: Original) -> bool:
    """Return whether a rewrite fires in a formula."""
    with fired() as seen:
        plain(right)
    return rewrite in seen


def plain(right: Original) -> list[str]:
    """Return the differences by plain evaluation."""
    f = right.formula
    e = mc.expression(f.text, f.let)
    g = mc.gradient(e, f.wrt, check=False)
    return differences(right, at(e, f.data, f.sizes), at(g, f.data, f.sizes))


def without_rewrite(rewrite: Any):
    """Put a rulebook in force that has all rewrites but one."""
    book = shipped_rulebook()
    return on_trial(replace(book, rewrites=tuple(r for r in book.rewrites if r is not rewrite)))


# ---- kernels and passes


def compiled(right: Original, target: str) -> list[str]:
    """Return the differences in compiled code, planned anew."""
    f = right.formula
    compare._plan_part.cache_clear()
    with (
        mock.patch.object(spec_cache, "read", lambda key: None),
        mock.patch.object(spec_cache, "write", lambda *_: None),
    ):
        e = mc.expression(f.text, f.let)
        both = mc.compile([e, mc.gradient(e, f.wrt, check=False)], target=target, check=False)
    try:
        return differences(right, *at(both, f.data, f.sizes))
    finally:
        compare._plan_part.cache_clear()


@contextmanager
def used():
    """Yield the set of names of kernels that plans use, with those of their parts."""
    seen: set[str] = set()

    def noted(program):
        steps = list(program.steps)
        while steps:
            step = steps.pop()
            steps += step.body if isinstance(step, Each) else ()
            if isinstance(step, Call):
                seen.add(step.kernel.name)
        return proved(program)

    proved = compare.proved
    with mock.patch.object(compare, "proved", noted):
        yield seen


@cache
def lowerings() -> Lowerings:
    return load(data_folder("codegen"))


@contextmanager
def table(found: Lowerings):
    """Plan with another table of lowerings."""
    with mock.patch.object(compare, "load", lambda folder: found):
        yield


def without_kernel(name: str) -> Lowerings:
    """Return the table without the kernel of a name."""
    whole = lowerings()

    def kept(kernels):
        return tuple(k for k in kernels if k.name != name)

    operations = {word: kept(kernels) for word, kernels in whole.operations.items()}
    return replace(
        whole,
        products=kept(whole.products),
        joined=kept(whole.joined),
        operations={word: kernels for word, kernels in operations.items() if kernels},
    )


def without_expansion(word: str, place: int) -> Lowerings:
    """Return the table without one of the formulas that an operation expands to."""
    becomes = dict(lowerings().becomes)
    becomes[word] = (*becomes[word][:place], *becomes[word][place + 1 :])
    return replace(lowerings(), becomes={w: entries for w, entries in becomes.items() if entries})


class Pass(NamedTuple):
    """A function of the planner, and its replacement when it is left out."""

    module: Any
    name: str
    instead: Callable[..., Any]


def _first(roots, *_):
    return roots


def _only(k):
    def alternatives(outputs, table):
        whole = ALTERNATIVES(outputs, table)
        return [whole[k % len(whole)]]

    return alternatives


ALTERNATIVES = compare._alternatives
PASSES = {
    "lookups pushed inward": Pass(joined_forms, "lookups_pushed_inward", _first),
    "quotients as written": Pass(compare, "write_back", lambda *_: None),
    "output order": Pass(compare, "with_best_output_order", _first),
    "blocks of rows": Pass(compare, "by_blocks", _first),
    "zero-filled results": Pass(compare, "with_zeroed_results", _first),
    "join runs": Pass(compare, "join_runs", lambda *_: None),
    "accumulate": Pass(compare, "accumulate", lambda *_: None),
    "transposed results": Pass(compare, "inline_transposed", lambda *_: None),
    "implied facts": Pass(compare, "implied_facts", lambda nodes: {}),
    "implied facts of expansions": Pass(expand, "implied_facts", lambda nodes: {}),
    "memory layout": Pass(compare, "memory_orders", lambda *_: {}),
    "orders at the call": Pass(lower, "lower_chain", lambda *_: None),
    "running totals": Pass(expand, "running_totals", _first),
    "staged sums": Pass(expand, "staged_sums", _first),
    "multiplied out": Pass(expand, "_multiplied_out", _first),
    "exact deviations": Pass(expand, "with_exact_deviations", _first),
    "weighted squares": Pass(build_contraction, "rooted", lambda *_: None),
    "first form alone": Pass(joined_forms, "_with_lookups", lambda forms: {tuple(forms[0]): None}),
    "last form alone": Pass(joined_forms, "_with_lookups", lambda forms: {tuple(forms[-1]): None}),
    "values first alone": Pass(compare, "_alternatives", _only(0)),
    "gradients first alone": Pass(compare, "_alternatives", _only(1)),
    "inverses formed, values first": Pass(compare, "_alternatives", _only(2)),
    "inverses formed, gradients first": Pass(compare, "_alternatives", _only(3)),
}


@contextmanager
def without_pass(name: str, hits: list[int] | None = None):
    """Plan without a pass; `hits` counts how often it was called."""
    off = PASSES[name]

    def instead(*args, **named):
        if hits is not None:
            hits.append(1)
        return off.instead(*args, **named)

    with mock.patch.object(off.module, off.name, instead):
        yield
