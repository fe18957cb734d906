"""Runs graph algorithms as tasks of a server and compares their results with NetworkX."""

import io
import json
import os
import random
import sys
import time
import urllib.request

import networkx as nx

VERTICES = 10_000
EDGES = 30_000
ALONE = 500  # vertices without edges
CONNECTED = 1_000  # vertices of a third label's graph, of which NetworkX follows all pairs
GROUP = 95  # vertices of a part of another label's graph, small so that NetworkX follows all pairs
SOURCES = 20  # vertices whose paths NetworkX follows, which takes it seconds
BATCH = 2_500
TIMEOUT = 300  # seconds
EXACT = 1e-9

base = sys.argv[1] + "/graphs/hugegraph"
failed = 0
passed = 0


def send(verb, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        base + path, data, {"content-type": "application/json"}, method=verb
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def run(name, label="link", **parameters):
    """The result of an algorithm on the edges of a label."""
    if not name.startswith("count_"):
        parameters["label"] = label
    return result(name, send("POST", f"/jobs/algorithm/{name}", parameters)["task_id"])


def result(name, task):
    """The result of a task, once it has one."""
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until:
        found = send("GET", f"/tasks/{task}")
        if found["task_status"] == "success":
            return json.loads(found["task_result"])
        if found["task_status"] in ("failed", "cancelled"):
            raise RuntimeError(f"{name}: {found['task_result']}")
        time.sleep(0.05)
    raise RuntimeError(f"{name}: not done after {TIMEOUT} s")


def check(what, holds, detail=""):
    global passed, failed
    passed += bool(holds)
    failed += not holds
    print(("ok     " if holds else "FAILED ") + what + ("" if holds else f": {detail}"))


def same(what, got, wanted, within=EXACT):
    got = {int(key): value for key, value in got.items()}
    if got.keys() != wanted.keys():
        check(what, False, f"{len(got)} vertices instead of {len(wanted)}")
        return
    key = max(wanted, key=lambda one: abs(got[one] - wanted[one]) / (1 + abs(wanted[one])))
    off = abs(got[key] - wanted[key]) / (1 + abs(wanted[key]))
    check(what, off <= within, f"vertex {key} has {got[key]}, not {wanted[key]}")


def generated(seed, vertices, count):
    """Edges with a weight: most between near numbers, so that there are triangles and communities."""
    draw = random.Random(seed)
    edges = []
    for number in range(count):
        a = draw.randrange(vertices)
        b = min(int(draw.expovariate(1 / 40)) + a, vertices - 1)
        if draw.random() < 0.2:
            b = draw.randrange(vertices)
        if draw.random() < 0.5:
            a, b = b, a
        edges.append((a, b, str(number), 1 + draw.randrange(8) / 2))
    return edges


def schema():
    send("POST", "/schema/propertykeys", {"name": "number", "data_type": "TEXT"})
    send("POST", "/schema/propertykeys", {"name": "weight", "data_type": "DOUBLE"})
    send(
        "POST",
        "/schema/vertexlabels",
        {"name": "node", "id_strategy": "CUSTOMIZE_NUMBER", "properties": []},
    )
    for name in ("link", "part", "connected"):
        label = {
            "name": name,
            "source_label": "node",
            "target_label": "node",
            "frequency": "MULTIPLE",
            "sort_keys": ["number"],
            "properties": ["number", "weight"],
        }
        send("POST", "/schema/edgelabels", label)


def vertices():
    for start in range(0, VERTICES, BATCH):
        ids = range(start, min(VERTICES, start + BATCH))
        rows = [{"id": i, "label": "node", "properties": {}} for i in ids]
        send("POST", "/graph/vertices/batch", rows)


def load(label, edges):
    for start in range(0, len(edges), BATCH):
        rows = [
            {
                "label": label,
                "outV": a,
                "inV": b,
                "outVLabel": "node",
                "inVLabel": "node",
                "properties": {"number": number, "weight": weight},
            }
            for a, b, number, weight in edges[start : start + BATCH]
        ]
        send("POST", "/graph/edges/batch", rows)


def ranks(multi):
    wanted = nx.pagerank(multi, alpha=0.85, tol=1e-15, max_iter=1000, weight=None)
    got = run("page_rank", times=500, precision=1e-14, top=-1)["top"]
    same("page_rank", got, wanted)
    wanted = nx.pagerank(multi, alpha=0.7, tol=1e-15, max_iter=1000, weight="weight")
    got = run("page_rank", alpha=0.3, times=500, precision=1e-14, top=-1, weight="weight")["top"]
    same("page_rank by weight", got, wanted)
    jumps = {5: 1, 77: 1, 9_999: 1}
    wanted = nx.pagerank(
        multi, alpha=0.85, personalization=jumps, tol=1e-15, max_iter=1000, weight=None
    )
    got = run("ppr", sources=list(jumps), times=500, precision=1e-14, top=-1)["top"]
    same("personalised page_rank", got, wanted)


def structure(multi, simple):
    degrees = {node: degree for node, degree in multi.degree()}
    same("degree", run("degree", top=-1), degrees, 0)
    found = run("wcc")["components"]
    check("wcc", found == nx.number_weakly_connected_components(multi), found)
    found = run("scc")["components"]
    check("scc", found == nx.number_strongly_connected_components(multi), found)
    found = run("triangle_count")["triangles"]
    check("triangle_count", found == sum(nx.triangles(simple).values()) // 3, found)
    found = run("cluster_coefficient")["cluster_coefficient"]
    check("cluster_coefficient", abs(found - nx.transitivity(simple)) <= EXACT, found)
    for k in (2, 3, 4):
        cores = {tuple(sorted(core)) for core in run("k_core", k=k)["kcores"]}
        wanted = nx.connected_components(nx.k_core(simple, k))
        check(f"k_core {k}", cores == {tuple(sorted(core)) for core in wanted})


def paths(simple, directed):
    got = run("closeness", top=-1)
    some = random.Random(1).sample(range(VERTICES), SOURCES)
    wanted = {}
    for node in some:
        hops = nx.single_source_shortest_path_length(simple, node)
        wanted[node] = sum(1 / hop for hop in hops.values() if hop)
    same("closeness", {key: got[str(key)] for key in some}, wanted)
    got = run("closeness", formula="classic", direction="IN", top=-1)
    wanted = {node: nx.closeness_centrality(directed, u=node) for node in some}
    same("closeness, classic, IN", {key: got[str(key)] for key in some}, wanted)
    got = run("betweenness", top=-1)
    hub = max(got, key=got.get)
    sampled = run("betweenness", top=1, source_sample=2_000, seed=1)
    near = abs(sampled.get(hub, 0) / got[hub] - 1) < 0.2
    check("betweenness of a sample is near", near, (sampled, got[hub]))
    if os.environ.get("FULL"):
        wanted = nx.betweenness_centrality(simple, normalized=False)
        halves(got, wanted, "betweenness of a connected graph of 10,000")
    source = int(hub)
    hops = nx.single_source_shortest_path_length(directed, source)
    got = run("sssp", source=source, direction="OUT", top=-1)["distances"]
    same("sssp", got, hops, 0)


def halves(got, wanted, what):
    """NetworkX counts a pair of an undirected graph once, HugeGraph and Varve twice."""
    same(what, {key: value / 2 for key, value in got.items()}, wanted)


def connected_pairs(edges):
    """Betweenness of all pairs on one connected graph that NetworkX follows in seconds."""
    directed = nx.DiGraph()
    directed.add_nodes_from(range(VERTICES))
    directed.add_edges_from((a, b) for a, b, _, _ in edges if a != b)
    small = directed.subgraph(range(CONNECTED)).copy()
    simple = nx.Graph(small)
    largest = max(map(len, nx.connected_components(simple)))
    check("the small graph hangs together", largest > 0.95 * CONNECTED, largest)

    def with_others(measured):
        return {node: measured.get(node, 0) for node in directed}

    wanted = with_others(nx.betweenness_centrality(simple, normalized=False))
    got = run("betweenness", label="connected", top=-1)
    halves(got, wanted, "betweenness of a connected graph of 1,000")
    wanted = with_others(nx.betweenness_centrality(small, normalized=False))
    got = run("betweenness", label="connected", direction="OUT", top=-1)
    same("betweenness of a connected graph of 1,000, OUT", got, wanted)


def grouped(seed):
    """Three edges a vertex, each within a group of vertices."""
    draw = random.Random(seed)
    edges = []
    for number in range(3 * (VERTICES - ALONE)):
        a = draw.randrange(VERTICES - ALONE)
        b = a - a % GROUP + draw.randrange(GROUP)
        edges.append((a, b, str(number), 1.0))
    return edges


def by_group(measure, graph, simple):
    """A measure of every vertex, of each connected part for itself, which is faster."""
    found = {}
    for group in nx.connected_components(simple):
        found.update(measure(graph.subgraph(group).copy()))
    return found


def all_pairs(edges):
    """What looks at the paths of all pairs, on the graph of groups."""
    directed = nx.DiGraph()
    directed.add_nodes_from(range(VERTICES))
    directed.add_edges_from((a, b) for a, b, _, _ in edges if a != b)
    simple = nx.Graph(directed)

    def paths_through(graph):
        return nx.betweenness_centrality(graph, normalized=False)

    wanted = by_group(paths_through, simple, simple)
    halves(run("betweenness", label="part", top=-1), wanted, "betweenness of groups")
    wanted = by_group(paths_through, directed, simple)
    got = run("betweenness", label="part", direction="OUT", top=-1)
    same("betweenness of groups, OUT", got, wanted)
    wanted = by_group(nx.harmonic_centrality, simple, simple)
    same("closeness of groups", run("closeness", label="part", top=-1), wanted)
    got = run("closeness", label="part", formula="classic", top=-1)
    same("closeness of groups, classic", got, nx.closeness_centrality(simple))
    found = run("rings", label="part", depth=4, direction="OUT", count_only=True)["rings_count"]
    loops = len({a for a, b, _, _ in edges if a == b})
    wanted = loops + sum(1 for _ in nx.simple_cycles(directed, length_bound=4))
    check("rings", found == wanted, f"{found} instead of {wanted}")


def eigenvector(multi):
    whole = nx.Graph()
    for a, b in multi.edges():
        before = whole.get_edge_data(a, b, {"weight": 0})["weight"]
        # A self-loop counts in both directions.
        whole.add_edge(a, b, weight=before + (2 if a == b else 1))
    part = whole.subgraph(max(nx.connected_components(whole), key=len))
    wanted = nx.eigenvector_centrality_numpy(part, weight="weight", tol=1e-14)
    wanted = {node: abs(wanted.get(node, 0)) for node in multi}
    same("eigenvector", run("eigenvector", times=2_000, precision=1e-14, top=-1), wanted, 1e-6)


def weighted_paths(multi):
    lightest = nx.Graph()
    lightest.add_nodes_from(multi)
    for a, b, data in multi.edges(data=True):
        before = lightest.get_edge_data(a, b, {"weight": float("inf")})["weight"]
        lightest.add_edge(a, b, weight=min(before, data["weight"]))
    wanted = nx.single_source_dijkstra_path_length(lightest, 42)
    got = run("sssp", source=42, weight="weight", top=-1)["distances"]
    same("sssp by weight", got, wanted)


def pages():
    """A result page by page is the whole result."""
    task = send("POST", "/jobs/algorithm/degree", {"label": "link", "top": -1})["task_id"]
    whole = result("degree", task)
    rows, page = [], ""
    while page is not None:
        answer = send("GET", f"/tasks/{task}?limit=999&page={page}")
        rows += json.loads(answer["task_result"]).items()
        page = answer["page"]
    check("pages of a result", rows == list(whole.items()) and len(rows) == VERTICES, len(rows))


def exports(edges):
    """NetworkX opens the exports of a graph."""
    for form, read in (("gexf", nx.read_gexf), ("graphml", nx.read_graphml)):
        path = f"{base}/explore/export?format={form}"
        with urllib.request.urlopen(path, timeout=TIMEOUT) as answer:
            found = read(io.BytesIO(answer.read()))
        counts = found.number_of_nodes(), found.number_of_edges()
        check(f"{form} opens in NetworkX", counts == (VERTICES, edges), counts)


def communities(multi):
    summed = nx.Graph()
    summed.add_nodes_from(multi)
    for a, b, data in multi.edges(data=True):
        before = summed.get_edge_data(a, b, {"weight": 0})["weight"]
        summed.add_edge(a, b, weight=before + data["weight"])
    wanted = nx.community.louvain_communities(summed, seed=1)
    best = nx.community.modularity(summed, wanted)
    found = run("louvain", weight="weight", precision=0, times=100)
    near = found["modularity"] >= 0.97 * best
    check("louvain is as good", near, (found["modularity"], best))


def main():
    edges = generated(7, VERTICES - ALONE, EDGES)
    part = grouped(8)
    connected = generated(9, CONNECTED, 3 * CONNECTED)
    schema()
    vertices()
    load("link", edges)
    load("part", part)
    load("connected", connected)
    multi = nx.MultiDiGraph()
    multi.add_nodes_from(range(VERTICES))
    multi.add_edges_from((a, b, {"weight": weight}) for a, b, _, weight in edges)
    directed = nx.DiGraph(multi)
    simple = nx.Graph(multi)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    counts = run("count_edge")
    wanted = {"link": EDGES, "part": len(part), "connected": len(connected)}
    wanted["*"] = sum(wanted.values())
    check("count_edge", counts == wanted, counts)
    ranks(multi)
    structure(multi, simple)
    paths(simple, directed)
    weighted_paths(multi)
    communities(multi)
    eigenvector(multi)
    connected_pairs(connected)
    all_pairs(part)
    pages()
    exports(wanted["*"])
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
