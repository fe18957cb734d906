"""Random statements that write, each with one right result whatever the order of its rows."""

from graphs import LABELS, PROPERTIES, TYPES, properties, value
from queries import Queries


class Writes(Queries):
    def target(self):
        """A MATCH that has a node, and the name of one of its elements with its kind."""
        while True:
            scope = []
            text = self.match(scope)
            elements = [pair for pair in scope if pair[1] in ("node", "rel")]
            if elements and not text.startswith("OPTIONAL"):
                return text, self.choices.choice(elements), scope

    def setting(self, name, kind):
        """A SET or REMOVE of one element that needs nothing but this element: any order of rows gives the same."""
        own = [(name, kind)]
        key = self.choices.choice([key for key in PROPERTIES if key != "any"])
        of = PROPERTIES[key]
        chosen = self.choices.choice(LABELS)
        options = [f"SET {name}.{key} = {self.atom([], of)}", f"SET {name}.i = coalesce({name}.i, 0) + 1", f"SET {name} += {properties(self.choices, None, 0.3)}",
                   f"REMOVE {name}.{key}", f"SET {name}.any = {value(self.choices, 'any')}", f"SET {name}.{key} = null", f"SET {name} += {{{key}: null}}",
                   f"SET {name}.l = [1, 2] + {name}.i", f"SET {name} = {{uid: {name}.uid, i: {self.atom([], 'int')}}}", f"SET {name}['{key}'] = {self.atom([], of)}",
                   f"SET {name}.s = toString({name}.i) SET {name}.i = null", f"FOREACH (x IN [1, 2] | SET {name}.j = x)",
                   f"SET {name}.b = {self.expression(own, 'bool', 1) if '--' not in self.expression(own, 'bool', 0) else 'true'}"]
        if kind == "node":
            options += [f"SET {name}:{chosen}", f"REMOVE {name}:{chosen}", f"SET {name}:E:{chosen}, {name}.j = 1", f"SET {name} IS {chosen}"]
        return self.choices.choice(options)

    def create(self):
        match, (name, kind), scope = self.target()
        node = name if kind == "node" else ""
        start = f"({node})" if node else "(:New)"
        number = self.expression(scope, "int", 1)
        return self.choice(f"CREATE (x:New {properties(self.choices, 1000, 0.2)}) RETURN x",
                           f"{match} CREATE {start}-[r:{self.choices.choice(TYPES)} {{i: {number}}}]->(y:New {{i: {number}}}) RETURN r, y",
                           f"{match} CREATE {start}<-[:R]-(), (:New {{s: 'made'}})",
                           f"UNWIND [1, 2, null] AS u CREATE (x:New {{i: u}})-[:S {{j: u}}]->(x) RETURN x.i AS i",
                           f"{match} WITH {name}, count(*) AS c CREATE (x:New {{i: c}}) RETURN c")

    def merge(self):
        label, kind = self.choices.choice(LABELS), self.choices.choice(TYPES)
        act = self.choice("", " ON CREATE SET x.d = date('2020-01-01')", " ON MATCH SET x.j = coalesce(x.j, 0) + 1", " ON CREATE SET x.j = 1 ON MATCH SET x.j = coalesce(x.j, 0) + 1, x.b = true")
        step = self.choice(f"-[x:{kind}]->", f"<-[x:{kind}]-", f"-[x:{kind} {{i: {value(self.choices, 'int')}}}]->", f"-[x:{kind} {{s: 'm'}}]->")
        a, b = self.choices.randrange(6), self.choices.randrange(6)
        return self.choice(f"MERGE (x:{label} {{i: {value(self.choices, 'int')}}}){act} RETURN x.i AS i, x.j AS j", f"MERGE (x:{label}:{self.choices.choice(LABELS)}){act} RETURN count(x) AS c",
                           f"UNWIND [1, 2, 1, 3, 2] AS u MERGE (x:{label} {{i: u}}){act} RETURN count(*) AS c", f"MATCH (a {{uid: {a}}}), (b {{uid: {b}}}) MERGE (a){step}(b){act} RETURN count(*) AS c",
                           f"MATCH (a:{label}) MERGE (a){step}(y:M {{i: 1}}){act} RETURN count(*) AS c", f"MATCH (a:{label}) MERGE (x:M {{s: coalesce(a.s, 'none')}}){act} RETURN count(*) AS c",
                           f"MERGE (:{label} {{i: 1}})-[x:{kind}]->(:M {{j: 2}}){act}", f"MATCH (a:{label}) MERGE (a)-[x:{kind}]->(a){act}")

    def delete(self):
        match, (name, kind), _ = self.target()
        words = self.choice("DELETE", "DETACH DELETE", "DETACH DELETE", "DETACH DELETE") if kind == "node" else "DELETE"
        ending = self.choice("", " RETURN count(*) AS c", f" CREATE (:New {{s: 'after'}})")
        return self.choice(f"{match} {words} {name}{ending}", f"{match} WITH DISTINCT {name} {words} {name}{ending}", f"MATCH p = ({{uid: {self.choices.randrange(6)}}})--() DETACH DELETE p",
                           f"OPTIONAL MATCH (x:Absent) {words} x RETURN x", f"{match} WITH collect({name}) AS all FOREACH (x IN all | {words} x)")

    def write(self):
        self.names = 0
        chance = self.choices.random()
        if chance < 0.2:
            return self.create()
        if chance < 0.45:
            return self.merge()
        if chance < 0.6:
            return self.delete()
        match, (name, kind), _ = self.target()
        clauses = [self.setting(name, kind) for _ in range(self.choice(1, 1, 2))]
        ending = self.choice("", f" RETURN count(*) AS c", f" WITH DISTINCT {name} RETURN {name}")
        return f"{match} WITH DISTINCT {name} {' '.join(clauses)}{ending}" if self.one_in(2) else f"{match} {' '.join(clauses)}{ending}"
