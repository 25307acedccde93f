"""Quadratic trend of the monthly means: ``trend.py MONTHLY TREND``."""

import sys

import co2lib
import numpy as np


def main(source, target):
    year, month, ppm = co2lib.read_monthly(source)
    time = co2lib.middle_of_month(year, month)
    design = np.vander(time - co2lib.REFERENCE_YEAR, 3, increasing=True)
    level, rate, half_acceleration = np.linalg.lstsq(design, ppm, rcond=None)[0]
    trend = {
        "reference_year": co2lib.REFERENCE_YEAR,
        "level_ppm": level,
        "rate_ppm_per_year": rate,
        "acceleration_ppm_per_year2": 2 * half_acceleration,
        "months": len(ppm),
    }
    trend["residual_rms_ppm"] = co2lib.rms(ppm - co2lib.trend_at(trend, time))
    co2lib.write_json(target, trend)
    print(f"{rate:.2f} ppm a year in {co2lib.REFERENCE_YEAR:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
