"""`matcalc export`: a formula with its derivatives as a file; one that is there stays unless it is said otherwise."""

from __future__ import annotations

import argparse
import os

from matcalc.compiler.runtime.write_file import write_text
from matcalc.exporting import exported
from matcalc.language.identifiers import file_path


def run(arguments: argparse.Namespace, wrt: str | list[str]) -> str:
    """Write the file; return what hindered that, in a sentence."""
    place = file_path(arguments.output)
    if os.path.lexists(place) and not arguments.force:
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
        write_text(place, text)
    except OSError as error:
        return f"cannot write {arguments.output}: {error.strerror}"
    return ""
