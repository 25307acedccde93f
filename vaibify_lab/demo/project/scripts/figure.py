"""The record, its trend and its season: ``figure.py MONTHLY TREND SEASON FIGURE``."""

import sys
from pathlib import Path

import co2lib
import numpy as np
from matplotlib.figure import Figure


def draw(time, ppm, trend, season):
    """Return the figure: the record with its trend, and one mean year."""
    figure = Figure(figsize=(7, 6), layout="constrained")
    record, year = figure.subplots(2, 1, height_ratios=(2, 1))
    record.plot(time, ppm, ".", markersize=2.5, color="0.45", label="monthly means")
    record.plot(time, co2lib.trend_at(trend, time), color="C3", label="quadratic trend")
    record.set(title="Atmospheric CO2 at Mauna Loa", xlabel="year", ylabel="CO2 (ppm)")
    record.legend(frameon=False)
    day = np.linspace(0, 1, 366)
    detrended = ppm - co2lib.trend_at(trend, time)
    year.plot(
        time % 1, detrended, ".", markersize=2, color="0.75", label="monthly means less trend"
    )
    year.plot(day, co2lib.season_at(season, day), color="C0", label="mean season")
    year.set_xticks((np.arange(12) + 0.5) / 12, co2lib.MONTH_NAMES)
    year.set(xlim=(0, 1), ylabel="CO2 (ppm)")
    year.legend(frameon=False)
    return figure


def main(monthly, trend_file, season_file, target):
    year, month, ppm = co2lib.read_monthly(monthly)
    trend, season = co2lib.read_json(trend_file), co2lib.read_json(season_file)
    figure = draw(co2lib.middle_of_month(year, month), ppm, trend, season)
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    # Without the library's version inside, equal pixels are equal bytes.
    figure.savefig(target, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
