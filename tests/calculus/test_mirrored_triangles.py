"""Results whose operands are transposed, merged across a transpose, or powers of powers print their shorter form."""

import numpy as np
import pytest

import matcalc as mc

LET = "A: matrix(4, 4); B: matrix(4, 4); x: vector(n); c: scalar nonnegative"
SHORTER = [
    ("B'*(triu(A'*B) + tril(B'*A, -1))*B", "B'*(triu(A'*B, 1) + tril(B'*A))*B"),
    (
        "{i < 4: tril(A, -1)[j,k]*[j == i + k] + triu(B, 1)[k,j]*[j == i + k]}",
        "{i < 4: triu(A' + B, 1)[j,k]*[k == i + j]}",
    ),
    ("sqrt(1/c)*sqrt(abs(x))", "sqrt(abs(x))/sqrt(c)"),
    ("(1/norm2(x))^2.5", "1/norm2(x)^2.5"),
]


@pytest.mark.parametrize(("text", "shown"), SHORTER)
def test_equal_forms_print_the_shorter_one(text, shown):
    assert str(mc.expression(text, LET).simplify()) == shown


@pytest.mark.parametrize("text", [text for text, _ in SHORTER])
def test_shorter_forms_have_the_value_as_written(text):
    rng = np.random.default_rng(0)
    A, B, x, c = rng.standard_normal((4, 4)), rng.standard_normal((4, 4)), rng.standard_normal(5), 0.7
    by_hand = {
        0: lambda: B.T @ (np.triu(A.T @ B) + np.tril(B.T @ A, -1)) @ B,
        1: lambda: [sum(A[j, j - i] + B[j - i, j] for j in range(i, 4)) if i else 0.0 for i in range(4)],
        2: lambda: np.sqrt(np.abs(x)) / np.sqrt(c),
        3: lambda: np.sqrt(x @ x) ** -2.5,
    }[[text for text, _ in SHORTER].index(text)]()
    e = mc.expression(text, LET).simplify()
    data = {"A": A, "B": B, "x": x, "c": c}
    assert np.allclose(e(**{str(s): data[str(s)] for s in e.symbols if str(s) in data}), by_hand, rtol=1e-12)


@pytest.mark.parametrize(
    "text", ["triu(A) + tril(B', -1)", "triu(A') + tril(A, -2)", "triu(A', 1) + tril(A, -1)/2", "(1/x[0])^2.5"]
)
def test_forms_that_differ_stay(text):
    rng = np.random.default_rng(1)
    data = {"A": rng.standard_normal((4, 4)), "B": rng.standard_normal((4, 4)), "x": np.array([0.3, -1.0])}
    e = mc.expression(f"B*({text})*A" if "A" in text else text, LET).simplify()
    names = {"A": data["A"], "B": data["B"], "x": data["x"]}
    A, B, x = names.values()
    expected = {
        "triu(A) + tril(B', -1)": lambda: B @ (np.triu(A) + np.tril(B.T, -1)) @ A,
        "triu(A') + tril(A, -2)": lambda: B @ (np.triu(A.T) + np.tril(A, -2)) @ A,
        "triu(A', 1) + tril(A, -1)/2": lambda: B @ (np.triu(A.T, 1) + np.tril(A, -1) / 2) @ A,
        "(1/x[0])^2.5": lambda: (1 / x[0]) ** 2.5,
    }[text]()
    assert np.allclose(e(**{str(s): names[str(s)] for s in e.symbols if str(s) in names}), expected, rtol=1e-12)
