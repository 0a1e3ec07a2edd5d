"""Defines the cell magic `%%matcalc`: after `%load_ext matcalc`, the lines of such a cell go to a prompt of its own.

    %%matcalc g
    let S: matrix(n, n) spd
    logdet(S) + tr(inv(S)*C)
    gradient S

shows the gradient typeset and stores it as `g`.
"""

from __future__ import annotations

from typing import Any

from matcalc.commands.prompt import Prompt, statements
from matcalc.expressions.expression import Expression


def load_ipython_extension(shell: Any) -> None:
    """Register the cell magic `%%matcalc` in an IPython shell."""
    shell.register_magic_function(lambda line, cell: run(shell.user_ns, line, cell), "cell", "matcalc")


def run(names: dict[str, Any], line: str, cell: str) -> Expression | None:
    """Run the lines of a cell; return the last result, and store it in `names` under the name on the first line.

    Raises: as the lines do; SyntaxError if the name is no identifier.
    """
    name = line.strip()
    if name and not name.isidentifier():
        raise SyntaxError(f"%%matcalc takes a name for the result, not {name[:80]!r}")
    prompt = Prompt()
    answer = ""
    for text in statements(cell.splitlines()):
        answer = prompt.respond(text)
    if prompt.result is None or answer != prompt.shown:
        print(answer)
        return None
    if name:
        names[name] = prompt.result
    return prompt.result
