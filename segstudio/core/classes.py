"""Class tables: what the values of a label mask mean.

A stored value is a slot 0..253; 254 is "ignore" (a person said: not for training), 255 is "untouched".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

IGNORE = 254
UNTOUCHED = 255
MAX_CLASSES = 254

Colour = tuple[int, int, int]

_HEX = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class LabelClass:
    """One class: its slot in masks, its name, its colour as 8-bit (red, green, blue)."""

    slot: int
    name: str
    colour: Colour

    def __post_init__(self) -> None:
        if not 0 <= self.slot < MAX_CLASSES:
            raise ValueError(f"class {self.name!r} has slot {self.slot}; slots are 0 to {MAX_CLASSES - 1}")
        if not self.name.strip():
            raise ValueError(f"the class of slot {self.slot} has no name")
        if len(self.colour) != 3 or not all(0 <= part <= 255 for part in self.colour):
            raise ValueError(f"class {self.name!r} has the colour {self.colour}; each part is 0 to 255")


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The classes of a model or a data set in slot order; slots and names are unique."""

    classes: tuple[LabelClass, ...]

    def __post_init__(self) -> None:
        slots = [item.slot for item in self.classes]
        names = [item.name for item in self.classes]
        if slots != sorted(set(slots)):
            raise ValueError(f"class slots must be rising and unique: {slots}")
        if len(set(names)) != len(names):
            raise ValueError(f"class names must be unique: {names}")

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.classes)

    @property
    def slots(self) -> tuple[int, ...]:
        return tuple(item.slot for item in self.classes)

    def to_json(self) -> list[dict[str, object]]:
        return [
            {"slot": item.slot, "name": item.name, "colour": "#{:02x}{:02x}{:02x}".format(*item.colour)}
            for item in self.classes
        ]

    @classmethod
    def from_json(cls, rows: object) -> ClassTable:
        """Read what `to_json` writes. Raises ValueError naming the row and the field that is wrong."""
        if not isinstance(rows, list):
            raise ValueError("a class table is a list of {slot, name, colour}")
        return cls(tuple(_class_from_json(index, row) for index, row in enumerate(rows)))


def _class_from_json(index: int, row: object) -> LabelClass:
    if not isinstance(row, Mapping):
        raise ValueError(f"row {index} of the class table is not an object")
    slot, name, colour = row.get("slot"), row.get("name"), row.get("colour")
    if not isinstance(slot, int) or isinstance(slot, bool):
        raise ValueError(f"row {index} of the class table: slot is {slot!r}, not a whole number")
    if not isinstance(name, str):
        raise ValueError(f"row {index} of the class table: name is {name!r}, not a text")
    if not isinstance(colour, str) or not _HEX.fullmatch(colour):
        raise ValueError(f"row {index} of the class table: colour is {colour!r}, not like #1f77b4")
    return LabelClass(slot, name, (int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)))
