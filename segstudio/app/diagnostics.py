"""What the process uses."""

from __future__ import annotations

import platform
from pathlib import Path


def peak_rss_mb() -> float:
    """Largest resident memory of this program so far, in megabytes of 2^20 bytes."""
    if platform.system() == "Windows":
        return _windows_peak() / 2**20
    if platform.system() == "Linux":
        return _linux_peak() / 2**10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _linux_peak() -> int:
    """VmHWM in KiB: `getrusage` would count what the parent had when it started us."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def _windows_peak() -> int:
    """PeakWorkingSetSize of PROCESS_MEMORY_COUNTERS (psapi)."""
    import ctypes
    from ctypes import wintypes

    class Counters(ctypes.Structure):
        _fields_ = (
            ("cb", wintypes.DWORD),
            ("faults", wintypes.DWORD),
            ("peak", ctypes.c_size_t),
            ("others", ctypes.c_size_t * 7),
        )

    counters = Counters()
    counters.cb = ctypes.sizeof(counters)
    process = ctypes.windll.kernel32.GetCurrentProcess()  # type: ignore[attr-defined, unused-ignore]
    ctypes.windll.psapi.GetProcessMemoryInfo(process, ctypes.byref(counters), counters.cb)  # type: ignore[attr-defined, unused-ignore]
    return int(counters.peak)
