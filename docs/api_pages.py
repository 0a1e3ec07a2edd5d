"""Write the reference of the public interface from signatures and docstrings (Markdown).  python docs/api_pages.py

`conf.py` calls `write` before each build; what is written is not kept in the repository.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matcalc as mc
from matcalc import errors, solvers
from matcalc.compiler.call.compiled import Compiled

PAGE = Path(__file__).with_name("interface.md")
SECTIONS: dict[str, tuple[str, ...]] = {
    "Formulas": ("expression", "symbols", "from_sympy", "function", "scan", "Expression"),
    "Derivatives": ("gradient", "jacobian", "hessian", "hvp", "differential", "jvp", "vjp"),
    "Compiled functions": ("compile", "value_and_gradient", "pullback", "batch", "scores", "Compiled"),
    "Evidence": ("check", "equivalent", "convex"),
    "Own operations": ("define", "load_rules", "check_rules"),
    "Fits": ("minimize",),
    "Source": ("plain",),
    "Data by rows": ("split",),
    "Pictures": ("sparsity", "structure"),
}


def write() -> None:
    """Write the page."""
    lines = ["# The interface", "", "`import matcalc as mc`; `from matcalc import solvers`.", ""]
    for title, names in SECTIONS.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += described(f"mc.{name}", Compiled if name == "Compiled" else getattr(mc, name))
    lines += ["## Solvers", ""]
    for name in solvers.__all__:
        lines += described(f"solvers.{name}", getattr(solvers, name))
    lines += ["## Errors", ""]
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.MatcalcError):
            lines += [f"`mc.{name}`", f": {documented(kind)[0]}", ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


def write_copies() -> None:
    """Write the pages that stand elsewhere in the checkout; what they link to there is named without a link."""
    for name in ("ARCHITECTURE", "CONTRIBUTING"):
        text = (PAGE.parent.parent / f"{name}.md").read_text(encoding="utf-8")
        PAGE.with_name(f"{name.lower()}.md").write_text(
            re.sub(r"\[([^\]]+)\]\((?!http)[^)]*\)", r"\1", text), encoding="utf-8"
        )


def described(name: str, thing: Any) -> Iterator[str]:
    """Yield the entry of a function or of a class with its methods."""
    yield from (f"### {name}", "", "```python", signature(name, thing), "```", "", *documented(thing), "")
    if inspect.isclass(thing):
        for method, own in vars(thing).items():
            if not method.startswith("_") and inspect.getdoc(own):
                label = f"{name.removeprefix('mc.')}.{method}"
                call = signature(method, own) if callable(own) else method
                yield from (f"#### {label}", "", f"`{call}`", "", *documented(own), "")


def signature(name: str, thing: Callable[..., Any]) -> str:
    """Return a call with its parameters, without their types."""
    given = inspect.signature(thing)
    plain = [p.replace(annotation=p.empty) for p in given.parameters.values() if p.name != "self"]
    return f"{name}{given.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"


def documented(thing: Any) -> list[str]:
    """Return a docstring as Markdown: its fields are paragraphs, its examples blocks of code."""
    text = inspect.getdoc(thing) or ""
    text, _, example = text.partition("Example:\n")
    lines = re.sub(r"^(Shapes|Raises|Source|Units|Attributes): ", r"\n*\1:* ", text, flags=re.M).splitlines()
    lines = [line.strip() for line in lines]
    return [*lines, "", "```python", *inspect.cleandoc(example).splitlines(), "```"] if example else lines


if __name__ == "__main__":
    write()
