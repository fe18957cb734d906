"""Executes the notebooks and checks what they print against figures computed here in another way."""

import json
import shutil
import statistics
import sys
import tempfile
import warnings
from pathlib import Path

import nbformat
import numpy as np
from nbclient import NotebookClient

folder = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(folder))
import evidence  # noqa: E402

failed = 0


def check(what: str, holds: bool) -> None:
    global failed
    if not holds:
        failed += 1
        print(f"FAILED: {what}")


series = evidence.load(folder / "sample")
check("two volumes", len({one.volume for one in series}) == 2)
for one in series:
    low, middle, high = evidence.median_interval(one.milliseconds)
    check(f"the interval holds the median of {one.label}", low <= middle <= high)
    check(f"the median of {one.label}", middle == statistics.median(one.milliseconds.tolist()))



def loaded(root: Path) -> tuple[list, list[str]]:
    """What is below a folder as plain values, and what was warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = evidence.load(root)
    values = [(one.volume, one.profile, one.profile_name, one.method, one.milliseconds.tolist()) for one in found]
    return values, [str(one.message) for one in told]


def refused(root: Path) -> str:
    try:
        evidence.load(root)
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def as_the_tool_writes(profile: dict) -> str:
    """One piece a line, as `varve-bench metadata --evidence` has them."""
    (requirement,) = profile["requirementResults"]
    lines = ",\n".join(json.dumps(piece) for piece in requirement["positiveTestEvidence"])
    name = json.dumps(profile["name"])
    head = f'{{"id":{profile["id"]},"name":{name},"requirementResults":[{{"name":{name},"positiveTestEvidence":['
    return f"{head}\n{lines}\n]}}]}}\n"


with tempfile.TemporaryDirectory() as made:
    run = Path(made, "run of 2026-11-22")
    plain = run / "0005-02"
    shutil.copytree(folder / "sample" / "0005-02", plain)
    wanted, told = loaded(run)
    check("a folder of one volume", len(wanted) > 1 and not told and loaded(plain)[0] == wanted)
    profiles = {path.name: json.loads(path.read_text("utf-8")) for path in plain.glob("*.json")}
    for name, profile in profiles.items():
        (plain / name).write_text(as_the_tool_writes(profile), "utf-8")
    check("line by line", loaded(run) == (wanted, []))
    # Killed while it wrote: within a line, after one, or what was added since lies over the end.
    broken = plain / "profile-012.json"
    whole = broken.read_text("utf-8")
    without = [one for one in wanted if one[1] != 12]
    for text in (whole[:-40], whole[: whole.rindex("]}]}")], whole[:-2] + "{", ""):
        broken.write_text(text, "utf-8")
        found, told = loaded(run)
        check(f"a broken file is left out and named: {text[-20:]!r}", found == without and "profile-012.json" in "".join(told))
    # As the suite itself has them.
    published = Path(made, "published", "g0005-02", "profile-details")
    published.mkdir(parents=True)
    for name, profile in profiles.items():
        (published / name).write_text(json.dumps({"class": "ProfileReport", "profileResult": profile}), "utf-8")
    (published / "other.json").write_text("[1]", "utf-8")
    check("the published layout", loaded(published.parents[1]) == (wanted, []))
    shutil.copytree(published.parent, published.parents[1] / "p0005-02")
    check("two repositories are not one", "both of volume 0005-02" in refused(published.parents[1]))
    check("nor are two runs", "both of volume 0005-02" in refused(Path(made)))
    dated = Path(made, "dates", "2026-11-22")
    dated.mkdir(parents=True)
    (dated / "results.json").write_text("{}", "utf-8")
    check("a date is no volume", "no folder such as 0005-02" in refused(dated.parent))

# Against plain resampling: the two ends agree to a few percent.
values = np.random.default_rng(7).lognormal(0, 0.5, 401)
drawn = np.random.default_rng(8)
plain = np.quantile([np.median(drawn.choice(values, len(values))) for _ in range(2000)], [0.025, 0.975])
low, _, high = evidence.median_interval(values, rounds=2000)
check("the interval is that of plain resampling", bool(np.allclose([low, high], plain, rtol=0.05)))
check("outliers", evidence.outliers(np.array([1.0, 1, 2, 2, 3, 50])).tolist() == [50.0])

for name in ("distributions", "medians"):
    notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    check(f"{name} is stored without outputs", all(not cell.get("outputs") for cell in notebook.cells))
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute()
    printed = "".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "stream"
    )
    pictures = sum(
        "image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])
    )
    calls = sum(len(one.milliseconds) for one in series)
    check(f"{name} counts the calls", f"{calls:,} timed calls" in printed)
    check(f"{name} draws", pictures >= 1)
    if name == "medians":
        one = series[0]
        check("medians prints a median", f"{np.median(one.milliseconds):8.3f} [" in printed)

print("notebooks: all checks passed" if failed == 0 else f"notebooks: {failed} checks failed")
sys.exit(failed != 0)
