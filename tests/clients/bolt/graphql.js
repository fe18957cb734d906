// @neo4j/graphql against a server: graphql.js bolt://host:port GRAPH
// With VARVE_USER and VARVE_PASSWORD it logs in. Writes to GRAPH, an open graph. Prints 'N passed, N failed'.

const neo4j = require('neo4j-driver');
const { Neo4jGraphQL } = require('@neo4j/graphql');
const { graphql } = require('graphql');

const [bolt, graph] = process.argv.slice(2);
const { VARVE_USER: user, VARVE_PASSWORD: password } = process.env;
const sessionConfig = { database: graph };
let passed = 0;
let failed = 0;

const typeDefs = `
  type Person @node {
    name: String!
    age: Int
    born: Date
    seen: DateTime
    tags: [String!]
    acted: [Movie!]! @relationship(type: "ACTED_IN", direction: OUT, properties: "Acted")
  }
  type Acted @relationshipProperties {
    year: Int
  }
  type Movie @node {
    id: ID! @id
    title: String!
    released: Int
    place: Point
    actors: [Person!]! @relationship(type: "ACTED_IN", direction: IN, properties: "Acted")
    number: Int @cypher(
      statement: "MATCH (this)<-[:ACTED_IN]-(p) RETURN count(p) AS c", columnName: "c"
    )
  }
  type Secret @node
    @authorization(validate: [{ where: { node: { owner: { eq: "$jwt.sub" } } } }]) {
    owner: String!
    text: String
  }
`;

function check(name, got, wanted) {
  if (JSON.stringify(got) === JSON.stringify(wanted)) {
    passed += 1;
  } else {
    failed += 1;
    const shown = (value) => JSON.stringify(value).slice(0, 300);
    console.log(`FAILED ${name}: ${shown(got)}, not ${shown(wanted)}`);
  }
}

async function main() {
  const auth = user ? neo4j.auth.basic(user, password) : undefined;
  const driver = neo4j.driver(bolt, auth);
  await driver.executeQuery('MATCH (n) DETACH DELETE n', {}, sessionConfig);
  const authorization = { key: 'secret' };
  const library = new Neo4jGraphQL({ typeDefs, driver, features: { authorization } });
  const schema = await library.getSchema();
  await library.checkNeo4jCompat({ driver, sessionConfig });
  const ask = async (source, jwt) => {
    const { data, errors } = await graphql({ schema, source, contextValue: { sessionConfig, jwt } });
    return errors ? errors.map((error) => error.message) : data;
  };
  const made = await ask(`mutation { createPeople(input: [
    { name: "Ann", age: 30, born: "2000-01-02", seen: "2024-02-29T12:00:00Z", tags: ["a"],
      acted: { create: [{ node: { title: "M1", released: 1999, place: { longitude: 1, latitude: 2 } },
        edge: { year: 1998 } }] } },
    { name: "Bob", acted: { create: [{ node: { title: "M2" }, edge: {} }] } }
  ]) { info { nodesCreated relationshipsCreated } } }`);
  check('made', made, { createPeople: { info: { nodesCreated: 4, relationshipsCreated: 2 } } });
  check(
    'read',
    await ask(`{ people(where: { age: { gt: 20 } }) { name born seen tags actedConnection {
      edges { properties { year } node { title place { latitude } number } } } } }`),
    {
      people: [
        {
          name: 'Ann',
          born: '2000-01-02',
          seen: '2024-02-29T12:00:00.000Z',
          tags: ['a'],
          actedConnection: {
            edges: [{ properties: { year: 1998 }, node: { title: 'M1', place: { latitude: 2 }, number: 1 } }],
          },
        },
      ],
    },
  );
  check(
    'a page with aggregates',
    await ask(`{ peopleConnection(first: 1, sort: { name: DESC }) { edges { node { name } }
      pageInfo { hasNextPage } aggregate { count { nodes } node { age { max } } } } }`),
    {
      peopleConnection: {
        edges: [{ node: { name: 'Bob' } }],
        pageInfo: { hasNextPage: true },
        aggregate: { count: { nodes: 2 }, node: { age: { max: 30 } } },
      },
    },
  );
  check(
    'a quantifier',
    await ask('{ movies(where: { actors: { none: { name: { eq: "Ann" } } } }) { title } }'),
    { movies: [{ title: 'M2' }] },
  );
  const updated = await ask(`mutation { updatePeople(where: { name: { eq: "Bob" } }, update: {
    acted: [{ connect: [{ where: { node: { title: { eq: "M1" } } }, edge: { year: 7 } }] }] })
    { info { relationshipsCreated } } }`);
  check('connected', updated, { updatePeople: { info: { relationshipsCreated: 1 } } });
  const added = await ask(`mutation { updateMovies(where: { title: { eq: "M1" } },
    update: { released: { add: 5 } }) { movies { released actors { name } } } }`);
  check('added', added.updateMovies && added.updateMovies.movies[0].released, 2004);
  const removed = await ask(`mutation { deletePeople(where: { name: { eq: "Bob" } },
    delete: { acted: [{ where: { node: { title: { eq: "M2" } } } }] })
    { nodesDeleted relationshipsDeleted } }`);
  check('removed', removed, { deletePeople: { nodesDeleted: 2, relationshipsDeleted: 2 } });
  const secret = 'mutation { createSecrets(input: [{ owner: "me", text: "t" }]) { secrets { text } } }';
  check('its own', await ask(secret, { sub: 'me' }), { createSecrets: { secrets: [{ text: 't' }] } });
  check('its own again', await ask('{ secrets { text } }', { sub: 'me' }), { secrets: [{ text: 't' }] });
  check('not its own', await ask('{ secrets { text } }', { sub: 'you' }), ['Forbidden']);
  await driver.close();
}

main()
  .catch((error) => {
    failed += 1;
    console.log(`FAILED ${error.stack}`);
  })
  .finally(() => {
    console.log(`@neo4j/graphql: ${passed} passed, ${failed} failed`);
    process.exitCode = failed > 0 ? 1 : 0;
  });
