"""Index names are never captured by symbols, sizes, or index forms around or beside them."""

import pytest

from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text

LET = "A: matrix(n, n); x: vector(n); T: tensor(n, n, n); c: scalar"


@pytest.mark.parametrize(
    ("let", "shown"),
    [
        (LET, "{i,j: T[i,j,k]*x[k]}"),
        (f"{LET}; k: scalar", "{i,j: T[i,j,l]*x[l]}"),
        (f"{LET}; i: vector(l); j: vector(k)", "{p,q: T[p,q,r]*x[r]}"),
    ],
)
def test_names_in_scope_are_avoided(let, shown):
    read = elaborate(["{a,b: T[a,b,c1]*x[c1]}"], let)
    names = set(let.replace(",", " ").replace("(", " ").replace(")", " ").replace(":", " ").split())
    assert text(formula_of(read.nodes[0], names)) == shown
    assert elaborate([shown], let).nodes[0] is read.nodes[0]


@pytest.mark.parametrize(
    "written",
    [
        "{: T[i,j,i]*x[j]}*{i,j: T[i,k,j]*x[k]*x[j]}",
        "{i,j,p: {: T[q,r,q]*x[r]}*cos({: T[q,r,q]*A[q,r]})*A[i,j]*x[p]}",
        "{i,j,k,l: exp({: T[i1,j1,k1]*x[i1]*x[j1]*x[k1]})*A[i,j]*eye(n)[k,l]}",
        "{i,j,k: T[i,j,k]/(T[k,i,k]*x[i])}",
        "{i,j,k,p: ({a,b,d: T[a,d,b]*x[a] + T[b,a,d]})[i,j,k]*x[p]}",
    ],
)
def test_nested_index_forms(written):
    (node,) = elaborate([written], LET).nodes
    shown = text(formula_of(node))
    assert elaborate([shown], LET).nodes[0] is node, shown
