"""Graphs of 300, 2,000 and 10,000 vertices on the canvas: pictures, frames a second and the longest task of the
main thread while the picture is moved and zoomed.

`run.sh --pictures FOLDER [COUNT…]` loads the graphs, prints the figures and keeps pictures in FOLDER; those of the
documentation are in docs/pictures."""

import json
import math
import os
import random
import sys
import time
from pathlib import Path
from typing import NamedTuple

from browser import Browser, Server, settle
from large import CATEGORIES, link, tasks
from picking import discs

#: Of a frame of 2,000 vertices, in ms of the processor; measured 6 to 13, and tasks of 4.
FRAME_MS, TASK_MS = 100, 500
COUNTS = (300, 2_000, 10_000)
BATCH = 500
#: Labels with their shares of the vertices.
SHARES = (("person", 0.8), ("company", 0.12), ("city", 0.08))
#: Labels of edges: from, to.
ENDS = {"knows": ("person", "person"), "works_at": ("person", "company"), "lives_in": ("person", "city"), "supplies": ("company", "company")}
FRAMES = """() => { window.frames_ = []; const note = at => { window.frames_.push(at); window.noting = requestAnimationFrame(note); };
  window.noting = requestAnimationFrame(note); }"""


class Found(NamedTuple):
    frames: float
    """A second."""
    pause: float
    """The longest time between two frames, in ms."""
    task: float
    """The longest task of the main thread, in ms of the processor."""
    renderer: float
    """Processor ms a frame of the page's process, its workers included; a busy machine does not change it much."""
    painter: float
    """The same of the process that puts the picture on the screen."""


def schema(server: Server) -> None:
    server.call(f"/graphs/{server.graph}", {})
    path = f"/graphs/{server.graph}/schema"
    server.call(f"{path}/propertykeys", {"name": "name", "data_type": "TEXT", "check_exist": False})
    for label, _ in SHARES:
        server.call(f"{path}/vertexlabels", {"name": label, "id_strategy": "CUSTOMIZE_STRING", "properties": ["name"], "check_exist": False})
    for label, (source, target) in ENDS.items():
        server.call(f"{path}/edgelabels", {"name": label, "source_label": source, "target_label": target, "check_exist": False})


def people(count: int) -> tuple[list[dict], list[dict]]:
    """Vertices and edges of towns: who lives in one works and knows people there, some elsewhere."""
    numbers = random.Random(count)
    names = {label: [f"{label} {index}" for index in range(round(count * share))] for label, share in SHARES}
    town = {name: numbers.randrange(len(names["city"])) for each in names.values() for name in each}
    town |= {name: index for index, name in enumerate(names["city"])}
    near: dict[tuple[str, int], list[str]] = {}
    for label, each in names.items():
        for name in each:
            near.setdefault((label, town[name]), []).append(name)
    edges = set()
    def add(label: str, one: str, other: str) -> None:
        if one != other:
            edges.add((label, one, other))
    for name in names["person"]:
        add("lives_in", name, names["city"][town[name]])
        add("works_at", name, numbers.choice(near.get(("company", town[name]), names["company"])))
        for _ in range(numbers.choice((0, 0, 1, 1, 2))):
            beside = near[("person", town[name])]
            add("knows", name, numbers.choice(beside if numbers.random() < 0.93 else names["person"]))
    for name in names["company"]:
        add("supplies", name, numbers.choice(names["company"][: max(3, count // 100)]))
    vertices = [{"label": label, "id": name, "properties": {"name": name.title()}} for label, each in names.items() for name in each]
    rows = [
        {"label": label, "outV": one, "inV": other, "outVLabel": ENDS[label][0], "inVLabel": ENDS[label][1], "properties": {}}
        for label, one, other in sorted(edges)
    ]
    return vertices, rows


def load(server: Server, count: int) -> list[str]:
    """Loads a graph of this many vertices unless it is there; their refs."""
    vertices, edges = people(count)
    if server.graph not in server.call("/graphs")["graphs"]:
        schema(server)
        path = f"/graphs/{server.graph}/graph"
        for kind, rows in (("vertices", vertices), ("edges", edges)):
            for start in range(0, len(rows), BATCH):
                server.call(f"{path}/{kind}/batch", rows[start : start + BATCH])
    return [json.dumps(each["id"]) for each in vertices]


def open_graph(page, server: Server, refs: list[str]) -> None:
    page.set_default_timeout(120_000)
    page.goto(link(server, refs))
    page.locator(".legend-row").first.wait_for(state="attached")
    settle(page)
    page.locator("[data-tool=arrange]").click()
    arranged(page)


def arranged(page) -> None:
    """Waits until the layout has ended."""
    page.wait_for_timeout(1_500)
    page.locator(".canvas[data-arranging=no]").wait_for(state="attached")
    page.wait_for_timeout(500)


def middle(page) -> tuple[float, float]:
    box = page.locator(".canvas").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pan(page) -> None:
    box = page.locator(".canvas").bounding_box()
    # A corner is free: a drag that begins on a vertex moves that.
    x, y = box["x"] + box["width"] - 130, box["y"] + 12
    page.mouse.move(x, y)
    page.mouse.down()
    until = time.monotonic() + 2
    step = 0
    while time.monotonic() < until:
        step += 1
        page.mouse.move(x + 2 * abs(step % 60 - 30), y + 3 * abs(step % 60 - 30))
    page.mouse.up()


def zoom(page) -> None:
    page.mouse.move(*middle(page))
    until = time.monotonic() + 2
    step = 0
    while time.monotonic() < until:
        step += 1
        page.mouse.wheel(0, -40 if step % 40 < 20 else 40)
        page.wait_for_timeout(16)


def processor_ms() -> dict[str, float]:
    """Processor time of Chromium's processes below this one, by kind, in ms."""
    parents, times, kinds = {}, {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        pid = int(entry.name)
        parents[pid] = int(fields[1])
        times[pid] = (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")
        kinds[pid] = next((word.split("=")[1] for word in words.split() if word.startswith("--type=")), "") if "chrom" in words else "-"
    found: dict[str, float] = {}
    for pid, spent in times.items():
        above = pid
        while above not in (0, os.getpid()) and above in parents:
            above = parents[above]
        if above == os.getpid() and kinds[pid] != "-":
            found[kinds[pid]] = found.get(kinds[pid], 0) + spent
    return found


def measure(browser: Browser, page, action) -> Found:
    """Frames are counted without a trace, which takes time of its own."""
    page.evaluate(FRAMES)
    before = processor_ms()
    action(page)
    spent = {kind: used - before.get(kind, 0) for kind, used in processor_ms().items()}
    at = page.evaluate("() => { cancelAnimationFrame(window.noting); return window.frames_; }")
    browser.browser.start_tracing(page=page, categories=CATEGORIES)
    action(page)
    longest = tasks(browser.browser.stop_tracing())[-1]
    gaps = [after - before for before, after in zip(at, at[1:])]
    per = {kind: spent.get(kind, 0) / len(gaps) for kind in ("renderer", "gpu-process")}
    return Found(1000 * len(gaps) / (at[-1] - at[0]), max(gaps), longest, per["renderer"], per["gpu-process"])


def keep(page, folder: str, name: str) -> None:
    """A picture of the canvas, small enough for the documentation."""
    page.mouse.move(5, 5)
    page.locator(".stage").screenshot(path=f"{folder}/canvas-{name}.jpg", type="jpeg", quality=55)


def check_one(browser: Browser, url: str, count: int, folder: str | None) -> dict[str, Found]:
    server = Server(url, f"crowd{count}")
    refs = load(server, count)
    page = browser.page()
    open_graph(page, server, refs)
    if page.locator("[data-grouping]").count():
        if folder:
            keep(page, folder, f"{count}-grouped")
        page.locator("[data-grouping]").select_option("none")
        arranged(page)
        page.wait_for_timeout(1_500)
    if folder:
        keep(page, folder, str(count))
    found = {action.__name__: measure(browser, page, action) for action in (pan, zoom)}
    for name, each in found.items():
        tell(count, name, each)
    page.context.close()
    return found


def overlaps(found: list[tuple[float, float, float]]) -> int:
    """Pairs of discs that cover each other by more than the rounding of the file."""
    cells: dict[tuple[int, int], list[tuple[float, float, float]]] = {}
    for disc in found:
        cells.setdefault((int(disc[0] // 100), int(disc[1] // 100)), []).append(disc)
    pairs = 0
    for (column, row), here in cells.items():
        near = [disc for x in (0, 1) for y in (-1, 0, 1) for disc in cells.get((column + x, row + y), []) if (x, y) > (0, 0)]
        for index, one in enumerate(here):
            for other in here[index + 1 :] + near:
                pairs += math.hypot(one[0] - other[0], one[1] - other[1]) < one[2] + other[2] - 0.3
    return pairs


def drawn(page) -> int:
    return int(page.locator(".canvas").get_attribute("data-drawn"))


def check(browser: Browser, url: str) -> None:
    """2,000 vertices: grouped with counts, a group opens; without groups no disc covers another, at any zoom."""
    server = Server(url, "crowd2000")
    refs = load(server, 2_000)
    page = browser.page()
    open_graph(page, server, refs)
    groups = drawn(page)
    assert 1 < groups < 200, groups
    grouped = discs(page)
    assert len(grouped) == groups and not overlaps(grouped), (len(grouped), groups)
    box = page.locator(".canvas").bounding_box()
    x, y, _ = max((each for each in grouped if each[0] > 260), key=lambda each: each[2])
    page.mouse.click(box["x"] + x, box["y"] + y, button="right")
    count = int("".join(each for each in page.locator("[data-menu=open-group]").inner_text() if each.isdigit()))
    page.locator("[data-menu=open-group]").click()
    page.locator(f".canvas[data-drawn='{groups - 1 + count}']").wait_for(state="attached")
    page.locator("[data-grouping]").select_option("label")
    page.locator(f".canvas[data-drawn='{len(SHARES)}']").wait_for(state="attached")
    page.locator("[data-grouping]").select_option("none")
    page.locator(".canvas[data-drawn='2000']").wait_for(state="attached")
    arranged(page)
    page.locator("[data-tool=fit]").click()
    page.wait_for_timeout(500)
    everything = discs(page)
    assert len(everything) == 2_000 and not overlaps(everything), (len(everything), overlaps(everything))
    for _ in range(3):
        page.locator("[data-tool=zoomIn]").click()
        page.wait_for_timeout(250)
    closer = discs(page)
    assert [each[2] for each in closer] == [each[2] for each in everything], "circles keep their size in zoom"
    assert not overlaps(closer)
    for action in (pan, zoom):
        found = measure(browser, page, action)
        tell(2_000, action.__name__, found)
        assert found.renderer + found.painter < FRAME_MS and found.task < TASK_MS, found
    server.call(f"/graphs/{server.graph}", method="DELETE", confirm_message="I'm sure to drop the graph")


def tell(count: int, name: str, found: Found) -> None:
    print(
        f"        {count:,} vertices, {name}: {found.frames:.0f} frames/s, longest pause {found.pause:.0f} ms, longest task {found.task:.0f} ms, "
        f"a frame {found.renderer:.0f} + {found.painter:.0f} ms of the processor",
        flush=True,
    )


if __name__ == "__main__":
    shots = sys.argv[2] if len(sys.argv) > 2 else None
    wanted = [int(each) for each in sys.argv[3:]] or COUNTS
    chromium = Browser(sys.argv[1])
    for each in wanted:
        check_one(chromium, sys.argv[1], each, shots)
    chromium.close()
