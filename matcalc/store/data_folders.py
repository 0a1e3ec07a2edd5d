"""Finds the data folders: inside the package if it is installed, beside it in a checkout.

`rules/` (the mathematics) and `codegen/` (the targets) are at the top of the repository, for people to read and edit.
They are mapped into the wheel as package data. Only this module knows both locations.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from matcalc.errors import NotSupported


@cache
def data_folder(name: str) -> Path:
    """Return the data folder `name` ("rules" or "codegen").

    Raises: NotSupported if the installation lacks it.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / name, package.parent / name):
        if any(folder.glob("*.toml")):
            return folder
    raise NotSupported(f"this installation of matcalc lacks its folder {name}/", hint=f"looked beside and in {package}")
