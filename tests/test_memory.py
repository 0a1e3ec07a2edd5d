"""Memory of a long session: nothing grows with the number of formulas read."""

import ast
import functools
import gc
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import matcalc as mc
from matcalc.calculus.simplify.chains import runs_in
from matcalc.compiler.plan.values.describe import brief
from matcalc.tensor.constructors import product, symbol
from matcalc.tensor.nodes import node as nodes
from matcalc.tensor.sizes import size
from matcalc.tensor.sizes.size import Size

ELSEWHERE = (
    "matcalc.expressions.sympy_bridge",
    "matcalc.testing",
    "matcalc.__main__",
)  # heavy; they cache no formula
MOST = 1024
OF_THE_BOOK = {
    "matcalc.calculus.simplify.index_by_word.speaks_of": "patterns of rewrites",
    "matcalc.calculus.simplify.index_by_word.outline_of": "patterns of rewrites",
    "matcalc.calculus.simplify.compiled_rewrites.compiled_as": "rewrites",
    "matcalc.calculus.simplify.rewrite_index.called": "rewrites",
    "matcalc.calculus.simplify.rewrite_index.entries": "rewrites",
    "matcalc.calculus.simplify.rewrite_index.unfolded_entry": "rewrites",
    "matcalc.formula.elaborate.rule_formula.tree_of": "texts of rules",
    "matcalc.calculus.derive.conventions._projection": "facts",
    "matcalc.formula.forms.scalar._norm": "nothing",
    "matcalc.tensor.raw_nodes.parameter": "nothing",
    "matcalc.tensor.facts.product_facts.closed_under": "kinds of products",
    "matcalc.rulebook.load.shipped_rulebook": "nothing",
    "matcalc.rulebook.oracle.shipped_code": "nothing",
    "matcalc.language.habits._habits": "nothing",
    "matcalc.rulebook.suggest_names.elsewhere": "nothing",
    "matcalc.rulebook.load._table_of": "files of rules",
    "matcalc.evidence.written.declared._reference": "facts",
    "matcalc.compiler.plan.low_rank.forms.forms": "folders of kernels",
    "matcalc.compiler.lowering_entries.load": "folders of kernels",
    "matcalc.compiler.cost_formulas.formula": "costs of kernels",
    "matcalc.compiler.cost_formulas.quick": "costs of kernels",
    "matcalc.compiler.plan.values.running_totals._rule": "names of kernels for running totals",
    "matcalc.compiler.plan.sparse_data.sparse_forms._rule": "names of kernels for stored entries",
    "matcalc.compiler.verify.templates.functions": "nothing",
    "matcalc.language.read._parser": "nothing",
    "matcalc.language.numpy_text.numpy_dialect._parser": "nothing",
    "matcalc.expressions.numpy_bridge.dispatch._written": "names of functions of NumPy",
    "matcalc.language.latex.layout.latex_layout._parser": "nothing",
    "matcalc.commands.rule_pages._headings": "files of rules",
    "matcalc.store.data_folders.data_folder": "names of folders",
    "matcalc.compiler.kernels.library.load_library": "targets",
    "matcalc.compiler.spec.module_text._reserved": "nothing",
    "matcalc.store.provenance.name_of_host": "nothing",
    "matcalc.store.provenance._triple": "nothing",
    "matcalc.compiler.files.array_words.array_library": "targets",
    "matcalc.compiler.files.array_words.load_words": "targets",
    "matcalc.compiler.files.c_words.load_c_words": "nothing",
    "matcalc.compiler.files.c_unit._known": "nothing",
    "matcalc.compiler.blas.blas_routines.load_routines": "nothing",
    "matcalc.compiler.blas.blas_choice.chosen": "nothing",
    "matcalc.compiler.blas.blas_choice._library": "files of libraries",
    "matcalc.compiler.numba.private_members.removed": "nothing",
    "matcalc.compiler.machine.array_layout.are_arrays_known": "nothing",
    "matcalc.compiler.machine.machine_code.add_symbols": "nothing",
    "matcalc.compiler.entry.call_slot.entry": "nothing",
    "matcalc.language.numpy_text.numpy_dialect._operands": "NumPy's functions",
    "matcalc.plain_source.helpers.value_entry": "rules",
    "matcalc.plain_source.helpers.helper_names": "nothing",
    "matcalc.plain_source.helpers._definitions": "nothing",
    "matcalc.plain_source.language.languages": "nothing",
    "matcalc.plain_source.language.language": "languages",
    "matcalc.plain_source.entry_values._by_function": "languages",
    "matcalc.store.installation.content_of_files": "nothing",
    "matcalc.store.installation.installation": "nothing",
    "matcalc.compiler.kernels.kernel_code._own_runtime": "nothing",
    "matcalc.store.provenance._at_first": "nothing",
    "matcalc.store.provenance._ours": "nothing",
    "matcalc.store.provenance._version": "nothing",
    "matcalc.store.provenance.features_of_host": "nothing",
    "matcalc.compiler.llvm.native_words.load_llvm_words": "nothing",
    "matcalc.store.provenance.level_of_host": "nothing",
    "matcalc.compiler.kernels.modules._module_of": "functions of the sources",
    "matcalc.store.artefacts._read_pack": "conditions of wheels",
    "matcalc.compiler.machine.scipy_routines._library": "nothing",
    "matcalc.solvers.parametrisations._charts": "nothing",
    "matcalc.solvers.compiled_loops.loop": "names of loops",
    "matcalc.solvers.adapters.for_c._module": "nothing",
    "matcalc.store.cache_folder._temporary": "nothing",
    "matcalc.store.cache_folder._made": "folders",
}
"""Caches whose keys come from the rulebook alone, never from a user."""


@functools.cache
def caches():
    """Return all caches of matcalc, by name."""
    for module in pkgutil.walk_packages(mc.__path__, "matcalc."):
        if not module.name.startswith(ELSEWHERE):
            importlib.import_module(module.name)
    gc.unfreeze()  # the objects from before the tests too
    found = [o for o in gc.get_objects() if type(o) is functools._lru_cache_wrapper]
    return [(f"{o.__module__}.{o.__qualname__}", o) for o in found if o.__module__.startswith("matcalc.")]


def test_what_users_write_is_remembered_up_to_a_bound():
    found = caches()
    free = {name for name, cache in found if (cache.cache_info().maxsize or MOST + 1) > MOST}
    assert len(found) > 50
    assert free == set(OF_THE_BOOK)


def test_no_call_makes_an_unbounded_cache():
    """A cache of a call lives as long as the call's cycles: whether the test above sees it is chance."""
    files = sorted(Path(mc.__file__).parent.rglob("*.py"))
    assert [place for file in files for place in caches_of_calls(file.name, file.read_text(encoding="utf-8"))] == []


def test_a_cache_of_a_call_is_found():
    assert caches_of_calls("one.py", "from functools import cache as k\n\ndef f():\n    return k(len)\n") == [
        "one.py:4"
    ]
    assert caches_of_calls("one.py", "from functools import cache\n\n@cache\ndef f():\n    return 1\n") == []


def caches_of_calls(name, text):
    """Return the lines on which the body of a function applies functools.cache, as a call or as a decorator."""
    if not re.search(r"^from functools import .*\bcache\b", text, re.MULTILINE):
        return []
    tree = ast.parse(text)
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "functools"]
    names = {alias.asname or alias.name for node in imports for alias in node.names if alias.name == "cache"}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inner = [node for function in functions for part in function.body for node in ast.walk(part)]
    applied = [node.func for node in inner if isinstance(node, ast.Call)]
    applied += [one for node in inner if isinstance(node, ast.FunctionDef) for one in node.decorator_list]
    return [f"{name}:{one.lineno}" for one in applied if isinstance(one, ast.Name) and one.id in names]


@pytest.mark.parametrize("ask", [brief, runs_in])
@pytest.mark.whole
def test_an_answer_about_a_node_goes_with_the_node(ask):
    n = Size.of("n")
    matrices = [symbol(f"only_{ask.__name__}_{k}", (n, n)) for k in range(3)]
    made = product(1, [(X, (k, k + 1)) for k, X in enumerate(matrices)], (0, 3))
    assert ask(made)
    digest = made.digest
    for name, cache in caches():
        if name.endswith((".made", "._form_of")):  # bounded caches of the most recent nodes
            cache.cache_clear()
    assert any(node.digest == digest for node in nodes._interned.values())
    del made
    gc.collect()
    assert not any(node.digest == digest for node in nodes._interned.values())


@pytest.mark.whole
def test_texts_leave_no_sizes_behind():
    """A number in a formula may be a size; sizes of formulas that no longer exist are freed, except the last ones."""
    counts = []
    for start in (1000, 1300, 1600):
        for k in range(start, start + 300):
            mc.expression(f"{k}.5*x", "x: vector(n)")
        gc.collect()
        counts.append(len(size._interned))
    assert counts[2] - counts[1] < 30
