"""Implements `matcalc export`: writes a formula with its derivatives to a file; --force replaces an existing one."""

from __future__ import annotations

import argparse
import os

from matcalc.api.export import exported, plain_functions
from matcalc.api.plain_tests import plain_test
from matcalc.compiler.files.write_file import write_text
from matcalc.compiler.targets import TARGETS
from matcalc.errors import NotSupported
from matcalc.expressions.as_source import CHECKED, plain_module
from matcalc.language.identifiers import file_path, identifier
from matcalc.plain_source.language import language_of, targets


def run(arguments: argparse.Namespace, wrt: str | list[str]) -> str:
    """Write the file; return an error message, or ""."""
    target = file_path(arguments.output)
    for path in filter(None, [arguments.output, arguments.test]):
        if os.path.lexists(path) and not arguments.force:
            return f"{path} is there already; --force replaces it"
    name = identifier(arguments.name, "name=")
    words = [word.strip() for word in arguments.what.split(",")]
    read = {"declarations": "; ".join(arguments.let), "dialect": arguments.dialect}
    formula = arguments.expression.strip()
    texts = {target: ""}
    if _is_plain(arguments):
        language = language_of(arguments.target)
        if arguments.test is not None and language != CHECKED:
            raise NotSupported(f"no tests are written for {arguments.target}", hint="leave out --test")
        functions = plain_functions(formula, wrt, words, name=name, **read)
        texts[target] = plain_module(functions, language)
        if arguments.test is not None:
            texts[file_path(arguments.test)] = plain_test(functions, target)
    else:
        solve = arguments.scipy_main
        texts[target] = exported(formula, wrt, words, target=arguments.target, name=name, with_solve=solve, **read)
    for path, text in texts.items():
        try:
            write_text(path, text)
        except OSError as error:
            return f"cannot write {path}: {error.strerror}"
    return ""


def _is_plain(arguments: argparse.Namespace) -> bool:
    """Whether plain source is written: by default where the target has it, and no part of a fast file is needed.

    Raises: NotSupported for a style that the target lacks, and for an option of the other style.
    """
    target, style = arguments.target, arguments.style
    if style == "plain" and target not in targets():
        raise NotSupported(f"there is no plain source for {target}", hint=f"one of {', '.join(targets())}")
    if style == "fast" and target not in TARGETS:
        raise NotSupported(f"there is no fast style for {target}", hint=f"one of {', '.join(TARGETS)}")
    is_plain = style == "plain" or (style is None and target in targets() and not arguments.scipy_main)
    if is_plain and arguments.scipy_main:
        raise NotSupported("the solve part is in fast files alone", hint="leave out --style plain")
    if not is_plain and arguments.test is not None:
        raise NotSupported("a fast file tests itself", hint="leave out --test, or write --style plain")
    return is_plain
