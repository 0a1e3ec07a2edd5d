"""Named parts: the last formula of a text, with the names of the others replaced by their formulas."""

import pytest

import matcalc as mc

MEANT = [
    ("K = A*A' + c*eye(n); y'*inv(K)*y + logdet(K)", "y'*inv(A*A' + c*eye(n))*y + logdet(A*A' + c*eye(n))"),
    ("K = A*A'\ny'*inv(K)*y", "y'*inv(A*A')*y"),
    ("K = A*A' +\n  B*B'\nL = K*K; y'*inv(L)*y\n + c", "y'*inv((A*A' + B*B')*(A*A' + B*B'))*y + c"),
    ("c + a'*a where K = A*A', a = K\\y", "c + (A*A'\\y)'*(A*A'\\y)"),
    ("s = where(y > 0, y, 0); sum(s.^2)", "sum(where(y > 0, y, 0).^2)"),
    ("K = A*B'; {i,j: K[i,j]*y[j]}", "{i,j: (A*B')[i,j]*y[j]}"),
    ("K = A[i,k]*B[j,k]; {i,j: K}", "{i,j: A[i,k]*B[j,k]}"),
    ("K = A*A'; {K,j: A[K,j]}", "{i,j: A[i,j]}"),
    ("s = {: A[i,j]*B[i,j]}; {i,j: s*A[i,j]}", "sum(A.*B)*A"),
    ("s = {: A[i,j]*B[i,j] + S[i,i]}; {i,j: s*A[i,j]}", "(sum(A.*B) + tr(S))*A"),
    ("s = sum{i: S[i,i]}; {i,j: s*A[i,j]}", "tr(S)*A"),
    ("s = {: A[i,k]*B[j,k]}; {i,j: s*S[i,j]}", "(A*B').*S"),
    ("F = Y*Y; root(F - S, Y, start=S)", "root(Y*Y - S, Y, start=S)"),
    ("a = sum(y); b = a*a; b + a", "sum(y)*sum(y) + sum(y)"),
]
LET = "A: matrix(n, m); B: matrix(n, m); c: scalar; y: vector(n); S: matrix(n, n) spd"


@pytest.mark.parametrize(("text", "meant"), MEANT, ids=[text for text, _ in MEANT])
def test_a_name_is_what_it_stands_for(text, meant):
    assert mc.expression(text, LET).node is mc.expression(meant, LET).node


def test_a_part_is_read_once():
    text = "; ".join(["y0 = A*x", *(f"y{k} = y{k - 1} + y{k - 1}.*y{k - 1}" for k in range(1, 60))])
    e = mc.expression(f"{text}; sum(y59)", "A: matrix(n, n); x: vector(n)")
    assert mc.expression(str(e), e.declarations).node is e.node
    assert len(str(e)) < 5000


@pytest.mark.parametrize("order", ["b = K*x, K = A*A', c = 2*b", "c = 2*b, b = K*x, K = A*A'"])
def test_a_part_may_be_named_after_its_use(order):
    let = "A: matrix(n, n); x: vector(n)"
    assert mc.expression(f"b'*c where {order}", let) == mc.expression("2*norm2(A*A'*x)^2", let)
    parts = "; ".join(order.split(", "))
    assert mc.expression(f"{parts}; b'*c", let) == mc.expression("2*norm2(A*A'*x)^2", let)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("K = A*B; K = A; K", "the part 'K' is named twice"),
        ("K = L; L = K*A; K", "the part 'L' uses itself, directly or through others"),
        ("K = A*B; L = B", "the last named part is not followed by a formula"),
        ("K = A; A*B; K", "a formula before the last has no name"),
        ("y = A*A'; y*y", "'y' is a symbol and the name of a part"),
        ("n = A*A'; n*y", "'n' is a size and the name of a part"),
    ],
)
def test_what_is_no_named_part_is_told(text, message):
    with pytest.raises(mc.MatcalcError) as fault:
        mc.expression(text, LET)
    assert message in str(fault.value)


def test_an_error_inside_a_part_shows_its_place():
    with pytest.raises(mc.ShapeError) as fault:
        mc.expression("K = A*A'; L = K*B'; tr(L)", LET)
    assert "K" in str(fault.value) and fault.value.at == "K = A*A'; L = K*B'; tr(L)".index("*B'")
