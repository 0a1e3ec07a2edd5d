"""Notebooks: after `%load_ext matcalc` a cell that begins with `%%matcalc` is typed at a prompt of its own.

    %%matcalc g
    let S: matrix(n, n) spd
    logdet(S) + tr(inv(S)*C)
    gradient S

shows the gradient typeset and keeps it as `g`.
"""

from __future__ import annotations

from typing import Any

from matcalc.commands.prompt import Prompt, statements
from matcalc.expressions.expression import Expression


def load_ipython_extension(shell: Any) -> None:
    """Give an IPython shell the cell magic `%%matcalc`."""
    shell.register_magic_function(lambda line, cell: run(shell.user_ns, line, cell), "cell", "matcalc")


def run(names: dict[str, Any], line: str, cell: str) -> Expression | None:
    """Run the lines of a cell; return the result of the last, kept in `names` under the name on the first line.

    Raises: what the lines raise, and SyntaxError for a name that is none.
    """
    name = line.strip()
    if name and not name.isidentifier():
        raise SyntaxError(f"%%matcalc takes a name for the result, not {name[:80]!r}")
    prompt = Prompt()
    said = ""
    for text in statements(cell.splitlines()):
        said = prompt.said(text)
    if prompt.result is None or said != prompt.shown:
        print(said)
        return None
    if name:
        names[name] = prompt.result
    return prompt.result
