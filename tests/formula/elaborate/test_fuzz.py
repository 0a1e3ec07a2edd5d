"""A slice of the fuzz of the language, and the faults that longer runs found."""

import pytest
from formula.elaborate.fuzz import DECLARED, Case, cases, outcome

import matcalc as mc


@pytest.mark.whole
@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.thinned(2)
def test_random_texts_read_back_or_end_in_an_error_of_ours(seed: int) -> None:
    for case in cases(seed, 75):
        outcome(case)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8, 48))
def test_many_random_texts(seed: int) -> None:
    for case in cases(seed, 1000):
        outcome(case)


FOUND = [
    "x/0", "0\\x",
    "c^2/0", "1./(x - x)", "1/0", "0^-1", "sqrt(0)^-1*c", "std(x, n)", "0/0", "(c - c)/(c - c)", "[1e400]",
    "[1e-400]", "1e400*c", "x.^1e400", "sum(x, axis=0)", "sum(x, axis=-1)",
    "sum(T, axis=0)", "cumsum(x, axis=0)", "var(x - 1)",
    "x - 1 - mean(x - 1)", "norm2(x - 1 - mean(x - 1))", "r*(q//2)", "-(q//2)*x", "min(q, r, 2)*x", "q//r//2 + c",
    "(q//2)*r*q//2", "powi(M, 3)", "x[n:]", "tr(eye(2*q - 1))^2*c", "{k: x[i]*z[j]*ones(4)[k]*[k == i + j]}",
    "eye(q//0)", "{i: x[j]*ones(n)[i]*[i == (j + 1) % 0]}", "sum{i: c}", "{i: {j: A[i,j]*exp(B[j,k])}[i]}",
    "E'*ones(0)", "[c; d]*x[:1]'", "[k; c*(n%2)]*u",
    "-[x; E[:, :0], 1e3]", "[x[:1]; A[:, :1]]", "min2(q + 1, m)", "minimum(q + 1, m)",
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", FOUND)
@pytest.mark.parametrize("dialect", ["matrix", "numpy"])
def test_what_was_found(text: str, dialect: str) -> None:
    outcome(Case(dialect, text, DECLARED))


DIVIDED = ["x/0", "0\\x", "c/0", "c^2/0", "exp(x/0)", "sum(x)/0", "c/(c - c)"]


@pytest.mark.parametrize("text", DIVIDED)
def test_a_division_by_zero_is_infinite_as_in_numpy(text: str) -> None:
    e = mc.expression(text, "c: scalar; x: vector(n)")
    data = {"x": [1.0, 2.0], "c": 2.0}
    for value in (
        e(**{k: data[k] for k in e.symbols}),
        mc.compile(e, target="numpy")(**{k: data[k] for k in e.symbols}),
    ):
        assert abs(value if not e.shape else value[0]) == float("inf")
    for name in e.symbols:
        assert str(e.vjp(name) if e.shape else e.gradient(name))


@pytest.mark.parametrize("text", ["0/0", "(c - c)/(c - c)", "c*(x - x)./(x - x)", "mean(z)"])
def test_zero_by_zero_is_refused(text: str) -> None:
    with pytest.raises(mc.NotSupported, match="0/0, which is not a number") as caught:
        mc.expression(text, "c: scalar; x: vector(n); z: vector(0)")
    assert caught.value.text == text


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("None", "gives None, which is no array of numbers"),
        ("'abc'", "gives 'abc', which is no array of numbers"),
        ("[None]", "gives [None], which is no array of numbers"),
        ("nothing", "raises NameError"),
        ("x.nothing", "raises AttributeError"),
        ("{}['a']", "raises KeyError"),
        (lambda x: None, "gives None, which is no array of numbers"),
        ("np.zeros((2, 3))", "the value has the shape (2, 3), not ()"),
    ],
)
def test_a_value_that_is_no_number(value: object, told: str) -> None:
    with pytest.raises(mc.RuleError) as caught:
        mc.define("valued(x: scalar) -> scalar", value=value, differential="dx")
    assert told in caught.value.message


@pytest.mark.parametrize(
    "text",
    ["x = " + "[" * 5000 + "]" * 5000, "x = " + "{a = " * 5000 + "1" + "}" * 5000, "[f]\ndegree = " + "9" * 5000],
)
def test_rule_files_of_great_depth_or_length(text: str) -> None:
    assert outcome(Case("rules", text)) == "RuleError"
