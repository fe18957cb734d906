"""A backup of a graph on a cluster, taken while the graph is written to, and restored to RocksDB and to the cluster.

The restored graphs must give the answers of the original as of every point before the backup, have the same histories
as each other, and pass `varve verify`.

backup.py VARVE NODE    the program, and a node's host:port
"""
import atexit, datetime, http.client, json, os, random, re, shutil, subprocess, sys, tempfile, threading, time

varve, node = sys.argv[1:3]
random.seed(11)
folder = tempfile.mkdtemp(prefix="varve-backup-")
running = []


@atexit.register
def clean():
    for process in running:
        process.kill()
    shutil.rmtree(folder, ignore_errors=True)


base = {**os.environ, "VARVE_STORAGE_CASSANDRA_CONTACT_POINTS": node, "VARVE_STORAGE_CASSANDRA_REPLICATION": "1"}
number = os.getpid()


def environment(keyspace):
    key = f"{folder}/cluster.key"
    with open(key, "w") as file:
        file.write("a key of the servers of this test, which is long enough\n")
    return {**base, "VARVE_STORAGE_CASSANDRA_KEYSPACE": keyspace, "VARVE_AUTH_CLUSTER_KEY_FILE": key}


class Server:
    def __init__(self, name, *options, keyspace="none"):
        self.log = f"{folder}/{name}.log"
        command = [varve, "serve", "--listen", "127.0.0.1:0", "--data-dir", f"{folder}/{name}", *options]
        self.process = subprocess.Popen(command, env=environment(keyspace), stdout=open(self.log, "w"), stderr=subprocess.STDOUT)
        running.append(self.process)
        until = time.monotonic() + 60
        while not (found := re.search(r"serves on http://([0-9.:]+)", open(self.log).read())):
            assert self.process.poll() is None and time.monotonic() < until, open(self.log).read()
            time.sleep(0.1)
        self.address = found[1]

    def ask(self, method, path, body=None, good=True):
        connection = http.client.HTTPConnection(self.address, timeout=90)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert not good or answer.status < 300, (method, path, answer.status, text[:500])
        return (answer.status, text) if not good else json.loads(text or b"null")

    def ready(self, graph="hugegraph"):
        until = time.monotonic() + 90
        while self.ask("GET", f"/graphs/{graph}", good=False)[0] != 200:
            assert time.monotonic() < until, open(self.log).read()
            time.sleep(0.2)
        return self

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0, open(self.log).read()

    def elements(self, at):
        found = {}
        for kind in ("vertices", "edges"):
            page = ""
            while page is not None:
                answer = self.ask("GET", f"{GRAPH}/graph/{kind}?limit=500&page={page}&as_of={at}&as_of_tx={at}")
                found.update((element["id"], element) for element in answer[kind])
                page = answer["page"] or None
        return found

    def histories(self):
        found = {}
        for kind in ("vertices", "edges"):
            page = ""
            while page is not None:
                answer = self.ask("GET", f"{GRAPH}/graph/{kind}/history?versions=true&limit=500&page={page}")
                found.update(zip(map(str, answer["ids"]), answer["histories"]))
                page = answer["page"]
        return found


def run(*arguments, keyspace="none"):
    done = subprocess.run([varve, *arguments], env=environment(keyspace), capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


GRAPH = "/graphs/hugegraph"
IDS = 60


def write(server):
    """One commit: some vertices are put, an edge between two of them, or a vertex is removed with its edges."""
    ids = random.sample(range(IDS), 3)
    if random.random() < 0.1:
        server.ask("DELETE", f"{GRAPH}/graph/vertices/{ids[0]}?label=person", good=False)
        return
    vertex = lambda id: {"label": "person", "id": id, "properties": {"age": random.randrange(90)}}
    server.ask("POST", f"{GRAPH}/graph/vertices/batch", [vertex(id) for id in ids])
    edge = {"label": "knows", "outV": ids[0], "inV": ids[1], "outVLabel": "person", "inVLabel": "person", "properties": {}}
    server.ask("POST", f"{GRAPH}/graph/edges/batch?check_vertex=true", [edge])


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def backs_up():
    backups, one, two = f"{folder}/backups", f"bka{number}", f"bkb{number}"
    original = Server("original", "--engine", "cassandra", "--set", f"server.backup_root={backups}", keyspace=one).ready()
    schema = f"{GRAPH}/schema"
    original.ask("POST", f"{schema}/propertykeys", {"name": "age", "data_type": "INT", "cardinality": "SINGLE"})
    original.ask("POST", f"{schema}/vertexlabels", {"name": "person", "id_strategy": "CUSTOMIZE_NUMBER", "properties": ["age"]})
    original.ask("POST", f"{schema}/edgelabels", {"name": "knows", "source_label": "person", "target_label": "person"})
    original.ask("POST", f"{schema}/indexlabels", {"name": "byAge", "base_type": "VERTEX_LABEL", "base_value": "person",
                                                   "index_type": "RANGE", "fields": ["age"]})
    points = []
    for _ in range(4):
        for _ in range(60):
            write(original)
        points.append(now())
        time.sleep(0.01)
    ended = threading.Event()
    written = [0]

    def keep_writing():
        while not ended.is_set():
            write(original)
            written[0] += 1

    writer = threading.Thread(target=keep_writing)
    writer.start()
    print(run("backup", "--server", original.address, "monday").strip())
    ended.set()
    writer.join()
    assert written[0], "nothing was written meanwhile"
    backup = f"{backups}/monday"
    print(run("restore", "--check", backup).strip())
    run("restore", backup, "--data-dir", f"{folder}/rocks")
    run("restore", backup, "--engine", "cassandra", keyspace=two)
    rocks = Server("rocks").ready()
    copy = Server("copy", "--engine", "cassandra", keyspace=two).ready()
    for at in points:
        expected = original.elements(at)
        assert len(expected) > 20 and rocks.elements(at) == expected and copy.elements(at) == expected, at
    histories, of_copy, of_original = rocks.histories(), copy.histories(), original.histories()
    assert histories == of_copy and len(histories) > IDS
    for id, history in histories.items():
        known = {version["version"]: version for version in of_original[id]["versions"]}
        for version in history["versions"]:
            # What superseded it may be younger than the backup.
            mine, theirs = version, known[version["version"]]
            assert mine["element"] == theirs["element"] and mine["valid_from"] == theirs["valid_from"], (mine, theirs)
    for restored in (rocks, copy):
        write(restored)
        print(run("verify", "--server", restored.address).strip())
    for server in (original, rocks):
        server.stop()
    # A backup of RocksDB goes to a cluster, too.
    run("backup", f"{folder}/files", "--data-dir", f"{folder}/rocks")
    three = f"bkc{number}"
    run("restore", f"{folder}/files", "--engine", "cassandra", keyspace=three)
    again = Server("again", "--engine", "cassandra", keyspace=three).ready()
    assert again.elements(points[1]) == copy.elements(points[1])
    again.stop()
    copy.stop()


backs_up()
print("passed")
