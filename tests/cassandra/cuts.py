"""What a cluster promises while its links are cut: three nodes, two servers, each row on all nodes.

Called by cuts.sh within a network namespace. Each node and each server has a namespace of its own
on one bridge; a cut makes two of them drop what they would send to each other.

What must hold: every acknowledged write is there, nothing that was refused is, no read at any server
shows half of a transaction, a client that carries its bookmark never goes back, a bounded read shows
everything that was acknowledged more than the bound before it, readers of the changes at any server
get each acknowledged write once, and after each fault both servers answer again.
"""

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

STALENESS = 1.0
NODES = ["10.9.0.11", "10.9.0.12", "10.9.0.13"]
SERVERS = ["10.9.0.21", "10.9.0.22"]
PORT = "9042"
GRAPH = "/graphs/hugegraph"
ACCOUNTS = 6
TOTAL = 1000


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


def ip(*words):
    run("ip", *words)


class Net:
    """The namespaces, and which of them cannot reach each other."""

    def __init__(self):
        # Names of namespaces are files here; those of the machine stay as they are.
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        os.makedirs("/run/netns")
        ip("link", "set", "lo", "up")
        ip("link", "add", "br0", "type", "bridge")
        ip("link", "set", "br0", "up")
        ip("addr", "add", "10.9.0.1/24", "dev", "br0")
        self.names = {}
        for number, address in enumerate(NODES + SERVERS):
            name = f"m{number}"
            self.names[address] = name
            ip("netns", "add", name)
            ip("link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"v{number}", "master", "br0", "up")
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        self.cuts = []

    def cut(self, these, those):
        for one in these:
            for other in those:
                ip("-n", self.names[one], "route", "add", "blackhole", f"{other}/32")
                ip("-n", self.names[other], "route", "add", "blackhole", f"{one}/32")
                self.cuts.append((one, other))

    def cut_one_way(self, one, others):
        for other in others:
            ip("-n", self.names[one], "route", "add", "blackhole", f"{other}/32")
            self.cuts.append((one, other))

    def heal(self):
        for one, other in self.cuts:
            for at, to in ((one, other), (other, one)):
                run("ip", "-n", self.names[at], "route", "del", "blackhole", f"{to}/32", check=False)
        self.cuts = []


class Server:
    def __init__(self, net, varve, address, options):
        self.net, self.varve, self.address, self.options = net, varve, address, options
        self.folder = tempfile.mkdtemp(prefix="varve-cuts.")
        self.process = None

    def start(self):
        sets = [part for name, value in self.options.items() for part in ("--set", f"{name}={value}")]
        log = open(os.path.join(self.folder, "log"), "a")
        # The nodes' variables are no options of the server.
        own = {name: value for name, value in os.environ.items() if not name.startswith("VARVE_")}
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.net.names[self.address], self.varve, "serve",
             "--engine", "cassandra", "--listen", f"{self.address}:8080",
             "--data-dir", os.path.join(self.folder, "data"), *sets],
            stdout=log, stderr=log, env=own)

    def signal(self, number):
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait()

    def log(self):
        return open(os.path.join(self.folder, "log")).read()


def ask(server, method, path, body=None, headers=None, seconds=40):
    """The status, the body and the version of an answer; status 0 if there is none."""
    connection = http.client.HTTPConnection(server.address, 8080, timeout=seconds)
    try:
        data = None if body is None else json.dumps(body)
        sent = {"content-type": "application/json", **(headers or {})}
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        text = answer.read()
        version = int(answer.getheader("varve-version") or 0)
        return answer.status, text, version
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error).encode(), 0
    finally:
        connection.close()


class World:
    """What clients were told."""

    def __init__(self, servers):
        self.servers = servers
        self.lock = threading.Lock()
        self.stop = False
        self.faulty = True
        self.stored, self.refused = [], []
        self.counts = {"acknowledged": 0, "unknown": 0, "refused": 0, "no answer": 0,
                       "bounded reads": 0, "pages of changes": 0, "reads refused": 0}
        self.unexplained = []
        self.wrong = []
        # Acknowledged versions, with the moment of the answer; moments grow.
        self.known = [(0.0, 0)]

    def acknowledge(self, version):
        with self.lock:
            self.counts["acknowledged"] += 1
            newest = max(version, self.known[-1][1])
            self.known.append((time.monotonic(), newest))

    def least(self, moment):
        """The newest version that was acknowledged before this moment."""
        with self.lock:
            for when, version in reversed(self.known):
                if when < moment:
                    return version
        return 0

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def refuse(self, status, text):
        if status == 0 and self.faulty:
            return self.count("no answer")
        self.count("unknown" if b"OUTCOME-UNKNOWN" in text else "refused")
        if status != 503 or not self.faulty:
            with self.lock:
                self.unexplained.append((status, text[:200], self.faulty))

    def fault(self, *what):
        with self.lock:
            self.wrong.append(what)
            print("WRONG", *what, flush=True)


def insert(world, name, server):
    number = 0
    while not world.stop:
        number += 1
        vertex = f"{name}-{number}"
        body = {"label": "thing", "id": vertex, "properties": {"value": number}}
        status, text, version = ask(server, "POST", f"{GRAPH}/graph/vertices", body)
        if status == 201:
            world.acknowledge(version)
            world.stored.append(vertex)
        else:
            world.refuse(status, text)
            if status in (400, 503) and b"OUTCOME-UNKNOWN" not in text:
                world.refused.append(vertex)
        time.sleep(0.02)


def accounts():
    return [f"account-{number}" for number in range(ACCOUNTS)]


def move(world, seed, server):
    """Sets all accounts at once, to values with the same sum."""
    choices = random.Random(seed)
    while not world.stop:
        cuts = sorted(choices.randrange(TOTAL + 1) for _ in range(ACCOUNTS - 1))
        values = [high - low for low, high in zip([0, *cuts], [*cuts, TOTAL])]
        body = [{"label": "thing", "id": account, "properties": {"value": value}}
                for account, value in zip(accounts(), values)]
        status, text, version = ask(server, "POST", f"{GRAPH}/graph/vertices/batch", body)
        if status == 201:
            world.acknowledge(version)
        else:
            world.refuse(status, text)
        time.sleep(0.02)


def watch(world, seed, carries):
    """Reads all accounts from any server."""
    choices = random.Random(seed)
    ids = "&".join(f"ids=%22{account}%22" for account in accounts())
    bookmark = 0
    while not world.stop:
        server = choices.choice(world.servers)
        headers = {"Varve-Consistency": "bounded"}
        if carries and bookmark:
            headers["Varve-Bookmark"] = str(bookmark)
        began = time.monotonic()
        path = f"{GRAPH}/traversers/vertices?{ids}"
        status, text, version = ask(server, "GET", path, headers=headers)
        if status != 200:
            world.count("reads refused")
            if status not in (0, 503) or not world.faulty:
                world.unexplained.append((status, text[:200], world.faulty))
            time.sleep(0.05)
            continue
        world.count("bounded reads")
        values = [vertex["properties"]["value"] for vertex in json.loads(text)["vertices"]]
        if len(values) != ACCOUNTS or sum(values) != TOTAL:
            world.fault("a torn read", server.address, version, values, states(server, version))
        if carries and version < bookmark:
            world.fault("it went back", server.address, version, bookmark)
        least = world.least(began - STALENESS)
        if version < least:
            world.fault("too old", server.address, version, least, began)
        bookmark = max(bookmark, version)
        time.sleep(0.01)


class Reader:
    """Follows the changes, asking any server."""

    def __init__(self, world, seed):
        self.world, self.choices = world, random.Random(seed)
        self.cursor, self.last, self.seen = "earliest", 0, set()

    def run(self):
        while not self.world.stop:
            self.read(self.choices.choice(self.world.servers), {"Varve-Consistency": "bounded"})
            time.sleep(0.05)

    def read(self, server, headers):
        """Takes a page; whether it had changes, None if the request is refused."""
        world = self.world
        path = f"{GRAPH}/changes?since={self.cursor}&types=vertex&limit=500"
        status, text, _ = ask(server, "GET", path, headers=headers)
        if status != 200:
            world.count("reads refused")
            if status not in (0, 503) or not world.faulty:
                world.unexplained.append((status, text[:200], world.faulty))
            return None
        lines = [json.loads(line) for line in text.splitlines()]
        if "caught_up_to" not in lines[-1]:
            world.fault("changes without an end", server.address, self.cursor, lines[-1])
        changes = [line for line in lines if "version" in line]
        for change in changes:
            version, name = int(change["version"]), (change["ref"], change["version"])
            if version < self.last or name in self.seen:
                world.fault("a change twice, or late", server.address, change, self.last)
            self.last = version
            self.seen.add(name)
        self.cursor = lines[-1].get("caught_up_to", self.cursor)
        world.count("pages of changes")
        return bool(changes)

    def judge(self):
        """Reads the rest. What was acknowledged came once, what was refused did not."""
        wait(lambda: self.read(self.world.servers[0], {}) is False, 60)
        ids = [json.loads(ref) for ref, _ in self.seen]
        vertices = [vertex for vertex in ids if not vertex.startswith("account-")]
        missed = set(self.world.stored) - set(vertices)
        wrong = set(self.world.refused) & set(vertices)
        if missed or wrong or len(vertices) != len(set(vertices)):
            self.world.fault("changes", sorted(missed)[:5], sorted(wrong)[:5], len(vertices))


def states(server, version):
    """The versions of the accounts around a version, as they are stored now."""
    found = {}
    for account in accounts():
        status, text, _ = ask(server, "GET", f"{GRAPH}/graph/vertices/%22{account}%22/history?limit=500")
        if status != 200:
            found[account] = (status, text[:100])
            continue
        versions = [(each["version"], each["kind"], (each["element"] or {}).get("properties"))
                    for each in json.loads(text)["versions"]]
        newer = [each for each in versions if each[0] > version][-2:]
        found[account] = newer + [each for each in versions if each[0] <= version][:3]
    return found


def leader(world):
    for server in world.servers:
        status, text, _ = ask(server, "GET", "/cluster", seconds=3)
        if status == 200:
            for graph in json.loads(text)["graphs"]:
                if graph["name"] == "hugegraph" and graph["state"] == "leader":
                    return server
    return world.servers[0]


def answers(server):
    status, _, _ = ask(server, "GET", f"{GRAPH}/traversers/vertices?ids=%22account-0%22", seconds=5)
    return status == 200


def writes(server, number):
    body = {"label": "thing", "id": f"probe-{number}-{time.monotonic()}", "properties": {"value": 0}}
    return ask(server, "POST", f"{GRAPH}/graph/vertices", body, seconds=30)[0] == 201


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cluster")
    parser.add_argument("varve")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--datacenters", action="store_true")
    given = parser.parse_args()
    choices = random.Random(given.seed)
    net = Net()
    folder = tempfile.mkdtemp(prefix="varve-cuts-nodes.")
    os.environ.update({
        "VARVE_CASSANDRA_NODES": "3", "VARVE_CASSANDRA_DIR": folder, "VARVE_CASSANDRA_PORT": PORT,
        "VARVE_CASSANDRA_ADDRESSES": ",".join(NODES),
        "VARVE_CASSANDRA_NAMESPACES": ",".join(net.names[node] for node in NODES),
    })
    if given.datacenters:
        os.environ["VARVE_CASSANDRA_DATACENTERS"] = "dc1,dc2,dc3"

    def cluster(*words):
        subprocess.run([given.cluster, *words], check=True)

    servers = []
    try:
        cluster("start")
        for number, address in enumerate(SERVERS):
            options = {
                "server.allow_anonymous": "true",
                "graph.changes": "all",
                "server.staleness_ms": int(STALENESS * 1000),
                "server.trusted_proxies": ",".join(SERVERS),
                "storage.cassandra.contact_points": ",".join(f"{node}:{PORT}" for node in NODES),
                "storage.cassandra.replication": 3,
            }
            if given.datacenters:
                own = f"dc{number + 1}"
                options |= {
                    "storage.cassandra.datacenter": own,
                    "storage.cassandra.further_datacenters":
                        ",".join(dc for dc in ("dc1", "dc2", "dc3") if dc != own),
                    "storage.cassandra.consistency": "quorum",
                    "storage.cassandra.replication": 1,
                    "storage.cassandra.contact_points": f"{NODES[number]}:{PORT}",
                }
            servers.append(Server(net, given.varve, address, options))
        for server in servers:
            server.start()
            wait(lambda: ask(server, "GET", GRAPH, seconds=5)[0] == 200, 180, server)
        world = World(servers)
        prepare(world)
        threads = [threading.Thread(target=insert, args=(world, f"v{at}", server))
                   for at, server in enumerate(servers)]
        threads += [threading.Thread(target=move, args=(world, given.seed + at, server))
                    for at, server in enumerate(servers)]
        threads += [threading.Thread(target=watch, args=(world, given.seed + 9 + at, at % 2 == 0))
                    for at in range(4)]
        readers = [Reader(world, given.seed + 20 + at) for at in range(2)]
        threads += [threading.Thread(target=reader.run) for reader in readers]
        for thread in threads:
            thread.start()
        time.sleep(3)
        for number in range(given.rounds):
            fault(world, net, cluster, choices, number, given)
        world.stop = True
        for thread in threads:
            thread.join()
        for reader in readers:
            reader.judge()
        judge(world)
        print(f"cuts: {given.rounds} rounds, seed {given.seed}:",
              ", ".join(f"{count} {what}" for what, count in world.counts.items()))
    finally:
        for server in servers:
            if server.process and server.process.poll() is None:
                server.process.send_signal(signal.SIGCONT)
                server.process.kill()
        subprocess.run([given.cluster, "clean"])


def wait(holds, seconds, server=None):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            print(server.log()[-3000:] if server else "", "it takes too long", flush=True)
            sys.exit(1)
        time.sleep(0.2)


def prepare(world):
    server = world.servers[0]
    for kind, body in (
        ("propertykeys", {"name": "value", "data_type": "INT"}),
        ("vertexlabels", {"name": "thing", "id_strategy": "CUSTOMIZE_STRING", "properties": ["value"]}),
    ):
        status, text, _ = ask(server, "POST", f"{GRAPH}/schema/{kind}", body)
        assert status in (201, 202), text
    body = [{"label": "thing", "id": account, "properties": {"value": TOTAL if at == 0 else 0}}
            for at, account in enumerate(accounts())]
    status, text, version = ask(server, "POST", f"{GRAPH}/graph/vertices/batch", body)
    assert status == 201, text
    world.acknowledge(version)
    world.faulty = False


def datacenter(server):
    """The addresses of the server's datacenter, with --datacenters."""
    return [server.address, NODES[SERVERS.index(server.address)]]


def cuts_of_datacenters(net, led, other):
    one, two, third = datacenter(led), datacenter(other), [NODES[2]]

    def all_apart():
        net.cut(one, two + third)
        net.cut(two, third)

    return [
        ("both servers' datacenters are cut from each other, and reach the third",
         lambda: net.cut(one, two)),
        ("the leader's datacenter is cut off", lambda: net.cut(one, two + third)),
        ("the follower's datacenter is cut off", lambda: net.cut(two, one + third)),
        ("all datacenters are cut from each other", all_apart),
    ]


def fault(world, net, cluster, choices, number, given):
    led = leader(world)
    other = next(server for server in world.servers if server is not led)
    node = choices.randrange(3)
    kinds = [
        *(cuts_of_datacenters(net, led, other) if given.datacenters else []),
        ("the leader is cut off from the nodes", lambda: net.cut([led.address], NODES)),
        ("the leader is cut off from all", lambda: net.cut([led.address], NODES + [other.address])),
        ("the servers are cut off from each other", lambda: net.cut([led.address], [other.address])),
        ("the follower is cut off from the nodes", lambda: net.cut([other.address], NODES)),
        (f"node {node + 1} is cut off from all", lambda: net.cut(
            [NODES[node]], [each for each in NODES if each != NODES[node]] + SERVERS)),
        ("one node and the leader are cut off from the rest", lambda: net.cut(
            [NODES[node], led.address],
            [each for each in NODES if each != NODES[node]] + [other.address])),
        ("the leader hears the nodes, but they do not hear it",
         lambda: net.cut_one_way(led.address, NODES)),
        ("the leader is killed", lambda: led.signal(signal.SIGKILL)),
        ("the leader is stopped", lambda: led.signal(signal.SIGSTOP)),
        ("the follower is killed", lambda: other.signal(signal.SIGKILL)),
        (f"node {node + 1} is killed", lambda: cluster("kill", str(node + 1))),
        (f"node {node + 1} is stopped", lambda: cluster("pause", str(node + 1))),
    ]
    name, do = kinds[(number + given.seed) % len(kinds)]
    before = dict(world.counts)
    world.faulty = True
    began = time.monotonic()
    do()
    # The other server goes on: how soon?
    gone = name.startswith(("the leader is", "the leader's", "one node and")) and not name.endswith("each other")
    moved = 0.0
    if gone:
        wait(lambda: writes(other, number), 120)
        moved = time.monotonic() - began
    time.sleep(1)
    known = world.counts["acknowledged"]
    time.sleep(max(0.0, given.seconds - (time.monotonic() - began)))
    if name.startswith("all datacenters") and world.counts["acknowledged"] > known:
        world.fault("acknowledged without a majority", known, world.counts["acknowledged"])
    net.heal()
    if "stopped" in name:
        cluster("resume", str(node + 1)) if name.startswith("node") else led.signal(signal.SIGCONT)
    if "killed" in name:
        if name.startswith("node"):
            cluster("restart", str(node + 1))
        else:
            (led if "leader" in name else other).start()
    for server in world.servers:
        wait(lambda: answers(server), 120, server)
    # Requests that began during the fault may still be refused.
    time.sleep(2)
    during = ", ".join(f"{world.counts[what] - before[what]} {what}" for what in before)
    went = f"; the first write after {moved:.1f} s" if gone else ""
    print(f"{number + 1}. {name}: {during}{went}", flush=True)
    wait(lambda: all(answers(server) for server in world.servers), 60)
    world.faulty = False
    time.sleep(1)


def judge(world):
    server = world.servers[0]

    def there(vertex):
        status, text, _ = ask(server, "GET", f"{GRAPH}/graph/vertices/%22{vertex}%22")
        assert status in (200, 404), text
        return status == 200

    lost = [vertex for vertex in world.stored if not there(vertex)]
    stored = [vertex for vertex in world.refused if there(vertex)]
    for what, found in (("lost", lost), ("stored though refused", stored),
                        ("wrong reads", world.wrong), ("unexplained refusals", world.unexplained)):
        print(f"{what}: {len(found)}", found[:5] or "")
    if lost or stored or world.wrong or world.unexplained:
        sys.exit(1)


main()
