"""Derivatives stay linear in the size of the formula, and so does their computation: nodes and calls are counted."""

import sys

import pytest

import matcalc as mc
from matcalc.compiler.call.compiled import CALLED
from matcalc.compiler.entry.call_table import call_table
from matcalc.compiler.llvm import native
from matcalc.pipeline import build
from matcalc.tensor.nodes.node import toposort


def network(depth, stem="W"):
    """tanh layers, one after the other."""
    text = "x"
    for k in range(depth):
        text = f"tanh({stem}{k}*{text})"
    names = "; ".join(f"{stem}{k}: matrix(n, n)" for k in range(depth))
    return f"norm2({text} - y)^2", f"{names}; x: vector(n); y: vector(n)"


def residual(depth, stem="W"):
    """Residual layers, each written with its input twice, as objects so that the text does not double."""
    (h,) = mc.symbols("x: vector(n)")
    for W in mc.symbols("; ".join(f"{stem}{k}: matrix(n, n)" for k in range(depth))):
        h = h + mc.tanh(W @ h)
    return mc.sum(h * h), ""


def chain(depth, stem="W"):
    names = "; ".join(f"{stem}{k}: matrix(n, n)" for k in range(depth))
    return f"a'*{'*'.join(f'{stem}{k}' for k in range(depth))}*x", f"{names}; a: vector(n); x: vector(n)"


RUN = iter(range(10**6))
FORMULAS = {"chain": chain, "network": network, "residual": residual}


def count(expressions):
    found = expressions if isinstance(expressions, tuple) else (expressions,)
    return len(toposort([e.node for e in found]))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("what", ["input", "weights", "product"])
@pytest.mark.sampled(9)
def test_nodes_grow_linearly(formula, what):
    counts = {}
    for depth in (10, 100, 400):
        text, let = FORMULAS[formula](depth)
        weights = [f"W{k}" for k in range(depth)]
        if what == "product":
            counts[depth] = count(mc.hvp(text, "x", declarations=let))
        else:
            counts[depth] = count(mc.gradient(text, "x" if what == "input" else weights, declarations=let))
    assert counts[400] <= 4.2 * counts[100] + 20
    assert counts[100] <= 12 * counts[10] + 20


def test_a_structured_hessian_stays_small():
    """No node but the root has more axes than M: the Hessian is a product with the identity."""
    hessian = mc.hessian("norm2(M - U*V')^2", "U")
    inner = [node for node in toposort([hessian.node]) if node is not hessian.node]
    assert len(hessian.shape) == 4
    assert all(len(node.shape) <= 2 for node in inner)


def calls(formula, depth):
    """Return how many functions are called from a formula to its source, value and gradient in all weights.

    Its weights have new names, so that no cache contains any of it.
    """
    stem, found = f"W{next(RUN)}_", [0]
    text, let = FORMULAS[formula](depth, stem)
    weights = [f"{stem}{k}" for k in range(depth)]

    def noted(frame, event, argument):
        found[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(noted)
    try:
        build.specified(build.gradient_request(text, weights, let, "matrix"), "f")
    finally:
        sys.setprofile(before)
    return found[0]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("formula", "depth"),
    [("network", 8), *((name, 24) for name in FORMULAS)],
)
@pytest.mark.whole
def test_the_way_to_the_source_grows_linearly(formula, depth, monkeypatch):
    """A depth three times as large is three times the work; 3.4 allows for the fixed work of each program."""
    monkeypatch.setattr(build, "is_shipped", lambda: True)  # with a user's own rules texts are written at once
    calls(formula, 3)  # objects made once in a process
    assert calls(formula, 3 * depth) <= 3.4 * calls(formula, depth)


def lengths(depth, monkeypatch):
    """Return the characters of the assembly of value and gradient in all weights, and the rows of its tables."""
    stem, found = f"V{next(RUN)}_", []
    text, let = network(depth, stem)
    weights = [f"{stem}{k}" for k in range(depth)]
    spec, _ = build.specified(build.gradient_request(text, weights, let, "matrix"), "f")

    def optimised(module, machine):
        optimise(module, machine)
        found.append(len(str(module)))

    optimise = native.optimise
    with monkeypatch.context() as patched:
        patched.setattr(native, "optimise", optimised)
        native.compiled_part(*native.assembly_of(spec))
    table = call_table(spec)
    return [*found, sum(map(len, table))]


@pytest.mark.whole
@pytest.mark.skipif(CALLED is None, reason="no machine code is called here")
@pytest.mark.parametrize("depth", [5, pytest.param(20, marks=pytest.mark.whole)])
def test_machine_code_grows_linearly(depth, monkeypatch):
    """Releases in failing calls, and results that must not overlap, are in tables: code for each pair is quadratic."""
    few, many = lengths(depth, monkeypatch), lengths(2 * depth, monkeypatch)
    assert [b <= 2.25 * a for a, b in zip(few, many, strict=True)] == [True, True]
