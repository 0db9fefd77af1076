"""The program sends nothing. OpenVINO brings a package that would; this keeps it from being imported."""

from __future__ import annotations

import sys


def forbid() -> None:
    """Make `import openvino_telemetry` fail in this process, upon which OpenVINO uses its own silent stand-in.

    Call before the first import of openvino. Nothing is written to the user's home.
    """
    if sys.modules.get("openvino_telemetry") is None:
        sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
