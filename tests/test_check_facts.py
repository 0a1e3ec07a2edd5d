"""`check_facts=True`: each declared fact is checked on the data, and the error names the entry that violates it."""

import runpy

import numpy as np
import pytest

import matcalc as mc
from matcalc.api.export import exported
from matcalc.calculus.evaluate.check_data import check_declared
from matcalc.evidence.numeric.sampling import sample, whole
from matcalc.language.declare import FACTS

S = np.array([[4.0, 0.5, 1.5], [0.5, 5.0, 0.0], [1.25, 0.0, 6.0]])
TESTED = sorted(set(FACTS) - {"constant", "sparse"})
BROKEN = [
    ("symmetric", S, mc.ShapeError, "S is declared symmetric, but S[0, 2] = 1.5 and S[2, 0] = 1.25"),
    ("skew", S - S.T, None, None),
    ("skew", S, mc.ShapeError, "S is declared skew, but S[2, 2] = 6.0 and S[2, 2] = 6.0"),
    ("lower", S, mc.ShapeError, "S is declared lower, but S[0, 2] = 1.5"),
    ("upper", S, mc.ShapeError, "S is declared upper, but S[2, 0] = 1.25"),
    ("diagonal", S, mc.ShapeError, "S is declared diagonal, but S[0, 2] = 1.5"),
    ("orthogonal", np.diag([1.0, 2.0, 1.0]), mc.ShapeError, "S is declared orthogonal, but (S'*S)[1, 1] = 4.0"),
    ("spd", S, mc.ShapeError, "S is declared spd, so symmetric, but S[0, 2] = 1.5 and S[2, 0] = 1.25"),
    ("spd", np.diag([1.0, -2.0, 1.0]), np.linalg.LinAlgError, "S is declared spd, but eigh_w(S)[0] = -2.0"),
    ("spd", np.diag([1.0, 0.0, 1.0]), np.linalg.LinAlgError, "S is declared spd, but eigh_w(S)[0] = 0.0"),
    ("spd", np.diag([1.0, 1e-17, 1.0]), np.linalg.LinAlgError, "which is 0 within rounding"),
    ("spd", np.diag([1.0, np.inf, 1.0]), np.linalg.LinAlgError, "S is declared spd, but S[1, 1] = inf"),
    ("psd", np.diag([1.0, -2.0, 1.0]), np.linalg.LinAlgError, "S is declared psd, but eigh_w(S)[0] = -2.0"),
    ("psd", np.diag([1.0, 0.0, 1.0]), None, None),
    ("nonsingular", np.diag([1.0, 0.0, 2.0]), np.linalg.LinAlgError, "nonsingular, but svd_s(S)[2] = 0.0"),
    ("positive", np.array([1.0, 0.0]), mc.ShapeError, "S is declared positive, but S[1] = 0.0"),
    ("positive", np.array([1.0, np.nan]), mc.ShapeError, "S is declared positive, but S[1] = nan"),
    ("nonnegative", np.array(-1.0), mc.ShapeError, "S is declared nonnegative, but S = -1.0"),
    ("nonnegative", np.array([0.0, 1.0]), None, None),
    ("integer", np.array([1.0, 2.5]), mc.ShapeError, "S is declared integer, but S[1] = 2.5"),
    ("symmetric", np.array([[1.0, np.inf], [np.inf, 1.0]]), None, None),
    ("symmetric", np.array([[1.0, np.inf], [-np.inf, 1.0]]), mc.ShapeError, "S[0, 1] = inf and S[1, 0] = -inf"),
    ("symmetric", np.array([[1.0, np.nan], [0.0, 1.0]]), mc.ShapeError, "S[0, 1] = nan and S[1, 0] = 0.0"),
]  # fmt: skip


@pytest.mark.parametrize(("fact", "data", "error", "message"), BROKEN)
def test_the_entry_is_named(fact, data, error, message):
    if message is None:
        check_declared([("S", [fact], data)])
        return
    with pytest.raises(error) as caught:
        check_declared([("S", [fact], data)])
    assert message in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fact", TESTED)
@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_data_of_the_book_have_their_facts_at_any_scale(fact, scale):
    rng = np.random.default_rng(3)
    scaled = 1.0 if fact in ("orthogonal", "integer") else scale
    for n in (0, 1, 2, 5, 12):
        check_declared([("X", [fact], scaled * sample(rng, (n, n), [fact]))])
        check_declared([("X", [fact], whole(rng.integers(-3, 4, (n, n)).astype(float), [fact]))])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("facts", [*TESTED, "spd diagonal", "psd nonsingular", "lower nonsingular"])
def test_a_saved_file_draws_data_that_have_the_facts(facts, tmp_path):
    place = tmp_path / "saved.py"
    place.write_text(exported("sum(X)", "X", ("value",), f"X: matrix(n, n) {facts}"))
    saved = runpy.run_path(str(place))
    drawn = [saved["sample"](np.random.default_rng(seed)) for seed in range(3)]
    tested = [data for data, _ in saved["CASES"]]
    assert len(tested) == 2
    for data in (*drawn, *tested):
        check_declared([("X", facts.split(), data["X"])])


CORNER = np.zeros((3, 3))
CORNER[0, 2] = 1e-6
SLIGHTLY_OFF = {
    "symmetric": np.eye(3) + CORNER,
    "skew": CORNER,
    "lower": np.eye(3) + CORNER,
    "upper": np.eye(3) + CORNER.T,
    "diagonal": np.eye(3) + CORNER,
    "orthogonal": np.eye(3) + CORNER,
    "spd": np.diag([1.0, 1.0, -1e-6]),
    "psd": np.diag([1.0, 1.0, -1e-6]),
    "nonsingular": np.diag([1.0, 1.0, 1e-17]),
    "nonnegative": np.eye(3) - CORNER,
    "positive": np.eye(3) + CORNER,
    "integer": np.eye(3) + CORNER,
}


@pytest.mark.parametrize("fact", TESTED)
@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_one_entry_off_is_noticed_at_any_scale(fact, scale):
    scale = 1.0 if fact == "integer" else scale
    with pytest.raises((mc.ShapeError, np.linalg.LinAlgError), match=f"X is declared {fact},"):
        check_declared([("X", [fact], scale * SLIGHTLY_OFF[fact])])


def test_expressions_check_on_request():
    e = mc.expression("x'*S*x", "S: matrix(n, n) symmetric; x: vector(n)")
    x = np.ones(3)
    assert e(S, x) == x @ S @ x
    with pytest.raises(mc.ShapeError, match="S is declared symmetric"):
        e(S, x, check_facts=True)
    with pytest.raises(mc.ShapeError, match="S is declared symmetric"):
        e(x=x, S=S.tolist(), check_facts=True)
    assert e(S + S.T, x, check_facts=True) == 2 * e(S, x)


@pytest.mark.parametrize("target", ["numpy"])
def test_compiled_functions_check_on_request_or_always(target):
    declarations = "S: matrix(n, n) symmetric; x: vector(n)"
    x = np.ones(3)
    f = mc.value_and_gradient("x'*S*x", "x", declarations, target=target)
    assert f(S, x)[0] == x @ S @ x
    with pytest.raises(mc.ShapeError, match=r"S\[0, 2\] = 1.5 and S\[2, 0\] = 1.25"):
        f(S, x, check_facts=True)
    always = mc.compile("x'*S*x", declarations=declarations, target=target, check_facts=True)
    with pytest.raises(mc.ShapeError, match="S is declared symmetric"):
        always(S, x)
    assert always(S + S.T, x) == 2 * (x @ S @ x)
    assert always(S, x, check_facts=False) == x @ S @ x
    two = mc.pullback("S*x", "x", declarations, target=target)
    with pytest.raises(mc.ShapeError, match="S is declared symmetric"):
        two.forward(S, x, check_facts=True)


def test_tangents_are_projected_not_checked():
    """A tangent need not be symmetric to the last bit, nor positive definite where its base is."""
    e = mc.expression("logdet(S)", "S: matrix(n, n) spd").jvp("S")
    base = S + S.T
    assert e(S=base, dS=-S, check_facts=True) == pytest.approx(-np.sum(np.linalg.inv(base) * S))


def test_the_start_and_the_data_of_a_solver():
    formula, declared = "norm2(A*x - b)^2 + x'*S*x", "S: matrix(n, n) symmetric"
    data = {"A": np.eye(3), "b": np.ones(3)}
    with pytest.raises(mc.ShapeError, match="S is declared symmetric"):
        mc.minimize(formula, "x", {"x": np.zeros(3)}, {**data, "S": S}, declarations=declared, target="numpy",
                    check_facts=True)  # fmt: skip
