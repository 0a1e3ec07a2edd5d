"""The page in a real browser."""

import json
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest
from in_browser import DESKTOP, NEEDED, PHONE, axe, fold_out, picture, settled, shown, typed, until

from matcalc.page.pool import Pool
from matcalc.page.server import Server

pytestmark = NEEDED


@pytest.fixture(scope="module")
def address():
    server = Server(0, Pool(2, seconds=6))
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.address
    server.shutdown()
    server.server_close()


@pytest.fixture
def opened(browser, address):
    """Return a function that opens the page; console messages and requests to other hosts fail the test.

    After each test the page must pass the accessibility checks.
    """
    contexts, said = [], []

    def open_page(fragment="", viewport=DESKTOP, **options):
        context = browser.new_context(viewport=viewport, **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(address.partition("#")[0]) else said.append(r.url))
        page.goto(address + fragment)
        settled(page)
        return page

    yield open_page
    found = [violation for context in contexts for page in context.pages for violation in axe(page)]
    for context in contexts:
        context.close()
    assert said == [] and found == []


def copied(page):
    page.click("#copy")
    until(page, "document.querySelector('#said').textContent === 'Copied'")
    return page.evaluate("navigator.clipboard.readText()")


def test_an_expression_is_typed_and_its_gradient_read(opened):
    page = opened()
    assert page.evaluate("document.activeElement.id") == "formula"
    typed(page, "tr(inv(X)*A)")
    assert shown(page) == [r"-\mathbf{X}^{-\top} \mathbf{A}^\top \mathbf{X}^{-\top}"]
    assert "X" in page.inner_text("#result-title") and page.locator("#blocks .katex-html").count() == 1
    page.check("input[name=form][value=latex]", force=True)
    settled(page)
    assert copied(page) == shown(page)[0]


def test_copied_code_runs(opened, tmp_path):
    page = opened()
    typed(page, "sum(log(1 + exp(-y.*(X*w))))")
    for form, name in (("numpy", "f_numpy"), ("numba", "f_numba")):
        page.check(f"input[name=form][value={form}]", force=True)
        until(page, "document.querySelector('#code').textContent.includes('def f(')")
        settled(page)
        file = tmp_path / f"{name}.py"
        file.write_text(copied(page))
    test = subprocess.run([sys.executable, "f_numpy.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert test.returncode == 0, test.stdout + test.stderr
    quick = subprocess.run([sys.executable, "f_numba.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert quick.returncode == 0, quick.stdout + quick.stderr
    program = """
import json, sys
import numpy as np
from f_numpy import f
rng = np.random.default_rng(0)
X, w, y = rng.standard_normal((6, 3)), rng.standard_normal(3), rng.standard_normal(6)
print(json.dumps([X.tolist(), w.tolist(), y.tolist(), f(y, X, w)[0], f(y, X, w)[1].tolist()]))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    X, w, y, value, gradient = map(np.array, json.loads(done.stdout))
    assert np.isclose(value, np.sum(np.log1p(np.exp(-y * (X @ w)))))
    assert np.allclose(gradient, -X.T @ (y / (1 + np.exp(y * (X @ w)))))


def test_an_error_stands_under_its_character(opened):
    page = opened()
    page.fill("#formula", "norm2(X*w -* y)^2 + lam*w'*w")
    page.wait_for_selector("#fault pre")
    settled(page)
    assert page.inner_text("#fault pre").rstrip() == " " * 11 + "^"
    assert "expected an operand after '-'" in page.inner_text("#fault")
    assert page.get_attribute("#formula", "aria-invalid") == "true"
    assert page.inner_text("#result-title") == "Gradient in w, of the formula before"
    picture(page, "page_error")
    typed(page, "norm2(X*w - y)^2 + lam*w'*w")
    assert page.inner_text("#result-title") == "Gradient in w"
    assert page.inner_text("#fault") == "" and page.get_attribute("#formula", "aria-invalid") == "false"


def test_what_would_mend_an_error_is_a_button(opened):
    page = opened()
    typed(page, "exp(-(x - mu)^2/(2*sigma^2))")
    page.click("#fault button >> text=Declare x: scalar")
    settled(page)
    assert page.input_value("#declarations") == "x: scalar" and page.inner_text("#fault") == ""
    assert page.evaluate("document.activeElement.id") == "formula"
    page = opened()
    typed(page, "eigvalsh(S)")
    page.click("#fault button >> text=Declare S: matrix(n, n) symmetric")
    settled(page)
    assert page.inner_text("#result-title") == "Jacobian in S"
    for text, dialect in ((r"\frac{1}{2} x^\top x", "latex"), ("np.sum(x**2)", "numpy")):
        page = opened()
        typed(page, text)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent").startswith("Read it as")
        page.keyboard.press("Enter")
        settled(page)
        assert page.input_value("#dialect") == dialect and page.inner_text("#fault") == ""
        assert shown(page) in ([r"\mathbf{x}"], [r"2 \mathbf{x}"])


def test_a_formula_that_is_no_number_leaves_the_choice_of_the_derivative(opened):
    page = opened()
    typed(page, "A*x")
    assert page.inner_text("#result-title") == "Jacobian in x"
    typed(page, "A*(x")
    assert page.inner_text("#result-title") == "Jacobian in x, of the formula before"
    typed(page, "x'*x")
    assert page.inner_text("#result-title") == "Gradient in x"
    typed(page, "2")
    assert "There is no variable in it" in page.inner_text("#blocks")


def test_a_wrong_formula_is_mended(opened):
    page = opened()
    typed(page, "norm2(X*w - y)^2")
    page.click("#compare > summary")
    typed(page, "2*X'*(X*w + y)", "#other")
    page.wait_for_selector("#compare .verdict.no")
    settled(page)
    assert "Here the two differ" in page.inner_text("#compare .verdict")
    assert page.locator("#compare .grid").count() == 5
    page.fill("#formula", "norm2(X*w - 2*y)^2")
    typed(page, "2*X'*(X*w - 2*y)", "#other")  # both at once
    assert "Right" in page.inner_text("#compare .verdict")
    page.fill("#formula", "norm2(X*w - y)^2")
    typed(page, "2*X'*(X*w + y)", "#other")
    page.locator("#compare").scroll_into_view_if_needed()
    picture(page, "page_counterexample", "#compare")
    typed(page, "2*X'*(X*w - ", "#other")
    page.wait_for_selector("#other-fault pre")
    typed(page, "2*X'*(X*w - y)", "#other")
    page.wait_for_selector("#compare .verdict.yes")
    assert "Right" in page.inner_text("#compare .verdict")


def test_a_monster_is_cut_off_politely(opened):
    page = opened()
    page.fill("#formula", f"tr({'*'.join(['(A + B)'] * 40)})")
    until(page, "document.querySelector('#result-title').textContent.startsWith('Gradient in A')")
    page.check("input[name=how][value=hessian]", force=True)
    page.wait_for_selector("#blocks .problem", timeout=60_000)
    assert "was stopped" in page.inner_text("#blocks .problem")
    typed(page, "x'*x")
    until(page, "document.querySelector('#blocks').textContent.includes('2')")


def test_facts_are_changed_by_the_keyboard_alone(opened):
    page = opened()
    typed(page, "logdet(S)")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.chip').dataset.name") == "S"
    page.keyboard.press("Enter")
    while page.evaluate("document.activeElement.dataset.fact") != "spd":
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    until(page, "document.querySelector('#code').textContent === 'inv(S)'")
    assert page.input_value("#declarations") == "S: matrix(m, m) spd"
    assert page.evaluate("document.activeElement.dataset.fact") == "spd"


def test_choices_keep_the_place_of_the_keyboard(opened):
    page = opened()
    typed(page, "norm2(M - U*V')^2")
    for name, key, chosen in (
        ("form", "ArrowRight", "latex"),
        ("how", "ArrowRight", "jacobian"),
        ("wrt", "Space", "M"),
    ):
        page.focus(f"input[name={name}]:checked" if key != "Space" else f"input[name={name}]")
        page.keyboard.press(key)
        settled(page)
        assert page.evaluate("document.activeElement.value") == chosen
    assert page.inner_text("#result-title") == "Jacobian in M, U"
    page.keyboard.press("Space")
    for value in ("V", "U"):
        page.focus(f"input[name=wrt][value={value}]")
        page.keyboard.press("Space")
        settled(page)
    assert page.inner_text("#result-title") == "Jacobian in V"
    page.focus("input[name=wrt][value=V]")
    page.keyboard.press("Space")
    settled(page)
    assert page.is_checked("input[name=wrt][value=V]") and page.evaluate("document.activeElement.value") == "V"


def test_kinds_sizes_and_inference_by_chips(opened):
    page = opened()
    typed(page, "a*x")
    page.click(".chip[data-name=a] > summary")
    page.select_option(".chip[data-name=a] select", "scalar")
    until(page, "document.querySelector('.chip[data-name=a]').textContent.includes('a scalar')")
    assert page.input_value("#declarations") == "a: scalar"
    page.click(".chip[data-name=a] button")
    until(page, "document.querySelector('#declarations').value === ''")


def test_all_panels_and_the_graph(opened):
    page = opened(
        "&wrt=S&formula=logdet(S)+%2B+tr(inv(S)*C)&declarations=S:+matrix(n,+n)+spd;+C:+matrix(n,+n)+symmetric"
    )
    assert shown(page) == [r"\mathbf{S}^{-1} - \mathbf{S}^{-1} \mathbf{C} \mathbf{S}^{-1}"]
    fold_out(page, "explain")
    assert "rules/linalg.toml" in page.inner_text("#explain")
    picture(page, "page_derivation", "#explain")
    for name in ("convex", "check", "plan", "graph"):
        fold_out(page, name)
    assert "flops" in page.inner_text("#plan")
    assert "The numbers agree" in page.inner_text("#check") and page.locator("#check polyline").count() == 1
    assert page.locator("#graph .node.shared").count() == 1
    page.locator("#graph .node").nth(0).focus()
    page.keyboard.press("Enter")
    page.locator("#graph .node.shared").click()
    assert "spd" in page.inner_text("#graph dl") and page.locator("#graph dl .grid td").count() == 9
    picture(page, "page_graph", "#graph")
    picture(page, "page_check", "#check")


def test_a_link_brings_the_state_back(opened):
    page = opened()
    typed(page, "norm2(M - U*V')^2")
    page.check("input[name=wrt][value=V]", force=True)
    page.check("input[name=how][value=hvp]", force=True)
    fold_out(page, "plan")
    page.click("#link")
    until(page, "document.querySelector('#said').textContent === 'Link copied'")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "token" not in link and "token" not in page.url
    before = shown(page)
    other = page.context.new_page()
    other.goto(link)
    settled(other)
    assert shown(other) == before and len(before) == 2
    assert other.locator("#plan[open]").count() == 1
    assert other.inner_text("#result-title") == page.inner_text("#result-title")


def test_the_key_that_a_browser_is_started_with_opens_the_page_once(browser):
    server = Server(0, Pool(1, seconds=6))
    Thread(target=server.serve_forever, daemon=True).start()
    entrance = server.entrance
    for is_first in (True, False):
        context = browser.new_context()
        page = context.new_page()
        page.goto(entrance)
        page.wait_for_selector("#blocks .katex" if is_first else "#fault p", timeout=60_000)
        assert "once" not in page.url
        context.close()
    server.shutdown()
    server.server_close()


def test_without_the_token_the_page_says_what_to_do(browser, address):
    context = browser.new_context()
    page = context.new_page()
    page.goto(address.partition("#")[0])
    page.wait_for_selector("#fault p")
    assert "matcalc serve" in page.inner_text("#fault")
    context.close()


def test_examples(opened):
    page = opened()
    for name in page.eval_on_selector_all("#gallery option", "all => all.slice(1).map(one => one.textContent)"):
        page.select_option("#gallery", label=name)
        settled(page)
        assert page.inner_text("#fault") == "" and page.locator("#blocks .problem").count() == 0, name
        assert shown(page), name


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_long_derivations_wrap(opened, viewport):
    """Each line of a derivation without fractions and integrals is broken at the width of the page."""
    page = opened(viewport=viewport)
    typed(page, "tr(inv(A*X*B + C'*C)*D)^2 + logdet(A*X*X'*A' + eye(n))*sum(log(1 + exp(X*w)))")
    page.check("input[name=wrt][value=X]", force=True)
    fold_out(page, "explain")
    lines = page.eval_on_selector_all(
        "#explain .math", "all => all.map(one => [one.scrollWidth - one.clientWidth, one.clientHeight])"
    )
    assert lines and all(beyond <= 0 for beyond, _ in lines), lines
    assert max(height for _, height in lines) > 60


EVERYTHING = "&open=explain,compare,convex,check,plan,graph&other=X&formula=norm2(X*w-y)%5E2"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_fits_and_keeps_nobody_out(opened, viewport, scheme):
    page = opened(
        "&formula=sum(log(1+%2B+exp(-y.*(X*w))))+%2B+lam*w'*w&declarations=lam:+scalar", viewport, color_scheme=scheme
    )
    name = {("light", 1000): "desktop", ("dark", 1000): "dark", ("light", 390): "phone"}.get(
        (scheme, viewport["width"])
    )
    if name:
        picture(page, f"page_{name}")
    page.evaluate(f"location.hash = {EVERYTHING[1:]!r}")
    page.wait_for_selector("#graph svg")
    settled(page)
    page.locator("#graph .node").nth(1).click()
    page.click(".chip > summary >> nth=0")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    assert axe(page) == []
    typed(page, "norm2(X*w -* y)^2")
    assert page.inner_text("#fault p") and axe(page) == []
    typed(page, "2*X'*(X*w", "#other")
    typed(page, "norm2(X*w - y)^2")
    assert page.inner_text("#other-fault p") and axe(page) == []
    page.check("#named", force=True)
    page.click("#more-declarations > summary")
    typed(page, "X: matrix(m,", "#declarations")
    assert page.inner_text("#declarations-fault p") and axe(page) == []
    typed(page, "", "#declarations")
    typed(page, "")
    assert axe(page) == []
