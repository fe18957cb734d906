"""Loads a million rows from CSV, Parquet and JSON Lines into Varve and by COPY into Ladybug, in turns.

    rates.py PROGRAM FOLDER [--rows 1000000] [--repeats 3]

Prints rows a second, and the processor time of client and server together. Needs the packages `ladybug` and `polars`.
Ladybug runs in the process of its client; it reads JSON Lines by its extension `json`, if that can be installed.
"""

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import polars

FORMATS = ("csv", "parquet", "jsonl")
SEED = 42
MAPPING = """[[vertex]]
file = "rows.{form}"
label = "row"
id = "id"

[schema]
propertykeys = [
  {{ name = "name", data_type = "TEXT" }}, {{ name = "score", data_type = "DOUBLE" }},
  {{ name = "day", data_type = "DATE" }}, {{ name = "count", data_type = "LONG" }}, {{ name = "flag", data_type = "BOOLEAN" }},
]
vertexlabels = [
  {{ name = "row", id_strategy = "CUSTOMIZE_NUMBER", properties = ["name", "score", "day", "count", "flag"] }},
]
edgelabels = []
"""
TABLE = "CREATE NODE TABLE row(id INT64 PRIMARY KEY, name STRING, score DOUBLE, day DATE, count INT64, flag BOOLEAN)"


def write(folder, rows):
    numbers = polars.int_range(rows, eager=True)
    frame = polars.DataFrame({
        "id": numbers,
        "name": "name of " + numbers.hash(SEED).cast(polars.String),
        "score": (numbers * 7919 % 1_000_003) / 1024,
        "day": (numbers % 9_000).cast(polars.Int32).cast(polars.Date),
        "count": numbers * 31 % 1_000_000,
        "flag": numbers % 3 == 0,
    })
    frame.write_csv(folder / "rows.csv")
    frame.write_parquet(folder / "rows.parquet")
    frame.write_ndjson(folder / "rows.jsonl")
    for form in FORMATS:
        (folder / f"{form}.toml").write_text(MAPPING.format(form=form))


def seconds_of(process):
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def varve(program, folder, form):
    """Wall and processor seconds of a load into a new server."""
    data = folder / "varve"
    shutil.rmtree(data, ignore_errors=True)
    with open(folder / "varve.log", "w") as log:
        server = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--data-dir", data], stdout=log, stderr=log)
    try:
        found = None
        while not found:
            time.sleep(0.1)
            found = re.search(r"serves on (\S+)", (folder / "varve.log").read_text())
        before, began = of_children() + seconds_of(server.pid), time.monotonic()
        command = [program, "load", f"{form}.toml", "--server", found[1], "--restart"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        wall = time.monotonic() - began
        return wall, of_children() + seconds_of(server.pid) - before
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(data, ignore_errors=True)


LADYBUG = """
import sys, time, resource
import ladybug
database, file = sys.argv[1:]
connection = ladybug.Connection(ladybug.Database(database))
if file.endswith('.jsonl'):
    connection.execute('INSTALL json')
    connection.execute('LOAD json')
connection.execute(%r)
used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
options = ' (HEADER=true)' if file.endswith('.csv') else ''
options = " (file_format='json', format='newline_delimited')" if file.endswith('.jsonl') else options
before, began = used(), time.monotonic()
connection.execute(f"COPY row FROM '{file}'{options}")
print(time.monotonic() - began, used() - before)
""" % TABLE


def ladybug(folder, form):
    """The same of COPY into a new database."""
    database = folder / "ladybug"
    for path in folder.glob("ladybug*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    command = [sys.executable, "-c", LADYBUG, database, folder / f"rows.{form}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return tuple(map(float, done.stdout.split()[-2:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    program, folder = str(Path(asked.program).resolve()), asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, asked.rows)
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {asked.rows} rows")
    for form in FORMATS:
        runs = {"Varve": [], "Ladybug": []}
        for _ in range(asked.repeats):
            runs["Varve"].append(varve(program, folder, form))
            runs["Ladybug"].append(ladybug(folder, form))
        for name, of in runs.items():
            if isinstance(of[0], str):
                print(f"{form:<8} {name:<8} {of[0]}")
                continue
            wall, cpu = (statistics.median(column) for column in zip(*of))
            print(f"{form:<8} {name:<8} {asked.rows / wall:>10,.0f} rows/s {wall:>7.2f} s wall {cpu:>7.2f} s of processors")
    print(f"load average {os.getloadavg()[0]:.1f}")


main()
