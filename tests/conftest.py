"""What holds for every test: no network, no home of a person, no screen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import network

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# torch's threads wait by spinning: on shared cores one thread ran the network tests 5 times as fast as two.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Children and libraries with their own sockets (GDAL's curl) are not seen by the guard: they get a proxy that refuses.
for _name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
    os.environ[_name] = "http://127.0.0.1:9"
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "localhost,127.0.0.1,::1"

network.forbid()

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def no_network() -> Iterator[None]:
    """Fail the test that tried to leave this machine, even where a library swallowed the refusal."""
    network.attempts.clear()
    yield
    tried = list(network.attempts)
    network.attempts.clear()
    if tried:
        pytest.fail(f"tried to reach the network: {'; '.join(tried)}", pytrace=False)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, projects and caches of the program go to a new folder."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("SEGSTUDIO_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of common data beside the repository."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}")
    return folder
