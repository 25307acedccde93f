"""Mean seasonal cycle of the monthly means: ``season.py MONTHLY SEASON``.

The slow part is a centred running mean over twelve months; what is left is fitted with an annual
and a semi-annual wave. Months whose window has a gap are left out.
"""

import sys

import co2lib
import numpy as np

HARMONICS = (1, 2)
WINDOW = np.array([0.5] + [1.0] * 11 + [0.5]) / 12


def deviations(year, month, ppm):
    """Return ``(time, ppm)`` of the months around which a whole window was measured."""
    index = 12 * year + month
    series = np.full(index[-1] - index[0] + 1, np.nan)
    series[index - index[0]] = ppm
    slow = np.full_like(series, np.nan)
    slow[6:-6] = np.convolve(series, WINDOW, mode="valid")
    here = (series - slow)[index - index[0]]
    whole = np.isfinite(here)
    return co2lib.middle_of_month(year, month)[whole], here[whole]


def fit(time, ppm):
    """Return the harmonics that fit best, as ``season.json`` holds them."""
    phases = [2 * np.pi * cycles * time for cycles in HARMONICS]
    design = np.column_stack([wave(phase) for phase in phases for wave in (np.cos, np.sin)])
    amplitudes = np.linalg.lstsq(design, ppm, rcond=None)[0].reshape(-1, 2)
    return [
        {"cycles_per_year": cycles, "cosine_ppm": float(cosine), "sine_ppm": float(sine)}
        for cycles, (cosine, sine) in zip(HARMONICS, amplitudes)
    ]


def main(source, target):
    time, ppm = deviations(*co2lib.read_monthly(source))
    season = {"harmonics": fit(time, ppm), "months": len(time)}
    day = (np.arange(365) + 0.5) / 365
    cycle = co2lib.season_at(season, day)
    season["peak_month"] = co2lib.MONTH_NAMES[int(12 * day[cycle.argmax()])]
    season["trough_month"] = co2lib.MONTH_NAMES[int(12 * day[cycle.argmin()])]
    season["peak_to_peak_ppm"] = float(np.ptp(cycle))
    season["residual_rms_ppm"] = co2lib.rms(ppm - co2lib.season_at(season, time))
    co2lib.write_json(target, season)
    print(f"{season['peak_to_peak_ppm']:.2f} ppm, highest in {season['peak_month']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
