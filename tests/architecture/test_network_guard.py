"""The guard of the test run itself: it must bite, and it must let this machine through."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from tests.helpers import network

ELSEWHERE = "192.0.2.1"  # RFC 5737: never routed


def test_connecting_elsewhere_fails_and_is_remembered() -> None:
    with socket.socket() as client, pytest.raises(network.NetworkForbiddenError, match=ELSEWHERE):
        client.connect((ELSEWHERE, 80))
    assert any(ELSEWHERE in attempt for attempt in network.attempts)
    network.attempts.clear()


def test_resolving_a_name_fails() -> None:
    with pytest.raises(network.NetworkForbiddenError):
        socket.create_connection(("example.org", 443), timeout=1)
    network.attempts.clear()


def test_this_machine_is_reachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        served, _ = server.accept()
        with served:
            client.sendall(b"x")
            assert served.recv(1) == b"x"


def test_children_are_sent_to_a_proxy_that_refuses() -> None:
    code = "import urllib.request; urllib.request.urlopen('http://192.0.2.1/', timeout=5)"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert child.returncode != 0
    assert "refused" in child.stderr.lower()


def test_home_and_screen_are_the_tests_own(own_home: os.PathLike[str]) -> None:
    assert os.environ["SEGSTUDIO_HOME"] == str(own_home)
    assert os.environ["QT_QPA_PLATFORM"]


def test_swallowed_attempts_still_fail_the_test(tmp_path) -> None:
    case = tmp_path / "test_swallow.py"
    case.write_text(
        "import contextlib, socket\n"
        "from tests.conftest import *\n"
        "def test_swallow():\n"
        "    with contextlib.suppress(Exception):\n"
        f"        socket.create_connection(('{ELSEWHERE}', 80), timeout=1)\n"
    )
    command = [sys.executable, "-m", "pytest", "--rootdir", str(tmp_path), "-p", "no:xdist", str(case)]
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    assert child.returncode == 1
    assert "tried to reach the network" in child.stdout
