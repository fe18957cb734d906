"""graphiti-core against a server: check_graphiti.py bolt://host:port GRAPH

With VARVE_USER and VARVE_PASSWORD it logs in. Writes to GRAPH, an open graph. Full-text indexes, and the
searches that need them, are left out. Prints 'N passed, N failed'.
"""

import asyncio
import logging
import os
import sys
from datetime import datetime, timezone

from checks import check, finish
from graphiti_core.driver.driver import GraphProvider
from graphiti_core.driver.neo4j_driver import Neo4jDriver
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.graph_queries import get_range_indices
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode

# A driver asks for full-text indexes by itself, and logs that there are none.
logging.disable(logging.CRITICAL)
bolt, graph = sys.argv[1:]
then = datetime(2024, 5, 1, 12, tzinfo=timezone.utc)


async def main():
    user, password = os.environ.get("VARVE_USER", "neo4j"), os.environ.get("VARVE_PASSWORD", "any")
    driver = Neo4jDriver(bolt, user, password, graph)
    await driver.execute_query("MATCH (n) DETACH DELETE n")
    for text in get_range_indices(GraphProvider.NEO4J):
        await driver.execute_query(text)
    records, _, _ = await driver.execute_query("SHOW INDEXES YIELD name RETURN count(name) AS n")
    check("indexes", records[0]["n"] >= 20, True)
    await driver.health_check()
    of_group = {"group_id": "g", "created_at": then}
    ann = EntityNode(name="Ann", labels=["Person"], name_embedding=[0.5, 1.0], **of_group)
    ulm = EntityNode(name="Ulm", labels=["City"], name_embedding=[1.0, 0.0], summary="A city.", **of_group)
    for node in (ann, ulm, ann):
        await node.save(driver)
    lives = EntityEdge(
        source_node_uuid=ann.uuid,
        target_node_uuid=ulm.uuid,
        name="LIVES_IN",
        fact="Ann lives in Ulm.",
        fact_embedding=[0.0, 1.0],
        valid_at=then,
        **of_group,
    )
    await lives.save(driver)
    told = EpisodicNode(
        name="told",
        source=EpisodeType.text,
        source_description="a talk",
        content="Ann lives in Ulm.",
        valid_at=then,
        entity_edges=[lives.uuid],
        **of_group,
    )
    await told.save(driver)
    for node in (ann, ulm):
        mentions = EpisodicEdge(source_node_uuid=told.uuid, target_node_uuid=node.uuid, **of_group)
        await mentions.save(driver)
    found = await EntityNode.get_by_uuid(driver, ulm.uuid)
    check("a node", (found.name, found.summary, found.created_at), ("Ulm", "A city.", then))
    check("its labels", sorted(found.labels), ["City", "Entity"])
    await found.load_name_embedding(driver)
    check("its vector", found.name_embedding, [1.0, 0.0])
    nodes = await EntityNode.get_by_group_ids(driver, ["g"])
    check("nodes of a group", {node.name for node in nodes}, {"Ann", "Ulm"})
    edge = await EntityEdge.get_by_uuid(driver, lives.uuid)
    check("an edge", (edge.fact, edge.valid_at), ("Ann lives in Ulm.", then))
    edges = await EntityEdge.get_by_node_uuid(driver, ann.uuid)
    check("edges of a node", [edge.uuid for edge in edges], [lives.uuid])
    edges = await EntityEdge.get_between_nodes(driver, ann.uuid, ulm.uuid)
    check("edges between nodes", [edge.uuid for edge in edges], [lives.uuid])
    episode = await EpisodicNode.get_by_uuid(driver, told.uuid)
    check("an episode", (episode.content, episode.valid_at), (told.content, then))
    episodes = await EpisodicNode.get_by_entity_node_uuid(driver, ulm.uuid)
    check("episodes of a node", [one.uuid for one in episodes], [told.uuid])
    episodes = await driver.episode_node_ops.retrieve_episodes(driver, then, last_n=3, group_ids=["g"])
    check("the last episodes", [one.uuid for one in episodes], [told.uuid])
    await lives.delete(driver)
    await ann.delete(driver)
    nodes = await EntityNode.get_by_group_ids(driver, ["g"])
    check("without a node", [node.name for node in nodes], ["Ulm"])
    await EntityNode.delete_by_group_id(driver, "g")
    records, _, _ = await driver.execute_query("MATCH (n:Entity) RETURN count(n) AS n")
    check("without a group", records[0]["n"], 0)
    await driver.close()


asyncio.run(main())
finish("graphiti-core")
