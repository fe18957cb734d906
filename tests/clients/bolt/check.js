// Neo4j's JavaScript driver against a server: check.js bolt://host:port
// With VARVE_USER and VARVE_PASSWORD it logs in. Reads the graph 'hugegraph', and writes nothing that
// stays. Prints 'N passed, N failed'.

const neo4j = require('neo4j-driver');

const [bolt] = process.argv.slice(2);
const { VARVE_USER: user, VARVE_PASSWORD: password } = process.env;
const auth = user ? neo4j.auth.basic(user, password) : undefined;
let passed = 0;
let failed = 0;

function check(name, got, wanted) {
  if (JSON.stringify(got) === JSON.stringify(wanted)) {
    passed += 1;
  } else {
    failed += 1;
    const shown = (value) => JSON.stringify(value).slice(0, 200);
    console.log(`FAILED ${name}: ${shown(got)}, not ${shown(wanted)}`);
  }
}

async function main() {
  const driver = neo4j.driver(bolt, auth);
  await driver.getServerInfo();
  const one = async (query) => {
    const { records } = await driver.executeQuery(query, {}, { database: 'hugegraph' });
    return records.map((record) => record.get(0).toNumber());
  };
  check('a constant', await one('RETURN 1'), [1]);
  const [count] = await one('MATCH (n) RETURN count(n)');
  const session = driver.session({ database: 'hugegraph' });
  const read = await session.executeRead((own) => own.run('MATCH (n) RETURN n'));
  check('a managed read', read.records.length, count);
  await session.run('RETURN x').catch((error) => {
    check('no such variable', error.code, 'Neo.ClientError.Statement.SyntaxError');
  });
  const values = await session.run(
    "RETURN $p AS p, date('2024-02-29') AS d, duration('P1DT2S') AS u, [1.5, null] AS l",
    { p: { a: neo4j.int(7) } },
  );
  const value = values.records[0];
  check('a parameter', value.get('p').a.toNumber(), 7);
  check('a date', value.get('d').toString(), '2024-02-29');
  check('a duration', value.get('u').toString(), 'P1DT2S');
  check('a list', value.get('l'), [1.5, null]);
  check('its summary', values.summary.queryType, 'r');
  const transaction = session.beginTransaction();
  const inside = await transaction.run('UNWIND range(1, 3) AS x RETURN sum(x) AS x');
  check('in a transaction', inside.records[0].get('x').toNumber(), 6);
  await transaction.rollback();
  check('the session goes on', (await session.run('RETURN 1')).records.length, 1);
  const counts = Array.from({ length: 40 }, () => one('MATCH (n) RETURN count(n)'));
  check('many at a time', (await Promise.all(counts)).flat(), Array(40).fill(count));
  await session.close();
  await driver.close();
}

main()
  .catch((error) => {
    failed += 1;
    console.log(`FAILED ${error}`);
  })
  .finally(() => {
    console.log(`neo4j-driver: ${passed} passed, ${failed} failed`);
    process.exitCode = failed > 0 ? 1 : 0;
  });
