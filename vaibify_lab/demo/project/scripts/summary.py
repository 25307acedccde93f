"""What trend and season explain together: ``summary.py MONTHLY TREND SEASON SUMMARY``."""

import sys

import co2lib
import numpy as np


def main(monthly, trend_file, season_file, target):
    year, month, ppm = co2lib.read_monthly(monthly)
    trend, season = co2lib.read_json(trend_file), co2lib.read_json(season_file)
    time = co2lib.middle_of_month(year, month)
    left = ppm - co2lib.trend_at(trend, time) - co2lib.season_at(season, time)
    first, last = co2lib.trend_at(trend, np.array([1959.0, 2002.0]))
    summary = {
        "months": len(ppm),
        "rise_1959_to_2001_ppm": float(last - first),
        "season_peak_to_peak_ppm": season["peak_to_peak_ppm"],
        "explained_variance": float(1 - np.var(left) / np.var(ppm)),
        "residual_rms_ppm": co2lib.rms(left),
    }
    co2lib.write_json(target, summary)
    print(f"trend and season leave {summary['residual_rms_ppm']:.2f} ppm unexplained")


if __name__ == "__main__":
    main(*sys.argv[1:])
