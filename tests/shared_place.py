# SPDX-License-Identifier: Apache-2.0
"""What tests of a shared /tmp have in common."""

from __future__ import annotations

import os

import pytest

STRANGER = 54322
USER = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
