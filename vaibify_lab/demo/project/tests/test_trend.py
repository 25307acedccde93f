"""Step "trend": results/trend.json."""

import json

import pytest


@pytest.fixture(scope="module")
def trend():
    with open("results/trend.json", encoding="ascii") as stream:
        return json.load(stream)


def mean_rate(trend, first, last):
    """Return the trend's mean growth between two years, in ppm a year."""
    middle = (first + last) / 2 - trend["reference_year"]
    return trend["rate_ppm_per_year"] + trend["acceleration_ppm_per_year2"] * middle


def test_integrity_keys(trend):
    assert sorted(trend) == [
        "acceleration_ppm_per_year2",
        "level_ppm",
        "months",
        "rate_ppm_per_year",
        "reference_year",
        "residual_rms_ppm",
    ]


def test_integrity_every_month_was_used(trend):
    assert trend["months"] == 517


def test_qualitative_rising_and_ever_faster(trend):
    assert trend["rate_ppm_per_year"] > 0
    assert trend["acceleration_ppm_per_year2"] > 0


def test_qualitative_what_is_left_is_the_size_of_the_season(trend):
    assert 1.5 < trend["residual_rms_ppm"] < 3


@pytest.mark.parametrize(("decade", "ppm_per_year"), [(1960, 0.8), (1980, 1.6), (1990, 1.5)])
def test_quantitative_growth_of_the_decades_as_published(trend, decade, ppm_per_year):
    # NOAA's own averages for Mauna Loa; a parabola smooths over the slower nineties.
    assert mean_rate(trend, decade, decade + 10) == pytest.approx(ppm_per_year, abs=0.2)
