# SPDX-License-Identifier: Apache-2.0
"""What all tests share: where the compiled probes are, unless NHALF_NATIVE_DIR says it."""

from __future__ import annotations

import os
from pathlib import Path

NATIVE = Path(__file__).resolve().parent.parent / "build" / "native"

if (NATIVE / "bin").is_dir():
    os.environ.setdefault("NHALF_NATIVE_DIR", str(NATIVE))
