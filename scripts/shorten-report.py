#!/usr/bin/env python3
"""Shortens pages of `varve bench report` and `varve bench metadata --report` for docs/bench, in place.

Removes the charts of single rows, and in the chart of all medians the tooltips and the bars without a length. The tables stay, and
hold the same figures. Usage: scripts/shorten-report.py PAGE.html...
"""
import re
import sys

LARGEST = 200_000  # bytes; a test checks the pages in docs/bench

NOTE = '<p class="note">Charts of single rows and tooltips were removed for size (scripts/shorten-report.py).</p>'


def shorten(page):
    if NOTE in page:
        return page
    start, end = page.find("<h2>Row by row</h2>"), page.find("<h2>The published tables</h2>")
    if 0 <= start < end:
        rows = re.sub(r'<figure class="chart">.*?</figure>', "", page[start:end], flags=re.S)
        page = page[:start] + rows.replace("</h2>", "</h2>" + NOTE, 1) + page[end:]
    start = page.find("<h2>All medians</h2>")
    if start >= 0:
        chart = re.sub(r"<title>.*?</title>", "", page[start:])
        chart = re.sub(r'<path class="line" d="M([\d.]+) [\d.]+H\1"/>', "", chart)
        page = page[:start] + chart.replace("</h2>", "</h2>" + NOTE, 1)
    return page


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        page = shorten(file.read())
    with open(name, "w", encoding="utf-8") as file:
        file.write(page)
    size = len(page.encode())
    print(f"{name}: {size} bytes" + ("" if size < LARGEST else f", over {LARGEST}"))
