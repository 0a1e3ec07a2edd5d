"""Write the tutorials as pages: of notebooks in text, `examples/tutorials/*.py`, words as Markdown and cells as code.

`conf.py` calls `write` before each build; what is written is not kept in the repository.  python docs/tutorial_pages.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).with_name("tutorials")
NOTEBOOKS = FOLDER.parent.parent / "examples" / "tutorials"
ORDER = ("formula_to_solver", "rulebook", "hessians")

HEAD = """\
# Tutorials

Notebooks as text, in `examples/tutorials`: `jupytext --to ipynb NAME.py` makes notebooks of them, and they run
as they are.

```{{toctree}}
:maxdepth: 1

{pages}
```
"""


def write() -> None:
    """Write a page for each notebook, and their list."""
    FOLDER.mkdir(exist_ok=True)
    for name in ORDER:
        text = (NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8")
        (FOLDER / f"{name}.md").write_text("\n".join(cells(text)), encoding="utf-8")
    (FOLDER / "index.md").write_text(HEAD.format(pages="\n".join(ORDER)), encoding="utf-8")


def cells(text: str) -> Iterator[str]:
    """Yield words and code in turns; what stands before the first cell says of which kind the file is."""
    for cell in re.split(r"(?m)^# %%", text)[1:]:
        mark, _, body = cell.partition("\n")
        if "markdown" in mark:
            yield re.sub(r"(?m)^# ?", "", body)
        elif body.strip():
            yield f"```python\n{body.strip()}\n```\n"


if __name__ == "__main__":
    write()
