"""Copies a user's function so that the names in it have other values: `np`, `len`, `scipy.special`, helper functions.

Only the copy sees them. Neither a module nor the user's function is changed. The code is the same but for its
loops, so errors have the user's lines.
"""

from __future__ import annotations

import builtins
import sys
from abc import update_abstractmethods
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from matcalc.expressions.loops.source import rewritten

OWN = frozenset(("numpy", "scipy", "matcalc", "sympy", "numba"))
"""Packages whose functions are never copied."""


class Values:
    """The values that names have in a copied function; `table` holds replacements by the identity of the original."""

    def __init__(self, table: Mapping[int, Any], attributes: Callable[[ModuleType], Mapping[str, Any] | None]) -> None:
        self.table, self.attributes = table, attributes
        self.copies: dict[int, tuple[Any, Any]] = {}
        names = {name: table.get(id(value), value) for name, value in vars(builtins).items()}
        names["__import__"] = self._imported
        self.builtins = names

    def of(self, value: Any) -> Any:
        """Return the value that a name has in a copied function."""
        found = self.table.get(id(value))
        if found is not None:
            return found
        known = self.copies.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        if isinstance(value, ModuleType):
            return self._kept(value, self._module(value))
        if isinstance(value, MethodType) and isinstance(value.__func__, FunctionType) and _is_users(value.__func__):
            return MethodType(self.of(value.__func__), Owner(value.__self__, self))
        if isinstance(value, partial):
            return partial(self.of(value.func), *value.args, **value.keywords)
        if isinstance(value, FunctionType) and _is_users(value):
            return self._copied(value)
        if isinstance(value, type) and _has_methods(value):
            return self._kept(value, self._class(value))
        if type(value) in (dict, list, tuple):
            return self._table(value)
        return value

    def _table(self, table: Any) -> Any:
        """Return a container in which functions are copies; one without functions as it is."""
        entries = list(table.values() if isinstance(table, dict) else table)
        if not any(map(callable, entries)):
            return table
        new: Any = table if isinstance(table, tuple) else type(table)()
        self._kept(table, new)  # before its functions, which may close over it
        copies = [self.of(one) if callable(one) else one for one in entries]
        if isinstance(table, tuple):
            return self._kept(table, tuple(copies))
        new.update(zip(table, copies, strict=True)) if isinstance(table, dict) else new.extend(copies)
        return new

    def _kept(self, value: Any, new: Any) -> Any:
        self.copies[id(value)] = (value, new)
        return new

    def _module(self, module: ModuleType) -> Any:
        root = module.__name__.partition(".")[0]
        own = self.attributes(module)
        if own is None and root in (*OWN, *sys.stdlib_module_names):
            return module
        return Module(module, own or {}, self)

    def _copied(self, function: FunctionType) -> FunctionType:
        scope: dict[str, Any] = {"__builtins__": self.builtins, "__name__": function.__module__}
        code = rewritten(function)
        new = FunctionType(code, scope, function.__name__, None, self._cells(function))
        self._kept(function, new)
        new.__kwdefaults__ = function.__kwdefaults__
        new.__defaults__ = function.__defaults__
        new.__qualname__, new.__module__ = function.__qualname__, function.__module__
        new.__dict__.update({k: v for k, v in function.__dict__.items() if k != "__wrapped__"})
        theirs = function.__globals__
        scope.update({name: self.of(theirs[name]) for name in _names(function.__code__) if name in theirs})
        return new

    def _class(self, theirs: type) -> type:
        """Return a subclass of a user's class whose methods are copies; its bases are too, so `super()` finds them."""
        bases = [self.of(base) for base in theirs.__bases__ if _has_methods(base)]
        kinds = tuple(dict.fromkeys([*map(type, bases), type(theirs)]))
        meta = type("Meta", kinds, {"__instancecheck__": lambda _, one: isinstance(one, theirs)})
        made: type = meta(theirs.__name__, (*bases, theirs), {"__module__": theirs.__module__, "__slots__": ()})
        self.copies[id(theirs)] = (theirs, made)
        for name, value in vars(theirs).items():
            new = self._member(value)
            if new is not value:
                setattr(made, name, new)
        return update_abstractmethods(made)

    def _member(self, value: Any) -> Any:
        """Return a member of a class with its functions copied."""
        if isinstance(value, (staticmethod, classmethod)):
            return type(value)(self.of(value.__func__))
        if isinstance(value, property):
            get, set_, delete = (one and self.of(one) for one in (value.fget, value.fset, value.fdel))
            return property(get, set_, delete, value.__doc__)
        return self.of(value) if _is_written(value) else value

    def _cells(self, function: FunctionType) -> tuple[CellType, ...] | None:
        return None if function.__closure__ is None else tuple(self._cell(cell) for cell in function.__closure__)

    def _cell(self, cell: CellType) -> CellType:
        try:
            value = cell.cell_contents
        except ValueError:  # a name without a value yet
            return cell
        if isinstance(value, FunctionType) and _is_users(value) and id(value) not in self.copies:
            new = CellType()
            self.copies[id(cell)] = (cell, new)
            new.cell_contents = self.of(value)
            return new
        found = self.of(value)
        return cell if found is value else CellType(found)

    def _imported(self, *args: Any, **keywords: Any) -> Any:
        """Return the result of an import statement in a copied function."""
        return self.of(builtins.__import__(*args, **keywords))


class Module(ModuleType):
    """A module inside a copied function."""

    def __init__(self, module: ModuleType, own: Mapping[str, Any], values: Values) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update({"_module": module, "_values": values, **own})

    def __getattr__(self, name: str) -> Any:
        return self._values.of(getattr(self._module, name))

    def __dir__(self) -> list[str]:
        return dir(self._module)


class Owner:
    """The object of a copied method; its other methods are copies too."""

    def __init__(self, owner: Any, values: Values) -> None:
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_values", values)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._owner)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._owner, name)
        is_method = isinstance(value, (MethodType, FunctionType, BuiltinFunctionType))
        return self._values.of(value) if is_method else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._owner, name, value)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names that code uses, with those of the functions inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_written(value: object) -> bool:
    """Whether a member of a class is a function that the user wrote, not one that `dataclass` generated."""
    return isinstance(value, FunctionType) and _is_users(value) and value.__code__.co_filename != "<string>"


def _has_methods(kind: type) -> bool:
    """Whether a class has methods that the user wrote; exceptions, enumerations and tuples remain as they are."""
    if issubclass(kind, (BaseException, Enum, tuple)):
        return False
    return any(map(_is_written, vars(kind).values())) or any(map(_has_methods, kind.__bases__))


def _is_users(function: FunctionType) -> bool:
    root = (function.__module__ or "").partition(".")[0]
    return root not in OWN and root not in sys.stdlib_module_names or root == "__main__"
