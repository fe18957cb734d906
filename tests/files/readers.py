"""The two readers of files: the command line and the routes that the explorer's page *Load* uses."""

import json
import re
import subprocess
import tempfile
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

TIMEOUT_S = 300
PIECE_BYTES = 4 << 20
NOT_FOUND = 404


@dataclass
class Outcome:
    """What became of the files of an input."""

    refusal: str = ""
    mapping: str = ""
    bad: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    edges: list = field(default_factory=list)


def request(verb, address, body=None, kind="application/json"):
    """The status and the body of an answer."""
    asked = urllib.request.Request(address, body, {"content-type": kind}, method=verb)
    try:
        with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def must(verb, address, body=None):
    """The answer as JSON."""
    status, text = request(verb, address, None if body is None else json.dumps(body).encode())
    if status >= 300:
        raise RuntimeError(f"{verb} {address}: {status} {text[:300]}")
    return json.loads(text) if text else None


class Graph:
    """A graph of its own, dropped at the end."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.url = f"{server}/graphs/{name}"

    def __enter__(self):
        must("POST", self.url, {})
        return self

    def __exit__(self, *_):
        said = urllib.parse.quote("I'm sure to drop the graph")
        must("DELETE", f"{self.url}?confirm_message={said}")

    def elements(self, kind):
        """All elements, with values of Python's types."""
        keys = must("GET", f"{self.url}/schema")["propertykeys"]
        types = {key["name"]: key["data_type"] for key in keys}
        found = must("GET", f"{self.url}/graph/{kind}?limit=-1")[kind]
        for each in found:
            of = each["properties"]
            each["properties"] = {name: value_of(types[name], of[name]) for name in of}
        return found


def value_of(data_type, value):
    """A value of a REST answer as Python's type says it."""
    if isinstance(value, list):
        return [value_of(data_type, member) for member in value]
    match data_type:
        case "DOUBLE" | "FLOAT":
            return float(value)
        case "DATE":
            at = datetime.strptime(value, "%Y-%m-%d %H:%M:%S.%f")
            return at.replace(tzinfo=timezone.utc)
        case _:
            return value


def by_command_line(program, server, name, files, mapping):
    """Loads files by `varve load`, with a drafted mapping where there is none."""
    outcome = Outcome(mapping=mapping)
    with Graph(server, name) as graph, tempfile.TemporaryDirectory() as folder:

        def run(*words):
            done = subprocess.run(
                [program, "load", *words], cwd=folder, capture_output=True, timeout=TIMEOUT_S
            )
            return done.returncode, done.stderr.decode(errors="replace").strip()

        for file, content in files.items():
            (Path(folder) / file).write_bytes(content)
        if not mapping:
            code, said = run("--infer", *files)
            if code:
                outcome.refusal = said
                return outcome
            outcome.mapping = (Path(folder) / "mapping.toml").read_text()
        else:
            (Path(folder) / "mapping.toml").write_text(mapping)
        code, said = run("mapping.toml", "--server", server, "--graph", name)
        if code not in (0, 3):
            outcome.refusal = said
        report = Path(folder) / "mapping.toml.bad"
        for line in report.read_text().splitlines() if report.exists() else []:
            found = re.match(r"[^:]+:(\d+): (.*)", line)
            outcome.bad[int(found[1])] = found[2]
        read_back(graph, outcome)
    return outcome


def by_browser(server, name, files, mapping):
    """Loads files as the explorer does."""
    outcome = Outcome(mapping=mapping)
    with Graph(server, name) as graph:
        for file, content in files.items():
            place = f"{graph.url}/load/files/{urllib.parse.quote(file, safe='')}"
            for start in range(0, max(len(content), 1), PIECE_BYTES):
                piece = content[start : start + PIECE_BYTES]
                status, text = request("PUT", f"{place}?offset={start}", piece)
                if status >= 300:
                    outcome.refusal = text.decode()
                    return outcome
        if not mapping:
            asked = json.dumps({"files": list(files)}).encode()
            status, text = request("POST", f"{graph.url}/load/infer", asked)
            if status >= 300:
                outcome.refusal = json.loads(text)["message"]
                return outcome
            outcome.mapping = json.loads(text)["mapping"]
        asked = json.dumps({"mapping": outcome.mapping}).encode()
        status, text = request("POST", f"{graph.url}/load", asked)
        if status >= 300:
            outcome.refusal = json.loads(text)["message"]
        else:
            for line in map(json.loads, text.splitlines()):
                if "refused" in line:
                    outcome.bad[line["refused"]["line"]] = line["refused"]["reason"]
                outcome.refusal = line.get("failed", {}).get("message", "")
        read_back(graph, outcome)
    return outcome


def read_back(graph, outcome):
    """The stored elements as rows of the files' columns."""
    try:
        mapping = tomllib.loads(outcome.mapping)
    except tomllib.TOMLDecodeError:
        return
    sources = {each["label"]: each for each in mapping.get("vertex", [])}
    for vertex in graph.elements("vertices"):
        source = sources[vertex["label"]]
        names = {name: column for column, name in source.get("rename", {}).items()}
        row = {names.get(name, name): value for name, value in vertex["properties"].items()}
        if "id" in source:
            row[source["id"]] = vertex["id"]
        outcome.rows.append(row)
    for edge in graph.elements("edges") if "edge" in mapping else []:
        outcome.edges.append((edge["outV"], edge["inV"], edge["properties"]))
