Feature: Language - what the TCK does not test

  Background:
    Given an empty graph

  Scenario: [1] shortest
    And having executed:
      """
      CREATE (a:P {n: 1}), (b:P {n: 2}), (c:P {n: 3}), (d:P {n: 4}), (a)-[:R {w: 1}]->(b), (b)-[:R {w: 2}]->(c), (c)-[:R {w: 3}]->(d), (a)-[:S]->(d), (a)-[:R]->(c)
      """
    When executing query:
      """
      MATCH (a:P {n: 1}), (d:P {n: 4}), p = shortestPath((a)-[:R*]->(d)) RETURN length(p) AS l, [x IN nodes(p) | x.n] AS ns
      """
    Then the result should be, in any order:
      | l | ns |
      | 2 | [1, 3, 4] |

  Scenario: [2] all shortest
    And having executed:
      """
      CREATE (a:P {n: 1}), (b:P {n: 2}), (c:P {n: 3}), (d:P {n: 4}), (a)-[:R]->(b), (b)-[:R]->(d), (a)-[:R]->(c), (c)-[:R]->(d)
      """
    When executing query:
      """
      MATCH p = allShortestPaths((a:P {n: 1})-[*]-(d:P {n: 4})) RETURN [x IN nodes(p) | x.n] AS ns
      """
    Then the result should be, in any order:
      | ns |
      | [1, 2, 4] |
      | [1, 3, 4] |

  Scenario: [3] shortest with predicate
    And having executed:
      """
      CREATE (a:P {n: 1}), (b:P {n: 2}), (c:P {n: 3}), (a)-[:R {w: 9}]->(c), (a)-[:R {w: 1}]->(b), (b)-[:R {w: 1}]->(c)
      """
    When executing query:
      """
      MATCH p = shortestPath((a:P {n: 1})-[rs:R*]->(c:P {n: 3})) WHERE all(r IN rs WHERE r.w < 5) RETURN length(p) AS l
      """
    Then the result should be, in any order:
      | l |
      | 2 |

  Scenario: [4] shortest as expression
    And having executed:
      """
      CREATE (a:P {n: 1})-[:R]->(b:P {n: 2})-[:R]->(c:P {n: 3})
      """
    When executing query:
      """
      MATCH (a:P {n: 1}), (c:P {n: 3}) RETURN length(shortestPath((a)-[*]->(c))) AS l, shortestPath((c)-[*]->(a)) AS none
      """
    Then the result should be, in any order:
      | l | none |
      | 2 | null |

  Scenario: [5] call subquery
    And having executed:
      """
      CREATE (:P {n: 1})-[:R]->(:Q {m: 5}), (:P {n: 2})
      """
    When executing query:
      """
      MATCH (p:P) CALL (p) { OPTIONAL MATCH (p)-->(q) RETURN count(q) AS c } RETURN p.n AS n, c ORDER BY n
      """
    Then the result should be, in order:
      | n | c |
      | 1 | 1 |
      | 2 | 0 |

  Scenario: [6] call with leading with, union
    When executing query:
      """
      UNWIND [1, 2] AS x CALL { WITH x RETURN x * 10 AS y UNION WITH x RETURN x * 100 AS y } RETURN x, y ORDER BY x, y
      """
    Then the result should be, in order:
      | x | y |
      | 1 | 10 |
      | 1 | 100 |
      | 2 | 20 |
      | 2 | 200 |

  Scenario: [7] count and collect
    And having executed:
      """
      CREATE (p:P {n: 1})-[:R]->(:Q {m: 5}), (p)-[:R]->(:Q {m: 6}), (:P {n: 2})
      """
    When executing query:
      """
      MATCH (p:P) RETURN p.n AS n, COUNT { (p)-->() } AS c, COLLECT { MATCH (p)-->(q) RETURN q.m ORDER BY q.m } AS l, EXISTS { (p)-->(q) WHERE q.m > 5 } AS e ORDER BY n
      """
    Then the result should be, in order:
      | n | c | l | e |
      | 1 | 2 | [5, 6] | true |
      | 2 | 0 | [] | false |

  Scenario: [8] foreach
    When executing query:
      """
      CREATE (r:Root) FOREACH (i IN range(1, 3) | CREATE (r)-[:C]->(:Leaf {i: i}) SET r.last = i)
      """
    Then the result should be empty
    And the side effects should be:
      | +nodes | 4 |
      | +relationships | 3 |
      | +labels | 2 |
      | +properties | 4 |

  Scenario: [9] limit 0 still writes
    When executing query:
      """
      UNWIND range(1, 10) AS i CREATE (n:N {i: i}) RETURN n LIMIT 0
      """
    Then the result should be, in any order:
      | n |
    And the side effects should be:
      | +nodes | 10 |
      | +labels | 1 |
      | +properties | 10 |

  Scenario: [10] label expressions
    And having executed:
      """
      CREATE (:A {n: 1}), (:A:B {n: 2}), (:B {n: 3}), ({n: 4}), (:C {n: 5})
      """
    When executing query:
      """
      MATCH (x:(A|B)&!C) RETURN 'a' AS t, collect(x.n) AS l UNION ALL MATCH (x:%) RETURN 'b' AS t, collect(x.n) AS l UNION ALL MATCH (x:!%) RETURN 'c' AS t, collect(x.n) AS l UNION ALL MATCH (x:A&B) RETURN 'd' AS t, collect(x.n) AS l
      """
    Then the result should be (ignoring element order for lists):
      | t | l |
      | 'a' | [1, 2, 3] |
      | 'b' | [1, 2, 3, 5] |
      | 'c' | [4] |
      | 'd' | [2] |

  Scenario: [11] subquery writes
    And having executed:
      """
      CREATE (:P {n: 1}), (:P {n: 2})
      """
    When executing query:
      """
      MATCH (p:P) CALL (p) { CREATE (p)-[:R]->(c:Child {n: p.n}) RETURN c } SET c.done = true RETURN p.n AS n, c.n AS m, c.done AS d ORDER BY n
      """
    Then the result should be, in order:
      | n | m | d |
      | 1 | 1 | true |
      | 2 | 2 | true |

  Scenario: [12] unit subquery
    And having executed:
      """
      CREATE (:P {n: 1}), (:P {n: 2})
      """
    When executing query:
      """
      MATCH (p:P) CALL (p) { SET p.x = p.n * 2 } RETURN p.x AS x ORDER BY x
      """
    Then the result should be, in order:
      | x |
      | 2 |
      | 4 |

  Scenario: [13] set row by row
    And having executed:
      """
      CREATE (:P {n: 0})
      """
    When executing query:
      """
      MATCH (p:P) UNWIND [1, 2, 3] AS x SET p.n = p.n + x RETURN DISTINCT p.n AS n
      """
    Then the result should be, in any order:
      | n |
      | 6 |

  Scenario: [14] element id
    And having executed:
      """
      CREATE (:P {n: 0}), (:P {n: 1})
      """
    When executing query:
      """
      MATCH (p:P {n: 1}) WITH elementId(p) AS e, id(p) AS i MATCH (q) WHERE elementId(q) = e MATCH (r) WHERE id(r) = i MATCH (s) WHERE elementId(s) IN [e, 'x'] RETURN q.n AS n, r.n AS m, s.n AS o
      """
    Then the result should be, in any order:
      | n | m | o |
      | 1 | 1 | 1 |

  Scenario: [15] nested exists, outer variable after WITH
    And having executed:
      """
      CREATE (:P {n: 1})-[:R]->(:Q {m: 1})-[:R]->(:Q {m: 2}), (:P {n: 2})-[:R]->(:Q {m: 7})
      """
    When executing query:
      """
      MATCH (p:P) WHERE EXISTS { MATCH (p)-->(q) WITH q WHERE EXISTS { MATCH (q)-->(z) WHERE z.m > p.n } RETURN q } RETURN p.n AS n
      """
    Then the result should be, in any order:
      | n |
      | 1 |

  Scenario: [16] pattern comprehension with locals
    And having executed:
      """
      CREATE (:P {n: 1})-[:R]->(:Q {m: 1}), (:P {n: 2})-[:R]->(:Q {m: 7})
      """
    When executing query:
      """
      MATCH (p:P) WITH collect(p) AS ps RETURN [x IN ps | [(x)-->(q) | q.m + x.n]] AS l
      """
    Then the result should be (ignoring element order for lists):
      | l |
      | [[2], [9]] |

  Scenario: [17] quantified relationship and inline where
    And having executed:
      """
      CREATE (a:P {n: 1})-[:R {w: 1}]->(:P {n: 2})-[:R {w: 5}]->(:P {n: 3})
      """
    When executing query:
      """
      MATCH (a:P WHERE a.n = 1)-[r:R WHERE r.w < 3]->{1,3}(b) RETURN b.n AS n
      """
    Then the result should be, in any order:
      | n |
      | 2 |

  Scenario: [18] create without labels then set and remove
    When executing query:
      """
      CREATE (n) SET n:X:Y SET n.a = 1 REMOVE n:X WITH n RETURN labels(n) AS l, n.a AS a
      """
    Then the result should be, in any order:
      | l | a |
      | ['Y'] | 1 |

  Scenario: [19] detach delete then count
    And having executed:
      """
      CREATE (a:P)-[:R]->(b:P)-[:R]->(a)
      """
    When executing query:
      """
      MATCH (n:P) DETACH DELETE n WITH count(*) AS c MATCH (m) RETURN c, count(m) AS m
      """
    Then the result should be, in any order:
      | c | m |

  Scenario: [20] order by skip limit with parameter expression
    When executing query:
      """
      UNWIND range(1, 100) AS i WITH i ORDER BY i DESC SKIP 2 * 5 LIMIT 3 WHERE i % 2 = 0 RETURN collect(i) AS l
      """
    Then the result should be, in any order:
      | l |
      | [90, 88] |

  Scenario: [21] undirected self loop
    And having executed:
      """
      CREATE (a:P)-[:R]->(a)
      """
    When executing query:
      """
      MATCH (a)-[r]-(b) MATCH (a)-[s*]-(b) RETURN count(*) AS c
      """
    Then the result should be, in any order:
      | c |
      | 1 |

  Scenario: [22] merge in foreach and unwind
    When executing query:
      """
      UNWIND [1, 1, 2] AS x MERGE (n:N {x: x}) ON CREATE SET n.c = 1 ON MATCH SET n.c = n.c + 1 WITH DISTINCT n RETURN n.x AS x, n.c AS c ORDER BY x
      """
    Then the result should be, in order:
      | x | c |
      | 1 | 2 |
      | 2 | 1 |

  Scenario: [23] map projection and case in aggregation
    And having executed:
      """
      CREATE (:P {n: 1, k: 'a'}), (:P {n: 2, k: 'a'}), (:P {n: 3, k: 'b'})
      """
    When executing query:
      """
      MATCH (p:P) RETURN p.k AS k, CASE WHEN count(*) > 1 THEN sum(p.n) ELSE 0 END AS s, {k: p.k, c: count(*)} AS m ORDER BY k
      """
    Then the result should be, in order:
      | k | s | m |
      | 'a' | 3 | {k: 'a', c: 2} |
      | 'b' | 0 | {k: 'b', c: 1} |

  Scenario: [24] a bound null is no node
    When executing query:
      """
      OPTIONAL MATCH (a) WITH a MATCH (a) RETURN count(*) AS c
      """
    Then the result should be, in any order:
      | c |
      | 0 |

  Scenario: [25] a bound value that is no node
    When executing query:
      """
      UNWIND [1, 2] AS x WITH x MATCH (x) RETURN x
      """
    Then a SyntaxError should be raised at compile time: VariableTypeConflict

  Scenario: [26] the first rows of many, in order
    When executing query:
      """
      UNWIND range(1, 10000) AS x WITH x % 5000 AS k, x ORDER BY k DESC, x SKIP 1 LIMIT 4 RETURN collect([k, x]) AS l
      """
    Then the result should be, in any order:
      | l |
      | [[4999, 9999], [4998, 4998], [4998, 9998], [4997, 4997]] |

  Scenario: [27] a variable named as a word
    When executing query:
      """
      WITH [3, 4] AS all, {k: 5} AS distinct RETURN all[0] AS a, all AS b, all IS NULL AS c, all IN [[3, 4]] AS d, all + 1 AS e, all[1] AS f, distinct.k AS g
      """
    Then the result should be, in any order:
      | a | b | c | d | e | f | g |
      | 3 | [3, 4] | false | true | [3, 4, 1] | 4 | 5 |

  Scenario: [28] the shortest way back repeats no relationship
    And having executed:
      """
      CREATE (a:P {n: 1})-[:R]->(b:P {n: 2}), (b)-[:R]->(c:P {n: 3}), (c)-[:R]->(a), (b)-[:R]->(d:P {n: 4})
      """
    When executing query:
      """
      MATCH (a:P) MATCH (b:P) WHERE a.n = b.n OPTIONAL MATCH p = shortestPath((a)-[*]-(b)) RETURN a.n AS n, length(p) AS l
      """
    Then the result should be, in any order:
      | n | l |
      | 1 | 3 |
      | 2 | 3 |
      | 3 | 3 |
      | 4 | null |

  Scenario: [29] bound lists of relationships have no further conditions
    When executing query:
      """
      MATCH ()-[rs*1..2]->() WITH rs MATCH (a)-[rs* {k: 1}]->(b) RETURN a
      """
    Then a NotSupported should be raised at compile time: NotSupported

  Scenario: [30] changes in nested loops and subqueries
    And having executed:
      """
      CREATE (:P {n: 1}), (:P {n: 2})
      """
    When executing query:
      """
      MATCH (p:P) CALL (p) { FOREACH (i IN [1, 2] | MERGE (p)-[:R]->(x:X {i: i}) FOREACH (j IN [i] | SET x.j = j + p.n)) } MATCH (p)-[:R]->(x) RETURN p.n AS n, x.i AS i, x.j AS j
      """
    Then the result should be, in any order:
      | n | i | j |
      | 1 | 1 | 2 |
      | 1 | 2 | 3 |
      | 2 | 1 | 3 |
      | 2 | 2 | 4 |

  Scenario: [31] EXISTS and LIMIT need few of very many walks
    And having executed:
      """
      CREATE (a:A)-[:R]->(b:B) WITH a, b UNWIND range(1, 30) AS i CREATE (a)-[:R]->(b)
      """
    When executing query:
      """
      MATCH (a:A) WHERE EXISTS { (a)-[*]-(:B) } CALL (a) { MATCH (a)-[*]-(b) RETURN b LIMIT 2000 } RETURN count(*) AS c
      """
    Then the result should be, in any order:
      | c    |
      | 2000 |

  Scenario: [32] a bound value that may be a node is checked when it is used
    When executing query:
      """
      UNWIND [1, 'a', null] AS x WITH x MATCH (x) RETURN x
      """
    Then a TypeError should be raised at runtime: InvalidArgumentType
