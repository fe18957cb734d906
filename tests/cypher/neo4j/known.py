"""The differences from Neo4j that are meant, each with a line in docs/coming-from-neo4j.md."""


def known(statement, neo4j, varve):
    """Why the two outcomes may differ, or None."""
    return None
