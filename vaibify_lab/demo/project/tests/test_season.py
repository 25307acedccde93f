"""Step "season": results/season.json."""

import csv
import json
from statistics import mean

import pytest


@pytest.fixture(scope="module")
def season():
    with open("results/season.json", encoding="ascii") as stream:
        return json.load(stream)


@pytest.fixture(scope="module")
def monthly():
    with open("results/monthly.csv", encoding="ascii", newline="") as stream:
        return {
            (int(row["year"]), int(row["month"])): float(row["ppm"])
            for row in csv.DictReader(stream)
        }


def test_integrity_keys(season):
    assert sorted(season) == [
        "harmonics",
        "months",
        "peak_month",
        "peak_to_peak_ppm",
        "residual_rms_ppm",
        "trough_month",
    ]
    assert [wave["cycles_per_year"] for wave in season["harmonics"]] == [1, 2]


def test_integrity_most_months_were_used(season):
    assert season["months"] == 477


def test_qualitative_highest_in_may_lowest_in_early_autumn(season):
    assert season["peak_month"] == "May"
    assert season["trough_month"] in ("Sep", "Oct")


def test_qualitative_the_annual_wave_is_the_larger(season):
    annual, semiannual = (
        wave["cosine_ppm"] ** 2 + wave["sine_ppm"] ** 2 for wave in season["harmonics"]
    )
    assert annual > 4 * semiannual


def test_quantitative_range_as_published(season):
    # Five to seven ppm a year is what is generally given for Mauna Loa.
    assert season["peak_to_peak_ppm"] == pytest.approx(6, abs=1)


def test_quantitative_fall_from_may_to_october_without_the_fit(season, monthly):
    # Growth within five months adds about half a ppm, which the fall does not show.
    falls = [
        monthly[year, 5] - monthly[year, 10] for year in range(1959, 2002) if (year, 5) in monthly
    ]
    assert mean(falls) + 1.35 * 5 / 12 == pytest.approx(season["peak_to_peak_ppm"], abs=0.3)


def test_quantitative_fits_to_a_third_of_a_ppm(season):
    assert season["residual_rms_ppm"] < 0.33
