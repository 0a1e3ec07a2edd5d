"""Answers to the page, topic by topic, against NumPy; hostile text stays text."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from matcalc.page.answers import EXAMPLES, answered
from matcalc.page.questions import LIMITS, LONGEST, TOPICS, Refused, question
from matcalc.pictures.layers import Box, placed

LEAST_SQUARES = {"formula": "norm2(X*w - y)^2", "wrt": "w"}
GALLERY = json.loads(EXAMPLES.read_text(encoding="utf-8"))


def told(topic, **fields):
    answer = answered({**LEAST_SQUARES, **fields, "topic": topic})
    json.dumps(answer, allow_nan=False)
    return answer


def test_reading_says_kinds_and_what_was_inferred():
    answer = told("read", formula="logdet(S) + a'*x", declarations="S: matrix(n, n) spd; a: vector(k)")
    symbols = {symbol["name"]: symbol for symbol in answer["symbols"]}
    assert [symbols[name]["inferred"] for name in ("S", "a", "x")] == [False, False, True]
    assert (symbols["S"]["kind"], symbols["S"]["sizes"], symbols["S"]["facts"]) == ("matrix", "n, n", ["spd"])
    assert "symmetric" in symbols["S"]["known"]
    assert "lower" in symbols["S"]["may"] and "lower" not in symbols["x"]["may"]


def test_an_error_has_its_place():
    error = told("read", formula="norm2(X*w -* y)^2")["error"]
    assert (error["kind"], error["at"], error["text"][error["at"]]) == ("ParseError", 11, "*")
    error = told("read", formula="A*B", declarations="A: matrix(2, 3); B: matrix(2, 3)")["error"]
    assert error["kind"] == "ShapeError" and error["marks"]


@pytest.mark.parametrize("how", ["gradient", "jacobian", "hessian", "differential", "hvp"])
def test_each_derivative(how):
    (block,) = told("derive", how=how)["blocks"]
    shown = {"gradient": "2*X'*(X*w - y)", "jacobian": "2*X'*(X*w - y)", "hessian": "2*X'*X", "hvp": "2*X'*X*v"}
    assert block["text"] == shown.get(how, "2*(X*w - y)'*X*dw")
    assert block["latex"] and isinstance(block["facts"], list)


def test_several_variables():
    answer = told("derive", formula="norm2(M - U*V')^2", wrt="U,V")
    assert [block["label"] for block in answer["blocks"]] == ["U", "V"]
    assert "choose one variable" in told("compare", wrt="X,w", other="w")["error"]["message"]


def test_long_results_have_places_for_line_breaks():
    text = "tr(inv(A*X*B + C'*C)*D)^2 + logdet(A*X*X'*A' + eye(n))*sum(log(1 + exp(X*w)))"
    (block,) = told("derive", formula=text, wrt="X")["blocks"]
    assert r"\allowbreak" in block["latex"]
    assert r"\allowbreak" not in told("write", formula=text, wrt="X", form="latex")["text"]


@pytest.mark.parametrize("form", ["text", "named", "latex", "sympy"])
def test_forms(form):
    assert told("write", form=form)["text"]


def test_copied_code_has_the_gradient_of_the_definition():
    text = told("write", form="numpy")["text"]
    scope = {"__name__": "copied"}
    exec(compile(text, "f_numpy.py", "exec"), scope)
    rng = np.random.default_rng(1)
    X, w, y = rng.standard_normal((5, 3)), rng.standard_normal(3), rng.standard_normal(5)
    value, gradient = scope["f"](X, w, y)
    slopes = [(np.sum((X @ (w + h) - y) ** 2) - np.sum((X @ (w - h) - y) ** 2)) / 2e-6 for h in 1e-6 * np.eye(3)]
    assert np.isclose(value, np.sum((X @ w - y) ** 2))
    assert np.allclose(gradient, slopes, rtol=1e-6)


@pytest.mark.parametrize("form", ["numba", "c"])
def test_code_for_other_targets(form):
    assert "2*X'*(X*w - y)" in told("write", form=form)["text"]
    assert "hessian" in told("write", form=form, how="hessian")["text"]


def test_a_derivation_names_its_rules():
    (block,) = told("explain", formula="tr(inv(X)*A)", wrt="X")["blocks"]
    assert block["lines"][0].startswith("1. $f = ")
    assert any("rules/linalg.toml" in line for line in block["lines"])


def test_a_wrong_formula_has_a_counterexample_that_is_one():
    answer = told("compare", other="2*X'*(X*w + y)")
    X, w, y = (np.array(answer["data"][name]) for name in "Xwy")
    assert not answer["right"]
    assert np.allclose(answer["values"]["the derivative"], 2 * X.T @ (X @ w - y))
    assert np.allclose(answer["values"]["yours"], 2 * X.T @ (X @ w + y))
    assert told("compare", other="X'*(X*w - y)")["mistake"]
    assert told("compare", other="2*(X'*X*w - X'*y)")["right"]
    assert told("compare", other="2*X'*(X*w - z)")["error"]["kind"] == "UnknownName"
    assert told("compare", other="2*X'*(X*w -")["error"]["at"] == 11


def test_a_counterexample_shows_what_the_formulas_hold_alone():
    answer = told("compare", formula="norm2(X*w - y)^2 + tr(C)", other="X'*(X*w - y)")
    assert set(answer["data"]) == {"X", "w", "y"}


def test_convexity():
    assert told("convex")["verdict"] == "convex"
    answer = told("convex", formula="x'*A*x", wrt="x")
    before, here, after = answer["values"]
    assert answer["verdict"] == "not convex" and here > (before + after) / 2


def test_the_error_of_differences_falls_with_the_square_of_the_step():
    answer = told("check", formula="sum(exp(x))", wrt="x")
    assert answer["right"]
    curve = dict(zip(answer["curve"]["steps"], answer["curve"]["errors"], strict=True))
    assert 30 < curve[1e-1] / curve[1e-2] < 300
    assert min(curve.values()) < 1e-9 < curve[min(curve)]


def test_the_plan_counts():
    assert told("plan")["total"].startswith("total: ")


@pytest.mark.parametrize("part", ["formula", "derivative"])
def test_the_graph_shows_each_node_once_with_its_value(part):
    answer = told("graph", part=part)
    nodes = answer["nodes"]
    data = {name: np.array(value) for name, value in answer["at"].items()}
    at = {node["text"]: np.array(node["value"], float) for node in nodes if node["text"] and node["value"] is not None}
    assert np.allclose(at["X"], data["X"], rtol=1e-4)
    assert np.allclose(at["X*w"], data["X"] @ data["w"], rtol=1e-3, atol=1e-4)
    for edge in answer["edges"]:
        assert nodes[edge["from"]]["y"] < nodes[edge["to"]]["y"]
    assert any(node["uses"] > 1 for node in nodes)


def test_no_two_boxes_of_a_drawing_overlap():
    rng = np.random.default_rng(3)
    for count in range(1, 40):
        edges = {(int(rng.integers(0, k)), k) for k in range(1, count) for _ in range(3)}
        boxes = [Box(float(rng.uniform(20, 120))) for _ in range(count)]
        drawing = placed(boxes, sorted(edges))
        for a in range(count):
            for b in range(a):
                (xa, ya), (xb, yb) = drawing.centres[a], drawing.centres[b]
                assert ya != yb or abs(xa - xb) >= (boxes[a].width + boxes[b].width) / 2
        assert all(x - box.width / 2 >= 0 for (x, _), box in zip(drawing.centres, boxes, strict=True))
        assert all(line[0] == drawing.centres[a] for (a, _), line in zip(sorted(edges), drawing.lines, strict=True))


@pytest.mark.parametrize("example", GALLERY, ids=[example["name"] for example in GALLERY])
@pytest.mark.sampled(14)
def test_every_example_is_answered(example):
    fields = {name: value for name, value in example.items() if name != "name"}
    is_scalar = fields.get("how") != "jacobian"
    is_one = "," not in fields["wrt"]
    for topic in TOPICS:
        if topic == "convex" and not is_scalar or topic in ("compare", "graph") and not is_one:
            continue
        answer = answered({**fields, "topic": topic, "other": fields["wrt"]})
        assert "error" not in answer or topic == "compare", (topic, answer)


ATTACKS = [
    "__import__('os').system('touch attacked')", "open('attacked','w')", "eval('1')", "x.__class__.__mro__",
    "{x.__class__}",
    "%(x)s", "lambda: 0", "x if x else y", "[x for x in y]", "import os", "x; import os", "`touch attacked`",
    "$(touch attacked)",
    "../../etc/passwd", "file:///etc/passwd", "<script>alert(1)</script>", "\\input{/etc/passwd}",
    "\\write18{touch attacked}",
    "\0", "\ud800", "x\n\"\"\"\nimport os", "'" * 400, "(" * 4000, "f'{x}'", "x := 1", "@x", "𝐱.__dict__", "exec",
    "globals()",
]  # fmt: skip


@pytest.mark.sampled(16)
@pytest.mark.parametrize("topic", ["read", "derive", "write", "compare"])
@pytest.mark.parametrize("field", ["formula", "declarations", "other", "wrt"])
def test_text_is_never_run(field, topic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for attack in ATTACKS:
        for dialect in ("matrix", "numpy", "latex"):
            fields = {
                **LEAST_SQUARES,
                "other": "x",
                field: attack[: LIMITS[field]],
                "dialect": dialect,
                "form": "numpy",
            }
            answer = json.dumps(answered({**fields, "topic": topic}))
            assert "root:" not in answer
    assert list(tmp_path.iterdir()) == []


HARD = {
    "-sum{t: log_softmax(X*W, axis=1)[t, y[t]]}": ("", "W"), "sum(x[i].^2)": ("i: index(N)", "x"),
    "sum(softplus(-y.*(X*w)))": ("X: matrix(m, n) sparse", "w"), "T": ("T: tensor(a, b, c)", "T"), "5": ("", ""),
    "root(A*Y + Y*A' + tanh(Y) - C, Y, start=C)": ("", "A"), "A[1:3, 0]": ("", "A"), "svd_U(X)": ("", "X"),
    "sum(log(-exp(x)))": ("", "x"), "eye(0)*x": ("", "x"),
}  # fmt: skip


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize("formula", HARD)
def test_what_is_out_of_the_common_is_answered_or_refused_in_words(formula):
    declarations, wrt = HARD[formula]
    for topic in TOPICS:
        for part in ("formula", "derivative"):
            told(topic, formula=formula, declarations=declarations, wrt=wrt, form="numpy", other="1", part=part)


NOT_QUESTIONS = [
    None, 1, "read", [], [LEAST_SQUARES], {}, {"topic": "read"}, {"formula": "x"}, {"topic": "quit", "formula": "x"},
    {"topic": "read", "formula": 1}, {"topic": "read", "formula": None}, {"topic": "read", "formula": ["x"]},
    {"topic": "read", "formula": "x", "target": "c"}, {"topic": "read", "formula": "x", "__class__": "x"},
    {"topic": "derive", "formula": "x", "how": "__class__"}, {"topic": "derive", "formula": "x", "how": "dot"},
    {"topic": "write", "formula": "x", "form": "save"}, {"topic": "write", "formula": "x", "form": ["numba"]},
    {"topic": "read", "formula": "x", "dialect": "python"}, {"topic": "read", "formula": "x" * (LONGEST + 1)},
    {"topic": "read", "formula": "x", "wrt": "w" * 201}, {"topic": ["read"], "formula": "x"},
]  # fmt: skip


@pytest.mark.parametrize("record", NOT_QUESTIONS, ids=lambda record: str(record)[:40])
def test_what_is_no_question_is_refused(record):
    with pytest.raises(Refused):
        question(record)


def test_symbols_are_shown_where_their_kinds_do_not_fit():
    error = told("read", formula="a*x + S*x", declarations="S: matrix(n, n) spd")["error"]
    symbols = {symbol["name"]: symbol for symbol in error["symbols"]}
    assert list(symbols) == ["a", "x", "S"]
    assert (symbols["a"]["kind"], symbols["S"]["kind"], symbols["S"]["facts"]) == ("?", "matrix", ["spd"])
    assert "symbols" not in told("read", formula="a*")["error"]


@pytest.mark.long
def test_memory_does_not_grow_with_questions():
    """A thousand questions with new names and numbers, with saved files among the answers, in one process."""
    command = [sys.executable, "-c", SOAK]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1200, cwd=Path(__file__).resolve().parents[2]
    )
    assert not done.returncode, done.stderr
    sizes = [float(line) for line in done.stdout.split()]
    assert sizes[-1] - sizes[1] < 40, sizes


SOAK = """
import random
from matcalc.page.answers import answered, warm_up

TEXTS = ("norm2({A}*{w} - {y})^2 + {c}*sum({w}.^2)", "sum(log(1 + exp(-{y}.*({A}*{w}))))*{c}", "sum(tanh({c}*{A}*{w}))")
FORMS = ("numba", "numpy", "c", "text", "latex", "sympy")
draw = random.Random(0)
warm_up()
for number in range(1001):
    names = {letter: f"{letter}_{draw.randrange(10**6)}" for letter in "Awy"}
    text = draw.choice(TEXTS).format(c=draw.randrange(1, 10**6) / 1000, **names)
    declared = "{A}: matrix(m, n); {w}: vector(n); {y}: vector(m)".format(**names)
    asked = {"topic": "write", "formula": text, "declarations": declared, "wrt": names["w"], "form": draw.choice(FORMS)}
    assert "error" not in answered(asked)
    if number % 200 == 0:
        print(int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6)
"""
