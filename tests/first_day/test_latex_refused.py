"""LaTeX with two readings, or with none: each is refused with words of the reason."""

import pytest

import matcalc as mc

REFUSED = [
    (r"\sum_{i=1}^n y_i x_i", "y: vector(n); x_i: scalar", "x_i is one scalar, and i is an index here"),
    (r"\sum_{i=1}^n (y_i - x_i^\top w)^2", "y: vector(n); x_i, w: vector(p)", "has no transpose"),
    (r"\sum_i y_i c_i, \quad c_i = a + 2", "y: vector(n); a: scalar", "c_i is one scalar"),
    (r"\sum_{x,y} p_{xy} \log \frac{p_{xy}}{p_x p_y}", "P: matrix(m, n)", "a row of P or a marginal"),
    (r"\sum_{x,y} p_{xy} \log p_x", "P: matrix(n, n)", "a row of P or a marginal"),
    (r"\sum_{(i,j) \in \Omega} R_{ij}^2", "R: matrix(m, n)", r"declare Omega: matrix\(m, n\).*i, j: index\(N\)"),
    (r"\sum_{i=1}^n \|X_i - A\|_F^2", "X: tensor(n, n, p); A: matrix(n, p)", "with a colon for each whole axis"),
    (r"\sum_{\langle i,j \rangle} (x_i - x_j)^2", "x: vector(n)", "1 for the pairs"),
    (r"\sum_{i \in \mathcal{C}} \|v_i\|^2", "V, C: matrix(n, k)", "give the set another letter"),
    (r"\sum_{i=1}^n x_{2i}", "x: vector(n)", "is outside axis 0"),
    (r"\sum_{x,t} q(t|x) \log q(t)", "q: matrix(k, m)", "1 index for q, which has 2 axes"),
    (r"x = x_1 + 1", "x: vector(n)", "is an equation"),
    (r"\sum_{i=1}^n x_i^\top x_1", "X: matrix(n, n)", "row or column i of X"),
    (r"\|x_1\|^2", "X: matrix(n, d)", "a symbol, or a row or column of X"),
    (r"\sum_i^n x_i", "x: vector(n)", "a last value without a first"),
]


@pytest.mark.parametrize(("latex", "let", "words"), REFUSED)
def test_refused(latex, let, words):
    with pytest.raises(mc.MatcalcError, match=f"(?s){words}"):
        mc.expression(latex, let, dialect="latex")
