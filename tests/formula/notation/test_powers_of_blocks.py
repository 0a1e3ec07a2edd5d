"""Powers of blocks, re-indexed or not, and squares of their norms read back: sums of blocks are raised block by block.

Norms of rows and columns inside blocks are included: an operation that declares its square is a product once squared.
"""

import itertools

import pytest

import matcalc as mc

LET = "a: scalar; b: scalar; c: scalar; x: vector(n); y: vector(m); A: matrix(n, m); B: matrix(p, m)"
VECTORS = ["[a; b]", "[x; a]", "[x; y]"]
NORMS = ["norm2(A, axis=0)", "std(A, axis=0)", "c*norm2(A, axis=1)", "abs(x)/sqrt(n)", "y.*norm2(A, axis=0)"]
MATRICES = ["[A; B]", "[A, x]", "[A, x; y', a]"]
FORMS = {
    "{v}": VECTORS, "flip({v})": VECTORS, "circshift({v}, 1)": VECTORS, "kron({v}, x)": VECTORS,
    "kron(x, -{v})": VECTORS, "repmat({v}, 2)": VECTORS, "[{v}; b]": [*VECTORS, *NORMS], "diag({v})": VECTORS,
    "{v}[1:]": VECTORS, "({v})": MATRICES, "vec({v})": MATRICES, "flip({v}, axis=0)": MATRICES,
    "[a; flip({v})]": NORMS, "blkdiag({v}, B)": NORMS, "kron({v}, [x; a])": NORMS,
    "kron({v}, A)": MATRICES, "{v}[:, ::-1]": MATRICES, "sum({v}, axis=1)": MATRICES, "norm2({v}, axis=0)": MATRICES,
}  # fmt: skip
POWERS = [
    "({f}).^2", "exp(({f}).^2)", "exp(({f}).^2 + 1)", "({f}).^3", "square({f})", "1./(1 + ({f}).^2)", "norm2({f})^2",
    "c*norm2({f})^2", "exp(norm2({f})^4)", "c/norm2({f})^2", "norm2({f})/(1 + norm2({f}).^2)", "(c*norm2({f})).^2*x",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.sampled(30)
def test_powers_of_blocks_read_back(form):
    faults = []
    for block, power in itertools.product(FORMS[form], POWERS):
        e = mc.expression(power.format(f=form.format(v=block)), LET)
        back = mc.expression(str(e), e.declarations)
        if back.node is not e.node:
            faults.append(f"{e} reads as {back}")
    assert not faults, "\n".join(faults)
