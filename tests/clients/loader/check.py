"""HugeGraph's loader against a server, and queries of what it loaded: check.py http://host:port classpath"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

URL, CLASSPATH = sys.argv[1:]
GRAPH = "/graphs/hugegraph"
HERE = pathlib.Path(__file__).parent
PERSONS = 2_000  # several batches, and several threads
CITIES = ["Paris", "Rome", "Köln"]
LOADER_SECONDS_MAX = 120
USER, PASSWORD = os.environ.get("VARVE_USER"), os.environ.get("VARVE_PASSWORD")
counts = {"passed": 0, "failed": 0}


def send(method, path, body=None, **parameters):
    query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
    headers = {"Content-Type": "application/json"}
    if USER:
        headers["Authorization"] = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path + query, method=method, data=data, headers=headers)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def gremlin(script):
    return send("POST", "/gremlin", {"gremlin": script})["result"]["data"]


def same(what, got, wanted):
    if got == wanted:
        counts["passed"] += 1
    else:
        counts["failed"] += 1
        print(f"FAILED {what}: got {got!r}, wanted {wanted!r}")


def person(i):
    return {"name": f"p{i}", "age": i % 100, "city": CITIES[i % 3], "born": f"{1950 + i % 50}-{1 + i % 12}-{1 + i % 9}"}


def write_input(folder):
    """A few members are absent: p7 has no city, p8 was not born."""
    lines = ["name,age,city,born"]
    for i in range(PERSONS):
        row = person(i)
        if i == 7:
            row["city"] = ""
        if i == 8:
            row["born"] = ""
        lines.append(",".join(str(value) for value in row.values()))
    (folder / "persons.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    edges = [{"from": f"p{i}", "to": f"p{i + 1}", "since": f"20{i % 25:02}0{1 + i % 9}10", "weight": i / 10} for i in range(PERSONS - 1)]
    (folder / "knows.json").write_text("\n".join(json.dumps(edge) for edge in edges) + "\n", encoding="utf-8")
    for name in ("schema.groovy", "mapping.json"):
        shutil.copy(HERE / name, folder)


def load(folder):
    address = urllib.parse.urlsplit(URL)
    login = ["--username", USER, "--token", PASSWORD] if USER else []
    began = time.monotonic()
    loader = subprocess.run(
        ["java", "-Xmx512m", "-Dlog4j2.level=OFF", "-cp", CLASSPATH, "org.apache.hugegraph.loader.HugeGraphLoader"]
        + ["-h", address.hostname, "-p", str(address.port), "-g", "hugegraph", "-f", "mapping.json", "-s", "schema.groovy"]
        + ["--check-vertex", "true", "--print-progress", "false", *login],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LOADER_SECONDS_MAX,
    )  # fmt: skip
    print(f"the loader took {time.monotonic() - began:.0f} s")
    failures = [str(path) for path in folder.rglob("*") if path.suffix.endswith("error") and path.stat().st_size]
    if loader.returncode or "Failed" in loader.stdout or failures:
        print(loader.stdout[-4_000:])
    same("exit status of the loader", loader.returncode, 0)
    # It ends with 0 whatever happened.
    same("the loader's failure", [line for line in loader.stdout.splitlines() if "Failed" in line], [])
    same("files with failed rows", failures, [])


def names(**properties):
    found = send("GET", f"{GRAPH}/graph/vertices", label="person", limit=-1, properties=json.dumps(properties))["vertices"]
    return sorted(vertex["properties"]["name"] for vertex in found)


def wanted(holds):
    return sorted(f"p{i}" for i in range(PERSONS) if holds(i))


def queries():
    indexes = {each["name"]: each["index_type"] for each in send("GET", f"{GRAPH}/schema/indexlabels")["indexlabels"]}
    same("indexes", indexes, {"personByCity": "SECONDARY", "personByAge": "RANGE", "personByBorn": "RANGE", "knowsByWeight": "RANGE"})
    same("tasks that did not succeed", [each for each in send("GET", f"{GRAPH}/tasks")["tasks"] if each["task_status"] != "success"], [])
    same("secondary", names(city="Köln"), wanted(lambda i: i % 3 == 2))
    same("an absent value", names(city="Rome"), wanted(lambda i: i % 3 == 1 and i != 7))
    same("range", names(age="P.gte(98)"), wanted(lambda i: i % 100 >= 98))
    same("a range of dates", names(born='P.lt("1950-1-4")'), wanted(lambda i: i % 50 == 0 and i % 12 == 0 and i % 9 < 3))
    same("two indexes", names(city="Paris", age="P.lt(2)"), wanted(lambda i: i % 3 == 0 and i % 100 < 2))
    first = send("GET", f'{GRAPH}/graph/vertices/{urllib.parse.quote(chr(34) + "1:p3" + chr(34))}')
    same("a vertex", first["properties"], {"name": "p3", "age": 3, "city": "Paris", "born": "1953-04-04 00:00:00.000"})
    heavy = send("GET", f"{GRAPH}/graph/edges", label="knows", limit=-1, properties=json.dumps({"weight": "P.gt(199.5)"}))["edges"]
    same("edges by their index", sorted(edge["properties"]["weight"] for edge in heavy), [i / 10 for i in range(1_996, PERSONS - 1)])
    same("a date of an edge", sorted({edge["properties"]["since"] for edge in heavy if edge["outV"] == "1:p1998"}), ["2023-01-10 00:00:00.000"])
    for kind, count in (("V", PERSONS), ("E", PERSONS - 1)):
        same(f"count of {kind}", gremlin(f"hugegraph.traversal().{kind}().count()"), [count])
    by_two = "hugegraph.traversal().V().has('person', 'city', 'Köln').has('age', 98).count()"
    same("Gremlin by indexes", gremlin(by_two), [sum(i % 3 == 2 and i % 100 == 98 for i in range(PERSONS))])
    same("mode", send("GET", f"{GRAPH}/mode"), {"mode": "NONE"})


send("DELETE", f"{GRAPH}/clear", confirm_message="I'm sure to delete all data")
with tempfile.TemporaryDirectory() as name:
    write_input(pathlib.Path(name))
    load(pathlib.Path(name))
try:
    queries()
except urllib.error.HTTPError as error:
    same(f"{error.url}", (error.code, error.read().decode()), 200)
send("DELETE", f"{GRAPH}/clear", confirm_message="I'm sure to delete all data")
print(f"{counts['passed']} passed, {counts['failed']} failed")
sys.exit(counts["failed"] > 0)
