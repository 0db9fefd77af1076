"""What the process uses."""

from __future__ import annotations

import sys


def peak_rss_mb() -> float:
    """Largest resident memory of this process so far, in megabytes of 2^20 bytes."""
    if sys.platform == "win32":
        return _windows_peak() / 2**20
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


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
