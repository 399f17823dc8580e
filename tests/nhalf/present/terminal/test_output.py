"""JSON on standard output: numbers of every kind, and null for what is none."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from nhalf.present.terminal.output import emit_json


def test_numbers_of_numpy_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    emit_json({"time_s": np.float64(1.5), "count": np.int64(2), "is_sound": np.bool_(True)})
    assert json.loads(capsys.readouterr().out) == {"time_s": 1.5, "count": 2, "is_sound": True}


def test_what_is_no_number_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    emit_json({"values": [math.nan, math.inf, np.float64(math.nan)]})
    assert json.loads(capsys.readouterr().out) == {"values": [None, None, None]}
