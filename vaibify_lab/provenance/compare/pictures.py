"""Pictures of pixels: the same pixels in other bytes are the same picture."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from vaibify_lab.provenance.compare.verdict import Comparison, Ignored, Picture

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
MOST_PIXELS = 40_000_000
_ORIENTATION = 0x0112  # of EXIF
_PNG = b"\x89PNG\r\n\x1a\n"
_SHOWING = ("icc_profile", "gamma", "duration", "loop", "orientation")  # beside the pixels
_COLOURS = frozenset({"1", "L", "LA", "P", "PA", "RGB", "RGBA"})  # that RGBA holds without loss
_TOO_LARGE = f"it has more than {MOST_PIXELS:,} pixels"


def compare_pictures(stored: bytes, fresh: bytes) -> Comparison:
    """Compare two pictures pixel by pixel; no tolerance: an eye must judge what differs."""
    if stored == fresh:
        return Comparison("identical")
    mine, yours = _read(stored), _read(fresh)
    if isinstance(mine, str) or isinstance(yours, str):
        said = mine if isinstance(mine, str) else yours
        text = f"the bytes differ, and the pixels cannot be compared: {said}"
        return Comparison("figure-differs", text, "the picture")
    if len(mine) != len(yours) or mine[0].size != yours[0].size:
        text = f"{_size(mine)} are now {_size(yours)}"
        return Comparison("figure-differs", text, "the picture", pictures=(Picture(text),))
    for number, (one, other) in enumerate(zip(mine, yours, strict=True), 1):
        found = _differing(one, other)
        if found is not None:
            where = f"frame {number}" if len(mine) > 1 else "the picture"
            return Comparison("figure-differs", found.text, where, pictures=(found,))
        for name in _SHOWING:
            if one.info.get(name) != other.info.get(name):
                text = f"the same pixels are shown otherwise: another {name}"
                return Comparison("figure-differs", text, f"frame {number}")
    noise = Ignored("picture metadata", "the picture")
    return Comparison("noise-only", ignored=(noise,), ignored_count=1)


def _read(data: bytes) -> list[Image] | str:
    """Return a picture's frames, or why it cannot be read."""
    from PIL import Image, ImageSequence  # most notebooks' pictures are equal bytes

    if data[:8] == _PNG and data[24:25] == b"\x10":
        return "it has 16 bits a colour"  # of which Pillow reads eight
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(io.BytesIO(data), formats=FORMATS)
            opened.info["orientation"] = opened.getexif().get(_ORIENTATION, 1)
            frames, pixels = [], 0
            for frame in ImageSequence.Iterator(opened):
                pixels += frame.width * frame.height
                if pixels > MOST_PIXELS:
                    return _TOO_LARGE
                if frame.mode not in _COLOURS:
                    return f"its colours are of the kind {frame.mode}"
                frames.append(frame.convert("RGBA"))
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        return _TOO_LARGE
    except Exception as error:  # whatever a picture made to hurt makes its reader raise
        return f"it is no {', '.join(FORMATS)} that can be read ({type(error).__name__})"
    return frames


def _differing(one: Image, other: Image) -> Picture | None:
    """Return how two pictures of one size differ; None when no pixel does."""
    from PIL import Image, ImageChops

    bands = ImageChops.difference(one, other).split()
    most = bands[0]
    for band in bands[1:]:
        most = ImageChops.lighter(most, band)
    box = most.getbbox()
    if box is None:
        return None
    counts = most.histogram()
    count = sum(counts[1:])
    largest = max(level for level, number in enumerate(counts) if number)
    text = (
        f"{count} of {one.width * one.height} pixels differ, by at most {largest} of 255, "
        f"between ({box[0]}, {box[1]}) and ({box[2] - 1}, {box[3] - 1})"
    )
    shown = Image.composite(
        Image.new("RGB", one.size, (220, 0, 0)),
        Image.blend(one.convert("RGB"), Image.new("RGB", one.size, (255, 255, 255)), 0.75),
        most.point(lambda level: 255 if level else 0),
    )
    out = io.BytesIO()
    shown.save(out, "PNG")
    return Picture(text, out.getvalue())


def _size(frames: list[Image]) -> str:
    width, height = frames[0].size if frames else (0, 0)
    more = f" in {len(frames)} frames" if len(frames) > 1 else ""
    return f"{width} x {height} pixels{more}"
