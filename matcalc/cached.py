"""Provides `cached_property`, a property that is computed once for each object.

It is `functools.cached_property` of Python 3.12 and later. That of Python 3.11 holds one lock for all objects of a
class while it computes. A process forked meanwhile inherits the lock, and waits for it for ever.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

T = TypeVar("T")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property  # noqa: TID251
else:

    class cached_property(Generic[T]):  # noqa: N801 — the name of the standard library's
        """A property whose value is stored in the object under the property's name.

        Two threads that read it for the first time may both compute it; the later value stays.
        """

        def __init__(self, compute: Callable[[Any], T]) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, holder: Any, owner: type) -> Any:
            if holder is None:
                return self
            value = holder.__dict__[self._name] = self._compute(holder)
            return value
