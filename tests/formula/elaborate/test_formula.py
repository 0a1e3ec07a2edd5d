"""Formulas of rules: built over existing symbols, definitions expanded, faults found before any number."""

import pytest

from matcalc.errors import MatcalcError, NotSupported, RuleError, ShapeError, UnknownName
from matcalc.formula.elaborate.check_rule import check_rule
from matcalc.formula.elaborate.linearity import degree, is_linear
from matcalc.formula.elaborate.rule_formula import RewriteSides, build_formula
from matcalc.formula.elaborate.texts import elaborate
from matcalc.language.declare import RULE_KINDS, read_declarations
from matcalc.rulebook.load import Rulebook, default_rulebook, load_text
from matcalc.rulebook.rule import Rewrite
from matcalc.tensor.constructors import matmul, power, scale
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.raw_nodes import parameter, symbol
from matcalc.tensor.sizes.size import Size

BOOK = default_rulebook()
n, m = Size.of("n"), Size.of("m")
X, E, F = (symbol(name, (n, n)) for name in "XEF")


def rule(text: str) -> Rulebook:
    """Return the rulebook with further entries."""
    return load_text(text, "own.toml", BOOK)


def faults(text: str) -> str:
    """Return the faults of the one rule in `text`."""
    book = rule(text)
    own = next(r for r in book.rules.values() if r.name not in BOOK.rules)
    with pytest.raises(RuleError) as caught:
        check_rule(own, book)
    return str(caught.value)


def test_every_rule_of_the_book_builds() -> None:
    for entry in BOOK.rules.values():
        check_rule(entry, BOOK)


def test_names_are_strict() -> None:
    with pytest.raises(UnknownName, match="unknown name 'Z'"):
        build_formula("X*Z", (), BOOK, {"X": X})


def test_where_lines_and_tangents() -> None:
    node = build_formula("P*E", ["P = X*X"], BOOK, {"X": X, "E": E})
    assert node is matmul(X, X, E)
    spread = build_formula("expm(X, E', E...)", (), BOOK, {"X": X, "E": F}, splices={"E": (E,)})
    assert spread is elaborate(["expm(X, F', E)"], "X: matrix(n, n); E: matrix(n, n); F: matrix(n, n)").nodes[0]


def test_functions_and_sizes_are_given() -> None:
    w = symbol("w", (n,))
    cube = power(parameter(), Size.of(3).constant)
    node = build_formula("k*f(w)", (), BOOK, {"w": w}, functions={"f": cube}, sizes={"k": Size.of(2)})
    assert node is scale(2, power(w, Size.of(3).constant))


def test_the_shape_is_demanded() -> None:
    zero: Node = build_formula("0", (), BOOK, {"X": X}, shape=(n, n))
    assert zero.is_zero and zero.shape == (n, n)
    with pytest.raises(ShapeError, match=r"X \(n x n\) must have the shape \(n, m\)"):
        build_formula("X", (), BOOK, {"X": X}, shape=(n, m))


def test_a_listed_index_takes_its_length_from_the_shape() -> None:
    assert build_formula("{i,j: [i == j]}", (), BOOK, {}, shape=(n, n)).out == (0, 0)


def test_own_definitions_expand_and_batch() -> None:
    book = rule('[spread]\nsignature = "spread(x: array(s)) -> scalar"\ndefinition = "max(x) - min(x)"')
    made = elaborate(["spread(X, axis=1)", "max(X, axis=1) - min(X, axis=1)"], "X: matrix(m, n)", book)
    assert made.nodes[0] is made.nodes[1]


def test_a_definition_that_calls_itself() -> None:
    book = rule('[loop]\nsignature = "loop(x: scalar) -> scalar"\ndefinition = "1 + loop(x)"')
    with pytest.raises(RuleError, match="own.toml:1: the definition of 'loop' calls itself"):
        elaborate(["loop(a)"], "a: scalar", book)


PLANTED = [
    ('signature = "q(X: matrix(n, n)) -> matrix(n, n)"\ndifferential = "-Y*dX*Z"', "unknown name 'Z'"),
    ('signature = "q(X: matrix(m, n)) -> matrix(n, m)"\ndifferential = "-Y*dX"',
     "must have the shape (n, m)"),
    ('signature = "q(X: matrix(m, n)) -> matrix(n, m)"\ndifferential = "Y*Y*dX"',
     "cannot multiply Y (n x m) by Y"),
    ('signature = "q(X: matrix(n, n)) -> matrix(n, n)"\ndifferential = "dX*dX"', "is not linear in dX"),
    ('signature = "q(X: matrix(n, n)) -> matrix(n, n)"\ndifferential = "dX + Y"', "is not linear in dX"),
    ('signature = "q(X: matrix(n, n)) -> matrix(n, n)"\ndifferential = "inv(dX)"', "is not linear in dX"),
    ('signature = "q(x: entry) -> entry"\nderivative = "[x; x]"', "must have the shape ()"),
    ('signature = "q(X: matrix(n, n)) -> vector(n)"\ndefinition = "X"', "must have the shape (n)"),
    ('signature = "q(A: scalar, C: scalar) -> scalar"\ndifferential = "dC"\nlinear = { C = "G*G" }',
     "linear C: 'G*G' is not linear in G"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "message"), PLANTED)
def test_planted_faults_are_found(entry: str, message: str) -> None:
    found = faults(f"[q]\n{entry}")
    assert found.startswith("own.toml:1: [q]") and message in found


def test_linear_slots_count() -> None:
    let = "A: matrix(n, n); B: matrix(n, n); X: matrix(n, n); E: matrix(n, n)"
    nodes = elaborate(["sylvester(A, B, X*E)", "sylvester(X, B, A)", "expm(A, X)", "X + A", "0*X"], let).nodes
    assert [degree(node, [X]) for node in nodes] == [1, None, 1, None, -1]
    assert is_linear(nodes[0], [X]) and not is_linear(nodes[3], [X])


def rewrite(text: str, let: str, condition: str | None = None) -> Rewrite:
    left, _, right = text.partition(" => ")
    return Rewrite(read_declarations(let, RULE_KINDS), left, right, condition, "own.toml:7")


def test_rewrites() -> None:
    one = rewrite("log(det(X)) => logdet(X)", "X: matrix(n, n)", "positive(det(X))")
    sides = RewriteSides(one, one.variables, BOOK)
    assert (sides.left.rule.name, sides.right.rule.name) == ("log", "logdet")
    assert [(fact, node.rule.name) for fact, node in sides.conditions] == [("positive", "det")]


@pytest.mark.parametrize(
    ("text", "let", "kind"),
    [
        ("X => X*x", "X: matrix(n, n)", RuleError),
        ("inv(X) => det(X)", "X: matrix(n, n)", RuleError),
        ("matfun(f, X) => X", "f: function; X: matrix(n, n)", NotSupported),
    ],
)
def test_rewrites_at_fault(text: str, let: str, kind: type[MatcalcError]) -> None:
    one = rewrite(text, let)
    with pytest.raises(kind):
        assert RewriteSides(one, one.variables, BOOK).right
