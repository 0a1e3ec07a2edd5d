"""Implements the commands: a handler takes the parsed arguments, prints, and returns the exit status.

Each handler imports its own modules, since `matcalc --help` must answer at once.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from matcalc.commands.output import say

if TYPE_CHECKING:
    from matcalc.expressions.expression import Expression
    from matcalc.expressions.operands.handle import Derived


def complain(message: str) -> int:
    say(message, sys.stderr)
    return 2


# Reading the arguments


def variables(arguments: argparse.Namespace) -> str | list[str]:
    """Return the only name of --wrt, or the list of several."""
    names = [name.strip() for word in arguments.wrt for name in word.split(",")]
    return names[0] if len(names) == 1 else names


def scope(arguments: argparse.Namespace) -> dict[str, str]:
    return {"declarations": "; ".join(arguments.let), "dialect": arguments.dialect}


def read(arguments: argparse.Namespace, *formulas: str) -> list[Expression]:
    """Return formulas in one scope; print a note with the kinds and sizes of undeclared symbols."""
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
    """Print a derivative; blocks for several variables are labelled."""
    import matcalc as mc
    from matcalc.plain_source.language import languages

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
    if arguments.form in languages():
        print(mc.plain(result, language=arguments.form, name=arguments.command), end="")
        return 0
    for label, expression in blocks:
        say(f"{label}: {shown(expression, arguments.form)}" if label else shown(expression, arguments.form))
    for need in dict.fromkeys(need for _, expression in blocks for need in expression.needs):
        note(arguments, f"note: needs {need}")
    return 0


def labelled(result: Derived, names: Sequence[str]) -> Iterator[tuple[str, Expression]]:
    """Yield the expressions of a result, each with its variables."""
    if not isinstance(result, (tuple, list)):
        yield "", result
        return
    for name, block in zip(names, result, strict=True):
        if isinstance(block, (tuple, list)):
            yield from ((f"{name}, {other}", entry) for other, entry in zip(names, block, strict=True))
        else:
            yield name, block


def shown(expression: Expression, form: str | None) -> str:
    """Return an expression in a form, by default text; on a terminal with named parts if it does not fit the line."""
    if form is None and sys.stdout.isatty() and len(str(expression)) > shutil.get_terminal_size().columns:
        form = "named"
    return str(expression if form in (None, "text") else getattr(expression, form)()).rstrip("\n")


def record(arguments: argparse.Namespace, blocks: list[tuple[str, Expression]]) -> dict[str, object]:
    """Return the machine-readable form; `schema` changes if a field changes its meaning."""
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
        say(f"{label}:\n{shown}" if label else shown)
    return 0


def rewrite(arguments: argparse.Namespace) -> int:
    (e,) = read(arguments, arguments.expression)
    if arguments.to in ("collect", "coefficient"):
        if arguments.of is None:
            return complain(f"{arguments.to} needs --of NAME")
        made = getattr(e, arguments.to)(arguments.of)
    else:
        made = getattr(e, arguments.to)() if hasattr(e, arguments.to) else e.rewrite(arguments.to)
    say(shown(made, arguments.form))
    return 0


def verdict(found: object) -> int:
    say(found)
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
    """Print the rulebook, or the pages of the rules of a name, or a rule file with its tests."""
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
        say(rule_pages.listed(book))
    else:
        say("\n\n".join(rule_pages.text(rule_pages.page(rule)) for rule in chosen))
    return 0


def documentation(arguments: argparse.Namespace) -> int:
    import matcalc.commands.documentation

    print(matcalc.commands.documentation.run(not arguments.no_open).as_uri())
    return 0


def serve(arguments: argparse.Namespace) -> int:
    import matcalc.page.serve

    return matcalc.page.serve.run(arguments.port, not arguments.no_open)


def demo(arguments: argparse.Namespace) -> int:
    import matcalc.commands.demo

    return matcalc.commands.demo.run(sys.stdout)
