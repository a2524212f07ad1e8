"""Figures beside the limits that they are held to."""

from __future__ import annotations

import pytest

from backtrader_bench.written import p_value, percent


@pytest.mark.parametrize(
    ("p", "levels", "text"),
    [
        (0.03, (0.01,), "0.030"), (0.00999, (0.01,), "0.00999"), (0.009999, (0.01,), "0.009999"),
        (0.01, (0.01,), "0.010"),
        (0.0101, (0.01,), "0.010"), (0.0096, (), "0.010"), (0.00043, (0.01,), "4e-04"),
        (0.00049999, (0.0005,), "4.9999e-04"),
        (0.04996, (0.05,), "0.04996"), (0.0, (0.01,), "0e+00"), (1.0, (0.01,), "1.000"),
    ],
)  # fmt: skip
def test_a_p_never_seems_on_the_other_side_of_its_level(p: float, levels: tuple[float, ...], text: str) -> None:
    assert p_value(p, *levels) == text
    assert all((float(text) < level) == (p < level) for level in levels)


@pytest.mark.parametrize(
    ("share", "limits", "text"),
    [
        (0.27, (0.27,), "27.0%"), (0.27004, (0.27,), "27.004%"), (0.26996, (0.27,), "27.0%"),
        (0.3, (0.3,), "30.0%"), (0.5, (), "50.0%"),
    ],
)  # fmt: skip
def test_nor_does_a_share(share: float, limits: tuple[float, ...], text: str) -> None:
    assert percent(share, *limits) == text
