// IC1 friends of a first name up to three steps away
MATCH (p:Person {id: $person}), (f:Person {firstName: $firstName}) WHERE p <> f
MATCH path = shortestPath((p)-[:KNOWS*1..3]-(f))
WITH f, length(path) AS distance ORDER BY distance, f.lastName, f.id LIMIT 20
MATCH (f)-[:IS_LOCATED_IN]->(c:City)
OPTIONAL MATCH (f)-[s:STUDY_AT]->(u:University)-[:IS_LOCATED_IN]->(uc:City)
WITH f, c, distance, collect(CASE WHEN u IS NULL THEN null ELSE [u.name, s.classYear, uc.name] END) AS universities
OPTIONAL MATCH (f)-[w:WORK_AT]->(o:Company)-[:IS_LOCATED_IN]->(oc:Country)
RETURN f.id AS id, f.lastName AS name, distance, c.name AS city, universities, collect(CASE WHEN o IS NULL THEN null ELSE [o.name, w.workFrom, oc.name] END) AS bag
ORDER BY distance, name, id
// not in Ladybug: shortestPath
// IC2 recent messages of friends
MATCH (:Person {id: $person})-[:KNOWS]-(f:Person)<-[:HAS_CREATOR]-(m:Message) WHERE m.creationDate <= $middle
RETURN f.id AS id, f.firstName AS first, m.id AS message, m.content AS content, m.creationDate AS made ORDER BY made DESC, message LIMIT 20
// IC3 friends and their friends that have been to two countries
MATCH (x:Country {name: $countryX}), (y:Country {name: $countryY}), (p:Person {id: $person})
MATCH (p)-[:KNOWS*1..2]-(f:Person)-[:IS_LOCATED_IN]->(:City)-[:IS_PART_OF]->(home:Country) WHERE f.id <> p.id AND home.id <> x.id AND home.id <> y.id
WITH DISTINCT f, x, y
MATCH (f)<-[:HAS_CREATOR]-(m:Message)-[:IS_LOCATED_IN]->(c:Country) WHERE (c.id = x.id OR c.id = y.id) AND m.creationDate >= $begin AND m.creationDate < $until
WITH f, sum(CASE WHEN c.id = x.id THEN 1 ELSE 0 END) AS xs, sum(CASE WHEN c.id = y.id THEN 1 ELSE 0 END) AS ys WHERE xs > 0 AND ys > 0
RETURN f.id AS id, f.firstName AS first, f.lastName AS last, xs, ys, xs + ys AS total ORDER BY total DESC, id LIMIT 20
// IC4 new topics
MATCH (:Person {id: $person})-[:KNOWS]-(f:Person)<-[:HAS_CREATOR]-(post:Post)-[:HAS_TAG]->(tag:Tag)
WITH DISTINCT tag, post
WITH tag, sum(CASE WHEN $middle <= post.creationDate AND post.creationDate < $until THEN 1 ELSE 0 END) AS valid, sum(CASE WHEN post.creationDate < $middle THEN 1 ELSE 0 END) AS before
WHERE valid > 0 AND before = 0
RETURN tag.name AS name, valid ORDER BY valid DESC, name LIMIT 10
// IC5 new groups
MATCH (p:Person {id: $person})-[:KNOWS*1..2]-(f:Person) WHERE f.id <> p.id
WITH DISTINCT f
MATCH (f)<-[joined:HAS_MEMBER]-(forum:Forum) WHERE joined.joinDate > $middle
OPTIONAL MATCH (f)<-[:HAS_CREATOR]-(post:Post)<-[:CONTAINER_OF]-(forum)
RETURN forum.id AS id, forum.title AS title, count(post.id) AS posts ORDER BY posts DESC, id LIMIT 20
// IC6 tags beside a tag
MATCH (known:Tag {name: $tag}), (p:Person {id: $person})-[:KNOWS*1..2]-(f:Person) WHERE f.id <> p.id
WITH DISTINCT known, f
MATCH (f)<-[:HAS_CREATOR]-(post:Post)-[:HAS_TAG]->(known)
WITH DISTINCT known, post
MATCH (post)-[:HAS_TAG]->(tag:Tag) WHERE tag.id <> known.id
RETURN tag.name AS name, count(post.id) AS posts ORDER BY posts DESC, name LIMIT 10
// IC7 recent likers
MATCH (p:Person {id: $person})<-[:HAS_CREATOR]-(m:Message)<-[liked:LIKES]-(liker:Person)
WITH liker, m, liked.creationDate AS at, p ORDER BY at DESC, m.id
WITH liker, p, head(collect({id: m.id, at: at, content: m.content})) AS latest
RETURN liker.id AS id, liker.firstName AS first, latest.at AS at, latest.id AS message, NOT exists((liker)-[:KNOWS]-(p)) AS isNew ORDER BY at DESC, id LIMIT 20
// not in Ladybug: exists() of a pattern
// IC8 recent replies
MATCH (:Person {id: $person})<-[:HAS_CREATOR]-(:Message)<-[:REPLY_OF]-(c:Comment)-[:HAS_CREATOR]->(author:Person)
RETURN author.id AS id, author.lastName AS last, c.creationDate AS made, c.id AS comment ORDER BY made DESC, comment LIMIT 20
// IC9 recent messages of friends and their friends
MATCH (p:Person {id: $person})-[:KNOWS*1..2]-(f:Person) WHERE f.id <> p.id
WITH DISTINCT f
MATCH (f)<-[:HAS_CREATOR]-(m:Message) WHERE m.creationDate < $middle
RETURN f.id AS id, m.id AS message, m.content AS content, m.creationDate AS made ORDER BY made DESC, message LIMIT 20
// IC10 recommended friends
MATCH (p:Person {id: $person})-[:KNOWS]-(mid:Person)-[:KNOWS]-(f:Person)-[:IS_LOCATED_IN]->(city:City)
WHERE f <> p AND NOT (f)-[:KNOWS]-(p) AND ((f.month = $month AND f.day >= 21) OR (f.month = $month % 12 + 1 AND f.day < 22))
WITH DISTINCT f, city, p
OPTIONAL MATCH (f)<-[:HAS_CREATOR]-(post:Post)
WITH f, city, collect(post) AS posts, p
WITH f, city, size(posts) AS total, size([post IN posts WHERE EXISTS { MATCH (post)-[:HAS_TAG]->(:Tag)<-[:HAS_INTEREST]-(p) }]) AS common
RETURN f.id AS id, f.firstName AS first, common - (total - common) AS score, city.name AS city ORDER BY score DESC, id LIMIT 10
// not in Ladybug: a subquery in a list comprehension
// IC11 job referral
MATCH (p:Person {id: $person})-[:KNOWS*1..2]-(f:Person) WHERE f.id <> p.id
WITH DISTINCT f
MATCH (f)-[w:WORK_AT]->(company:Company)-[:IS_LOCATED_IN]->(:Country {name: $country}) WHERE w.workFrom < $year
RETURN f.id AS id, f.firstName AS first, company.name AS at, w.workFrom AS since ORDER BY since, id, at DESC LIMIT 10
// IC12 experts of a class of tags
MATCH (tag:Tag)-[:HAS_TYPE]->(:TagClass)-[:IS_SUBCLASS_OF*0..5]->(base:TagClass {name: $class})
WITH collect(tag.id) AS tags
MATCH (:Person {id: $person})-[:KNOWS]-(f:Person)<-[:HAS_CREATOR]-(c:Comment)-[:REPLY_OF]->(:Post)-[:HAS_TAG]->(tag:Tag) WHERE tag.id IN tags
RETURN f.id AS id, f.firstName AS first, count(DISTINCT c.id) AS replies, collect(DISTINCT tag.name) AS bag ORDER BY replies DESC, id LIMIT 20
// IC13 the shortest path between two persons
MATCH (a:Person {id: $person}), (b:Person {id: $other})
OPTIONAL MATCH path = shortestPath((a)-[:KNOWS*]-(b))
RETURN CASE path IS NULL WHEN true THEN -1 ELSE length(path) END AS length
// not in Ladybug: shortestPath
// IC14 the shortest paths between two persons, by how much their neighbours wrote to each other
MATCH path = allShortestPaths((a:Person {id: $person})-[:KNOWS*]-(b:Person {id: $other}))
WITH path, [person IN nodes(path) | person.id] AS ids,
  reduce(weight = 0.0, r IN relationships(path) | weight + size([(x:Person)<-[:HAS_CREATOR]-(:Comment)-[:REPLY_OF]->(m:Message)-[:HAS_CREATOR]->(y:Person)
    WHERE (x = startNode(r) AND y = endNode(r)) OR (x = endNode(r) AND y = startNode(r)) | CASE WHEN m:Post THEN 1.0 ELSE 0.5 END])) AS weight
RETURN ids, weight ORDER BY weight DESC, ids
// not in Ladybug: allShortestPaths
// IS3 friends of a person
MATCH (:Person {id: $person})-[r:KNOWS]-(f:Person) RETURN f.id AS id, f.firstName AS first, r.creationDate AS since ORDER BY since DESC, id
// IS7 who has the most replies to replies
MATCH (c:Comment)-[:REPLY_OF]->(:Comment)-[:REPLY_OF]->(:Post)-[:HAS_CREATOR]->(p:Person) RETURN p.id AS id, count(c.id) AS replies ORDER BY replies DESC, id LIMIT 10
// TCR1 accounts within three transfers that a blocked medium signed in to
MATCH path = (a:Account {id: $account})-[:TRANSFER*1..3]->(other:Account)
WHERE all(r IN relationships(path) WHERE r.timestamp > $begin AND r.timestamp < $middle)
  AND all(n IN range(1, length(path) - 1) WHERE relationships(path)[n - 1].timestamp < relationships(path)[n].timestamp)
WITH DISTINCT other, length(path) AS distance
MATCH (medium:Medium {blocked: true})-[s:SIGN_IN]->(other)
RETURN other.id AS id, min(distance) AS distance, medium.id AS medium ORDER BY distance, id, medium LIMIT 50
// not in Ladybug: indexes of relationships(path)
// TCR3 the shortest path of transfers
MATCH path = shortestPath((a:Account {id: $account})-[:TRANSFER*]->(b:Account {id: $target})) RETURN length(path) AS length
// not in Ladybug: shortestPath
// TCR4 cycles of three transfers
MATCH (a:Account {id: $account})-[t1:TRANSFER]->(b:Account)-[t2:TRANSFER]->(c:Account)-[t3:TRANSFER]->(a)
RETURN b.id AS one, c.id AS two, count(*) AS times, sum(t1.amount) AS first, max(t2.amount) AS second, min(t3.amount) AS third ORDER BY times DESC, first DESC, one, two LIMIT 20
// TCR6 accounts that gather from many and pass on
MATCH (source:Account)-[t:TRANSFER]->(mid:Account)-[w:TRANSFER]->(target:Account) WHERE t.amount > $amount AND w.amount > $amount AND w.timestamp > t.timestamp AND source.id <> mid.id
WITH mid, count(DISTINCT source.id) AS sources, sum(t.amount) AS gathered WHERE sources > 8
RETURN mid.id AS id, sources, gathered ORDER BY gathered DESC, id LIMIT 20
// TCR7 how much an account takes in and gives out
MATCH (a:Account {id: $account})
OPTIONAL MATCH (source:Account)-[i:TRANSFER]->(a) WHERE i.amount > $amount
WITH a, count(DISTINCT source.id) AS sources, sum(i.amount) AS taken
OPTIONAL MATCH (a)-[o:TRANSFER]->(target:Account) WHERE o.amount > $amount
WITH sources, taken, count(DISTINCT target.id) AS targets, sum(o.amount) AS given
RETURN sources, targets, round(1.0 * taken / given, 3) AS ratio
// TCR8 where the money of loans goes
MATCH (loan:Loan)-[d:DEPOSIT]->(first:Account)-[t:TRANSFER*1..2]->(last:Account)
WITH loan, last, count(*) AS ways WHERE ways > 2
RETURN loan.id AS loan, last.id AS account, ways, loan.amount AS amount ORDER BY ways DESC, loan, account LIMIT 20
// not in Ladybug: a relationship may be repeated there
// TCR10 investors that are alike
MATCH (p:Person)-[:INVEST]->(c:Company)<-[:INVEST]-(q:Person) WHERE p.id < q.id
WITH p, q, count(DISTINCT c.id) AS common WHERE common > 1
RETURN p.id AS one, q.id AS other, common ORDER BY common DESC, one, other LIMIT 20
// TCR11 chains of guarantees and their loans
MATCH (p:Person)-[:GUARANTEE*1..3]->(other:Person)-[:APPLY]->(loan:Loan)
WITH p, collect(DISTINCT loan.id) AS loans, sum(DISTINCT loan.amount) AS amount
RETURN p.id AS id, size(loans) AS loans, amount ORDER BY amount DESC, id LIMIT 20
