"""neo4j-mcp-server against a server: check_mcp.py PROGRAM bolt://host:port GRAPH

With VARVE_USER and VARVE_PASSWORD it logs in. Writes to GRAPH, an open graph. Prints 'N passed, N failed'.
"""

import json
import os
import subprocess
import sys

from checks import check, finish

program, bolt, graph = sys.argv[1:]
calls = 0
settings = {
    "NEO4J_URI": bolt,
    "NEO4J_USERNAME": os.environ.get("VARVE_USER", "neo4j"),
    "NEO4J_PASSWORD": os.environ.get("VARVE_PASSWORD", "any"),
    "NEO4J_DATABASE": graph,
    "NEO4J_TELEMETRY": "false",
}
settings |= {name.replace("NEO4J_", "NEO4J_MCP_"): value for name, value in settings.items()}
server = subprocess.Popen(
    [program],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
    env=os.environ | settings,
    text=True,
)


def send(method, **parameters):
    message = {"jsonrpc": "2.0", "method": method, "params": parameters}
    if not method.startswith("notifications/"):
        message["id"] = calls
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()


def ask(method, **parameters):
    global calls
    calls += 1
    send(method, **parameters)
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == calls:
            return answer["result"]
    sys.exit("FAILED: the MCP server has ended")


def tool(name, **arguments):
    answer = ask("tools/call", name=name, arguments=arguments)
    return answer.get("isError", False), answer["content"][0]["text"]


ask(
    "initialize",
    protocolVersion="2024-11-05",
    capabilities={},
    clientInfo={"name": "check", "version": "1"},
)
send("notifications/initialized")
names = {one["name"] for one in ask("tools/list")["tools"]}
check("tools", names >= {"get-schema", "read-cypher", "write-cypher"}, True)
tool("write-cypher", query="MATCH (n) DETACH DELETE n")
made = tool("write-cypher", query="CREATE (:Person {name: 'Ann'})-[:LIVES_IN]->(:City) RETURN 1")
check("a write", made[0], False)
is_error, text = tool("get-schema")
check("a schema", is_error, False)
schema = {one["key"]: one["value"] for one in json.loads(text)}
check("keys", schema["Person"]["properties"], {"name": "STRING"})
check("ways", schema["Person"]["relationships"]["LIVES_IN"]["labels"], ["City"])
is_error, text = tool("read-cypher", query="MATCH (p:Person) RETURN p.name AS name")
check("a read", (is_error, json.loads(text)), (False, [{"name": "Ann"}]))
is_error, text = tool("read-cypher", query="CREATE (:Person)")
check("a write is no read", is_error, True)
is_error, text = tool("read-cypher", query="RETURN x")
check("a wrong statement", is_error, True)
server.terminate()
finish("neo4j-mcp-server")
