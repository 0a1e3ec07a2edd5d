"""Words of plans: each kernel is explained or has the name of a function, and no line has a private word."""

import re

import pytest

import matcalc as mc
from matcalc.compiler.lowering_entries import entries
from matcalc.rulebook.load import default_rulebook
from matcalc.store.data_folders import data_folder

PRIVATE = (
    "discharged",
    "hoisted",
    "(near)",
    "(far)",
    "the memory of",
    "pow -",
    "over_square",
    "over_root",
    "quotient(",
)
CASES = {
    "norm2(X*w - y)^2": "gemv(X, w): matrix-vector product",
    "norm2(M - U*V')^2": "gemm(U, V'): matrix product",
    "logdet(X'*X + eye(n))": "chol(",
    "x'*A*x/(x'*B*x)": "temporary arrays",
    "sum(sqrt(1 + x.^2)./x.^2)": "loop over i < ",
    "sum(X[k:, 0])": "tested once in each call",
    "a + b*c": "scalar operations",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", CASES)
def test_plans_use_known_words(text):
    let = "a: scalar; b: scalar; c: scalar" if text == "a + b*c" else ""
    fn = mc.compile(text, declarations=let, target="numpy")
    shown = str(fn.plan)
    assert CASES[text] in shown or CASES[text].rstrip("s") in shown
    assert not any(word in shown for word in PRIVATE), shown
    assert "+ -" not in shown and not re.search(r"^ *(\S+) = \1$", shown, re.MULTILINE)


def test_temporary_arrays_have_a_size():
    assert "temporary array: X_w (m,), 8*m bytes" in mc.value_and_gradient("norm2(X*w - y)^2", "w", target="numpy").plan


@pytest.mark.whole
def test_generated_functions_are_explained():
    rows = str(mc.compile(mc.gradient("sum(log(1 + exp(-y.*(X*w))))", "w")).plan)
    chain = str(
        mc.compile("A*B*C", declarations="A: matrix(m, n); B: matrix(n, k); C: matrix(k, l)", target="numpy").plan
    )
    for shown, name, words in (
        (rows, "by_rows_", "blocks of rows, one after another"),
        (chain, "chain_", "in the order"),
    ):
        calls = [line for line in shown.splitlines() if f" = {name}" in line]
        assert calls and all(words in line for line in calls), shown


def test_every_kernel_is_explained_or_named_as_a_function():
    book = default_rulebook()
    known = {name for rule in book.rules.values() if not rule.internal for name in (rule.name, rule.spelling)}
    known |= {"eigvalsh", "svdvals", "adj", "eig", "eigvals", "eigh", "svd", "qr", "lu"}
    table = entries(data_folder("codegen"))
    unknown = [
        name for name, entry in table.items()
        if "pattern" in entry and not entry.get("words") and re.sub(r"(_along|_two|_2)+$", "", name) not in known
    ]  # fmt: skip
    assert unknown == []
