// 1: the three most followed persons
MATCH (follower:Person)-[:FOLLOWS]->(person:Person) RETURN person.id AS id, person.name AS name, count(follower.id) AS followers ORDER BY followers DESC, id LIMIT 3
// 2: where the most followed person lives
MATCH (follower:Person)-[:FOLLOWS]->(person:Person) WITH person, count(follower.id) AS followers ORDER BY followers DESC, person.id LIMIT 1 MATCH (person)-[:LIVES_IN]->(city:City) RETURN person.name AS name, followers, city.city AS city, city.state AS state, city.country AS country
// 3: the five cities of a country with the lowest mean age
MATCH (p:Person)-[:LIVES_IN]->(c:City)-[:CITY_IN]->(:State)-[:STATE_IN]->(n:Country {country: 'United States'}) RETURN c.id AS id, c.city AS city, avg(p.age) AS age ORDER BY age, id LIMIT 5
// 4: persons of 30 to 40 years in each country
MATCH (p:Person)-[:LIVES_IN]->(c:City)-[:CITY_IN]->(s:State)-[:STATE_IN]->(n:Country) WHERE p.age >= 30 AND p.age <= 40 RETURN n.country AS country, count(n) AS persons ORDER BY persons DESC LIMIT 3
// 5: men in London who like fine dining
MATCH (p:Person)-[:HAS_INTEREST]->(i:Interest {interest: 'Fine Dining'}) WHERE p.gender = 'male' WITH p, i MATCH (p)-[:LIVES_IN]->(c:City {city: 'London'}) RETURN count(p) AS persons
// 6: the cities with the most women who like tennis
MATCH (p:Person)-[:HAS_INTEREST]->(i:Interest {interest: 'Tennis'}) WHERE p.gender = 'female' WITH p, i MATCH (p)-[:LIVES_IN]->(c:City) RETURN count(p.id) AS persons, c.id AS id, c.city AS city ORDER BY persons DESC, id LIMIT 5
// 7: the state with the most persons of 23 to 30 years who like photography
MATCH (p:Person)-[:LIVES_IN]->(:City)-[:CITY_IN]->(s:State) WHERE p.age >= 23 AND p.age <= 30 AND s.country = 'United States' WITH p, s MATCH (p)-[:HAS_INTEREST]->(i:Interest {interest: 'Photography'}) RETURN count(p.id) AS persons, s.id AS id, s.state AS state ORDER BY persons DESC, id LIMIT 1
// 8: all paths of two hops, counted
MATCH (a:Person)-[r1:FOLLOWS]->(b:Person)-[r2:FOLLOWS]->(c:Person) RETURN count(*) AS paths
// 9: the same with conditions on two of their persons
MATCH (a:Person)-[r1:FOLLOWS]->(b:Person)-[r2:FOLLOWS]->(c:Person) WHERE b.age < 50 AND c.age > 25 RETURN count(*) AS paths
