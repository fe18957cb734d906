"""langchain-neo4j against a server: check_langchain.py bolt://host:port GRAPH

With VARVE_USER and VARVE_PASSWORD it logs in. Writes to GRAPH, an open graph. Prints 'N passed, N failed'.
"""

import os
import sys

from checks import check, finish
from langchain_core.documents import Document
from langchain_neo4j import Neo4jChatMessageHistory, Neo4jGraph
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship

bolt, graph = sys.argv[1:]
where = {
    "url": bolt,
    "username": os.environ.get("VARVE_USER", "neo4j"),
    "password": os.environ.get("VARVE_PASSWORD", "any"),
    "database": graph,
}


store = Neo4jGraph(**where)
store.query("MATCH (n) DETACH DELETE n")
ann = Node(id="ann", type="Person", properties={"name": "Ann", "age": 30})
ulm = Node(id="ulm", type="City", properties={"name": "Ulm"})
lives = Relationship(source=ann, target=ulm, type="LIVES_IN", properties={"since": 2000})
source = Document(page_content="Ann lives in Ulm.", metadata={"id": "1"})
document = GraphDocument(nodes=[ann, ulm], relationships=[lives], source=source)
# Twice: elements are merged.
for _ in range(2):
    store.add_graph_documents([document], include_source=True)
found = store.query(
    "MATCH (p:Person)-[r:LIVES_IN]->(c:City) RETURN p.name AS p, r.since AS r, c AS c"
)
check("elements", found, [{"p": "Ann", "r": 2000, "c": {"id": "ulm", "name": "Ulm"}}])
store.refresh_schema()
schema = store.structured_schema
check("keys", {one["property"] for one in schema["node_props"]["Person"]}, {"id", "name", "age"})
way = {"start": "Person", "type": "LIVES_IN", "end": "City"}
check("ways", way in schema["relationships"], True)
check("a text", "(:Person)-[:LIVES_IN]->(:City)" in store.schema, True)
enhanced = Neo4jGraph(**where, enhanced_schema=True).schema
check("with values", "Ann" in enhanced and "30" in enhanced, True)
history = Neo4jChatMessageHistory(session_id="s", **where)
history.add_user_message("Hi")
history.add_ai_message("Ho")
check("a history", [message.content for message in history.messages], ["Hi", "Ho"])
history.clear()
check("a cleared one", history.messages, [])
finish("langchain-neo4j")
