"""Reads the evidence of Egeria's performance suite: a folder for each volume, a JSON file for each profile.

`varve bench metadata --evidence FOLDER` writes it, and so does the suite itself. A volume is called by instances of each type
and page size, such as `0005-02`. A profile's file is an object with `id`, `name` and `requirementResults`, each of these
with `positiveTestEvidence`: one piece for each timed call, with `methodName` and `elapsedTime` in whole milliseconds. Where
`elapsedMicroseconds` is there too, it is taken instead, since most calls of a fast repository take less than one millisecond.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VOLUME = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True)
class Series:
    """All times of one method in one profile at one volume."""

    volume: str
    profile: int
    profile_name: str
    method: str
    milliseconds: np.ndarray

    @property
    def label(self) -> str:
        return f"{self.profile} {self.method}"


def volumes(folder: str | Path) -> list[Path]:
    """The folders of the volumes below `folder`, smallest first; `folder` itself if it is one."""
    root = Path(folder)
    candidates = [root, *sorted(path for path in root.rglob("*") if path.is_dir())]
    found = [path for path in candidates if VOLUME.search(path.name) and any(path.glob("*.json"))]
    if not found:
        raise FileNotFoundError(f"no folder such as 0005-02 with JSON files in {root.resolve()}")
    return sorted(found, key=lambda path: volume_of(path))


def volume_of(folder: Path) -> str:
    """The volume that a folder is called by."""
    match = VOLUME.search(folder.name)
    if match is None:
        raise ValueError(f"{folder.name} names no volume such as 0005-02")
    return match.group(0)


def load(folder: str | Path) -> list[Series]:
    """The times of all volumes below `folder`, by volume, profile and method."""
    times: dict[tuple[str, int, str], list[float]] = {}
    names: dict[int, str] = {}
    for place in volumes(folder):
        volume = volume_of(place)
        for file in sorted(place.glob("*.json")):
            with open(file, encoding="utf-8") as text:
                profile = json.load(text)
            if not isinstance(profile, dict) or "requirementResults" not in profile:
                continue
            for requirement in profile.get("requirementResults") or []:
                for piece in requirement.get("positiveTestEvidence") or []:
                    if piece.get("elapsedTime") is None:
                        continue
                    number = int(piece.get("profileId", profile["id"]))
                    names.setdefault(number, profile.get("name", ""))
                    fine = piece.get("elapsedMicroseconds")
                    elapsed = piece["elapsedTime"] if fine is None else fine / 1000
                    times.setdefault((volume, number, piece["methodName"]), []).append(float(elapsed))
    return [
        Series(volume, profile, names[profile], method, np.array(taken))
        for (volume, profile, method), taken in sorted(times.items())
    ]


def median_interval(times: np.ndarray, *, level: float = 0.95, rounds: int = 1000, seed: int = 1) -> tuple[float, float, float]:
    """The median with its percentile bootstrap interval: (low, median, high).

    Large samples are resampled through the binomial distribution of the rank of the median, which gives the same
    distribution as drawing each value anew without holding `rounds` copies of them.
    """
    ordered = np.sort(times)
    count = len(ordered)
    middle = float(np.median(ordered))
    if count < 2:
        return middle, middle, middle
    random = np.random.default_rng(seed)
    # The median of a resample is the value whose rank is the median of `count` uniform draws: a beta distribution.
    half = (count + 1) / 2
    ranks = np.minimum((random.beta(half, half, rounds) * count).astype(int), count - 1)
    low, high = np.quantile(ordered[ranks], [(1 - level) / 2, (1 + level) / 2])
    return float(low), middle, float(high)


def outliers(times: np.ndarray) -> np.ndarray:
    """The times above the upper whisker of a box plot: third quartile + 1.5 times the distance between the quartiles."""
    first, third = np.quantile(times, [0.25, 0.75])
    return times[times > third + 1.5 * (third - first)]
