"""Which distribution brings a module, for the modules of science whose names differ, and the rest.

A hint for a message, and what makes "not in the lock" certain: a module that is not here and that
this machine does not know either may come from a distribution of any name.
"""

from __future__ import annotations

# module: the distributions that offer it, the usual one first
DIFFERENT: dict[str, tuple[str, ...]] = {
    "Bio": ("biopython",),
    "Crypto": ("pycryptodome", "pycrypto"),
    "IPython": ("ipython",),
    "MDAnalysis": ("mdanalysis",),
    "OpenGL": ("pyopengl",),
    "PIL": ("pillow", "pillow-simd"),
    "attr": ("attrs",),
    "bs4": ("beautifulsoup4",),
    "community": ("python-louvain",),
    "cv2": (
        "opencv-python",
        "opencv-python-headless",
        "opencv-contrib-python",
        "opencv-contrib-python-headless",
    ),
    "dateutil": ("python-dateutil",),
    "dotenv": ("python-dotenv",),
    "eccodes": ("eccodes", "eccodes-python"),
    "fitz": ("pymupdf",),
    "git": ("gitpython",),
    "igraph": ("igraph", "python-igraph"),
    "kaleido": ("kaleido",),
    "lxml": ("lxml",),
    "mpl_toolkits": ("matplotlib", "basemap"),
    "netCDF4": ("netcdf4",),
    "osgeo": ("gdal",),
    "pkg_resources": ("setuptools",),
    "pylab": ("matplotlib",),
    "rdkit": ("rdkit", "rdkit-pypi"),
    "serial": ("pyserial",),
    "skimage": ("scikit-image",),
    "sklearn": ("scikit-learn", "scikit-learn-intelex"),
    "skbio": ("scikit-bio",),
    "SimpleITK": ("simpleitk",),
    "tables": ("tables",),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tf-nightly"),
    "torch": ("torch",),
    "umap": ("umap-learn",),
    "yaml": ("pyyaml",),
    "zmq": ("pyzmq",),
}
_SAME = """
    altair astropy bokeh cartopy cfgrib corner cvxpy cython dask dill emcee fiona geopandas h5py
    healpy httpx iminuit ipykernel jax jinja2 joblib jupyter keras lightgbm lmfit matplotlib
    mpmath nbclient nbformat networkx nibabel nltk numba numexpr numpy obspy openpyxl pandas patsy
    plotly polars pooch pyarrow pydantic pymc pyproj pystan pytest rasterio requests rich rpy2
    scanpy scipy seaborn shapely spacy statsmodels sympy tabulate tqdm transformers uncertainties
    xarray xgboost zarr
"""
SAME = frozenset(_SAME.split())


def known_distributions(module: str) -> tuple[str, ...]:
    """Return the distributions that are known to bring a top-level module; none when not known."""
    return DIFFERENT.get(module) or ((module,) if module in SAME else ())
