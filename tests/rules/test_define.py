"""User-defined operations work everywhere; wrong ones raise, and no rule is added in part."""

import threading

import numpy as np
import pytest

import matcalc as mc
from matcalc.rulebook import default_rulebook

CUBE = "X @ X @ X", "dX*X*X + X*dX*X + X*X*dX"
SQUARE_MATRIX = "(X: matrix(n, n)) -> matrix(n, n)"
LET = "A: matrix(n, n); X: matrix(n, n)"


@pytest.fixture(scope="module")
def cube():
    return mc.define(f"cube{SQUARE_MATRIX}", value=CUBE[0], differential=CUBE[1])


def draw(seed=0, shape=(4, 4)):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.whole
def test_an_own_operation_has_every_derivative(cube):
    assert str(mc.differential("cube(X)", "X")) == "X^2*dX + (X*dX + dX*X)*X"
    assert mc.check("cube(A*X)", "X", LET)
    assert mc.check("tr(cube(A*X))", ["X", "A"], LET)
    X, E, G = draw(1), draw(2), draw(3)
    pushed, pulled = mc.jvp("cube(X)", "X"), mc.vjp("cube(X)", "X")
    assert np.isclose(np.sum(G * pushed(X=X, dX=E)), np.sum(pulled(X=X, G=G) * E), rtol=1e-12)
    (W,) = mc.symbols("W: matrix(p, p)")
    assert str(cube(W)) == str(mc.cube(W)) == "cube(W)"


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.whole
def test_an_own_operation_compiles(cube, target, tmp_path):
    function = mc.value_and_gradient("tr(cube(A*X))", "X", LET, target=target)
    A, X = draw(4), draw(5)
    value, gradient = function(A, X)
    assert np.isclose(value, np.trace(np.linalg.matrix_power(A @ X, 3)))
    assert np.allclose(gradient, 3 * A.T @ np.linalg.matrix_power((A @ X).T, 2))
    function.save(tmp_path / "saved.py")
    assert "matcalc.compiler." not in (tmp_path / "saved.py").read_text()


def test_a_file_holds_no_function_whose_text_does_not_stand_alone(tmp_path):
    def scaled_by(k):
        def scaled(x):
            return k * x

        return scaled

    mc.define("own_scaled(x: entry) -> entry", value=scaled_by(3.0), derivative="3 + 0*x")
    function = mc.compile("sum(own_scaled(x))", declarations="x: vector(n)", target="numpy")
    assert function(np.ones(2)) == 6.0
    with pytest.raises(mc.NotSupported, match="own_scaled cannot be saved"):
        function.save(tmp_path / "saved.py")
    assert not (tmp_path / "saved.py").exists()


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.whole
def test_a_value_may_call_the_python_of_the_rulebook(target):
    """Functions that the value calls are above the program, without types."""
    mc.define(f"own_square_{target}{SQUARE_MATRIX}", value="finite_(X) @ X", differential="dX*X + X*dX")
    X = draw(9)
    function = mc.compile(f"own_square_{target}(X)*X", declarations=LET, target=target)
    assert np.allclose(function(X), X @ X @ X)
    assert "def finite_(X):" in function.source
    assert "NDArray" not in function.source


def plus_square(X):
    return X + X @ X


@pytest.mark.whole
def test_a_python_function_is_a_value():
    mc.define(f"plus_square{SQUARE_MATRIX}", plus_square, differential="dX + dX*X + X*dX")
    X = draw(6)
    for target in ("numpy", "numba"):
        assert np.allclose(mc.compile("2*plus_square(X)", declarations=LET, target=target)(X), 2 * plus_square(X))


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
def test_a_function_that_closes_over_numbers_is_a_value(target):
    factor = 3.0
    mc.define(f"tripled{SQUARE_MATRIX}", lambda X: factor * X, differential="3*dX")
    X = draw(7)
    function = mc.compile("tripled(X)*X", declarations=LET, target=target)
    assert np.allclose(function(X), 3 * X @ X)


@pytest.mark.whole
def test_a_numba_function_is_a_value():
    from numba import njit

    @njit
    def signed(X):
        Y = np.empty_like(X)
        for i in range(X.shape[0]):
            for j in range(X.shape[1]):
                Y[i, j] = X[i, j] * abs(X[i, j])
        return Y

    mc.define("signed_square(X: matrix(m, n)) -> matrix(m, n)", signed, differential="2*abs(X).*dX")
    X = draw(8)
    value, gradient = mc.value_and_gradient("sum(signed_square(X))", "X", "X: matrix(m, n)")(X)
    assert np.isclose(value, np.sum(X * np.abs(X)))
    assert np.allclose(gradient, 2 * np.abs(X))


@pytest.mark.whole
def test_maps_definitions_and_several_results():
    mc.define("bump(x: entry) -> entry", "np.exp(-x**2)", derivative="-2*x.*bump(x)")
    mc.define("tempered(x: entry) -> entry", "x*sp.erfc(-x/np.sqrt(2))/2", definition="x.*erfc(-x/sqrt(2))/2")
    symmetric, skew = mc.define(
        "halves(X: matrix(n, n)) -> S: matrix(n, n) symmetric, K: matrix(n, n) skew",
        "((X + X.T)/2, (X - X.T)/2)",
        differential={"S": "sym(dX)", "K": "skew(dX)"},
    )
    X = draw(9)
    for text in ("sum(bump(X).*tempered(X))", "tr(halves_S(X)*halves_K(X)*X)"):
        assert mc.check(text, "X", LET)
        for target in ("numpy", "numba"):
            f = mc.value_and_gradient(text, "X", LET, target=target)
            assert np.isclose(f(X)[0], mc.expression(text, LET)(X))
    (W,) = mc.symbols("W: matrix(p, p)")
    assert "symmetric" in symmetric(W).facts and "skew" in skew(W).facts


def test_data_for_a_narrow_domain():
    signature, derivative = "narrow(x: entry) -> entry", "1 ./ (x - 100)"
    fields = {"value": "np.log(x - 100)", "derivative": derivative}
    with pytest.raises(mc.RuleError, match="finite at no random point"):
        mc.define(signature, **fields)
    mc.define(signature, at={"x": lambda rng, shape: rng.uniform(101, 102, shape)}, **fields)


WRONG = [
    ({"differential": "dX*X*X + X*dX*X + X*dX*X"}, "the derivative in X"),
    ({"differential": "dX*X*X + X*dX*X"}, "the derivative in X"),
    ({"differential": "X.*X"}, "dX does not occur"),
    ({"differential": "dX*ones(n)"}, "must have the shape"),
    ({"differential": "dX*dX"}, "linear"),
    ({"differential": "dX*Z"}, "unknown name 'Z'"),
    ({"value": "np.trace(X)"}, "wrong shape"),
    ({"value": "X @ ("}, "value does not parse"),
    ({"value": None}, "has no value"),
    ({"facts": ["=> symmetric(Y)"]}, "symmetric"),
    ({"degree": 2}, "degree"),
    ({"parity": "even"}, "parity"),
    ({"interval": "[0, 1]"}, "interval"),
    ({"rewrites": ["wrong(X) => X"]}, "sides differ"),
    ({"differantial": "dX"}, "did you mean differential"),
]


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_rule_is_refused(change, message):
    before = default_rulebook()
    fields = {"value": CUBE[0], "differential": CUBE[1], **change}
    with pytest.raises(mc.RuleError, match=message) as caught:
        mc.define(f"wrong{SQUARE_MATRIX}", **fields)
    assert "test_define.py:" in str(caught.value) and "wrong" in str(caught.value)
    assert default_rulebook() is before
    with pytest.raises(mc.UnknownName):
        mc.expression("wrong(X)", LET)


def test_an_adjoint_that_is_wrong_is_refused():
    with pytest.raises(mc.RuleError, match="adjoint in C"):
        mc.define(
            "scaled(A: matrix(n, n), C: matrix(n, n)) -> matrix(n, n)",
            value="A @ C",
            differential="dA*C",
            linear={"C": "A*G"},
        )


def test_a_name_that_is_taken():
    with pytest.raises(mc.RuleError, match=r"already defined at rules/linalg.toml"):
        mc.define(f"inv{SQUARE_MATRIX}", value="X", differential="dX")


FAULTY = """
[fine]
signature = "fine(X: matrix(n, n)) -> matrix(n, n)"
value = "X @ X"
differential = "dX*X + X*dX"

[wrong_sign]
signature = "wrong_sign(X: matrix(n, n)) -> matrix(n, n)"
value = "X @ X"
differential = "dX*X - X*dX"

[wrong_shape]
signature = "wrong_shape(X: matrix(m, n)) -> matrix(n, m)"
value = "X.T"
differential = "dX"

[unknown]
signature = "unknown(x: entry) -> entry"
value = "np.sin(x)"
derivative = "cosine(x)"

[misspelt]
signature = "misspelt(x: vector(n)) -> scalar"
value = "x @ x"
differential = "2*x'*dx"
degre = 2

[[rewrite]]
let  = "x: array(s)"
rule = "sin(x).^2 => 1 - cos(x)"
"""


@pytest.mark.whole
def test_a_file_with_five_faults(tmp_path):
    """All faults are reported, with file and line, and no entry of the file is in force."""
    path = tmp_path / "faulty.toml"
    path.write_text(FAULTY)
    before = default_rulebook()
    with pytest.raises(mc.RuleError) as caught:
        mc.load_rules(path)
    told = str(caught.value)
    expected = {10: "wrong_sign", 15: "wrong_shape", 20: "unknown", 26: "misspelt", 28: "sides differ"}
    for line, words in expected.items():
        assert any(f"faulty.toml:{n}:" in t and words in t for t in told.splitlines() for n in (line, line - 1)), told
    assert "fine" not in told
    assert default_rulebook() is before
    assert "fine" not in default_rulebook()


@pytest.mark.whole
def test_a_file_without_faults(tmp_path):
    path = tmp_path / "fine.toml"
    fine = FAULTY.partition("[wrong_sign]")[0]
    path.write_text(f'{fine}\n[[rewrite]]\nlet  = "X: matrix(n, n)"\nrule = "tr(fine(X)) => sum(X.*X\')"\n')
    assert mc.load_rules(path) == ("fine",)
    again = mc.load_rules(path)
    assert again == ("fine",) and again.report
    assert str(mc.gradient("tr(fine(X))", "X")) == "2*X'"
    with pytest.raises(mc.RuleError, match="cannot be read"):
        mc.load_rules(tmp_path / "missing.toml")


def test_threads_define_side_by_side():
    """Each definition is in force afterwards, and no thread sees another's trial."""
    failed = []

    def work(k):
        try:
            mc.define(f"side{k}(x: vector(n)) -> vector(n)", f"{k}.0*x", differential=f"{k}*dx")
            found = mc.gradient(f"sum(side{k}(x))", "x", "x: vector(n)")
            assert found.node is mc.expression(f"{k}*ones(n)", "x: vector(n)").node
        except Exception as error:  # noqa: BLE001 - reported by the thread that asserts
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert all(f"side{k}" in default_rulebook() for k in range(1, 5))


def test_a_wrong_edge_is_refused():
    edge = [{"at": {"X": "[1, 2; 2, 4]"}, "value": "eye(2)"}]
    with pytest.raises(mc.RuleError, match=r"the value is off by .* at X = \[1, 2; 2, 4\]"):
        mc.define(f"edged{SQUARE_MATRIX}", value="X @ X", differential="dX*X + X*dX", edge=edge)


@pytest.mark.whole
def test_a_rule_that_ends_at_one_is_tried_inside():
    """(I - X)^-1 (I + X) is undefined where 1 is an eigenvalue: no test draws such a matrix."""
    made = mc.define(
        "cayley_of(X: matrix(n, n)) -> matrix(n, n)",
        value="np.linalg.solve(np.eye(X.shape[0]) - X, np.eye(X.shape[0]) + X)",
        differential="inv(eye(n) - X)*dX*(eye(n) + Y)",
        domain="nonsingular(eye(n) - X)",
        inside={"X": "X/(2 + 2*norm2(X))"},
    )
    assert made.report


def gram(X):
    return X @ X.T


MATRIX = "(X: matrix(n, n)) -> matrix(n, n)"
FALSE_FACTS = [
    (MATRIX, "X - 0.5*np.eye(len(X))", "dX", "spd(X) => spd(Y)"),
    (MATRIX, "X - 1e-5*np.eye(len(X))", "dX", "spd(X) => spd(Y)"),
    (MATRIX, "X + 3*np.eye(len(X))", "dX", "nonsingular(X) => nonsingular(Y)"),
    (MATRIX, "X + np.eye(len(X))", "dX", "orthogonal(X) => nonsingular(Y)"),
    (MATRIX, "100*np.eye(len(X)) - X", "-dX", "symmetric(X) => spd(Y)"),
    (MATRIX, "X", "dX", "psd(X) => spd(Y)"),
    (MATRIX, gram, "dX*X' + X*dX'", "=> spd(Y)"),
    ("(X: matrix(m, n)) -> matrix(m, m)", "X @ X.T", "dX*X' + X*dX'", "=> spd(Y)"),
    ("(X: matrix(m, n)) -> matrix(m, m) spd", "X @ X.T", "dX*X' + X*dX'", None),
    ("(x: entry) -> entry", "x**2", "2*x", "=> positive(Y)"),
    ("(x: entry) -> entry", "x**3", "3*x.^2", "integer(x) => nonnegative(Y)"),
    ("(x: entry) -> entry", "x - 0.01", "1 + 0*x", "positive(x) => positive(Y)"),
    ("(x: entry) -> entry", "1000 - x", "-1 + 0*x", "nonnegative(x) => nonnegative(Y)"),
]
TRUE_FACTS = [
    (MATRIX, "np.linalg.inv(X)", "-inv(X)*dX*inv(X)", ["spd(X) => spd(Y)", "orthogonal(X) => orthogonal(Y)"]),
    (MATRIX, "X @ X.T", "dX*X' + X*dX'", ["nonsingular(X) => spd(Y)", "=> psd(Y)"]),
    (MATRIX, gram, "dX*X' + X*dX'", ["=> psd(Y)"]),
    ("(x: entry) -> entry", "np.exp(x)", "exp(x)", ["=> positive(Y)"]),
]


@pytest.mark.parametrize("k", range(len(FALSE_FACTS)))
@pytest.mark.sampled(16)
def test_a_fact_is_tried_at_the_ends_of_the_arguments(k):
    signature, value, derivative, fact = FALSE_FACTS[k]
    field = "derivative" if "entry" in signature else "differential"
    more = {"facts": [fact]} if fact else {}
    with pytest.raises(mc.RuleError, match="the fact"):
        mc.define(f"own_false_{k}{signature}", value=value, **{field: derivative}, **more)


@pytest.mark.whole
@pytest.mark.parametrize("k", range(len(TRUE_FACTS)))
@pytest.mark.sampled(2)
def test_a_true_fact_is_accepted(k):
    signature, value, derivative, facts = TRUE_FACTS[k]
    field = "derivative" if "entry" in signature else "differential"
    more = {"domain": "nonsingular(X)"} if "inv" in str(value) else {}
    assert mc.define(f"own_true_{k}{signature}", value=value, **{field: derivative}, facts=facts, **more).report
