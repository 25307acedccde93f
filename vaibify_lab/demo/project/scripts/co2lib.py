"""What the four steps share: the files' formats and the two fitted curves.

Concentrations are in ppm (micromole CO2 per mole of dry air), times in decimal years.
"""

import csv
import json
from pathlib import Path

import numpy as np

REFERENCE_YEAR = 1980.0
MONTH_NAMES = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def read_weekly(path):
    """Yield ``(year, month, days, ppm)`` for each weekly mean that carries no flag.

    ``days`` is the number of days that went into the mean. The file's dates are YYMMDD and it
    covers 1958 to 2001.
    """
    for line in Path(path).read_text(encoding="ascii").splitlines():
        fields = line.split()
        if fields[:1] != ["MLO"]:
            continue
        date, days, flag, ppm = fields[1:]
        if flag == "0":
            century = 1900 if date[:2] >= "58" else 2000
            yield century + int(date[:2]), int(date[2:4]), int(days), float(ppm)


def read_monthly(path):
    """Return the monthly means as arrays ``year``, ``month`` and ``ppm``."""
    with Path(path).open(encoding="ascii", newline="") as stream:
        rows = [
            (int(row["year"]), int(row["month"]), float(row["ppm"]))
            for row in csv.DictReader(stream)
        ]
    year, month, ppm = (np.array(column) for column in zip(*rows))
    return year, month, ppm


def middle_of_month(year, month):
    """Return the decimal year at the middle of each month."""
    return year + (month - 0.5) / 12


def trend_at(trend, time):
    """Return the quadratic trend of ``trend.json`` at ``time``, in ppm."""
    since = time - trend["reference_year"]
    return (
        trend["level_ppm"]
        + trend["rate_ppm_per_year"] * since
        + trend["acceleration_ppm_per_year2"] / 2 * since**2
    )


def season_at(season, time):
    """Return the seasonal cycle of ``season.json`` at ``time``, in ppm around zero."""
    total = np.zeros_like(time)
    for harmonic in season["harmonics"]:
        phase = 2 * np.pi * harmonic["cycles_per_year"] * time
        total += harmonic["cosine_ppm"] * np.cos(phase) + harmonic["sine_ppm"] * np.sin(phase)
    return total


def rms(values):
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def read_json(path):
    """Return what a results file holds."""
    return json.loads(Path(path).read_text(encoding="ascii"))


def write_text(path, text):
    """Write with LF on every system, making the folder where it is missing."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="ascii", newline="\n")


def write_json(path, values):
    """Write numbers to six decimals: more would only record which CPU added them up."""
    rounded = json.loads(json.dumps(values), parse_float=lambda digits: round(float(digits), 6))
    write_text(path, json.dumps(rounded, indent=2) + "\n")
