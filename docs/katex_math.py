"""Mathematics in the pages by the KaTeX that is shipped with the local page: no network, no server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

KATEX = Path(__file__).parent.parent / "matcalc" / "page" / "assets" / "katex"
TYPESET = """
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".katex-source"))
    katex.render(place.textContent, place, { displayMode: place.tagName === "DIV", throwOnError: false });
});
"""


def inline(self: Any, node: Any) -> None:
    """Write mathematics in a line. Raises: SkipNode, docutils' word for done."""
    _written(self, node, "span")


def display(self: Any, node: Any) -> None:
    """Write mathematics on lines of their own. Raises: SkipNode, docutils' word for done."""
    _written(self, node, "div")


def _written(self: Any, node: Any, tag: str) -> None:
    from docutils.nodes import SkipNode

    self.body.append(self.starttag(node, tag, "", CLASS="katex-source", STYLE="overflow-x: auto; overflow-y: hidden"))
    self.body.append(f"{self.encode(node.astext())}</{tag}>")
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("katex", (inline, None), (display, None))
    app.add_css_file("katex.min.css")
    app.add_js_file("katex.min.js")
    app.add_js_file(None, body=TYPESET)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
