"""Sums divided by a power of a number of entries: each printed form reads as the node, with or without a mean."""

import itertools

import pytest

import matcalc as mc

LET = "A: matrix(m, n); B: matrix(m, n); C: matrix(n, n); x: vector(n); z: vector(m); a: scalar"
BODIES = {
    "n": ["A*ones(n)", "C*ones(n)", "C'*ones(n)", "(A.*B)*ones(n)", "A*C*ones(n)", "A.^2*ones(n)", "z.*(A*ones(n))",
          "z'*A*ones(n)", "sum(x)", "sum(x.^2)", "a*sum(x)*z", "sum(C)", "diag(C*ones(n))", "ones(m)*(C*ones(n))'",
          "(A*ones(n))*(C*ones(n))'", "(A*ones(n)).*(B*ones(n))", "sum(x)*(A*ones(n))", "sum(exp(A), axis=1)"],
    "n - 1": ["A[:, 1:]*ones(n - 1)", "A[:, :-1]*x[1:]", "sum(x[1:])", "sum(x[1:])*(A[:, 1:]*ones(n - 1))",
              "(A[:, 1:].*B[:, 1:])*ones(n - 1)", "eye(n)[:, :-1]*ones(n - 1)", "C[1:, :]'*ones(n - 1)"],
    "2*n": ["[A, B]*ones(2*n)", "sum([x; x])*z", "repmat(A, 1, 2)*ones(2*n)"],
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", BODIES)
def test_any_power_of_the_number_of_entries(size):
    faults, tried = [], 0
    for body, below in itertools.product(BODIES[size], [(1,), (2,), (3,), (1, 1), (2, 1), ("1/2",), ("3/2",), (-1,)]):
        text = f"({body})" + "".join(f"/({size})^({power})" for power in below)
        e, tried = mc.expression(text, LET), tried + 1
        for other in (e, mc.expression(f"a*m*{text}/m^2", LET)):
            if mc.expression(str(other), other.declarations).node is not other.node:
                faults.append((text, str(other)))
    assert not faults
    assert tried == 8 * len(BODIES[size])
