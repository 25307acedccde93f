"""Weekly means to monthly means: ``clean.py WEEKLY MONTHLY``.

Each week counts by the number of days that were measured in it; a month with fewer than
``LEAST_DAYS`` measured days is left out rather than guessed.
"""

import sys
from collections import defaultdict
from math import fsum

import co2lib

LEAST_DAYS = 7


def monthly_means(weeks):
    """Return ``{(year, month): (days, ppm)}``, in order of time."""
    measured = defaultdict(list)
    for year, month, days, ppm in weeks:
        measured[year, month].append((days, ppm))
    means = {}
    for when, values in sorted(measured.items()):
        days = sum(count for count, _ in values)
        if days >= LEAST_DAYS:
            # sum() rounds differently from Python 3.12 on; fsum() is exact everywhere.
            means[when] = days, fsum(count * ppm for count, ppm in values) / days
    return means


def main(source, target):
    means = monthly_means(co2lib.read_weekly(source))
    lines = [f"{year},{month},{days},{ppm:.3f}\n" for (year, month), (days, ppm) in means.items()]
    co2lib.write_text(target, "year,month,days,ppm\n" + "".join(lines))
    print(f"{len(means)} months with at least {LEAST_DAYS} measured days")


if __name__ == "__main__":
    main(*sys.argv[1:])
