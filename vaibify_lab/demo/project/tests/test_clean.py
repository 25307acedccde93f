"""Step "clean": results/monthly.csv."""

import csv

import pytest


@pytest.fixture(scope="module")
def rows():
    with open("results/monthly.csv", encoding="ascii", newline="") as stream:
        return list(csv.DictReader(stream))


def published():
    """Monthly means of 1959 to 1961 on the 1997 scale, as R's dataset ``co2`` prints them."""
    return {
        1959: "315.42 316.31 316.50 317.56 318.13 318.00 316.39 314.65 313.68 313.18 314.66 315.43",
        1960: "316.27 316.81 317.42 318.87 319.87 319.43 318.01 315.74 314.00 313.68 314.84 316.03",
        1961: "316.73 317.54 318.38 319.31 320.42 319.61 318.42 316.63 314.83 315.16 315.94 316.85",
    }


def annual_mean(rows, year):
    values = [float(row["ppm"]) for row in rows if row["year"] == str(year)]
    assert len(values) == 12
    return sum(values) / 12


def test_integrity_columns_and_count(rows):
    assert list(rows[0]) == ["year", "month", "days", "ppm"]
    assert len(rows) == 517


def test_integrity_each_month_once_in_order(rows):
    months = [(int(row["year"]), int(row["month"])) for row in rows]
    assert months == sorted(set(months))
    assert (months[0], months[-1]) == ((1958, 4), (2001, 12))


def test_integrity_days_are_possible(rows):
    # A week is dated by its Saturday, so a month can hold up to five whole weeks.
    assert all(7 <= int(row["days"]) <= 35 for row in rows)


def test_qualitative_every_january_is_above_the_one_ten_years_before(rows):
    january = {int(row["year"]): float(row["ppm"]) for row in rows if row["month"] == "1"}
    assert all(january[year] > january[year - 10] + 5 for year in january if year - 10 in january)


def test_qualitative_nothing_outside_what_was_ever_measured_there(rows):
    assert all(310 < float(row["ppm"]) < 380 for row in rows)


@pytest.mark.parametrize("year", sorted(published()))
def test_quantitative_monthly_means_as_published(rows, year):
    ours = [float(row["ppm"]) for row in rows if row["year"] == str(year)]
    # The two calibration scales differ by 0.1 to 0.2 ppm.
    assert ours == pytest.approx([float(text) for text in published()[year].split()], abs=0.4)


@pytest.mark.parametrize(("year", "ppm"), [(1959, 315.83), (1997, 363.82)])
def test_quantitative_annual_means_as_published(rows, year, ppm):
    # CDIAC, "40 Years of Mauna Loa CO2 Data from Keeling", 1997 scale.
    assert annual_mean(rows, year) == pytest.approx(ppm, abs=0.25)
