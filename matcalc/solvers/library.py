"""The libraries of adapters, which are installed where they are wanted: one sentence where one is not there."""

from __future__ import annotations

from importlib import import_module


def require(name: str, extra: str = "") -> None:
    """Raise ModuleNotFoundError that says what to install unless a library is there."""
    try:
        import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        wanted = f'"matcalc-compiler[{extra}]"' if extra else name
        raise ModuleNotFoundError(f"this needs {name}: pip install {wanted}", name=name) from None
