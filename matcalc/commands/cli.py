"""Parses the command line; results go to standard output, notes to standard error.

Exit status 0: done; 1: a check failed; 2: bad input. Only the argument parser is imported at the top, since
`matcalc --help` must answer at once, and NumPy, SciPy, SymPy and Numba take 30 to 500 ms each. The commands are
implemented in `handlers.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from matcalc.commands import handlers, warm
from matcalc.compiler.targets import TARGETS
from matcalc.errors import MatcalcError
from matcalc.plain_source.language import languages, targets

FORMS = ("text", "named", "latex", "sympy", *languages(), "json", "dot")
SHOWN = ("text", "named", "latex", "sympy", "dot")
FORM_HELP = "form of the result; on a terminal `named`, with parts by name, where the text does not fit the line"
ALL_TARGETS = tuple(dict.fromkeys((*TARGETS, *targets())))
TARGET_HELP = f"what the file is written for; {TARGETS[0]} by default"
STYLE_HELP = f"plain: as a person writes it, the default for {', '.join(targets())}; fast: kernels and a self-test"
WITH_HELP = "some of value,gradient,hvp,hessian; value,gradient by default"
REWRITTEN = ("simplify", "expand", "factor", "collect", "coefficient", "solve", "inv", "index", "kron")
DERIVATIVES = {
    "gradient": "the gradient of a scalar formula",
    "jacobian": "the (generalised) Jacobian",
    "hessian": "the Hessian of a scalar formula",
    "differential": "the differential, linear in the new symbol dX",
    "vjp": "the pullback of a cotangent G",
    "jvp": "the pushforward of a tangent dX",
    "hvp": "the Hessian times a vector v",
}
EPILOG = """\
Quote formulas: the shell takes ' for itself; A.T, A.mT and A^T are transposes too. `-` reads the formula from
standard input. Exit status: 0 done, 1 a check failed, 2 bad input. `matcalc` alone opens a prompt.

Elementwise are .* ./ .^ and functions; rows and columns expand under .+ .- .* ./ .^. More: norm(X, 'fro'), norm(x, 1),
norm(x, inf), softmax(X, axis=1), sum(X, axis=0), logdet(S), A[1:3, 0]; `matcalc rules` lists all operations.

  matcalc gradient "norm2(X*w - y)^2" --wrt w
  matcalc gradient "-sum(Y.*log(softmax(X*W, axis=1)))" --wrt W
  matcalc gradient "np.sum(np.log(1 + np.exp(-y*(X @ w))))" --wrt w --dialect numpy
  matcalc hessian "sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w" --wrt w --let "lam: scalar" --as latex
  matcalc export "logdet(S) + tr(inv(S)*C)" --wrt S --let "S: matrix(n, n) spd" -o grad.py
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    given = sys.argv[1:] if argv is None else list(argv)
    if not given and sys.stdin.isatty() and sys.stdout.isatty():
        from matcalc.commands import prompt

        return prompt.run()
    arguments = parser().parse_args([shield(word) for word in given])
    try:
        if getattr(arguments, "expression", "") == "-":
            arguments.expression = sys.stdin.read()
        status = int(arguments.run(arguments))
        sys.stdout.flush()
        return status
    except MatcalcError as error:
        return handlers.complain(f"{type(error).__name__}: {error}")
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, UnicodeError) as error:
        return handlers.complain(str(error))


def shield(word: str) -> str:
    """Return a word with a space before a leading minus sign (`-logdet(X)`), so that it is not read as an option."""
    is_option = word in ("-", "-h", "-o") or word.startswith("--") or not word.startswith("-")
    return word if is_option else f" {word}"


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="matcalc",
        description="Derivatives of matrix formulas: as formulas, and as compiled code.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=installed_version())
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, says in DERIVATIVES.items():
        command = add(commands, name, says, handlers.derivative)
        formula(command)
        command.set_defaults(command=name)
        command.add_argument("--as", dest="form", choices=FORMS, help=FORM_HELP)
        if name in ("jacobian", "hessian"):
            command.add_argument("--layout", choices=("tensor", "vec"), help="vec: a matrix by columns")
        if name == "gradient":
            command.add_argument("--convention", choices=("projected", "magnus"))
        if name in NEW_SYMBOL:
            command.add_argument(f"--{NEW_SYMBOL[name]}", metavar="NAME", help="name of the new symbol")
    command = add(commands, "explain", "the derivation, step by step", handlers.explain)
    formula(command)
    command.add_argument("--as", dest="form", choices=("text", "latex", "markdown"), default="text", help="form")
    command.add_argument("--of", choices=tuple(DERIVATIVES), help="what is derived: gradient or jacobian by default")
    command = add(commands, "rewrite", "the formula in another form", handlers.rewrite)
    command.add_argument("expression", metavar="EXPR", help="the formula; - reads standard input")
    command.add_argument("--to", choices=REWRITTEN, default="simplify", help="the form; simplify by default")
    command.add_argument("--of", metavar="NAME", help="the symbol of collect and coefficient")
    declarations(command)
    command.add_argument("--as", dest="form", choices=SHOWN, help=FORM_HELP)
    command = add(commands, "check", "test a derivative numerically; exit status 1 when it fails", handlers.check)
    formula(command)
    command.add_argument("--against", metavar="FORMULA", help="a formula for the derivative to be tested")
    command.add_argument("--plain", action="store_true", help="test the formulas alone, and no compiled code")
    command = add(commands, "equivalent", "are two formulas equal? exit status 1 when not", handlers.equivalent)
    command.add_argument("first", metavar="A")
    command.add_argument("second", metavar="B")
    command.add_argument(
        "--domain", choices=("first", "common"), default="first", help="where: the first is defined, or both are"
    )
    declarations(command)
    command = add(commands, "convex", "is a formula convex? exit status 1 when that is not proved", handlers.convex)
    formula(command)
    command = add(commands, "export", "write value and derivatives as a stand-alone file", handlers.export)
    formula(command)
    command.add_argument("-o", "--output", metavar="FILE", required=True)
    command.add_argument("--with", dest="what", metavar="WHAT", default="value,gradient", help=WITH_HELP)
    command.add_argument("--name", default="f", help="name of the function; f by default")
    command.add_argument("--scipy-main", action="store_true", help="`python FILE solve` minimises with SciPy")
    command.add_argument("--force", action="store_true", help="replace a file that is there")
    command.add_argument("--target", choices=ALL_TARGETS, default=TARGETS[0], help=TARGET_HELP)
    command.add_argument("--style", choices=("plain", "fast"), help=STYLE_HELP)
    command.add_argument("--test", metavar="FILE", help="of plain source: write its tests, for pytest")
    command = add(
        commands, "rules", "the rulebook: formula, domain, source, file, line, measured error", handlers.rules
    )
    command.add_argument(
        "name", nargs="?", metavar="NAME", help="one rule, with its adjoint as derived; or a rule file (.toml), tested"
    )
    command.add_argument(
        "--as", dest="form", choices=("text", "latex", "json"), default="text", help="form of the result"
    )
    add(commands, "demo", "a real model fitted on real data, start to finish", handlers.demo)
    command = add(commands, "docs", "open the documentation; a checkout builds it first", handlers.documentation)
    command.add_argument("--no-open", action="store_true", help="print its address alone")
    command = add(commands, "warm", "compile all kernels for this machine, once for all functions", warm.warm)
    command.add_argument("--jobs", type=int, default=0, metavar="N", help="processes; one for each processor")
    command.add_argument("--measure", action="store_true", help="take another BLAS where it is faster than SciPy's")
    command.add_argument("--blas", metavar="LIBRARY", help="of --measure: the path of a library, or mkl, the default")
    command.add_argument("--forget", action="store_true", help="undo --measure: SciPy's OpenBLAS does all again")
    command.add_argument("--ship", action="store_true", help="compile for levels of processors, into files for a wheel")
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")
    command = add(commands, "serve", "a page on this machine: formula, derivative, why, and code", handlers.serve)
    command.add_argument("--port", type=int, default=7340, metavar="N", help="7340 by default; a free one if taken")
    command.add_argument("--no-open", action="store_true", help="print its address alone")
    return top


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

# The option that names the new symbol of a derivative.
NEW_SYMBOL = {"differential": "tangent", "jvp": "tangent", "vjp": "cotangent", "hvp": "vector"}


def add(commands: Commands, name: str, says: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=says, description=says[0].upper() + says[1:] + "."
    )
    command.set_defaults(run=run)
    return command


def formula(command: argparse.ArgumentParser) -> None:
    """Add the arguments of every command on one formula."""
    command.add_argument("expression", metavar="EXPR", help="the formula; - reads standard input")
    command.add_argument(
        "--wrt", metavar="NAME", action="append", required=True, help="the variable; several: U,V or repeated"
    )
    declarations(command)


def declarations(command: argparse.ArgumentParser) -> None:
    """Add the options of every command that reads formulas."""
    command.add_argument(
        "--let", metavar="DECL", action="append", default=[], help='declarations: "X: matrix(m, n) positive"'
    )
    command.add_argument("--dialect", choices=("matrix", "numpy", "latex"), default="matrix", help="spelling of EXPR")
    command.add_argument("--quiet", action="store_true", help="no notes on standard error, such as inferred kinds")


def installed_version() -> str:
    try:
        return f"matcalc {version('matcalc-compiler')}"
    except PackageNotFoundError:
        return "matcalc (not installed)"
