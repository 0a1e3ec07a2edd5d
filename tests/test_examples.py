"""Every example runs to its end; each checks its own results with assertions.

Examples for a library that is not installed are skipped by its name.
"""

import ast
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "examples"
EXAMPLES = sorted(FOLDER.rglob("*.py"))
TUTORIALS = sorted((FOLDER / "tutorials").glob("*.py"))
OPTIONAL = {"casadi", "jax", "sklearn", "statsmodels", "torch"}


def needed(path):
    """Return the optional libraries that an example imports, or uses through an adapter."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [getattr(node, "module", None) or "", getattr(node, "attr", "")]
        found |= {name.partition(".")[0] for name in names} & OPTIONAL
    return sorted(found)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.sampled(24)
def test_example(path, capsys):
    for name in needed(path):
        pytest.importorskip(name, reason=f"{name} is not installed")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorials_are_notebooks(path):
    """Tutorials are notebooks as text, with alternating text and code."""
    jupytext = pytest.importorskip("jupytext")
    kinds = [cell.cell_type for cell in jupytext.read(path).cells]
    assert kinds.count("markdown") >= 4
    assert kinds.count("code") >= 5
