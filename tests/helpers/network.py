"""A guard against reaching out: connecting or resolving anything but this machine raises, and is remembered."""

from __future__ import annotations

import ipaddress
import sys

LOCAL_NAMES = {"", "localhost"}


class NetworkForbiddenError(Exception):
    """A test, or what it runs, tried to reach another machine."""


attempts: list[str] = []


def forbid() -> None:
    """Watch this process for good (audit hooks cannot be taken out), below every Python library."""
    sys.addaudithook(_watch)


def is_local(host: object) -> bool:
    """Whether a socket address or host name stays on this machine; unix sockets (a path) do."""
    name = host[0] if isinstance(host, tuple) else None
    if name is None:
        return True
    text = name.decode() if isinstance(name, bytes) else str(name)
    if text in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event in {"socket.connect", "socket.sendto"}:
        _refuse_unless_local(event, arguments[1])
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        _refuse_unless_local(event, (arguments[0],))


def _refuse_unless_local(event: str, address: object) -> None:
    if not is_local(address):
        attempts.append(f"{event} {address}")
        raise NetworkForbiddenError(f"tests must not leave this machine: {event} {address}")
