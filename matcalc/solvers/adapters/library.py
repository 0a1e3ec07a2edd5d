"""Checks that the optional library of an adapter is installed."""

from __future__ import annotations

from importlib import import_module


def require(name: str, extra: str = "") -> None:
    """Raise ModuleNotFoundError, with the command that installs the library, if it is missing."""
    try:
        import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        package = f'"matcalc-compiler[{extra}]"' if extra else name
        raise ModuleNotFoundError(f"this needs {name}: pip install {package}", name=name) from None
