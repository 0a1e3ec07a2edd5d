"""Results in notebooks and documents: HTML parses, LaTeX balances and compiles, plain text stays."""

import copy
import pickle
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

import matcalc as mc
from matcalc.language.latex.writer.line_breaks import LONG, breakable
from matcalc.pictures.rich_text import Math, Paragraph, Steps, Table, document, html, latex, markdown

PDFLATEX = shutil.which("pdflatex")
VOID = {"br", "hr", "img"}
LONG_FORMULA = "tr(inv(A*X*B + C'*C)*D)^2 + logdet(A*X*X'*A' + eye(n))*sum(log(1 + exp(X*w)))"
DERIVATIONS = {
    "least squares": lambda: mc.gradient("norm2(X*w - y)^2", "w"),
    "long": lambda: mc.gradient(LONG_FORMULA, "X"),
    "fraction": lambda: mc.gradient("sum(exp(-norm2(X - Y)^2/(2*s^2)).*K)", "s", "K: matrix(a, b); X: matrix(n, n)"),
    "hessian": lambda: mc.hessian("logdet(S)", "S", "S: matrix(n, n) spd"),
    "index form": lambda: mc.jacobian("X*X'*X", "X"),
    "facts": lambda: mc.expression("inv(X'*X + eye(n))", "X: matrix(m, n)"),
    "letters": lambda: mc.gradient("sum(λ*x_größe) + 变'*变", "x_größe", "变: vector(n); x_größe: vector(n)"),
    "columns": lambda: mc.expression("x'*[" + ", ".join(map(str, range(14))) + "]'"),
    "scalar": lambda: mc.gradient("a^2", "a", "a: scalar"),
    "zero": lambda: mc.gradient("a^2", "b", "a: scalar; b: scalar"),
}
REPORTS = {
    "proved": lambda: mc.equivalent("(A*B)'", "B'*A'"),
    "tested": lambda: mc.equivalent("norm2(x)", "sqrt(sum(x.^2))", "x: vector(n)"),
    "different": lambda: mc.equivalent("A*B", "B*A", "A: matrix(n, n); B: matrix(n, n)"),
    "shapes": lambda: mc.equivalent("A*x", "x", "A: matrix(m, n)"),
    "domain": lambda: mc.equivalent("a", "exp(log(a))", "a: scalar"),
    "convex": lambda: mc.convex("norm2(X*w - y)^2", "w"),
    "not convex": lambda: mc.convex("norm2(M - U*V')^2", ["U", "V"]),
    "names": lambda: mc.convex("data^4 - 3*data^2", "data", "data: scalar"),
    "undecided": lambda: mc.convex("norm2(Q - A)^2", "Q", "Q: matrix(n, n) orthogonal"),
}


class Tags(HTMLParser):
    """Reads HTML; each end tag must close the tag opened last."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(text):
    """Return the words of HTML, after checking that it is balanced."""
    reader = Tags()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader.text


def check_balanced(text):
    """Check braces, dollar signs, delimiters and environments of LaTeX."""
    plain = re.sub(r"\\[\\{}$]", "", text)
    depth = 0
    for mark in re.findall(r"[{}]", plain):
        depth += 1 if mark == "{" else -1
        assert depth >= 0, text
    assert depth == 0, text
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", plain):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name, text
    assert stack == []
    for opening, closing in ((r"\\left(?![a-z])", r"\\right(?![a-z])"), (r"\\bigl", r"\\bigr")):
        assert len(re.findall(opening, plain)) == len(re.findall(closing, plain)), text


def compiled(text, folder):
    """Return the log of pdflatex for a document; a document that does not compile fails the test."""
    (folder / "a.tex").write_text(text, encoding="utf-8")
    command = [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=100)
    assert done.returncode == 0, done.stdout[-1500:]
    return done.stdout


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REPORTS)
def test_reports_are_typeset(name):
    report = REPORTS[name]()
    check_balanced(report._repr_latex_())
    check_balanced(report._repr_markdown_())
    assert report._repr_latex_().count("$") >= 2
    assert str(pickle.loads(pickle.dumps(report))) == str(report) == repr(report) == str(copy.deepcopy(report))


def test_formulas_in_sentences_are_latex():
    shown = mc.convex("norm2(X*w - y)^2", "w")._repr_markdown_()
    assert r"$2 \mathbf{X}^\top \mathbf{X}$" in shown and "*X'*" not in shown
    shown = REPORTS["different"]()._repr_markdown_()
    assert r"$\mathbf{A}$ = $\begin{bmatrix}" in shown and "likely mistake: A and B exchanged" in shown
    assert r"$\mathit{data}$" in REPORTS["names"]()._repr_markdown_()


REASONS = {
    "convex": lambda: mc.convex("sum(log(1 + exp(-y.*(X*w))))", "w"),
    "of two factors": lambda: mc.convex("sum((S*X*C).*X)", "X", "S: matrix(n, n) psd; C: matrix(m, m) psd"),
    "definite": lambda: mc.expression("X'*S*X + C", "S: matrix(n, n) spd; C: matrix(m, m) spd").explain(),
    "complement": lambda: mc.expression("S - S*x*x'*S/(1 + x'*S*x)", "S: matrix(n, n) spd").explain(),
    "parallel": lambda: mc.expression("S*inv(S + C)*C", "S: matrix(n, n) spd; C: matrix(n, n) spd").explain(),
    "bound": lambda: mc.expression("cosh(x) + 1", "x: scalar").explain(),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REASONS)
def test_formulas_in_reasons_are_typeset(name):
    report = REASONS[name]()
    plain = re.sub(r"\$[^$]*\$", "", report._repr_markdown_().replace("\\", ""))
    assert not re.search(r"'\*|\*[A-Z(]|\b[A-Z] = ", plain), plain
    check_balanced(report._repr_latex_())
    assert str(pickle.loads(pickle.dumps(report))) == str(report)


def test_blocks_print_as_formulas():
    assert str(mc.hessian("x'*A*y + x'*x", ["x", "y"])) == "[2*eye(m), A;\n A', zeros(n, n)]"
    assert str(mc.gradient("x'*A*y", ["x", "y"])) == "(A*y, A'*x)"


def test_the_table_of_a_check_is_html():
    report = mc.check("x'*A*x", "x", against="2*A*x")
    words = parsed(report._repr_html_())
    for row in report.rows:
        assert row.what in words and row.sizes in words
    assert (
        "likely mistake: A taken for symmetric" in words and r"$(\mathbf{A} + \mathbf{A}^\top) \mathbf{x}$" in words[-1]
    )
    assert "all right" in parsed(mc.check("x'*A*x", "x")._repr_html_())
    assert report.right == "(A + A')*x" and pickle.loads(pickle.dumps(report)).right == report.right


@pytest.mark.parametrize(("n", "cells"), [(0, 0), (1, 1), (4, 16), (101, None)])
def test_a_structure_is_a_table_without_matplotlib(n, cells, monkeypatch):
    monkeypatch.setattr("matcalc.pictures.plots.find_spec", lambda name: None)
    found = mc.structure("diag(x)", "x: vector(n)", sizes={"n": n})
    text = found._repr_html_()
    parsed(text)
    assert f"{n} x {n}, {n} of {n * n} entries" in text
    assert text.count("<pre") == 1 if cells is None else (text.count("<td"), text.count("background")) == (cells, n)


@pytest.mark.whole
def test_blocks_of_a_structure_have_lines(monkeypatch):
    monkeypatch.setattr("matcalc.pictures.plots.find_spec", lambda name: None)
    rows = mc.hessian("x'*y", ["x", "y"], "x: vector(n); y: vector(n)")
    text = mc.structure(rows, sizes={"n": 2})._repr_html_()
    assert (text.count("border-top: 2px"), text.count("border-left: 2px"), text.count("background")) == (4, 4, 4)


def test_nested_blocks_are_a_block_matrix():
    rows = mc.hessian("x'*A*y + x'*x", ["x", "y"])
    assert rows == tuple(tuple(row) for row in rows) and isinstance(rows[0], tuple)
    check_balanced(rows._repr_latex_())
    body = r"2 I_{m} & \mathbf{A} \\ \mathbf{A}^\top & 0_{n \times n}"
    assert (
        rows.latex().count("&") == 2 and rows.latex().count(r"\\") == 1 and r"& \mathbf{A} \\ \mathbf{A}^\top &" in body
    )
    assert r"& \mathbf{A} \\ \mathbf{A}^\top &" in rows.latex()
    pair = mc.gradient("x'*A*y", ["x", "y"])
    assert pair.latex() == r"\left(\mathbf{A} \mathbf{y},\ \mathbf{A}^\top \mathbf{x}\right)"
    one = mc.hessian("x'*x", ["x"])
    assert one.latex().startswith(r"\begin{bmatrix} 2") and pickle.loads(pickle.dumps(one)) == one
    value = mc.compile(rows, target="numpy")(A=[[2.0]], x=[1.0], y=[3.0])
    assert value[0][0].tolist() == [[2.0]] and value[0][1].tolist() == [[2.0]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", DERIVATIONS)
def test_derivations_are_documents(name, tmp_path):
    told = DERIVATIONS[name]().explain()
    assert str(told) == told and pickle.loads(pickle.dumps(told)) == told
    for text in (told.latex(), told.markdown(), told._repr_markdown_(), told._repr_latex_()):
        check_balanced(text)
    assert told.latex().count(r"\item") == len(told.splitlines())


@pytest.mark.whole
@pytest.mark.skipif(PDFLATEX is None, reason="there is no pdflatex")
@pytest.mark.parametrize("name", DERIVATIONS)
def test_documents_compile_within_the_page(name, tmp_path):
    log = compiled(DERIVATIONS[name]().explain().latex(), tmp_path)
    assert "Overfull" not in log and "undefined" not in log


SPECIAL = "50% of $x_1 & \\y {z} # ~ ^ <b>&amp;</b> >= λ – 变 `*[a](b)*` |"


@pytest.mark.parametrize("rows", [(), (("one",) * 2,)])
def test_words_are_escaped(rows, tmp_path):
    blocks = [Paragraph([SPECIAL, Math(r"x_{1} < \frac{1}{2}", "x")]), Table(["a", SPECIAL], rows), Steps([])]
    blocks[2:] = [Steps([([SPECIAL], [[SPECIAL]])])] if rows else []
    words = parsed(html(blocks))
    assert SPECIAL in "".join(words)
    assert "<b>" not in html(blocks) and r"\<b\>" in markdown(blocks) and r"\*\[a\]" in markdown(blocks)
    check_balanced(latex(blocks))
    check_balanced(document(blocks))
    if PDFLATEX is not None and rows:
        compiled(document(blocks), tmp_path)


def test_long_formulas_are_broken_between_factors():
    short = r"\mathbf{A} \mathbf{x}"
    assert breakable(short) == short
    product = " ".join([r"\mathbf{A}^\top"] * 8)
    assert len(product) > LONG and breakable(product).count(r"\allowbreak") == 7
    shown = breakable(rf"\sum_{{i=1}}^{{n}} \log\left({product}\right) + \operatorname{{tr}}({product})")
    assert r"} \allowbreak \log" not in shown and r"\allowbreak +" not in shown and r"\log\bigl(" in shown
    call = rf"\operatorname{{tril}}(\mathbf{{A}})^\top {product}"
    assert breakable(call).startswith(r"\operatorname{tril}(\mathbf{A})^\top \allowbreak")
    assert breakable(rf"\frac{{{product * 2}}}{{2}} x", r"\fit").startswith(r"\fit{\frac{")
    check_balanced(shown)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", ["softmax(X, axis=[0, 1])", "sum(X, axis=0)", "log_softmax(X + 1, axis=[0, 1])"])
def test_a_list_of_axes_reads_back(text):
    e = mc.expression(text, "X: matrix(m, n)")
    assert "bmatrix" not in e.latex()
    assert mc.expression(e.latex(), str(e.declarations), dialect="latex").node is e.node
