"""Defines compiled functions whose arguments or results are containers of arrays, such as dictionaries of parameters.

The compiled code takes arrays alone. A call takes them out of the containers, and nests the results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcalc.compiler.call.bind import OPTIONS, bind
from matcalc.errors import NotSupported
from matcalc.language.containers import Form, Results, by_position, filled, grouped, spread
from matcalc.language.identifiers import by_name


class WithContainers:
    """A function of containers of arrays: `fn(params, X, y)` or `fn(params=params, X=X, y=y)`.

    A container of results that belongs to an argument has the class of this argument. Attributes that it lacks,
    `source`, `plan`, `checked`, are those of `flat`, the compiled function of the single arrays.
    """

    def __init__(self, flat: Any, forms: Mapping[str, Form], results: Results | None, fixed: Mapping[str, Any]) -> None:
        """`flat` takes the arrays of the containers `forms`; `fixed` are arguments with a fixed value."""
        self.flat, self.forms, self.results, self.fixed = flat, dict(forms), results, dict(fixed)
        self.args = tuple(grouped(flat.args, self.forms))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the results, with containers as the arguments have them.

        Raises: TypeError for a container with other keys, and as the function of single arrays does.
        """
        options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
        if options.get("out") is not None and self.results is not None:
            hint = "call .flat, the function of single arrays, with out="
            raise NotSupported("out= of results in containers", hint=hint)
        alone = by_position(args, self.args, self.forms)
        values = bind(self.flat.spec.name, self.args, () if alone else args, {**alone, **kwargs})
        given = dict(zip(self.args, values, strict=True))
        arrays = spread(given, self.forms)
        made = self.flat(*(arrays[name] for name in self.flat.args), **options)
        return made if self.results is None else filled(self.results, _flat(made), {**self.fixed, **given})

    def bind(self, given: Mapping[str, Any] | None = None, /, **keywords: Any) -> WithContainers:
        """Return the function of the remaining arguments, with these fixed: `fn.bind(X=X, y=y)(params)`."""
        named = {**by_name({} if given is None else given, "bind()"), **keywords}
        return WithContainers(
            self.flat.bind(spread(named, self.forms)), self.forms, self.results, {**self.fixed, **named}
        )

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the function of single arrays."""
        if name.startswith("_") or name == "flat":
            raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")
        return getattr(self.flat, name)

    def __reduce__(self) -> tuple[object, ...]:
        return WithContainers, (self.flat, self.forms, self.results, self.fixed)

    def __repr__(self) -> str:
        return f"<compiled {self.flat.spec.name}({', '.join(self.args)})>"


def _flat(made: Any) -> list[Any]:
    """Return results without their nesting in tuples."""
    return [value for one in made for value in _flat(one)] if isinstance(made, tuple) else [made]
