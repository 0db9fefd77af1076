"""The orientation that JPEG, PNG and WebP files carry in their EXIF block."""

from __future__ import annotations

import struct
from pathlib import Path

_HEAD = 1 << 20
_UPRIGHT = 1


def jpeg_orientation(path: Path) -> int:
    """From the APP1 segment, which stands before the first scan. 1 where there is none or it is damaged."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    at = 2
    while at + 4 <= len(head) and head[at] == 0xFF and head[at + 1] != 0xDA:
        length = int.from_bytes(head[at + 2 : at + 4], "big")
        if head[at + 1] == 0xE1 and head[at + 4 : at + 10] == b"Exif\0\0":
            return _orientation(head[at + 10 : at + 2 + length])
        at += 2 + length
    return _UPRIGHT


def png_orientation(path: Path) -> int:
    """From the eXIf chunk (PNG third edition, 11.3.4.4), which may stand anywhere."""
    with path.open("rb") as file:
        file.seek(8)
        while len(head := file.read(8)) == 8:
            length, kind = struct.unpack(">I4s", head)
            if kind == b"eXIf":
                return _orientation(file.read(min(length, _HEAD)))
            if kind == b"IEND":
                break
            file.seek(length + 4, 1)
    return _UPRIGHT


def webp_orientation(path: Path) -> int:
    """From the EXIF chunk of the RIFF container."""
    with path.open("rb") as file:
        file.seek(12)
        while len(head := file.read(8)) == 8:
            kind, length = struct.unpack("<4sI", head)
            if kind == b"EXIF":
                return _orientation(file.read(min(length, _HEAD)).removeprefix(b"Exif\0\0"))
            file.seek(length + length % 2, 1)
    return _UPRIGHT


def _orientation(block: bytes) -> int:
    """EXIF is a TIFF without pixels. A damaged block must not keep a picture from opening."""
    order = "<" if block[:2] == b"II" else ">"
    try:
        (offset,) = struct.unpack_from(order + "I", block, 4)
        (count,) = struct.unpack_from(order + "H", block, offset)
        for entry in range(offset + 2, offset + 2 + 12 * count, 12):
            tag, kind, number, value = struct.unpack_from(order + "HHIH", block, entry)
            if (tag, kind, number) == (0x0112, 3, 1):
                return int(value) if 1 <= value <= 8 else _UPRIGHT
    except struct.error:
        pass
    return _UPRIGHT
