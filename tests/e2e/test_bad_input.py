"""Files, models, options and disks that do not fit: a sentence, exit code 1, nothing half done."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import rasterio
import tifffile

from segstudio.cli.main import FAILED
from tests.helpers.command_line import CLASSES, HEIGHT, WIDTH, Segstudio, in_process, is_sentence, write_mask


def _missing(_image: Path, target: Path) -> None:
    assert not target.exists()


def _empty(_image: Path, target: Path) -> None:
    target.touch()


def _truncated(image: Path, target: Path) -> None:
    target.write_bytes(image.read_bytes()[: image.stat().st_size // 2])


def _text(_image: Path, target: Path) -> None:
    target.write_text("this is no picture", encoding="utf-8")


def _lying(image: Path, target: Path) -> None:
    """A TIFF whose header claims a picture two million pixels wide."""
    shutil.copyfile(image, target)
    with tifffile.TiffFile(target, mode="r+") as file:
        page = file.pages.first
        file.filehandle.seek(page.tags["ImageWidth"].valueoffset - 8)
        file.filehandle.write(b"\x00\x01\x04\x00\x01\x00\x00\x00" + (2_000_000).to_bytes(4, "little"))


def _folder(_image: Path, target: Path) -> None:
    target.mkdir()


BAD_FILES = {
    _missing: "image.missing",
    _empty: "image.empty",
    _truncated: "image.truncated",
    _text: "image.unknown_format",
    _lying: "image.implausible",
}


@pytest.mark.parametrize("spoil", BAD_FILES)
def test_bad_files_are_explained_and_leave_nothing(
    segstudio: Segstudio, spoil: Callable[[Path, Path], None], image: Path, model: Path, tmp_path: Path
) -> None:
    target, out = tmp_path / "bad.tif", tmp_path / "out"
    spoil(image, target)
    code, stdout, stderr = segstudio("predict", target, image, "--model", model, "--out", out, "--json")
    answer = json.loads(stdout)
    assert code == FAILED
    assert [failure["code"] for failure in answer["failures"]] == [BAD_FILES[spoil]]
    assert [Path(result["image"]).name for result in answer["results"]] == ["photo.tif"]
    assert str(target) in stderr
    assert "Traceback" not in stderr
    assert sorted(path.name for path in out.iterdir()) == ["photo_mask.classes.json", "photo_mask.tif"]


@pytest.mark.parametrize("spoil", [_missing, _empty, _text, _lying, _folder])
def test_info_of_bad_files_is_one_sentence(
    segstudio: Segstudio, spoil: Callable[[Path, Path], None], image: Path, tmp_path: Path
) -> None:
    target = tmp_path / "bad.tif"
    spoil(image, target)
    code, out, err = segstudio("info", target, "--json")
    assert (code, out) == (FAILED, "")
    assert is_sentence(err)
    assert str(target) in err


@pytest.mark.parametrize("names", [("no*thing.tif",), ("hollow",)])
def test_nothing_found_is_an_error(
    segstudio: Segstudio, names: tuple[str, ...], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hollow").mkdir()
    code, out, err = segstudio("predict", *names, "-m", model, "-o", "out", "--json")
    assert (code, out) == (FAILED, "")
    assert is_sentence(err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("bands", "dtype", "word"), [(1, "uint8", "bands"), (4, "uint16", "bands"), (3, "uint16", "uint16")]
)
def test_images_that_do_not_fit_the_model(
    segstudio: Segstudio, bands: int, dtype: str, word: str, model: Path, tmp_path: Path
) -> None:
    path, out = tmp_path / "other.tif", tmp_path / "out"
    with rasterio.open(
        path, "w", driver="GTiff", width=80, height=70, count=bands, dtype=dtype, crs="EPSG:32640",
        transform=rasterio.Affine(2, 0, 0, 0, -2, 0), alpha="no",
    ) as file:  # fmt: skip
        file.write(np.ones((bands, 70, 80), dtype))
    code, _, err = segstudio("predict", path, "-m", model, "-o", out)
    assert code == FAILED
    assert word in err
    assert "other.tif" in err
    assert not out.exists() or not list(out.iterdir())


def test_an_unknown_model_names_those_that_are_there(
    segstudio: Segstudio, image: Path, model: Path, own_home: Path, tmp_path: Path
) -> None:
    shutil.copytree(model.parent, own_home / "models")
    code, _, err = segstudio("predict", image, "-m", "nanno", "-o", tmp_path / "out")
    assert code == FAILED
    assert is_sentence(err)
    assert "nanno" in err
    assert "nano" in err.replace("nanno", "")


def test_damaged_weights_are_refused(segstudio: Segstudio, image: Path, model: Path, tmp_path: Path) -> None:
    shutil.copytree(model.parent, tmp_path / "model")
    graph = tmp_path / "model" / "nano.onnx"
    content = bytearray(graph.read_bytes())
    content[len(content) // 2] ^= 1
    graph.write_bytes(content)
    code, _, err = segstudio("predict", image, "-m", tmp_path / "model" / "nano.json", "-o", tmp_path / "out")
    assert code == FAILED
    assert str(graph) in err
    assert "Traceback" not in err
    assert not list((tmp_path / "out").glob("*"))


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 1}', '{"format": 99}'])
def test_broken_cards_are_refused(segstudio: Segstudio, content: str, image: Path, tmp_path: Path) -> None:
    card = tmp_path / "broken.json"
    card.write_text(content, encoding="utf-8")
    code, _, err = segstudio("predict", image, "-m", card, "-o", tmp_path / "out")
    assert code == FAILED
    assert str(card) in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "options", [("--patch", 50), ("--overlap", 63), ("--overlap", 13), ("--context", "huge"), ("--context", "only")]
)
def test_options_that_do_not_fit_the_model(
    segstudio: Segstudio, options: tuple[object, ...], image: Path, model: Path, tmp_path: Path
) -> None:
    code, _, err = segstudio("predict", image, "-m", model, "-o", tmp_path / "out", *options)
    assert code == FAILED
    assert "?" not in err
    assert "Traceback" not in err


def test_a_file_in_place_of_the_folder(segstudio: Segstudio, image: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("mine", encoding="utf-8")
    code, stdout, err = segstudio("predict", image, "-m", model, "-o", out, "--json")
    assert code == FAILED
    assert [failure["code"] for failure in json.loads(stdout)["failures"]] == ["output.is_file"]
    assert "Traceback" not in err
    assert out.read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limits")
def test_a_full_disk_leaves_no_half_file(image: Path, model: Path, tmp_path: Path) -> None:
    import resource

    out = tmp_path / "out"
    process = in_process(
        "predict", image, "-m", model, "-o", out, "--json",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )  # fmt: skip
    stdout, stderr = process.communicate(timeout=100)
    assert process.returncode == FAILED
    assert json.loads(stdout)["failures"][0]["code"].startswith("output.")
    assert "Traceback" not in stderr
    assert not list(out.glob("*")) + list(out.glob(".*"))


@pytest.mark.parametrize("verb", [("info", "--pixel", "299,170"), ("predict", "--region", "290,160,11,10")])
def test_a_place_outside_is_told_in_numbers(
    segstudio: Segstudio, verb: tuple[str, ...], image: Path, model: Path, tmp_path: Path
) -> None:
    name, *options = verb
    more = ("-m", model, "-o", tmp_path / "out") if name == "predict" else ()
    code, _, err = segstudio(name, image, *options, *more)
    assert code == FAILED
    assert f"The place {'299,170,1,1' if name == 'info' else options[1]} lies outside" in err
    assert "300 x 170 pixels" in err
    assert "Rect" not in err


def test_a_name_that_the_system_refuses(segstudio: Segstudio, image: Path, model: Path, tmp_path: Path) -> None:
    name = "a" * 300 + ".tif"
    code, out, err = segstudio("info", name)
    assert (code, out) == (FAILED, "")
    assert is_sentence(err)
    assert name in err
    code, out, _ = segstudio("predict", name, image, "-m", model, "-o", tmp_path / "out", "--json")
    assert code == FAILED
    assert [len(json.loads(out)[key]) for key in ("results", "failures")] == [1, 1]


def test_a_card_of_an_unknown_network_is_explained(
    segstudio: Segstudio, image: Path, model: Path, tmp_path: Path
) -> None:
    card = tmp_path / "odd.json"
    card.write_text(json.dumps(json.loads(model.read_text(encoding="utf-8")) | {"network": "light-micro"}))
    code, _, err = segstudio("predict", image, "-m", card, "-o", tmp_path / "out")
    assert code == FAILED
    assert is_sentence(err)
    assert all(word in err for word in ("light-micro", str(card), "light-nano"))


def test_a_card_with_other_classes_than_the_weights(
    segstudio: Segstudio, image: Path, model: Path, tmp_path: Path
) -> None:
    shutil.copytree(model.parent, tmp_path / "model")
    card = tmp_path / "model" / "nano.json"
    facts = json.loads(card.read_text(encoding="utf-8"))
    card.write_text(json.dumps(facts | {"classes": facts["classes"][:3]}), encoding="utf-8")
    for backend in ("openvino", "torch"):
        command = ("predict", image, "-m", card, "-o", tmp_path / "out", "--backend", backend, "--device", "cpu")
        code, _, err = segstudio(*command)
        assert code == FAILED
        assert "do not fit the network" in err
        assert "unexpected" not in err


@pytest.mark.parametrize("form", ["tif", "png"])
def test_a_file_in_place_of_the_folder_for_any_format(
    segstudio: Segstudio, form: str, image: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.write_text("mine", encoding="utf-8")
    _, stdout, _ = segstudio("predict", image, "-m", model, "-o", out, "--json", "--format", form)
    assert [failure["code"] for failure in json.loads(stdout)["failures"]] == ["output.is_file"]


def test_a_mask_without_its_class_table_does_not_stay(
    segstudio: Segstudio, image: Path, model: Path, tmp_path: Path
) -> None:
    blocking = tmp_path / "out" / "photo_mask.classes.json"
    blocking.mkdir(parents=True)
    code, *_ = segstudio("predict", image, "-m", model, "-o", blocking.parent)
    assert code == FAILED
    assert list(blocking.parent.iterdir()) == [blocking]


def test_what_libraries_log_does_not_reach_the_person(image: Path) -> None:
    tifffile.imwrite(image, np.zeros((64, 64, 3), np.uint8), photometric="rgb", description="a description")
    with tifffile.TiffFile(image, mode="r+") as file:
        file.filehandle.seek(file.pages.first.tags["ImageDescription"].offset + 2)
        file.filehandle.write((99).to_bytes(2, "little"))
    process = in_process("info", image)
    _, stderr = process.communicate(timeout=100)
    assert (process.returncode, stderr) == (0, "")


def test_training_refuses_before_it_starts(segstudio: Segstudio, image: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "images").mkdir(parents=True)
    shutil.copyfile(image, data / "images" / "photo.tif")
    write_mask(data / "masks" / "photo.png", np.zeros((HEIGHT, WIDTH)))
    (data / "classes.json").write_text(json.dumps({"classes": CLASSES.to_json()}), encoding="utf-8")
    blocked = tmp_path / "a file"
    blocked.touch()
    for options, word in [(("--patch", 100), "nearest is 104"), (("--run", blocked), str(blocked))]:
        code, _, err = segstudio("train", data, "-m", "light-nano", "-o", tmp_path / "mine.json", *options)
        assert code == FAILED
        assert is_sentence(err)
        assert word in err
    assert not list(tmp_path.glob("mine*"))
