"""Callables that read, write, list or fetch files, by the last parts of their names."""

from __future__ import annotations

# Callables whose argument of that place (or keyword) is a file: by the last part of their name, or
# the last two where one says too little.
READS: dict[str, int] = {
    **dict.fromkeys(
        (
            *("read_csv", "read_table", "read_fwf", "read_json", "read_excel", "read_parquet"),
            *("read_feather", "read_hdf", "read_pickle", "read_xml", "read_stata", "read_sas"),
            *("read_spss", "read_orc", "read_file", "loadtxt", "genfromtxt", "fromfile"),
            *("loadmat", "imread", "open_dataset", "open_dataarray", "open_mfdataset"),
            *("open_zarr", "scan_csv", "scan_parquet", "urlopen", "urlretrieve", "read_html"),
            *("np.load", "numpy.load", "joblib.load", "torch.load", "Image.open", "fits.open"),
            *("rasterio.open", "uproot.open", "xr.load_dataset", "xarray.load_dataset"),
            *("xr.load_dataarray", "Table.read", "ascii.read", "wavfile.read", "fits.getdata"),
            *("shutil.copy", "shutil.copyfile", "shutil.copy2"),
            *("fits.getheader", "requests.get", "requests.post", "httpx.get", "wget.download"),
        ),
        0,
    )
}
WRITES: dict[str, int] = {
    **dict.fromkeys(
        (
            *("to_csv", "to_json", "to_excel", "to_parquet", "to_feather", "to_hdf"),
            *("to_pickle", "to_html", "to_latex", "to_stata", "to_netcdf", "to_zarr", "to_file"),
            *("tofile", "savefig", "imsave", "savetxt", "savez", "savez_compressed", "savemat"),
            *("write_html", "write_image", "write_csv", "write_parquet", "makedirs", "mkdir"),
            *("writeto", "touch", "save", "imwrite"),
        ),
        0,
    ),
    **dict.fromkeys(
        (
            *("joblib.dump", "torch.save", "urlretrieve", "shutil.copy", "shutil.copyfile"),
            *("shutil.copytree", "shutil.move", "shutil.unpack_archive", "shutil.copy2"),
            *("os.rename", "os.replace"),
        ),
        1,
    ),
}
KEYWORDS = frozenset(
    {
        "path",
        "filename",
        "fname",
        "file",
        "filepath_or_buffer",
        "path_or_buf",
        "io",
        "filepath",
        "top",
        "url",
    }
)
BY_MODE = frozenset({"open", "File", "ZipFile", "TarFile", "Dataset", "HDFStore"})
OPENS = frozenset({"open", "io.open", "gzip.open", "bz2.open", "lzma.open"})
OF_PATH_READ = frozenset({"read_text", "read_bytes"})
GLOBS = frozenset({"glob", "iglob", "glob.glob", "glob.iglob"})
# What lists a folder, as the pattern that its files fit.
LISTS = {
    **dict.fromkeys(("os.listdir", "listdir", "os.scandir", "scandir"), "*"),
    **dict.fromkeys(("os.walk", "os.fwalk"), "**/*"),
}
OF_PATH_LISTS = {"iterdir": "*", "walk": "**/*"}
OF_PATH_WRITE = frozenset({"write_text", "write_bytes", "mkdir", "touch"})
HARMLESS = frozenset({"Path", "PurePath", "join", "str", "print", "exists", "isfile", "isdir"})
PATHS = frozenset({"Path", "PurePath", "PosixPath"})
# What gives a path of the same file, of another place on its way, or the folder where code runs.
SAME_PATH = frozenset({"abspath", "realpath", "normpath", "fspath", "str"})
SAME_OF_PATH = frozenset({"resolve", "absolute", "as_posix"})
HERE = frozenset({"os.getcwd", "getcwd", "Path.cwd"})
GUARDS = frozenset({"FileNotFoundError", "OSError", "IOError", "Exception", "BaseException"})
# What shows a picture or a sound that lies in the file of its argument `filename`.
SHOWS = frozenset({"Image", "SVG", "Audio", "Video"})
# What fetches its data over the network, though its argument is no address.
FETCHES = frozenset(
    {
        *("tutorial.open_dataset", "tutorial.load_dataset", "tutorial.open_datatree"),
        *("tutorial.load_datatree", "sns.load_dataset", "seaborn.load_dataset", "get_rdataset"),
        *("fetch_openml", "fetch_california_housing", "fetch_20newsgroups", "fetch_covtype"),
        *("fetch_20newsgroups_vectorized", "fetch_lfw_people", "fetch_lfw_pairs", "fetch_rcv1"),
        *("fetch_olivetti_faces", "fetch_kddcup99", "fetch_species_distributions", "DataReader"),
        *("geodatasets.get_path", "geodatasets.fetch", "pooch.retrieve", "nltk.download"),
        *("yf.download", "yfinance.download", "gdown.download", "SkyCoord.from_name"),
    }
)
