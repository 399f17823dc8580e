"""The map of a prediction: what its cells say."""

from __future__ import annotations

from nhalf.decide.predict import predict
from nhalf.machines.algorithms import Algorithm
from nhalf.machines.catalogue import machine
from nhalf.models.expression import parse
from nhalf.present.report.prediction_page import choice_map

CHAIN = Algorithm("chain", "", "", parse("(p - 2 + max(1, n / B)) * T(min(n, B))"))


def test_cells_name_the_parts_of_their_fastest_algorithm() -> None:
    prediction = predict("scan", machine("sp2-mpl"), [8], [256, 1 << 20], {"scan": [CHAIN]})
    spec = choice_map(prediction).to_dict()
    assert {"field": "parts", "title": "in parts of", "type": "nominal"} in (
        spec["encoding"]["tooltip"]
    )
    (rows,) = spec["datasets"].values() if "datasets" in spec else [spec["data"]["values"]]
    assert [row["parts"] for row in rows] == ["one, the whole message", "16 KiB"]
    assert spec["encoding"]["x"]["axis"]["labelOverlap"] == "parity"
