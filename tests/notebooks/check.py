"""Executes the notebooks and checks what they print against figures computed here in another way."""

import statistics
import sys
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
