"""Opens a page in a real browser: Chromium by Playwright, where both are installed.

`MATCALC_PICTURES=docs/pictures` writes the screenshots of the documentation. `MATCALC_AXE=axe.min.js` checks
accessibility by axe-core.
"""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = os.environ.get("MATCALC_AXE", "")
PICTURES = os.environ.get("MATCALC_PICTURES", "")
NEEDED = [
    pytest.mark.whole,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="there is no playwright"),
]
"""The marks of tests that need a browser."""
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1000, "height": 860}


def settled(page):
    """Wait until no request is pending."""
    page.wait_for_timeout(60)
    until(page, "document.querySelector('main').getAttribute('aria-busy') === 'false'")
    page.wait_for_timeout(60)


def until(page, condition):
    """Wait until a condition holds; Playwright's own wait runs text inside the page, which its policy forbids."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def typed(page, text, field="#formula"):
    page.fill(field, text)
    settled(page)


def shown(page, place="#blocks"):
    """Return the LaTeX of the formulas on the page, from their MathML."""
    return page.eval_on_selector_all(f"{place} annotation", "all => all.map(one => one.textContent)")


def picture(page, name, of=None, full_page=False):
    """Write a screenshot for the documentation, of the page or of an element."""
    if PICTURES:
        path = Path(PICTURES) / f"{name}.png"
        page.locator(of).screenshot(path=path) if of else page.screenshot(path=path, full_page=full_page)


def fold_out(page, name):
    page.click(f"#{name} > summary")
    until(page, f"document.querySelector('#{name} .body').textContent.length > 3")
    settled(page)


def axe(page):
    """Return the findings of axe-core, empty where it is not installed; it is injected despite the page's policy."""
    if not AXE:
        return []
    content = Path(AXE).read_text(encoding="utf-8")
    client = page.context.new_cdp_session(page)
    client.send("Runtime.evaluate", {"expression": content})
    made = client.send("Runtime.evaluate", {"expression": "axe.run()", "awaitPromise": True, "returnByValue": True})
    violations = made["result"]["value"]["violations"]
    return [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in violations]
