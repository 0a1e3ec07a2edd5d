"""The command line: results on standard output, notes on standard error.

Exit status 0: done; 1: a check failed; 2: bad input. Nothing but the argument parser is imported at the top:
`matcalc --help` has to answer at once, and NumPy, SciPy, SymPy and Numba take 30 to 500 ms each. A command is
a handler that gets the parsed arguments, prints, and returns the exit status.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeAlias

from matcalc.compiler.targets import TARGETS
from matcalc.errors import MatcalcError

if TYPE_CHECKING:
    from matcalc.expressions.expression import Expression
    from matcalc.expressions.handle import Derived

FORMS = ("text", "named", "latex", "sympy", "python", "json", "dot")
SHOWN = ("text", "named", "latex", "sympy", "dot")
FORM_HELP = "form of the result; on a terminal `named`, with parts by name, where the text does not fit the line"
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
standard input. Exit status: 0 done, 1 a check failed, 2 bad input.

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
    arguments = parser().parse_args([shield(word) for word in given])
    try:
        if getattr(arguments, "expression", "") == "-":
            arguments.expression = sys.stdin.read()
        status = int(arguments.run(arguments))
        sys.stdout.flush()
        return status
    except MatcalcError as error:
        return complain(f"{type(error).__name__}: {error}")
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, UnicodeError) as error:
        return complain(str(error))


def complain(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


def shield(word: str) -> str:
    """Keep a formula that begins with a minus sign (`-logdet(X)`) from being read as an option."""
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
        command = add(commands, name, says, derivative)
        formula(command)
        command.set_defaults(command=name)
        command.add_argument("--as", dest="form", choices=FORMS, help=FORM_HELP)
        if name in ("jacobian", "hessian"):
            command.add_argument("--layout", choices=("tensor", "vec"), help="vec: a matrix by columns")
        if name == "gradient":
            command.add_argument("--convention", choices=("projected", "magnus"))
        if name in NEW_SYMBOL:
            command.add_argument(f"--{NEW_SYMBOL[name]}", metavar="NAME", help="name of the new symbol")
        target(command, "target of --as python")
    command = add(commands, "explain", "the derivation, step by step", explain)
    formula(command)
    command.add_argument("--as", dest="form", choices=("text", "latex", "markdown"), default="text", help="form")
    command.add_argument("--of", choices=tuple(DERIVATIVES), help="what is derived: gradient or jacobian by default")
    command = add(commands, "rewrite", "the formula in another form", rewrite)
    command.add_argument("expression", metavar="EXPR", help="the formula; - reads standard input")
    command.add_argument("--to", choices=REWRITTEN, default="simplify", help="the form; simplify by default")
    command.add_argument("--of", metavar="NAME", help="the symbol of collect and coefficient")
    declarations(command)
    command.add_argument("--as", dest="form", choices=SHOWN, help=FORM_HELP)
    command = add(commands, "check", "test a derivative numerically; exit status 1 when it fails", check)
    formula(command)
    command.add_argument("--against", metavar="FORMULA", help="a formula for the derivative to be tested")
    command.add_argument("--plain", action="store_true", help="test the formulas alone, and no compiled code")
    command = add(commands, "equivalent", "are two formulas equal? exit status 1 when not", equivalent)
    command.add_argument("first", metavar="A")
    command.add_argument("second", metavar="B")
    command.add_argument(
        "--domain", choices=("first", "common"), default="first", help="where: the first is defined, or both are"
    )
    declarations(command)
    command = add(commands, "convex", "is a formula convex? exit status 1 when that is not proved", convex)
    formula(command)
    command = add(commands, "export", "write value and derivatives as a stand-alone file", export)
    formula(command)
    command.add_argument("-o", "--output", metavar="FILE", required=True)
    command.add_argument("--with", dest="what", metavar="WHAT", default="value,gradient", help=WITH_HELP)
    command.add_argument("--name", default="f", help="name of the function; f by default")
    command.add_argument("--scipy-main", action="store_true", help="`python FILE solve` minimises with SciPy")
    command.add_argument("--force", action="store_true", help="replace a file that is there")
    target(command, "what the file is written for")
    command = add(commands, "rules", "the rulebook: formula, domain, source, file and line, measured error", rules)
    command.add_argument(
        "name", nargs="?", metavar="NAME", help="one rule, with its adjoint as derived; or a rule file (.toml), tested"
    )
    command.add_argument(
        "--as", dest="form", choices=("text", "latex", "json"), default="text", help="form of the result"
    )
    add(commands, "demo", "a real model fitted on real data, start to finish", demo)
    return top


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

# The option that names the new symbol of a derivative, where it has one.
NEW_SYMBOL = {"differential": "tangent", "jvp": "tangent", "vjp": "cotangent", "hvp": "vector"}


def add(commands: Commands, name: str, says: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=says, description=says[0].upper() + says[1:] + "."
    )
    command.set_defaults(run=run)
    return command


def formula(command: argparse.ArgumentParser) -> None:
    """Add what every command on one formula takes."""
    command.add_argument("expression", metavar="EXPR", help="the formula; - reads standard input")
    command.add_argument(
        "--wrt", metavar="NAME", action="append", required=True, help="the variable; several: U,V or repeated"
    )
    declarations(command)


def target(command: argparse.ArgumentParser, says: str) -> None:
    command.add_argument("--target", choices=TARGETS, default=TARGETS[0], help=f"{says}; {TARGETS[0]} by default")


def declarations(command: argparse.ArgumentParser) -> None:
    """Add what every command that reads formulas takes."""
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


# What the arguments say


def variables(arguments: argparse.Namespace) -> str | list[str]:
    """Return the one name given by --wrt, or the list of several."""
    names = [name.strip() for word in arguments.wrt for name in word.split(",")]
    return names[0] if len(names) == 1 else names


def scope(arguments: argparse.Namespace) -> dict[str, str]:
    return {"declarations": "; ".join(arguments.let), "dialect": arguments.dialect}


def read(arguments: argparse.Namespace, *formulas: str) -> list[Expression]:
    """Return formulas in one scope; a note says the kinds and sizes of symbols that were not declared."""
    from matcalc.expressions.read_input import expressions
    from matcalc.language.declare import MARK
    from matcalc.tensor.symbols import declaration

    let = "; ".join(arguments.let)
    made = expressions([formula.strip() for formula in formulas], let, arguments.dialect)
    inferred = {s.name: declaration(s) for e in made for s in e.names.ordered() if s.name in e.names.undeclared}
    if inferred:
        note(arguments, "; ".join(inferred.values()) + MARK)
    return made


def note(arguments: argparse.Namespace, message: str) -> None:
    if not arguments.quiet:
        print(message, file=sys.stderr)


# Commands


def derivative(arguments: argparse.Namespace) -> int:
    """Print a derivative; several blocks (for several variables) are labelled."""
    import matcalc as mc

    options: dict[str, Any] = scope(arguments)
    for name in ("layout", "convention", "tangent", "cotangent", "vector"):
        if getattr(arguments, name, None) is not None:
            options[name] = getattr(arguments, name)
    wrt = variables(arguments)
    read(arguments, arguments.expression)
    result = getattr(mc, arguments.command)(arguments.expression.strip(), wrt, **options)
    blocks = list(labelled(result, [wrt] if isinstance(wrt, str) else wrt))
    if arguments.form == "json":
        print(json.dumps(record(arguments, blocks), indent=2, ensure_ascii=False))
        return 0
    if arguments.form == "python":
        print(mc.compile(result, target=arguments.target).source, end="")
        return 0
    for label, expression in blocks:
        print(f"{label}: {shown(expression, arguments.form)}" if label else shown(expression, arguments.form))
    for need in dict.fromkeys(need for _, expression in blocks for need in expression.needs):
        note(arguments, f"note: needs {need}")
    return 0


def labelled(result: Derived, names: Sequence[str]) -> Iterator[tuple[str, Expression]]:
    """Yield the expressions of a result with the variables that each belongs to."""
    if not isinstance(result, (tuple, list)):
        yield "", result
        return
    for name, block in zip(names, result, strict=True):
        if isinstance(block, (tuple, list)):
            yield from ((f"{name}, {other}", entry) for other, entry in zip(names, block, strict=True))
        else:
            yield name, block


def shown(expression: Expression, form: str | None) -> str:
    """Return an expression in a form; by default its text, on a terminal by parts where it does not fit the line."""
    if form is None and sys.stdout.isatty() and len(str(expression)) > shutil.get_terminal_size().columns:
        form = "named"
    return str(expression if form in (None, "text") else getattr(expression, form)()).rstrip("\n")


def record(arguments: argparse.Namespace, blocks: list[tuple[str, Expression]]) -> dict[str, object]:
    """Return the machine-readable form; `schema` changes when a field changes its meaning."""
    return {
        "schema": 1,
        "command": arguments.command,
        "expression": arguments.expression.strip(),
        "wrt": variables(arguments),
        "results": [
            {
                "block": label or None,
                "shape": [str(size) for size in expression.shape],
                "symbols": [str(name) for name in expression.symbols],
                "declarations": str(expression.declarations),
                "text": str(expression),
                "latex": str(expression.latex()),
            }
            for label, expression in blocks
        ],
    }


def explain(arguments: argparse.Namespace) -> int:
    import matcalc as mc

    text, wrt = arguments.expression.strip(), variables(arguments)
    is_scalar = read(arguments, text)[0].shape == ()
    of = arguments.of or ("gradient" if is_scalar else "jacobian")
    result = getattr(mc, of)(text, wrt, **scope(arguments))
    for label, expression in labelled(result, [wrt] if isinstance(wrt, str) else wrt):
        shown = expression.explain(arguments.form)
        print(f"{label}:\n{shown}" if label else shown)
    return 0


def rewrite(arguments: argparse.Namespace) -> int:
    (e,) = read(arguments, arguments.expression)
    if arguments.to in ("collect", "coefficient"):
        if arguments.of is None:
            return complain(f"{arguments.to} needs --of NAME")
        made = getattr(e, arguments.to)(arguments.of)
    else:
        made = getattr(e, arguments.to)() if hasattr(e, arguments.to) else e.rewrite(arguments.to)
    print(shown(made, arguments.form))
    return 0


def verdict(found: object) -> int:
    print(found)
    return 0 if found else 1


def check(arguments: argparse.Namespace) -> int:
    import matcalc as mc

    read(arguments, arguments.expression, *([arguments.against] if arguments.against else []))
    given = {"against": arguments.against, "compiled": not arguments.plain}
    report = mc.check(arguments.expression.strip(), variables(arguments), **given, **scope(arguments))
    return verdict(report)


def equivalent(arguments: argparse.Namespace) -> int:
    import matcalc as mc

    read(arguments, arguments.first, arguments.second)
    found = mc.equivalent(arguments.first, arguments.second, domain=arguments.domain, **scope(arguments))
    return verdict(found)


def convex(arguments: argparse.Namespace) -> int:
    import matcalc as mc

    read(arguments, arguments.expression)
    found = mc.convex(arguments.expression.strip(), variables(arguments), **scope(arguments))
    return verdict(found)


def export(arguments: argparse.Namespace) -> int:
    from matcalc.commands.export_file import run

    read(arguments, arguments.expression)
    fault = run(arguments, variables(arguments))
    if fault:
        return complain(fault)
    note(arguments, f"wrote {arguments.output}")
    return 0


def rules(arguments: argparse.Namespace) -> int:
    """Print the rulebook, or the pages of the rules that a name stands for, or a rule file with its tests."""
    from matcalc.commands import rule_pages
    from matcalc.rulebook.load import default_rulebook

    if arguments.name is not None and arguments.name.endswith(".toml"):
        print(rule_pages.tested(arguments.name))
        return 0
    book = default_rulebook()
    chosen = list(book.rules.values()) if arguments.name is None else book.named(arguments.name)
    if arguments.form == "json":
        shown = [
            rule_pages.as_record(r) if arguments.name is None else rule_pages.as_json(rule_pages.page(r))
            for r in chosen
        ]
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    elif arguments.form == "latex":
        for rule in chosen:
            print(f"% {rule.name}, {rule.address}")
            print(rule_pages.as_latex(rule_pages.page(rule)))
    elif arguments.name is None:
        print(rule_pages.listed(book))
    else:
        print("\n\n".join(rule_pages.text(rule_pages.page(rule)) for rule in chosen))
    return 0


def demo(arguments: argparse.Namespace) -> int:
    import matcalc.commands.demo

    return matcalc.commands.demo.run(sys.stdout)
