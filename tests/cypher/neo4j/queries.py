"""Random queries and writes over the graphs of graphs.py: typed, so that none fails, and with one right answer."""

from graphs import LABELS, PROPERTIES, TYPES, properties, value

NODE_KINDS = ["int", "int", "str", "bool", "float", "ints", "date"]
SCALARS = ["int", "str", "bool", "float", "date"]


class Queries:
    def __init__(self, choices):
        self.choices = choices
        self.names = 0

    def one_in(self, count):
        return self.choices.randrange(count) == 0

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    # Expressions. A scope is a list of pairs: a variable and its type.

    def variable(self, scope, kind):
        found = [name for name, its in scope if its == kind]
        return self.choices.choice(found) if found else None

    def atom(self, scope, kind):
        if (name := self.variable(scope, kind)) and self.choices.random() < 0.5:
            return name
        element = self.variable(scope, self.choice("node", "node", "rel"))
        keys = [key for key, its in PROPERTIES.items() if its == kind]
        if element and keys and self.choices.random() < 0.7:
            if self.one_in(12):
                return f"{element}['{self.choices.choice(keys)}']"
            return f"{element}.{self.choices.choice(keys)}"
        if kind == "bool" and self.one_in(2):
            return f"{self.atom(scope, 'int')} {self.choice('<>', '<', '>=', '=')} {self.atom(scope, 'int')}"
        return "null" if self.one_in(20) else value(self.choices, kind)

    def choice(self, *options):
        return self.choices.choice(options)

    def expression(self, scope, kind, depth=2):
        """An expression of the type, or null."""
        if depth == 0 or self.one_in(4):
            return self.atom(scope, kind)

        def inner(its):
            return self.expression(scope, its, depth - 1)

        if self.one_in(12):
            return f"CASE WHEN {inner('bool')} THEN {inner(kind)} ELSE {inner(kind)} END"
        if self.one_in(14):
            return f"coalesce({inner(kind)}, {inner(kind)})"
        if self.one_in(20):
            other = self.choice("int", "str")
            return f"CASE {inner(other)} WHEN {inner(other)} THEN {inner(kind)} WHEN {inner(other)}, {inner(other)} THEN {inner(kind)} END"
        if self.one_in(20) and kind != "ints":
            return f"head([{inner(kind)}, {inner(kind)}])"
        return getattr(self, f"of_{kind}")(scope, inner, depth)

    def of_int(self, scope, inner, depth):
        if self.one_in(4) and (node := self.variable(scope, "node")):
            return f"COUNT {{ {self.subquery_pattern(scope, node, depth)} }}"
        if self.one_in(6) and (path := self.variable(scope, "path")):
            return self.choice(f"length({path})", f"size(nodes({path}))")
        if self.one_in(6) and (node := self.variable(scope, "node")):
            return self.choice(f"size(labels({node}))", f"size(keys({node}))", f"size([({node})--(y) | y.i])")
        return self.choice(
            f"({inner('int')} + {inner('int')})", f"({inner('int')} - {inner('int')})", f"({inner('int')} * 2)", f"({inner('int')} % 3)",
            f"({inner('int')} / 2)", f"abs({inner('int')})", f"size({inner('ints')})", f"size({inner('str')})", f"toInteger({inner('float')})",
            f"({inner('ints')})[{self.choice(0, 1, -1)}]", f"reduce(s = 0, x IN {inner('ints')} | s + x)", f"sign({inner('int')})", f"last({inner('ints')})",
            f"toInteger({inner('str')})", f"({inner('date')}).year", f"size([x IN {inner('ints')} WHERE x > {inner('int')}])")

    def of_float(self, scope, inner, depth):
        return self.choice(f"({inner('float')} + {inner('int')})", f"({inner('float')} * {inner('float')})", f"round({inner('float')})", f"toFloat({inner('int')})",
                           f"({inner('int')} / 4.0)", f"floor({inner('float')})", f"sqrt(abs({inner('int')}))", f"-({inner('float')})")

    def of_str(self, scope, inner, depth):
        if self.one_in(5) and (rel := self.variable(scope, "rel")):
            return f"type({rel})"
        return self.choice(f"({inner('str')} + {inner('str')})", f"toUpper({inner('str')})", f"substring({inner('str')}, 1)", f"left({inner('str')}, 1)",
                           f"toString({inner('int')})", f"toString({inner('float')})", f"reverse({inner('str')})", f"replace({inner('str')}, 'a', 'x')",
                           f"trim({inner('str')})", f"toString({inner('bool')})", f"toString({inner('date')})", f"valueType({inner('int')})",
                           f"({inner('str')} + {inner('int')})", f"head(split({inner('str')}, 'b'))")

    def of_date(self, scope, inner, depth):
        return self.choice(f"({inner('date')} + duration({{days: coalesce({inner('int')}, 1)}}))", f"date.truncate('month', coalesce({inner('date')}, date('2020-05-05')))",
                           f"date({{year: 2020, month: 1 + abs({inner('int')}) % 12}})")

    def of_ints(self, scope, inner, depth):
        return self.choice(f"[{inner('int')}, {inner('int')}]", f"({inner('ints')} + {inner('ints')})", f"({inner('ints')} + {inner('int')})",
                           f"[x IN {inner('ints')} WHERE x <> {inner('int')} | x + 1]", f"tail({inner('ints')})",
                           f"range(0, coalesce({inner('int')}, 3) % 4)", f"({inner('ints')})[1..]", f"[{inner('int')}]")

    def of_bool(self, scope, inner, depth):
        node = self.variable(scope, "node")
        if node and self.one_in(4):
            return self.choice(f"EXISTS {{ {self.subquery_pattern(scope, node, depth)} }}", f"{node}:{self.labels()}", f"exists(({node}){self.step(None)}())",
                               f"exists(({node}){self.step(None)}(:{self.choices.choice(LABELS)}))", f"NOT exists(({node}){self.step(None)}())")
        if node and self.one_in(6) and (other := self.variable(scope, "node")):
            return self.choice(f"{node} = {other}", f"{node} <> {other}", f"{node} IN [{other}]", f"exists(({node})-->({other}))", f"exists(({node})--({other}))")
        if node and self.one_in(8):
            return self.choice(f"{node}.any IS NOT NULL", f"{node}.any = {inner('int')}", f"{node}.any < {inner('int')}", f"{node}.any >= {inner('str')}",
                               f"{node}.any IS :: STRING")
        kind = self.choices.choice(SCALARS)
        return self.choice(
            *[f"{inner(kind)} {sign} {inner(kind)}" for sign in ("=", "<>", "<", "<=", ">", ">=")], f"({inner('bool')} AND {inner('bool')})",
            f"({inner('bool')} OR {inner('bool')})", f"NOT ({inner('bool')})", f"({inner('bool')} XOR {inner('bool')})", f"({inner(kind)}) IS NULL", f"({inner(kind)}) IS NOT NULL",
            f"{inner('int')} IN {inner('ints')}", f"{inner('str')} STARTS WITH {inner('str')}", f"{inner('str')} CONTAINS {inner('str')}", f"{inner('str')} =~ '[a-z]+'",
            f"any(x IN {inner('ints')} WHERE x > {inner('int')})", f"all(x IN {inner('ints')} WHERE x > {inner('int')})", f"none(x IN {inner('ints')} WHERE x = {inner('int')})",
            f"single(x IN {inner('ints')} WHERE x = {inner('int')})", f"{inner('int')} < {inner('int')} <= {inner('int')}", f"isEmpty({inner('ints')})", f"{inner('ints')} = {inner('ints')}",
            f"{inner('str')} IN ['a', 'ab', {inner('str')}]", f"{inner('int')} IN [1, 2, {inner('int')}, null]")

    # Patterns.

    def labels(self):
        a, b = self.choices.choice(LABELS), self.choices.choice(LABELS)
        return self.choice(a, a, a, a, a, a, a, f"{a}&{b}", f"{a}|{b}", f"{a}|{b}", f"!{a}", f"({a}|{b})&!{self.choices.choice(LABELS)}", "%", "!%")

    def step(self, scope, paths=True):
        """A relationship pattern; names it in the scope, if there is one."""
        inside, kind = "", "rel"
        if scope is not None and self.one_in(2):
            inside = self.name("r")
        name = inside
        if self.one_in(2):
            inside += ":" + self.choice("R", "S", "T", "R|S", "R|S", "!R", "R|T|S")
        several = paths and self.one_in(6)
        if several:
            if not any(mark in inside for mark in "!"):
                inside += self.choice("*", "*1..2", "*0..1", "*0..2", "*2", "*..2", "*1..3", "*2..")
                kind = "rels"
            else:
                several = False
        if self.one_in(14):
            inside += f" {{{self.choices.choice(['i', 'j'])}: {value(self.choices, 'int')}}}"
        elif scope is not None and name and not several and self.one_in(10):
            inside += f" WHERE {self.expression([*scope, (name, kind)], 'bool', 1)}"
        if scope is not None and name:
            scope.append((name, kind))
        body = f"[{inside}]" if inside else ""
        return self.choice(f"-{body}->", f"<-{body}-", f"-{body}-", f"-{body}->")

    def node(self, scope, known=()):
        """A node pattern: a known node, or a new one."""
        if known and self.one_in(6):
            return f"({self.choices.choice(known)})"
        name = self.name("n") if self.choices.random() < 0.8 else ""
        inside = name
        if self.one_in(3):
            inside += f":{self.labels()}"
        if self.one_in(14):
            key = self.choices.choice(["i", "s", "b", "uid"])
            inside += f" {{{key}: {self.choices.randrange(5) if key == 'uid' else value(self.choices, PROPERTIES[key])}}}"
        elif name and self.one_in(16):
            inside += f" WHERE {self.expression([*scope, (name, 'node')], 'bool', 1)}"
        if name:
            scope.append((name, "node"))
        return f"({inside})"

    def chain(self, scope, hops):
        known = [name for name, kind in scope if kind == "node"]
        text = self.node(scope, known)
        for _ in range(hops):
            step = self.step(scope)
            text += step + self.node(scope, [name for name, kind in scope if kind == "node"])
        return text

    def pattern(self, scope):
        """The patterns of a MATCH, at most three relationships in all."""
        parts, left = [], self.choice(0, 1, 1, 1, 2, 2, 3)
        for _ in range(self.choice(1, 1, 1, 2)):
            hops = self.choices.randint(0, left) if parts else left
            left -= hops
            if hops and self.one_in(5):
                name, before = self.name("p"), len(scope)
                text = self.chain(scope, hops)
                parts.append(f"{name} = {text}")
                scope.insert(before, (name, "path"))
            else:
                parts.append(self.chain(scope, hops))
        return ", ".join(parts)

    def subquery_pattern(self, scope, node, depth):
        inner = list(scope)
        if self.one_in(2):
            step = self.step(inner)
            text = f"({node}){step}{self.node(inner)}"
        else:
            text = f"({node}){self.step(None, False)}({':' + self.labels() if self.one_in(2) else ''})"
        if self.one_in(2):
            text += f" WHERE {self.expression(inner, 'bool', min(1, depth - 1))}"
        return f"MATCH {text}" if self.one_in(2) or "WHERE" in text else text

    def match(self, scope):
        new = list(scope)
        text = self.pattern(new)
        if self.one_in(3):
            text += f" WHERE {self.expression(new, 'bool', self.choice(1, 2, 2))}"
        optional = "OPTIONAL " if self.one_in(4) else ""
        scope[:] = new
        return f"{optional}MATCH {text}"

    def shortest(self, scope):
        a, b, path = self.name("n"), self.name("n"), self.name("p")
        step = self.choice("-[*]-", "-[*]->", "-[:R|S*]-", "-[*..3]->", "-[:R*1..4]-", "<-[*]-")
        function = self.choice("shortestPath", "shortestPath", "allShortestPaths")
        text = (f"MATCH ({a} {{uid: {self.choices.randrange(6)}}}), ({b}{':' + self.choices.choice(LABELS) if self.one_in(2) else ''}) WHERE {a} <> {b} "
                f"{'OPTIONAL ' if self.one_in(4) else ''}MATCH {path} = {function}(({a}){step}({b}))")
        scope += [(a, "node"), (b, "node"), (path, "path" if function == "allShortestPaths" else "length")]
        return text

    def unwind(self, scope):
        name = self.name("u")
        text = f"UNWIND {self.choice('range(0, 2)', '[1, null, 2]', '[1, 1, 3]', self.expression(scope, 'ints', 1))} AS {name}"
        scope.append((name, "int"))
        return text

    def subquery(self, scope):
        """CALL (…) { … }, which adds a column."""
        given = [pair for pair in scope if self.one_in(2)]
        inner = list(given)
        clauses = [self.match(inner) if self.one_in(2) else self.unwind(inner)]
        name = self.name("c")
        kind = self.choice("int", "str", "count")
        if kind == "count":
            text = f"RETURN count(*) AS {name}"
            scope.append((name, "int"))
        else:
            text = f"RETURN DISTINCT {self.expression(inner, kind, 1)} AS {name}"
            scope.append((name, kind))
        return f"CALL ({', '.join(variable for variable, _ in given)}) {{ {' '.join(clauses)} {text} }}"

    # Projections.

    def aggregate(self, scope):
        """An aggregate and the type of its result."""
        kind = self.choice("int", "str", "float", "date", "bool", "any")
        of = self.expression(scope, kind if kind != "any" else "int", 1)
        element = self.variable(scope, self.choice("node", "rel")) or of
        distinct = self.choice("", "DISTINCT ")
        if kind in ("int", "float"):
            return self.choice((f"sum({distinct}{of})", kind), (f"min({of})", kind), (f"max({of})", kind), (f"avg({distinct}{of})", "float"), (f"count({distinct}{of})", "int"),
                               (f"collect({distinct}{of})", "bag"), (f"percentileDisc({of}, 0.5)", kind), ("count(*)", "int"), (f"sum({of}) + 1", kind), (f"stDev({of})", "float"))
        return self.choice((f"count({distinct}{element})", "int"), (f"count({of})", "int"), (f"min({of})", kind if kind != "any" else "int"),
                           (f"collect({distinct}{element})", "bag"), (f"size(collect({distinct}{of}))", "int"), (f"max({of})", kind if kind != "any" else "int"))

    def projection(self, scope, last):
        """What RETURN or WITH yields, and the new scope."""
        columns, new = [], []
        carried = [pair for pair in scope if self.choices.random() < 0.6]
        if not last:
            columns = [name for name, _ in carried]
            new = list(carried)
        for _ in range(self.choices.randint(0 if columns else 1, 3)):
            if last and carried and self.one_in(2):
                variable, kind = carried.pop()
                kept = f"length({variable})" if kind == "length" else variable
                columns.append(f"{kept} AS {self.name('bag' if kind == 'bag' else 'x')}")
                continue
            kind = self.choice("int", "str", "bool", "float", "date", "ints")
            name = self.name("x")
            columns.append(f"{self.expression(scope, kind)} AS {name}")
            new.append((name, kind))
        if self.one_in(3):
            for _ in range(self.choices.randint(1, 2)):
                text, kind = self.aggregate(scope)
                name = self.name("bag" if kind == "bag" else "x")
                columns.append(f"{text} AS {name}")
                new.append((name, kind))
        return columns, new

    def with_clause(self, scope):
        elements = [(name, kind) for name, kind in scope if kind in ("node", "rel")]
        if elements and self.one_in(4) and all(kind not in ("path", "length", "bag", "rels") for _, kind in scope):
            return self.first_rows(scope)
        columns, new = self.projection(scope, False)
        text = f"WITH {'DISTINCT ' if self.one_in(5) else ''}{', '.join(columns)}"
        if self.one_in(3):
            text += f" WHERE {self.expression(new, 'bool', 1)}"
        scope[:] = new
        return text

    def order(self, scope):
        """Sort items that decide the order of all rows of the scope."""
        items = []
        for name, kind in scope:
            items.append(f"{name}.uid" if kind in ("node", "rel") else name)
        self.choices.shuffle(items)
        return ", ".join(item + self.choice("", " DESC", " ASC") for item in items)

    def first_rows(self, scope):
        text = f"WITH * ORDER BY {self.order(scope)}"
        return text + self.choice(" LIMIT 3", " SKIP 1", " SKIP 1 LIMIT 2", " LIMIT 1", " SKIP 2 LIMIT 5")

    def final(self, scope):
        """RETURN, and whether its order is total."""
        if self.one_in(5) and scope and all(kind not in ("path", "length", "bag", "rels") for _, kind in scope):
            rows = self.choice("", "", " LIMIT 4", " SKIP 1", " SKIP 1 LIMIT 3")
            names = [f"{name}.uid AS {name}" if kind in ("node", "rel") else name for name, kind in scope]
            return f"RETURN {self.choice('', 'DISTINCT ')}{', '.join(names)} ORDER BY {', '.join(name + self.choice('', ' DESC') for name, _ in scope)}{rows}", True
        columns, _ = self.projection(scope, True)
        return f"RETURN {'DISTINCT ' if self.one_in(5) else ''}{', '.join(columns)}", False

    def clauses(self):
        scope, made = [], []
        made.append(self.shortest(scope) if self.one_in(12) else self.match(scope))
        for _ in range(self.choice(0, 0, 1, 1, 2, 3)):
            made.append(self.choice(self.match, self.with_clause, self.with_clause, self.unwind, self.subquery)(scope))
        return made, scope

    def query(self):
        """A statement that reads, and whether its order is total."""
        self.names = 0
        made, scope = self.clauses()
        text, ordered = self.final(scope)
        if not ordered and self.one_in(12):
            kind, other = self.choice("int", "str"), []
            more = self.match(other)
            mine = self.match(scope_two := [])
            return (f"{more} RETURN {self.expression(other, kind)} AS x {self.choice('UNION', 'UNION ALL')} "
                    f"{mine} RETURN {self.expression(scope_two, kind)} AS x"), False
        return " ".join([*made, text]), ordered
