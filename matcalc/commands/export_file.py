"""Implements `matcalc export`: writes a formula with its derivatives to a file; --force replaces an existing one."""

from __future__ import annotations

import argparse
import os

from matcalc.api.export import exported
from matcalc.compiler.files.write_file import write_text
from matcalc.language.identifiers import file_path


def run(arguments: argparse.Namespace, wrt: str | list[str]) -> str:
    """Write the file; return an error message, or ""."""
    target = file_path(arguments.output)
    if os.path.lexists(target) and not arguments.force:
        return f"{arguments.output} is there already; --force replaces it"
    text = exported(
        arguments.expression.strip(),
        wrt,
        [word.strip() for word in arguments.what.split(",")],
        declarations="; ".join(arguments.let),
        dialect=arguments.dialect,
        target=arguments.target,
        name=arguments.name,
        with_solve=arguments.scipy_main,
    )
    try:
        write_text(target, text)
    except OSError as error:
        return f"cannot write {arguments.output}: {error.strerror}"
    return ""
