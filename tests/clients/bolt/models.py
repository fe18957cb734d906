"""neomodel against a server: models.py bolt://host:port GRAPH

With VARVE_USER and VARVE_PASSWORD it logs in. Writes to GRAPH, an open graph. Prints 'N passed, N failed'.
"""

import os
import sys
import urllib.parse
from datetime import date, datetime, timezone

from checks import check, finish
from neomodel import (
    ArrayProperty,
    DateProperty,
    DateTimeProperty,
    FloatProperty,
    IntegerProperty,
    JSONProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    StructuredRel,
    UniqueIdProperty,
    db,
    get_config,
)

bolt, graph = sys.argv[1:]
user = os.environ.get("VARVE_USER", "neo4j")
password = urllib.parse.quote(os.environ.get("VARVE_PASSWORD", "any"), safe="")
get_config().database_url = f"{bolt.replace('://', f'://{user}:{password}@')}/{graph}"


class Lived(StructuredRel):
    since = IntegerProperty()


class City(StructuredNode):
    name = StringProperty(required=True)
    people = RelationshipFrom("Person", "LIVES_IN", model=Lived)


class Person(StructuredNode):
    uid = UniqueIdProperty()
    name = StringProperty(required=True)
    age = IntegerProperty(default=1)
    height = FloatProperty()
    born = DateProperty()
    seen = DateTimeProperty()
    tags = ArrayProperty(StringProperty())
    more = JSONProperty()
    city = RelationshipTo(City, "LIVES_IN", model=Lived)
    knows = RelationshipTo("Person", "KNOWS", model=StructuredRel)


db.cypher_query("MATCH (n) DETACH DELETE n")
seen = datetime(2024, 2, 29, 12, tzinfo=timezone.utc)
ann = Person(
    name="Ann", age=30, height=1.5, born=date(1990, 1, 2), seen=seen, tags=["a"], more={"x": [1]}
).save()
bob, cid = Person(name="Bob").save(), Person(name="Cid", age=40).save()
ulm = City(name="Ulm").save()
ann.city.connect(ulm, {"since": 2000})
bob.city.connect(ulm)
ann.knows.connect(bob)
bob.knows.connect(cid)
again = Person.nodes.get(name="Ann")
check("values", (again.age, again.height, again.born, again.tags), (30, 1.5, date(1990, 1, 2), ["a"]))
check("a time", again.seen, seen)
check("a map", again.more, {"x": [1]})
check("the same node", again.element_id, ann.element_id)
check("a filter", [one.name for one in Person.nodes.filter(age__gt=20).order_by("name")], ["Ann", "Cid"])
check("a text", [one.name for one in Person.nodes.filter(name__istartswith="b")], ["Bob"])
check("a list", len(Person.nodes.filter(name__in=["Ann", "Bob", "Eve"])), 2)
check("a relationship", ann.city.relationship(ulm).since, 2000)
check("one condition on it", [one.name for one in ulm.people.match(since__gt=1999)], ["Ann"])
found = Person.nodes.filter(knows__name="Cid").all()
check("a path", [row[0].name for row in found], ["Bob"])
with_city = Person.nodes.traverse("city").all()
check("with what is fetched", len(with_city), 2)
check("a negation", [one.name for one in Person.nodes.exclude(age__gt=20)], ["Bob"])
made = Person.get_or_create({"uid": ann.uid, "name": "Ann"}, {"name": "Eve"})
check("one found, one made", [one.name for one in made], ["Ann", "Eve"])
rows, _ = db.cypher_query("MATCH (p:Person) RETURN count(p)")
check("their number", rows[0][0], 4)
with db.transaction:
    Person(name="Kept").save()
try:
    with db.transaction:
        Person(name="Lost").save()
        raise ValueError("rolled back")
except ValueError:
    pass
names = {one.name for one in Person.nodes.all()}
check("transactions", ("Kept" in names, "Lost" in names), (True, False))
ann.knows.disconnect(bob)
check("a removed relationship", len(ann.knows.all()), 0)
check("a removed node", bob.delete(), True)
check("the rest", Person.nodes.get_or_none(name="Bob"), None)
db.close_connection()
finish("neomodel")
