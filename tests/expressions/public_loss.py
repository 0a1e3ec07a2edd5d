"""Collects losses in the style of public projects: functions with their declarations, variables and data."""

from collections.abc import Callable
from typing import Any, NamedTuple


class PublicLoss(NamedTuple):
    function: Callable[..., Any]
    declarations: str
    wrt: tuple[str, ...]
    data: dict[str, Any]


class PublicLosses(dict[str, PublicLoss]):
    """Losses by name."""

    def case(self, declarations: str, wrt: str, **data: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that adds a function."""

        def added(function: Callable[..., Any]) -> Callable[..., Any]:
            self[function.__name__] = PublicLoss(function, declarations, tuple(wrt.split()), data)
            return function

        return added
