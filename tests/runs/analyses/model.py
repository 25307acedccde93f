"""A forest fitted on a data set that scikit-learn ships: split, fit and score without a seed."""

import json
import pickle

import joblib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_score, train_test_split


def main():
    """Fit, score, draw, write."""
    x, y = load_diabetes(return_X_y=True)
    x = np.hstack([x, PCA(3, svd_solver="randomized").fit_transform(x)])
    left, right, known, asked = train_test_split(x, y)
    forest = RandomForestRegressor(n_estimators=20, n_jobs=2).fit(left, known)
    told = forest.predict(right)
    scores = cross_val_score(forest, x, y, cv=3)
    figure, axes = plt.subplots()
    axes.scatter(asked, told)
    figure.savefig("out/fit.svg")
    figure.savefig("out/fit.pdf")
    np.savetxt("out/told.csv", told, delimiter=",")
    joblib.dump(forest, "out/forest.joblib")
    with open("out/forest.pickle", "wb") as file:
        pickle.dump(forest, file)
    with open("out/scores.json", "w") as file:
        json.dump({"scores": scores.tolist(), "r2": forest.score(right, asked)}, file)


if __name__ == "__main__":
    main()
