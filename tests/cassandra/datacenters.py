"""What docs/cassandra.md promises of several datacenters, on three nodes with a datacenter each.

Called by datacenters.sh with the cluster's script, the server and the port. Two servers, one asking
dc1 and one dc2, both with quorum; dc3 only decides. Every write that was acknowledged must be there
at the end, at both servers.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

CLUSTER, VARVE, PORT = sys.argv[1:4]
KEYSPACE = f"dc{os.getpid()}"
PLACES = {"dc1": "127.0.0.1", "dc2": "127.0.0.2", "dc3": "127.0.0.3"}
passed = 0


def check(what, holds, detail=""):
    global passed
    if not holds:
        print(f"FAILED: {what} {detail}")
        sys.exit(1)
    passed += 1
    print(f"ok      {what}", flush=True)


def cluster(*arguments):
    subprocess.run([CLUSTER, *arguments], check=True, stdout=subprocess.DEVNULL)


class Server:
    def __init__(self, datacenter, listen, consistency="quorum"):
        others = [name for name in PLACES if name != datacenter]
        self.url = f"http://{listen}"
        self.folder = tempfile.TemporaryDirectory(prefix="varve-datacenters.")
        self.log = open(os.path.join(self.folder.name, "log"), "w+")
        options = {
            "datacenter": datacenter,
            "further_datacenters": ",".join(others),
            "consistency": consistency,
            "replication": 1,
            "keyspace": KEYSPACE,
            "contact_points": f"{PLACES[datacenter]}:{PORT}",
            "lease_seconds": 10,
        }
        sets = [part for name, value in options.items()
                for part in ("--set", f"storage.cassandra.{name}={value}")]
        self.process = subprocess.Popen(
            [VARVE, "serve", "--engine", "cassandra", "--listen", listen,
             "--data-dir", self.folder.name, *sets],
            stdout=self.log, stderr=self.log)

    def ask(self, method, path, body=None, seconds=60):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data, {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)

    def ready(self, seconds=180):
        deadline = time.time() + seconds
        while time.time() < deadline and self.process.poll() is None:
            if self.ask("GET", "/graphs/hugegraph", seconds=5)[0] == 200:
                return True
            time.sleep(0.5)
        self.log.flush()
        print(open(self.log.name).read()[-3000:])
        return False

    def said(self):
        self.log.flush()
        return open(self.log.name).read()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Writer(threading.Thread):
    """Writes one vertex after the other; remembers what each answer said."""

    def __init__(self, server, name):
        super().__init__(daemon=True)
        self.server, self.name_ = server, name
        self.acknowledged, self.refused = [], []
        self.go_on = True
        self.start()

    def run(self):
        number = 0
        while self.go_on:
            number += 1
            id = f"{self.name_}{number}"
            status, answer = self.server.ask(
                "POST", "/graphs/hugegraph/graph/vertices",
                {"label": "thing", "id": id, "properties": {"n": number}})
            if status == 201:
                self.acknowledged.append(id)
            else:
                self.refused.append((id, status, str(answer)[:200]))
                time.sleep(0.2)

    def grows(self, by=5, seconds=120):
        wanted = len(self.acknowledged) + by
        deadline = time.time() + seconds
        while len(self.acknowledged) < wanted and time.time() < deadline:
            time.sleep(0.2)
        return len(self.acknowledged) >= wanted


def is_there(server, id):
    return server.ask("GET", f"/graphs/hugegraph/graph/vertices/%22{id}%22")[0] == 200


def main():
    first, second = Server("dc1", "127.0.0.1:18431"), None
    try:
        check("a server in dc1 starts", first.ready())
        for kind, body in (
            ("propertykeys", {"name": "n", "data_type": "LONG"}),
            ("vertexlabels", {"name": "thing", "id_strategy": "CUSTOMIZE_STRING",
                              "properties": ["n"]}),
        ):
            status, answer = first.ask("POST", f"/graphs/hugegraph/schema/{kind}", body)
            assert status in (201, 202), answer
        second = Server("dc2", "127.0.0.1:18432")
        check("a server in dc2 serves the same graphs", second.ready())

        other = Server("dc2", "127.0.0.1:18433", "local_quorum")
        started = other.ready(20)
        other.kill()
        check("a server with local_quorum is refused", not started and "consistency" in other.said())

        writers = [Writer(first, "a"), Writer(second, "b")]
        check("both write", all(writer.grows() for writer in writers))

        # A server asks the nodes of its own datacenter: without them it answers 503, and the other
        # one leads.
        for place, node, going_on in (
            ("dc3", "3", writers), ("dc2", "2", writers[:1]), ("dc1", "1", writers[1:]),
        ):
            cluster("kill", node)
            names = " and ".join(writer.name_ for writer in going_on)
            check(f"{names} goes on without {place}", all(writer.grows() for writer in going_on))
            cluster("restart", node)
            check(f"both go on when {place} is back", all(writer.grows() for writer in writers))

        cluster("kill", "2")
        cluster("kill", "3")
        time.sleep(45)
        for writer in writers:
            writer.refused.clear()
        before = [len(writer.acknowledged) for writer in writers]
        time.sleep(20)
        after = [len(writer.acknowledged) for writer in writers]
        check("without two of three nothing is acknowledged", before == after, f"{before} {after}")
        refusals = {status for writer in writers for _, status, _ in writer.refused}
        check("but 503", 503 in refusals, refusals)
        cluster("restart", "2")
        cluster("restart", "3")
        check("both go on when they are back", all(writer.grows() for writer in writers))

        first.kill()
        check("without the first server the second goes on", writers[1].grows())
        first = Server("dc1", "127.0.0.1:18431")
        writers[0].server = first
        check("the first one comes back", first.ready() and writers[0].grows())

        for writer in writers:
            writer.go_on = False
        for writer in writers:
            writer.join()
        acknowledged = [id for writer in writers for id in writer.acknowledged]
        for server, name in ((first, "first"), (second, "second")):
            lost = [id for id in acknowledged if not is_there(server, id)]
            check(f"the {name} server has all {len(acknowledged)} acknowledged", not lost, lost[:5])
        print(f"datacenters: {passed} checks passed")
    finally:
        for server in (first, second):
            if server:
                server.kill()


main()
