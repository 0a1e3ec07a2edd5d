"""LaTeX for other typesetters: MathJax and KaTeX know each command and accept whole formulas.

`MATCALC_MATHJAX` names a folder of mathjax-full, unpacked (`npm pack mathjax-full`): then MathJax typesets them too.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import matcalc as mc
from matcalc.commands.rule_pages import latex_lines, page
from matcalc.rulebook.load import shipped_rulebook

HERE = Path(__file__).parent
CASES = HERE.parent / "cases"
KATEX = Path(mc.__file__).parent / "page" / "assets" / "katex" / "katex.min.js"
MATHJAX = os.environ.get("MATCALC_MATHJAX", "")
KNOWN = set((HERE / "commands_of_mathjax.txt").read_text(encoding="utf-8").split())
"""Commands and environments of MathJax 3.2.2, its packages base, ams and boldsymbol, which notebooks load."""

FEW = [
    "norm2(X*w - y)^2", "logdet(S) + tr(inv(S)*C)", "softmax(Q*K'/sqrt(d), axis=1)*V", "[A, B; C, D]", "[1, 2; 3, 4]*x",
    "{i,j: x[i]*y[j]*[i < j]}", "sum{k: x[k]^2}", "prod(x) + cumsum(x)[0]", "kron(A, B) .* (C - D)",
    "where(x > 0, x, 2)", "besselj(2, x) + gammaln(s) - erf(t)", "max(abs(x)) + norm1(x) + norminf(x)",
    "lam_1*w_hat'*x1 + theta_long*x_max[0]", "chol(S)\\b", "A[1:3, ::-1]", "tr(matfun(z -> z*log(z), S))",
    "inv(K)*y where K = A*A' + lam*eye(n)", "1e-300*x/3",
]  # fmt: skip
LET = "S: matrix(n, n) spd; d: scalar"


def typeset(formulas, folder):
    """Return the formulas that each typesetter rejects, and all commands."""
    file = folder / "formulas.json"
    file.write_text(json.dumps(formulas))
    command = ["node", HERE / "typeset.cjs", KATEX, file, *([MATHJAX] if MATHJAX else [])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def commands(latex):
    """Return the commands of LaTeX, and its environments by name."""
    return set(re.findall(r"\\(?:[A-Za-z]+|.)", latex, re.S)) | set(re.findall(r"\\begin\{([^}]*)\}", latex))


def read(text):
    return mc.expression(text, "; ".join(part for part in LET.split("; ") if re.search(rf"\b{part[0]}\b", text)))


def forms(e):
    yield e.latex()
    yield e.latex(named=True)


def of_rules():
    for rule in shipped_rulebook().rules.values():
        if not rule.internal and rule.opaque is None:
            yield "\\begin{aligned}" + " \\\\ ".join(latex_lines(page(rule))) + "\\end{aligned}"


def of_cases():
    for name in ("textbook", "identities"):
        for case in json.loads((CASES / f"{name}.json").read_text(encoding="utf-8")):
            yield from forms(mc.expression(case["text"], case["let"]))
            yield from forms(getattr(mc, case["kind"])(case["text"], case["wrt"], case["let"]))
    for line in (CASES / "equal.txt").read_text(encoding="utf-8").splitlines():
        text, _, let = line.partition(" | ")
        for side in re.split(r" = (?![^{\[(]*[\])}])", text)[:2]:
            try:
                yield from forms(mc.expression(side, let))
            except mc.MatcalcError:
                continue


def of_derivations():
    for text, x in (("norm2(X*w - y)^2", "w"), ("logdet(S) + tr(inv(S)*C)", "S"), ("sum(tanh(W*x))", "W")):
        for line in mc.gradient(text, x).explain("markdown").splitlines():
            yield from re.findall(r"\$([^$]+)\$", line)


@pytest.mark.parametrize("text", FEW)
def test_commands_are_known(text):
    for latex in forms(read(text)):
        assert commands(latex) <= KNOWN, latex


@pytest.mark.whole
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_whole_formulas_are_typeset(tmp_path):
    formulas = [*of_rules(), *of_cases(), *of_derivations(), *(latex for text in FEW for latex in forms(read(text)))]
    assert len(formulas) > 1000
    assert set().union(*map(commands, formulas)) <= KNOWN
    assert typeset(formulas, tmp_path)["refused"] == []
