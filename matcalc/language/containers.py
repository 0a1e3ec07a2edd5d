"""Defines containers of arrays, as people keep parameters: dictionaries, lists, tuples, named tuples, dataclasses.

A form describes a container: its class, and for each key a symbol's name or the form of an inner container. The arrays
of a container are symbols with the names of their paths: `params.W1` is the symbol `params_W1`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import count
from typing import Any, TypeAlias, TypeGuard, get_type_hints

from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.language.identifiers import nearest, shown
from matcalc.language.syntax import Ast

Key: TypeAlias = "str | int"
Part: TypeAlias = "str | Form"
"""The name of a symbol, or the form of a container."""
Path: TypeAlias = tuple[Key, ...]

HINT = "a container of arrays is a dictionary, list, tuple, named tuple or dataclass"


class Parts(dict[str, Any]):
    """A dictionary of declared parts whose values are attributes too: its class is not declared."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class Form:
    """The class of a container and its parts by key. A part is the name of a symbol or a form."""

    kind: type
    parts: tuple[tuple[Key, Part], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the symbols, in order."""
        return tuple(name for _, part in self.parts for name in names_in(part))

    def leaves(self, value: object, what: str) -> dict[str, Any]:
        """Return the arrays in a container of this form by the names of their symbols; `what` names it in errors.

        Raises: TypeError for a container with other keys.
        """
        found: dict[str, Any] = {}
        own = items(value)
        if own is None:
            raise TypeError(f"{what} is a container with {_listed(self.parts)}, not {shown(value)}")
        given = dict(own)
        extra = next((key for key in given if key not in dict(self.parts)), None)
        if extra is not None:
            raise TypeError(f"{what} has no {extra}{nearest(str(extra), [str(key) for key, _ in self.parts])}")
        for key, part in self.parts:
            if key not in given:
                raise TypeError(f"{what} lacks {key}: it has {_listed(self.parts)}")
            if isinstance(part, Form):
                found |= part.leaves(given[key], f"{what}.{key}")
            elif isinstance(given[key], (str, bytes, dict)):
                raise TypeError(f"{what}.{key} is {shown(given[key])}, which is no array")
            else:
                found[part] = given[key]
        return found

    def filled(self, arrays: Mapping[str, Any], like: object = None) -> Any:
        """Return a container with arrays, by the names of their symbols; of the class of `like` if that is not None."""
        own = {} if like is None else dict(items(like) or ())
        made = {
            key: part.filled(arrays, own.get(key)) if isinstance(part, Form) else arrays[part]
            for key, part in self.parts
        }
        kind = self.kind if like is None else type(like)
        if kind is type(None):
            return None
        if issubclass(kind, dict):
            return _dictionary(kind, made, like)
        if hasattr(kind, "_fields"):
            return kind(**{str(key): one for key, one in made.items()})
        if issubclass(kind, (list, tuple)):
            return kind(made.values())
        return _record(kind, made)

    def at(self, words: Sequence[str]) -> tuple[Path, Part] | None:
        """Return the path with these words as keys, and the part there; None if there is none."""
        path: Path = ()
        found: Part = self
        for word in words:
            inner = found.parts if isinstance(found, Form) else ()
            key, found = next(((key, part) for key, part in inner if str(key) == word), ("", ""))
            if not found:
                return None
            path = (*path, key)
        return path, found

    def plain(self) -> Form:
        """Return the form with dictionaries for containers whose class is not declared."""
        parts = tuple((key, part.plain() if isinstance(part, Form) else part) for key, part in self.parts)
        return Form(dict if self.kind is Parts else self.kind, parts)

    def renamed(self, names: Mapping[str, str]) -> Form:
        """Return the form with other names of symbols."""
        parts = ((key, p.renamed(names) if isinstance(p, Form) else names[p]) for key, p in self.parts)
        return Form(self.kind, tuple(parts))

    def of_class(self, kind: object) -> Form:
        """Return the form with a class that a parameter is annotated with, if that has these parts."""
        words = [key for key, _ in self.parts]
        declared = _fields_of(kind) if isinstance(kind, type) else None
        if declared is not None and isinstance(kind, type) and sorted(declared) == sorted(map(str, words)):
            hints = _hints(kind)
            inner = {str(key): part for key, part in self.parts}
            parts = {name: inner[name] for name in declared}
            found = {n: p.of_class(hints.get(n)) if isinstance(p, Form) else p for n, p in parts.items()}
            return Form(kind, tuple(found.items()))
        if kind is tuple or getattr(kind, "__origin__", None) is tuple:
            return Form(tuple, self.parts) if self.kind is list else self
        return self


def refilled(container: object, parts: Sequence[Any]) -> Any:
    """Return a container like another one, with other parts in the same order."""
    keys = [key for key, _ in items(container) or ()]
    names = list(map(str, range(len(keys))))
    return Form(type(container), tuple(zip(keys, names, strict=True))).filled(dict(zip(names, parts, strict=True)))


def names_in(part: Part) -> tuple[str, ...]:
    """Return the names of the symbols in a part."""
    return part.names if isinstance(part, Form) else (part,)


@dataclass(frozen=True)
class Variables:
    """Variables of differentiation, some of which are containers or parts of them.

    `wrt` are the symbols, a list unless the one variable is a symbol; `parts` is a form or a symbol for each variable.
    `paths` are their positions in the arguments.
    """

    wrt: Any
    parts: tuple[Any, ...]
    paths: tuple[Path, ...]
    is_listed: bool

    def results(self, first: int) -> Results:
        """Return the containers of results for the symbols, which are numbered from `first` on."""
        numbers = count(first)
        found: list[Results] = []
        for part, (name, *path) in zip(self.parts, self.paths, strict=True):
            if isinstance(part, Form):
                new = {leaf: str(next(numbers)) for leaf in part.names}
                found.append(Filled(part.renamed(new), str(name), tuple(path)))
            else:
                found.append(next(numbers))
        return tuple(found) if self.is_listed else found[0]

    def nested(self, results: Any, depth: int = 1) -> Any:
        """Return results for the symbols in the containers; of rows of results with `depth` 2, none with 0."""
        if depth == 0 or not isinstance(self.wrt, list):
            return results
        values = iter([self.nested(row, depth - 1) for row in results] if depth > 1 else results)
        made = [
            part.filled(dict(zip(part.names, values, strict=False))) if isinstance(part, Form) else next(values)
            for part in self.parts
        ]
        return tuple(made) if self.is_listed else made[0]


def variables_in(wrt: Any, forms: Mapping[str, Form]) -> Variables | None:
    """Return the variables if one is a container or a part of one: `params`, `params.layers.0`; else None.

    Raises: UnknownName for a part that a container lacks.
    """
    listed = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    if not forms or not any(isinstance(one, str) and one.partition(".")[0] in forms for one in listed):
        return None
    read = [_variable(one, forms) for one in listed]
    parts = tuple(part for part, _ in read)
    symbols = [name for part in parts for name in (part.names if isinstance(part, Form) else (part,))]
    is_listed = isinstance(wrt, (list, tuple))
    alone = not is_listed and not isinstance(parts[0], Form)
    return Variables(symbols[0] if alone else symbols, parts, tuple(path for _, path in read), is_listed)


def _variable(one: Any, forms: Mapping[str, Form]) -> tuple[Any, Path]:
    """Return a variable, as a form if it is a container, and its position in the arguments."""
    name, *words = one.split(".") if isinstance(one, str) else ("",)
    if name not in forms:
        return one, (name,)
    found = forms[name].at(words)
    if found is None:
        inner = ", ".join(f"{name}.{key}" for key, _ in forms[name].parts)
        raise UnknownName(f"{one} is no part of {name}", hint=f"its parts are {inner}")
    path, part = found
    return part.plain() if isinstance(part, Form) else part, (name, *path)


@dataclass(frozen=True)
class Filled:
    """A container of results, whose form has their numbers as names.

    `argument` and `path` name the container of which the result has the class, if there is one.
    """

    form: Form
    argument: str = ""
    path: Path = ()

    def of(self, values: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
        """Return the container of results, for the arguments of the call."""
        like = arguments.get(self.argument)
        for key in self.path:
            like = dict(items(like) or ()).get(key)
        return self.form.filled({str(k): value for k, value in enumerate(values)}, like)


Nesting: TypeAlias = "int | tuple[Nesting, ...]"
Results: TypeAlias = "int | tuple[Results, ...] | Filled"
"""Results by their numbers, nested in tuples and containers."""


def is_nesting(results: Results) -> TypeGuard[Nesting]:
    """Whether results are nested in tuples alone."""
    if isinstance(results, tuple):
        return all(map(is_nesting, results))
    return isinstance(results, int)


def filled(results: Results, values: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    """Return the results of a call in their containers."""
    if isinstance(results, int):
        return values[results]
    if isinstance(results, Filled):
        return results.of(values, arguments)
    return tuple(filled(one, values, arguments) for one in results)


def grouped(names: Iterable[str], forms: Mapping[str, Form]) -> list[str]:
    """Return the names of arguments, in which those of a container's arrays are replaced by its own.

    Containers without arrays come first.
    """
    owner = {leaf: name for name, form in forms.items() for leaf in form.names}
    empty = [name for name, form in forms.items() if not form.names]
    return list(dict.fromkeys((*empty, *(owner.get(name, name) for name in names))))


def by_position(args: Sequence[Any], names: Sequence[str], forms: Mapping[str, Form]) -> dict[str, Any]:
    """Return a single positional argument that is a container by the name of its parameter, else nothing.

    A single dictionary usually holds arguments by name. It is a container if its keys are not names of arguments, or if
    it holds an array by the container's own name.
    """
    if len(args) != 1 or not isinstance(args[0], dict) or not names or names[0] not in forms:
        return {}
    inner = args[0].get(names[0])
    by_name = set(args[0]) <= set(names) and (names[0] not in args[0] or items(inner) is not None)
    return {} if by_name else {names[0]: args[0]}


def gathered(arrays: Mapping[str, Any], forms: Mapping[str, Form]) -> dict[str, Any]:
    """Return arrays by the names of symbols with those of whole containers in these."""
    found = dict(arrays)
    for name, form in forms.items():
        if form.names and found.keys() >= set(form.names):
            found[name] = form.plain().filled(found)
            found = {key: one for key, one in found.items() if key not in form.names}
    return found


def spread(values: Mapping[str, Any], forms: Mapping[str, Form]) -> dict[str, Any]:
    """Return the values of arguments with the arrays of containers by the names of their symbols.

    Raises: TypeError for a container with other keys.
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= forms[name].leaves(value, name) if name in forms else {name: value}
    return found


def items(value: object) -> list[tuple[Key, Any]] | None:
    """Return the parts of a container by key; None for anything else.

    Raises: NotSupported for a key that is no text and no integer.
    """
    if value is None:
        return []
    if isinstance(value, Ast):
        return None
    if isinstance(value, dict):
        wrong = next((key for key in value if type(key) not in (str, int)), None)
        if wrong is not None:
            raise NotSupported(f"the key {shown(wrong)} of a container", hint="keys are texts or integers")
        return list(value.items())
    declared = _fields_of(type(value))
    if declared is not None:
        return [(name, getattr(value, name)) for name in declared]
    return list(enumerate(value)) if isinstance(value, (list, tuple)) else None


def form_of(value: object, path: Path, name_for: Callable[[Path, Any], str], inside: Sequence[object] = ()) -> Part:
    """Return the form of a container, in which `name_for` returns the name of the symbol of each array.

    Raises: NotSupported for a container that contains itself, and the errors of `name_for`.
    """
    own = items(value)
    if own is None:
        return name_for(path, value)
    if any(value is one for one in inside):
        raise NotSupported(f"{dotted(path)} contains itself", hint=HINT)
    around = (*inside, value)
    return Form(type(value), tuple((key, form_of(one, (*path, key), name_for, around)) for key, one in own))


def forms_of_paths(paths: Iterable[tuple[Path, str]]) -> dict[str, Form]:
    """Return the forms of declared parts by the names of the containers: `params.W1`, `params.layers.0`.

    Raises: ShapeError for a part that is an array and a container, and for the numbers of a list that leave one out.
    """
    trees: dict[Key, Any] = {}
    for path, name in paths:
        inner = trees
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                break
        if not isinstance(inner, dict) or path[-1] in inner:
            raise ShapeError(f"{dotted(path)} is declared as an array and as a container")
        inner[path[-1]] = name
    return {str(name): _of_tree(tree, (name,)) for name, tree in trees.items()}


def _of_tree(tree: Mapping[Key, Any], path: Path) -> Form:
    parts = [(key, _of_tree(one, (*path, key)) if isinstance(one, dict) else one) for key, one in tree.items()]
    numbered = [key for key, _ in parts if isinstance(key, int)]
    if numbered and sorted(numbered) != list(range(len(parts))):
        raise ShapeError(f"the parts of {dotted(path)} are numbered from 0, without gaps and without other keys")
    if numbered:
        return Form(list, tuple(sorted(parts, key=lambda part: int(part[0]))))
    return Form(Parts, tuple(parts))


def dotted(path: Path) -> str:
    """Return a path as it is declared: `params.layers.0`."""
    return ".".join(map(str, path))


def flat_name(path: Path) -> str:
    """Return the name of the symbol of an array in a container: `params_layers_0`."""
    words = "_".join(map(str, path))
    return "".join(letter if f"a{letter}".isidentifier() else "_" for letter in words)


def _fields_of(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a named tuple or dataclass; None for another class."""
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(kind._fields)
    return tuple(one.name for one in fields(kind)) if is_dataclass(kind) else None


def _hints(kind: type) -> dict[str, Any]:
    try:
        return get_type_hints(kind)
    except (NameError, TypeError):
        return {}


def _dictionary(kind: type, made: Mapping[Key, Any], like: object) -> Any:
    if kind in (dict, Parts):
        return kind({str(key): one for key, one in made.items()}) if kind is Parts else dict(made)
    found = copy.copy(like) if isinstance(like, dict) else kind()
    found.update(made)
    return found


def _record(kind: type, made: Mapping[Key, Any]) -> Any:
    """Return a dataclass; fields that its constructor does not take are set afterwards."""
    by_constructor = {one.name for one in fields(kind) if one.init}
    found = kind(**{str(key): one for key, one in made.items() if key in by_constructor})
    for key, one in made.items():
        if key not in by_constructor:
            object.__setattr__(found, str(key), one)
    return found


def _listed(parts: Sequence[tuple[Key, Part]]) -> str:
    return ", ".join(str(key) for key, _ in parts) or "no parts"
