"""The program, `info` and `predict` as a person meets them: real files, real models, exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import rasterio
import tifffile
from PIL import Image

from segstudio.cli.main import CANCELLED, FAILED, FINE, USAGE
from tests.helpers.command_line import CLASSES, HEIGHT, WIDTH, Segstudio, in_process, is_sentence


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; from segstudio.cli.main import main; assert main(['predict', '--help']) == 0; "
        "print('loaded', sorted({'torch', 'openvino', 'cv2', 'rasterio', 'PySide6', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("loaded []\n")


def test_version(segstudio: Segstudio) -> None:
    code, out, _ = segstudio("--version")
    assert code == FINE
    assert out.startswith("segstudio ")


@pytest.mark.parametrize("arguments", [(), ("photo.tif",), ("pridict",)])
def test_without_a_verb_the_missing_window_is_said(segstudio: Segstudio, arguments: tuple[str, ...]) -> None:
    code, out, err = segstudio(*arguments)
    assert (code, out) == (USAGE, "")
    assert is_sentence(err)
    assert "predict" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "a.tif"),
        ("predict", "a.tif", "--out", "o", "--region", "1,2,3"),
        ("predict", "a.tif", "--out", "o", "--bands", "0,1"),
        ("predict", "a.tif", "--out", "o", "--device", "abacus"),
        ("info", "a.tif", "--pixel", "here"),
        ("models", "frobnicate"),
        ("--frobnicate",),
    ],
)
def test_wrong_usage_is_exit_code_2(segstudio: Segstudio, arguments: tuple[str, ...]) -> None:
    code, out, err = segstudio(*arguments)
    assert (code, out) == (USAGE, "")
    assert "Traceback" not in err


def test_the_unexpected_is_logged_and_said_in_one_sentence(
    segstudio: Segstudio, own_home: Path, monkeypatch: pytest.MonkeyPatch, image: Path
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("segstudio.app.inspection.inspect", broken)
    code, out, err = segstudio("info", image)
    (log,) = (own_home / "logs").iterdir()
    assert (code, out) == (FAILED, "")
    assert str(log) in err
    assert "Traceback" not in err
    assert "a mistake of ours" in log.read_text(encoding="utf-8")


def test_chinese(segstudio: Segstudio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGSTUDIO_LANG", "zh_CN")
    code, _, err = segstudio("info", "nothing.tif")
    assert code == FAILED
    assert err.startswith("找不到文件 nothing.tif。")


def test_info_agrees_with_rasterio(segstudio: Segstudio, image: Path) -> None:
    code, out, _ = segstudio("info", image, "--json", "--pixel", "7,11", "--pixel", "299,169")
    facts = json.loads(out)
    with rasterio.open(image) as file:
        assert (facts["width"], facts["height"], facts["bands"]) == (file.width, file.height, file.count)
        assert facts["crs"] == "EPSG:32640"
        assert facts["transform"] == list(file.transform)[:6]
        pixels = file.read()
    assert code == FINE
    assert facts["pixel_size"] == {"x": 0.5, "y": 0.5, "unit": "m"}
    assert facts["pixels"] == [
        {"x": 7, "y": 11, "values": pixels[:, 11, 7].tolist()},
        {"x": 299, "y": 169, "values": pixels[:, 169, 299].tolist()},
    ]


def test_values_that_json_lacks_are_null(segstudio: Segstudio, tmp_path: Path) -> None:
    path = tmp_path / "heights.tif"
    with rasterio.open(
        path, "w", driver="GTiff", width=3, height=1, count=1, dtype="float32", nodata=np.nan, crs="EPSG:32640",
        transform=rasterio.Affine(2, 0, 0, 0, -2, 0),
    ) as file:  # fmt: skip
        file.write(np.array([[[1.5, np.nan, np.inf]]], np.float32))
    _, out, _ = segstudio("info", path, "--json", "--pixel", "0,0", "--pixel", "1,0", "--pixel", "2,0")
    facts = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert [pixel["values"] for pixel in facts["pixels"]] == [[1.5], [None], [None]]
    assert facts["nodata"] == "NaN"


def test_predict_reports_each_image(segstudio: Segstudio, image: Path, model: Path, tmp_path: Path) -> None:
    second = tmp_path / "more" / "second.png"
    second.parent.mkdir()
    Image.fromarray(np.full((100, 90, 3), 77, np.uint8)).save(second)
    out = tmp_path / "out"
    code, stdout, _ = segstudio("predict", image, second.parent, "--model", model, "--out", out, "--json")
    rows = json.loads(stdout)["results"]
    assert code == FINE
    assert [(row["width"], row["height"]) for row in rows] == [(WIDTH, HEIGHT), (90, 100)]
    assert set(rows[0]) == {
        "image", "mask", "width", "height", "patches", "seconds", "megapixels_per_second", "backend", "device",
        "peak_rss_mb",
    }  # fmt: skip
    with rasterio.open(rows[0]["mask"]) as mask, rasterio.open(image) as source:
        assert (mask.crs, mask.transform, mask.shape) == (source.crs, source.transform, source.shape)
        assert set(np.unique(mask.read(1))) <= set(CLASSES.slots)


def test_a_quoted_pattern_finds_its_files(segstudio: Segstudio, image: Path, model: Path, tmp_path: Path) -> None:
    code, stdout, _ = segstudio("predict", tmp_path / "ph*.tif", "-m", model, "-o", tmp_path / "out", "--json")
    assert code == FINE
    assert [row["image"] for row in json.loads(stdout)["results"]] == [str(image)]


def test_a_region_is_cut_out_and_keeps_its_place(
    segstudio: Segstudio, image: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, *_ = segstudio("predict", image, "-m", model, "-o", out, "--region", "40,30,128,96")
    assert code == FINE
    with rasterio.open(out / "photo_mask.tif") as mask:
        assert mask.shape == (96, 128)
        assert (mask.transform.c, mask.transform.f) == (320000 + 40 * 0.5, 2780000 - 30 * 0.5)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_progress_on_the_terminal_keeps_results_in_the_pipe(image: Path, model: Path, tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "segstudio", "predict", str(image), "-m", str(model), "-o", str(tmp_path / "out")]
    environment = os.environ | {"TERM": "xterm", "SEGSTUDIO_LANG": "en"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True, check=True)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other end is closed
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    assert b"predict" in shown
    assert "300 x 170" in done.stdout
    assert "\x1b" not in done.stdout


def test_bands_are_counted_from_1(segstudio: Segstudio, image: Path, model: Path, tmp_path: Path) -> None:
    assert segstudio("predict", image, "-m", model, "-o", tmp_path / "a", "--bands", "1,2,3").code == FINE
    assert segstudio("predict", image, "-m", model, "-o", tmp_path / "b").code == FINE
    first, second = (tmp_path / name / "photo_mask.tif" for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    code, _, err = segstudio("predict", image, "-m", model, "-o", tmp_path / "c", "--bands", "2,3,4")
    assert code == FAILED
    assert "2, 3, 4" in err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_cancels_and_leaves_no_half_file(model: Path, tmp_path: Path) -> None:
    large, out = tmp_path / "large.tif", tmp_path / "out"
    tifffile.imwrite(large, np.zeros((6000, 6000, 3), np.uint8), tile=(512, 512), compression="deflate")
    process = in_process("predict", large, "-m", model, "-o", out, "--json")
    deadline = time.monotonic() + 100
    while not out.is_dir() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=100)
    assert process.returncode == CANCELLED
    assert stdout == ""
    assert "Cancelled." in stderr
    assert not list(out.iterdir())
