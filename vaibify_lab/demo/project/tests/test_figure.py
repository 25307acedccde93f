"""Step "figure": results/summary.json and plots/co2.png."""

import json
import struct

import pytest


@pytest.fixture(scope="module")
def summary():
    with open("results/summary.json", encoding="ascii") as stream:
        return json.load(stream)


@pytest.fixture(scope="module")
def png():
    with open("plots/co2.png", "rb") as stream:
        return stream.read()


def test_integrity_keys(summary):
    assert sorted(summary) == [
        "explained_variance",
        "months",
        "residual_rms_ppm",
        "rise_1959_to_2001_ppm",
        "season_peak_to_peak_ppm",
    ]


def test_integrity_the_figure_is_a_png_of_the_size_asked_for(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (1050, 900)


def test_integrity_the_figure_holds_no_date_and_no_version(png):
    assert b"tEXt" not in png and b"tIME" not in png


def test_qualitative_trend_and_season_explain_nearly_all(summary):
    assert summary["explained_variance"] > 0.99


def test_quantitative_rise(summary):
    # NOAA's annual means: 315.98 ppm in 1959, 371.07 in 2001; the trend covers one more year.
    assert summary["rise_1959_to_2001_ppm"] == pytest.approx((371.07 - 315.98) * 43 / 42, abs=2)


def test_quantitative_residual_is_below_one_ppm(summary):
    assert summary["residual_rms_ppm"] < 1
