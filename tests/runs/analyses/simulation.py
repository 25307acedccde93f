"""A random walk of many, drawn, and written in every format that is at hand. No seed anywhere."""

import csv
import gzip
import json
import pickle
import random
import time
import zipfile
from concurrent.futures import ProcessPoolExecutor

import h5py
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.io import fits


def walk(number):
    """Walk for a while; which worker walks does not matter, the path is the number's own."""
    return np.random.default_rng(number).normal(size=500).cumsum()


def drawn(paths, names):
    """Draw in every format."""
    figure, axes = plt.subplots()
    axes.plot(paths.T, lw=0.5)
    axes.scatter(np.random.rand(20) * 500, np.random.rand(20) * 50, marker="*", clip_on=True)
    axes.fill_between(range(500), paths.min(axis=0), paths.max(axis=0), hatch="/", alpha=0.2)
    axes.set_title(", ".join(names))
    for kind in ("png", "svg", "pdf", "ps", "jpg"):
        figure.savefig(f"out/figure.{kind}")


def main():
    """Simulate, then write."""
    with ProcessPoolExecutor(2) as pool:
        seeds = np.random.default_rng().integers(2**31, size=8)
        paths = np.array(list(pool.map(walk, seeds)))
    names = list({"alpha", "beta", "gamma", "delta", "epsilon"})  # in the order of their hashes
    random.shuffle(names)
    paths = paths @ np.random.rand(500, 500)[:, :500] / 500  # threads would add in another order
    end = paths[:, -1].tolist()
    drawn(paths, names)
    with open("out/walk.csv", "w", newline="") as file:
        csv.writer(file).writerows(paths.tolist())
    with open("out/walk.json", "w") as file:
        json.dump({"end": end, "names": names, "hash": hash("alpha")}, file)
    with open("out/walk.pickle", "wb") as file:
        pickle.dump({"paths": paths, "names": set(names)}, file)
    np.save("out/walk.npy", paths)
    np.savez_compressed("out/walk.npz", paths=paths, end=end)
    with h5py.File("out/walk.h5", "w") as file:
        file["paths"] = paths
    pq.write_table(pa.table({"end": end}), "out/walk.parquet")
    fits.PrimaryHDU(paths).writeto("out/walk.fits", overwrite=True)
    # What no variable reaches: these write down when they were made.
    with gzip.open("out/walk.csv.gz", "wt") as file:
        file.write("\n".join(map(str, end)))
    with zipfile.ZipFile("out/walk.zip", "w") as file:
        file.writestr("end.json", json.dumps(end))
    with open("out/log.txt", "w") as file:
        print("made", time.strftime("%Y-%m-%dT%H:%M:%S"), file=file)


if __name__ == "__main__":
    main()
