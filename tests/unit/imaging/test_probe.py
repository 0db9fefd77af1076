"""Files that are not there, are not images, or lie about themselves."""

from __future__ import annotations

import os
import struct
import time
import zlib

import cv2
import numpy as np
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect
from segstudio.imaging.probe import Format, probe
from segstudio.imaging.source import open_source


def _problem(path) -> ImageProblem:
    with pytest.raises(ImageError) as caught:
        open_source(path)
    assert caught.value.subject == str(path)
    assert isinstance(caught.value.problem, ImageProblem)
    return caught.value.problem


def _png(width: int, height: int) -> bytes:
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IEND", b"")]
    packed = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def _tiff(width: int, height: int, *, offsets: int, tile: int = 256) -> bytes:
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (277, 3, 1, 1)]
    tags += [(322, 4, 1, tile), (323, 4, 1, tile), (324, 4, offsets, 200), (325, 4, offsets, 200)]
    body = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + body + bytes(4) + b"\1" * 4096


def test_missing_folder_empty_and_foreign_files(tmp_path):
    (tmp_path / "empty.tif").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not a picture, whatever the name says")
    (tmp_path / "notes.png").write_text("not a picture, whatever the name says")
    assert _problem(tmp_path / "nothing.tif") is ImageProblem.MISSING
    assert _problem(tmp_path) is ImageProblem.IS_FOLDER
    assert _problem(tmp_path / "empty.tif") is ImageProblem.EMPTY
    assert _problem(tmp_path / "notes.txt") is ImageProblem.UNKNOWN_FORMAT
    assert _problem(tmp_path / "notes.png") is ImageProblem.UNKNOWN_FORMAT


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_no_permission(tmp_path):
    path = tmp_path / "locked.png"
    path.write_bytes(_png(4, 4))
    path.chmod(0)
    assert _problem(path) is ImageProblem.NO_PERMISSION


def test_content_decides_and_not_the_name(tmp_path):
    path = tmp_path / "picture.tif"
    path.write_bytes(cv2.imencode(".png", np.zeros((4, 6), np.uint8))[1].tobytes())
    assert probe(path) is Format.PNG
    with open_source(path) as source:
        assert (source.info.width, source.info.height) == (6, 4)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (_png(100_000, 100_000), ImageProblem.IMPLAUSIBLE),
        (_png(0, 5), ImageProblem.IMPLAUSIBLE),
        (_tiff(2_000_000, 2_000_000, offsets=4), ImageProblem.IMPLAUSIBLE),
        (_tiff(90_000, 90_000, offsets=4), ImageProblem.IMPLAUSIBLE),
        (_tiff(90_000, 90_000, offsets=123_904), ImageProblem.IMPLAUSIBLE),
        (_tiff(90_000, 90_000, offsets=4, tile=90_000), ImageProblem.IMPLAUSIBLE),
        (b"II*\0" + struct.pack("<I", 4_000_000_000), ImageProblem.TRUNCATED),
        (b"II*\0", ImageProblem.TRUNCATED),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", ImageProblem.TRUNCATED),
        (b"\xff\xd8\xff\xc0\0\x11\x08\xff\xdc\xff\xdc\3" + bytes(90), ImageProblem.IMPLAUSIBLE),
        (b"\x89PNG\r\n\x1a\n", ImageProblem.TRUNCATED),
    ],
)
def test_headers_that_lie_are_refused_before_anything_is_decoded(tmp_path, content, problem):
    path = tmp_path / "liar"
    path.write_bytes(content)
    start = time.process_time()
    assert _problem(path) is problem
    assert time.process_time() - start < 1


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_fail_cleanly_or_read(tmp_path, data):
    kind = data.draw(st.sampled_from(["png", "jpg", "tif"]))
    pixels = np.arange(40 * 50 * 3, dtype=np.uint8).reshape(40, 50, 3)
    path = tmp_path / f"damaged.{kind}"
    if kind == "tif":
        tifffile.imwrite(path, pixels, tile=(16, 16), photometric="rgb", compression="deflate")
    else:
        cv2.imwrite(str(path), pixels)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        with open_source(path) as source:
            if source.info.size.area < 1 << 20:
                assert source.read(Rect.of_size(source.info.size)).shape[:2] == (source.info.height, source.info.width)
    except ImageError as error:
        assert error.subject == str(path)  # noqa: PT017


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp"])
def test_a_cut_picture_is_refused_and_never_grey(tmp_path, suffix):
    pixels = np.random.default_rng(0).integers(0, 255, (400, 300, 3), dtype=np.uint8)
    whole = cv2.imencode(f".{suffix}", pixels)[1].tobytes()
    path = tmp_path / f"cut.{suffix}"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ImageError) as caught, open_source(path) as source:
        source.read(Rect(0, 380, 300, 20))
    assert caught.value.problem in {ImageProblem.TRUNCATED, ImageProblem.BROKEN}
