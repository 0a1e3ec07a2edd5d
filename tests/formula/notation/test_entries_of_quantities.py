"""Entries of quantities of a step are read at the step: `v[t][j]`, of vectors and matrices, at each position."""

import pytest

import matcalc as mc

LET = "A: matrix(n, n); x0, c: vector(n); B: tensor(n, n, n)"
STEPS = {
    "vector": "v[t] = sin(A*x[t]), x[t+1] = {i: v[t][i]*A[i,j]*x[t][j]*v[t][j]}",
    "column": "v[t] = sin(A*x[t]), x[t+1] = {i: A[i,j]*v[t][j]}",
    "matrix": "V[t] = A*diag(x[t]), x[t+1] = {i: V[t][i,j]*V[t][j,i]*x[t][j]}",
    "diagonal": "V[t] = A*diag(x[t]), x[t+1] = {i: V[t][i,i]*x[t][i]}",
    "scalar": "s[t] = norm2(x[t])^2, x[t+1] = {i: s[t]*A[i,i]*x[t][i]}",
    "after": "v[t] = cos(x[t+1]), x[t+1] = {i: A[i,j]*x[t][j]}, y[0] = x0, y[t+1] = {i: y[t][i]*v[t][i]*A[i,i]}",
}

V = "v[t] = sin(A*x[t] + c).*cos(A*x[t] - c).*tanh(A*x[t])"
TENSORS = {
    "vector": f"{V}, B0[t+1] = {{i,j,k: v[t][i]*v[t][j]*B0[t][i,j,k]}}",
    "matrix": "V[t] = A*diag(x[t]), B0[t+1] = {i,j,k: V[t][i,j]*V[t][k,i]*B0[t][i,j,k]}",
    "both": f"{V}, B0[t+1] = {{i,j,k: A[i,j]*v[t][k]*B0[t][k,j,i] + v[t][j]*v[t][i]*B[i,j,k]}}",
}
"""Steps of tensors of order 3, which print in index form."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TENSORS)
def test_entries_in_index_forms(name):
    text = f"sum(B0[T]) where x[0] = x0, x[t+1] = cos(A*x[t]), B0[0] = B, {TENSORS[name]}, t < T"
    e = mc.expression(text, LET)
    printed = str(e)
    assert ("V[t][i,j]" if name == "matrix" else "v[t][i]") in printed
    assert mc.expression(printed, LET).node is e.node


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("kind", ["value", "gradient", "hvp"])
@pytest.mark.thinned(2)
def test_printed_forms_are_read_back(name, kind):
    last = "y" if name == "after" else "x"
    e = mc.expression(f"c'*{last}[T] where x[0] = x0, {STEPS[name]}, t < T", LET)
    for one in [e] if kind == "value" else [getattr(e, kind)(wrt, check=False) for wrt in ("A", "x0")]:
        for printed in (str(one), one.named()):
            again = mc.expression(printed, one.declarations)
            assert again.node is one.node or mc.equivalent(one, again), printed
