#!/usr/bin/env python3
"""Turns the air routes graph, as it comes in the package graph-notebook (Gremlin addV and addE steps), into JSON Lines.

Usage: convert.py <folder with the .txt files> <folder for the .jsonl files>

The data set is Kelvin R. Lawrence's, version 0.87. Vertices get ids that can be read: an airport its code (LHR), a country
`country:GB`, a continent `continent:EU`.
"""

import json
import pathlib
import re
import sys

VERTEX = re.compile(r'addV\("(\w+)"\)((?:\.property\((?:id|"\w+"),(?:"(?:[^"\\]|\\.)*"|[^()"]+)\))*)')
EDGE = re.compile(r'addE\("(\w+)"\)\.property\(id,"\d+"\)\.from\(V\("(\d+)"\)\)\.to\(V\("(\d+)"\)\)(?:\.property\("dist",(\d+)\))?')
PROPERTY = re.compile(r'\.property\((id|"\w+"),("(?:[^"\\]|\\.)*"|[^()"]+)\)')


def value(text):
    """A Gremlin literal: a text, a whole number, or a double with a d behind it."""
    if text.startswith('"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return float(text[:-1]) if text.endswith("d") else int(text)


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(source.glob("*.txt")))
    target.mkdir(parents=True, exist_ok=True)
    files = {}
    ids = {}

    def write(name, row):
        if name not in files:
            files[name] = open(target / f"{name}.jsonl", "w", encoding="utf-8")
        files[name].write(json.dumps(row, ensure_ascii=False) + "\n")

    for label, steps in VERTEX.findall(text):
        row = {key.strip('"'): value(raw) for key, raw in PROPERTY.findall(steps)}
        number = row.pop("id")
        row.pop("type")
        if label == "version":
            continue
        ids[number] = (label, row["code"] if label == "airport" else f'{label}:{row["code"]}')
        write(label, {"id": ids[number][1], **row})
    counts = {name: 0 for name in ("route", "contains")}
    for label, tail, head, distance in EDGE.findall(text):
        counts[label] += 1
        (kind, tail), (_, head) = ids[tail], ids[head]
        row = {"from": tail, "to": head}
        if label == "route":
            row["dist"] = int(distance)
        write("route" if label == "route" else f"{kind}_contains", row)
    for file in files.values():
        file.close()
    print(f"{len(ids)} vertices, {sum(counts.values())} edges")


if __name__ == "__main__":
    main()
