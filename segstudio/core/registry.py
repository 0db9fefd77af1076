"""Typed registry of named things: networks, formats, tools. Duplicate and unknown names are errors."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class UnknownNameError(LookupError):
    """A name that nothing is registered under.

    Attributes:
        kind: what was looked for ("network", "format").
        name: the name asked for.
        known: every registered name, sorted.
        nearest: the registered name that looks most like it, or an empty string.
    """

    def __init__(self, kind: str, name: str, known: tuple[str, ...]) -> None:
        self.kind, self.name, self.known = kind, name, known
        self.nearest = next(iter(difflib.get_close_matches(name, known, n=1)), "")
        super().__init__(f"unknown {kind} {name!r}; known: {', '.join(known)}")


class Registry(Generic[T]):
    """Names to things of one kind."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._items: dict[str, T] = {}

    def add(self, name: str, item: T) -> T:
        if name in self._items:
            raise ValueError(f"{self._kind} {name!r} is registered twice")
        self._items[name] = item
        return item

    def get(self, name: str) -> T:
        try:
            return self._items[name]
        except KeyError:
            raise UnknownNameError(self._kind, name, self.names()) from None

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._items))

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())
