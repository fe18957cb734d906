"""Asks two servers with the same social graph the same traversers, and compares the answers.

usage: answers.py URL_OF_VARVE HUGEGRAPH_URL [QUESTIONS]

Exits with 1 if an answer differs. HugeGraph's threads share a set without a lock and lose vertices now and
then (docs/compatibility.md), so a count of its that differs is asked for again, up to RETRIES times.
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

RETRIES = 5
PERSONS = 60
TIMEOUT = 120  # seconds

varve, hugegraph = (url + "/graphs/hugegraph/" for url in sys.argv[1:3])
questions = int(sys.argv[3]) if len(sys.argv) > 3 else 200


def get(base, path):
    with urllib.request.urlopen(base + path, timeout=TIMEOUT) as answer:
        return json.load(answer)


def size(answer):
    return answer["vertices_size"]


def length(answer):
    return len(answer["path"])


def paths(answer):
    return sorted(path["objects"] for path in answer["paths"])


def rings(answer):
    """A ring and its mirror image are one."""
    found = [ring["objects"] for ring in answer["rings"]]
    return sorted(min(ring, ring[::-1]) for ring in found)


# Name, path with places for two persons, what of the answer is compared. HugeGraph keeps one parent of each
# vertex on all shortest paths, so of those only the length is.
TRAVERSERS = [
    ("kout 2", "kout?source={x}&direction=OUT&max_depth=2&count_only=true", size),
    ("kout 3", "kout?source={x}&direction=OUT&max_depth=3&count_only=true", size),
    ("kneighbor 2", "kneighbor?source={x}&direction=OUT&max_depth=2&count_only=true", size),
    ("shortest path", "shortestpath?source={x}&target={y}&direction=OUT&max_depth=10", length),
    (
        "all shortest paths",
        "allshortestpaths?source={x}&target={y}&direction=OUT&max_depth=10",
        lambda answer: sorted({len(path) for path in paths(answer)}),
    ),
    ("jaccard", "jaccardsimilarity?vertex={x}&other={y}&direction=OUT", lambda a: round(a["jaccard_similarity"], 9)),
    ("same neighbours", "sameneighbors?vertex={x}&other={y}&direction=OUT", lambda a: sorted(a["same_neighbors"])),
    ("rings", "rings?source={x}&direction=OUT&max_depth=3&limit=-1", rings),
]


def ids():
    listed = get(varve, f"graph/vertices?label=benchp&limit={PERSONS}")["vertices"]
    return [urllib.parse.quote(json.dumps(vertex["id"])) for vertex in listed]


def main():
    persons = ids()
    assert len(persons) == PERSONS, f"{len(persons)} persons"
    wrong = 0
    print("| traverser | questions | equal | equal when asked again | different | HugeGraph failed |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, path, shown in TRAVERSERS:
        equal = again = different = failed = 0
        for number in range(questions):
            x = persons[number % PERSONS]
            y = persons[(number * 7 + number // PERSONS + 1) % PERSONS]
            if x == y:
                continue
            asked = "traversers/" + path.format(x=x, y=y)
            ours = shown(get(varve, asked))
            for attempt in range(1 + RETRIES):
                try:
                    theirs = shown(get(hugegraph, asked))
                except (urllib.error.HTTPError, TimeoutError):
                    failed += 1
                    break
                if theirs == ours:
                    equal += attempt == 0
                    again += attempt > 0
                    break
            else:
                different += 1
                print(f"{name}: {asked}: {ours} here", file=sys.stderr)
        questioned = equal + again + different + failed
        print(f"| {name} | {questioned} | {equal} | {again} | {different} | {failed} |")
        wrong += different
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
