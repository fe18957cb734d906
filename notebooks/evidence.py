"""Reads the evidence of Egeria's performance suite: a folder for each volume, a JSON file for each profile.

`varve-bench metadata --evidence FOLDER` writes it, and so does the suite itself, which puts the files of a volume into
`profile-details/`. A volume is called by instances of each type and page size, such as `0005-02`, with a letter before it or
without. A profile's file is an object with `id`, `name` and `requirementResults`, or holds that object as `profileResult`; each
of the requirements has `positiveTestEvidence`: one piece for each timed call, with `methodName` and `elapsedTime` in whole
milliseconds. Where `elapsedMicroseconds` is there too, it is taken instead, since most calls of a fast repository take less than
one millisecond.
"""

from __future__ import annotations

import json
import re
import warnings
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VOLUME = re.compile(r"[a-z]?(\d{4}-\d{2})")
# How the first line ends of a file that has one piece of evidence in each line, and what its last line is.
BEGIN, END = '"positiveTestEvidence":[', "]}]}"


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


def volumes(folder: str | Path) -> dict[str, Path]:
    """The folders of the volumes below `folder`, smallest first; `folder` itself if it is one."""
    root = Path(folder).resolve()
    found: dict[str, Path] = {}
    for place in [root, *sorted(path for path in root.rglob("*") if path.is_dir())]:
        match = VOLUME.fullmatch(place.name)
        if match is None or not files(place):
            continue
        other = found.setdefault(match[1], place)
        if other != place:
            raise ValueError(f"{other} and {place} are both of volume {match[1]}: name the folder of one run")
    if not found:
        raise FileNotFoundError(f"no folder such as 0005-02 with JSON files in {root}")
    return dict(sorted(found.items()))


def files(place: Path) -> list[Path]:
    """The JSON files of a volume."""
    return sorted([*place.glob("*.json"), *place.glob("profile-details/*.json")])


def pieces(file: Path) -> Iterator[tuple[dict, dict]]:
    """Each piece of evidence in a profile's file, with the object of the profile; nothing of a file of another kind."""
    with open(file, encoding="utf-8") as text:
        first = text.readline().rstrip()
        if first.endswith(BEGIN):
            # A large volume has gigabytes of them: they are read one by one.
            profile = json.loads(first + END)
            for line in text:
                if line.rstrip() == END:
                    return
                yield profile, json.loads(line.rstrip().removesuffix(","))
            raise ValueError("it has no end")
        text.seek(0)
        profile = json.load(text)
    if isinstance(profile, dict):
        profile = profile.get("profileResult") or profile
        for requirement in profile.get("requirementResults") or []:
            for piece in requirement.get("positiveTestEvidence") or []:
                yield profile, piece


def times_of(file: Path) -> dict[tuple[int, str, str], array]:
    """The times in milliseconds in a profile's file, by profile, its name, and method."""
    times: dict[tuple[int, str, str], array] = {}
    for profile, piece in pieces(file):
        if piece.get("elapsedTime") is None:
            continue
        fine = piece.get("elapsedMicroseconds")
        elapsed = piece["elapsedTime"] if fine is None else fine / 1000
        number = int(piece.get("profileId", profile.get("id")))
        key = number, profile.get("name") or "", piece["methodName"]
        times.setdefault(key, array("d")).append(elapsed)
    return times


def load(folder: str | Path) -> list[Series]:
    """The times of all volumes below `folder`, by volume, profile and method.

    A file that cannot be read, such as one of a run that was killed, is left out with a warning.
    """
    times: dict[tuple[str, int, str], array] = {}
    names: dict[int, str] = {}
    for volume, place in volumes(folder).items():
        for file in files(place):
            try:
                found = times_of(file)
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                warnings.warn(f"{file} is left out, as it cannot be read: {error}", stacklevel=2)
                continue
            for (number, name, method), taken in found.items():
                names.setdefault(number, name)
                times.setdefault((volume, number, method), array("d")).extend(taken)
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
