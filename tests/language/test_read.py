"""Reading: the precedence table, every form of the language, positions, and texts meant to break the parser."""

from fractions import Fraction

import pytest

from matcalc.errors import ParseError
from matcalc.language.read import read, read_argument
from matcalc.language.syntax import call_keywords, operator_position, walk

# Each text with its full parentheses: both must give the same tree.
PRECEDENCE = [
    ("a + b*c", "a + (b*c)"),
    ("a - b + c", "a - b + c"),
    ("a*b.*c", "a*b.*c"),
    ("-x^2", "-(x^2)"),
    ("-x.^2", "-(x.^2)"),
    ("-A'", "-(A')"),
    ("-a*b", "(-a)*b"),
    ("2.*-x", "2 .* (-x)"),
    ("a*-b'", "a*(-(b'))"),
    ("a - -b", "a - (-b)"),
    ("--x", "-(-x)"),
    ("+x", "x"),
    ("a^-b", "a^(-b)"),
    ("a^+b", "a^b"),
    ("2^x[0]", "2^(x[0])"),
    ("x.^2'", "(x.^2)'"),
    ("x'.^2", "(x').^2"),
    ("A'^-1", "(A')^(-1)"),
    ("A^-1'", "(A^(-1))'"),
    ("A''", "(A')'"),
    ("A*B'", "A*(B')"),
    ("f(x)'", "(f(x))'"),
    ("A[0, :]'", "(A[0, :])'"),
    ("x.^2'[0]", "((x.^2)')[0]"),
    ("A'[:, -1]'", "((A')[:, -1])'"),
    ("(A*B)'", "(A*B)'"),
    ("a^b*c", "(a^b)*c"),
    ("1 - x.^2./2", "1 - ((x.^2)./2)"),
    ("f(x) - 1 > 0", "(f(x) - 1) > 0"),
]


@pytest.mark.parametrize(("text", "full"), PRECEDENCE)
def test_precedence(text, full):
    short, long = (shown(t) for t in (text, full))
    assert short == long


def shown(text):
    return repr(read_argument(text))


FORMS = [
    ("X", "(name X)"),
    ("2*X", "(product ('*',) (number 2) (name X))"),
    ("a + b - c", "(sum (1, 1, -1) (name a) (name b) (name c))"),
    ("-a + b", "(sum (1, 1) (negative (name a)) (name b))"),
    ("a + (b + c)", "(sum (1, 1) (name a) (sum (1, 1) (name b) (name c)))"),
    (
        "A*B@C.*D./E/F\\G",
        "(product ('*', '@', '.*', './', '/', '\\\\') (name A) (name B) (name C) (name D) (name E) (name F) (name G))",
    ),
    ("A∘B⊙C", "(product ('.*', '.*') (name A) (name B) (name C))"),
    (
        "n*(n + 1)//2 % 3",
        "(product ('*', '//', '%') (name n) (sum (1, 1) (name n) (number 1)) (number 2) (number 3))",
    ),
    ("x ** 2", "(power ^ (name x) (number 2))"),
    ("2.**x", "(power .^ (number 2) (name x))"),
    ("x .^ p", "(power .^ (name x) (name p))"),
    ("A^-T", "(power ^ (name A) (negative (name T)))"),
    ("A^.5", "(power ^ (name A) (number 1/2))"),
    ("x.^.5", "(power .^ (name x) (number 1/2))"),
    ("A'", "(transpose (name A))"),
    ("A.T", "(transpose (name A))"),
    ("Aᵀ", "(transpose (name A))"),
    ("A.'", "(transpose (name A))"),
    ("A^T", "(transpose ^T (name A))"),
    ("A**T", "(transpose ^T (name A))"),
    ("A^T2", "(power ^ (name A) (name T2))"),
    ("A^(T)", "(power ^ (name A) (name T))"),
    ("A.^T", "(power .^ (name A) (name T))"),
    ("A.Tx", None),
    ("f()", "(call f)"),
    ("f (a, b)", "(call f (name a) (name b))"),
    ("sum(X, axis=1)", "(call sum (name X) (number 1))"),
    ("where(x > 0, a, b)", "(call where (compare > (name x) (number 0)) (name a) (name b))"),
    ("where(x ≠ y, a, b)", "(call where (compare != (name x) (name y)) (name a) (name b))"),
    (
        "matfun(x -> log(x)^2, S)",
        "(call matfun (function x (power ^ (call log (name x)) (number 2))) (name S))",
    ),
    ("expm(X, E'...)", "(call expm (name X) (spread (transpose (name E))))"),
    ("A[1:3, 0]", "(part (name A) (slice (number 1) (number 3) (empty)) (number 0))"),
    ("x[-1]", "(part (name x) (negative (number 1)))"),
    (
        "A[::-1, :]",
        "(part (name A) (slice (empty) (empty) (negative (number 1))) (slice (empty) (empty) (empty)))",
    ),
    ("x[n-1:]", "(part (name x) (slice (sum (1, -1) (name n) (number 1)) (empty) (empty)))"),
    ("x[0][1]", "(part (part (name x) (number 0)) (number 1))"),
    ("[A, B; C, D]", "(block (row (name A) (name B)) (row (name C) (name D)))"),
    ("[1;\n 2]", "(block (row (number 1)) (row (number 2)))"),
    ("[a -b]", "(block (row (sum (1, -1) (name a) (name b))))"),
    ("{i,j: A[i,j]}", "(index_form ('i', 'j') (part (name A) (name i) (name j)))"),
    ("sum{i,j: A[i,j]}", "(index_sum ('i', 'j') (part (name A) (name i) (name j)))"),
    ("{: x[i]}", "(index_form () (part (name x) (name i)))"),
    (
        "{k: x[i]*[k == i + 1]}",
        "(index_form ('k',) (product ('*',) (part (name x) (name i)) "
        "(condition == (name k) (sum (1, 1) (name i) (number 1)))))",
    ),
    ("{k: [k ≥ i]}", "(index_form ('k',) (condition >= (name k) (name i)))"),
    ("λ*lambda*β_1", "(product ('*', '*') (name λ) (name lambda) (name β_1))"),
    ("if + for", "(sum (1, 1) (name if) (name for))"),
    ("a − b · c", "(sum (1, -1) (name a) (product ('*',) (name b) (name c)))"),
    ("x̂'", "(transpose (name x̂))"),
    ("a\n + b\t", "(sum (1, 1) (name a) (name b))"),
]


@pytest.mark.parametrize(("text", "tree"), FORMS)
def test_form(text, tree):
    if tree is None:
        with pytest.raises(ParseError):
            read(text)
    else:
        assert repr(read(text)) == tree


NUMBERS = [
    ("0", 0),
    ("1.5", Fraction(3, 2)),
    ("1e-3", Fraction(1, 1000)),
    ("1.e2", 100),
    (".25", Fraction(1, 4)),
    ("2.", 2),
    ("1E+2", 100),
    ("0.1", Fraction(1, 10)),
    ("007", 7),
    ("1e300", 10**300),
]


@pytest.mark.parametrize(("text", "value"), NUMBERS)
def test_number_is_exact(text, value):
    assert read(text).value == value


@pytest.mark.parametrize("text", ["1./x", "1 ./ x"])
def test_dot_after_digits_belongs_to_the_operator(text):
    assert read(text).value == ("./",)
    assert read("1.*x").value == (".*",)
    assert read("2.^x").value == ".^"
    assert read("1.5*x").value == ("*",)


def test_keywords_are_kept_by_name():
    (pair,) = call_keywords(read("var(x, ddof=1)"))
    assert (pair[0], pair[1].value) == ("ddof", 1)


def test_names_are_compared_as_python_compares_them():
    assert read("\u00b5").value == read("\u03bc").value == "\u03bc"


def test_spans_and_carets():
    text = "A*(B + C) - f(x)'"
    root = read(text)
    pieces = [text[slice(*node.span)] for node in walk(root)]
    assert pieces == ["A", "B", "C", "(B + C)", "A*(B + C)", "x", "f(x)", "f(x)'", text]
    assert root.caret == text.index("-")
    assert operator_position(root.args[0], text, 0) == 1


def test_relation():
    assert repr(read_argument("x > -1")) == "(compare > (name x) (negative (number 1)))"
    assert repr(read_argument("nonsingular(X)")) == "(call nonsingular (name X))"


N = 100_000
K = 10_000

DEEP = [
    "(" * N + "x" + ")" * N,
    " + ".join(["x"] * N),
    "*".join(["x"] * K),
    "-" * K + "x",
    "x" + "'" * K,
    "f(" * K + "x" + ")" * K,
    "x" + "[0]" * K,
    "[" * K + "x" + "]" * K,
    "x^(" * K + "x" + ")" * K,
    "f(" + ", ".join(["x"] * K) + ")",
    "[" + "; ".join(["1"] * K) + "]",
]


@pytest.mark.parametrize("text", DEEP, ids=lambda text: text[:8])
@pytest.mark.whole
def test_depth_and_length_are_not_limited(text):
    assert sum(1 for _ in walk(read(text))) >= 1


BROKEN = ["(" * N, ")" * N, "x" + "'" * K + "y", "(" * K + "x", "x " * K, "[" * K + "]" * K, "1e" + "9" * N]


@pytest.mark.whole
@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:8])
def test_long_broken_text_is_an_ordinary_error(text):
    with pytest.raises(ParseError) as caught:
        read(text)
    assert len(str(caught.value)) < 500


HOSTILE = [
    "__import__('os').system('true')",
    "open('x')",
    "x\0y",
    "\ud800",
    "a;b",
    'eval("1")',
    "lambda: 0",
    "x if y else z",
    "f'{x}'",
    "{}",
    "{:}",
    "[]",
    "()",
    "`x`",
    "x!",
    "x$y",
    "#",
    "a//",
    "\\",
    "...",
    "x...",
    "\u202e",
    "1__0",
    "\u0661",
    "½x",
    "x\u2070\u00b2\u207b",
    "ａ b",
    "=" * 50,
    "->",
    "[[[",
    "(,)",
    "f(,)",
    "f(=1)",
    "{i,,j: x}",
    "{i: }",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_a_parse_error(text):
    with pytest.raises(ParseError) as caught:
        read(text)
    assert 0 <= caught.value.at <= len(text)


def test_a_call_that_looks_like_python_is_only_a_call():
    assert repr(read("exec(x)")) == "(call exec (name x))"
