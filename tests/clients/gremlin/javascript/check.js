// The npm package gremlin against a server that fill.py has filled: check.js ws://host:port/gremlin
'use strict';
const assert = require('node:assert');
const { check, finish } = require('../../javascript/checks');
const gremlin = require(require.resolve('gremlin', { paths: [process.cwd()] }));

const { traversal } = gremlin.process.AnonymousTraversalSource;
const { P, t, order, statics: __ } = gremlin.process;
const { DriverRemoteConnection, Client } = gremlin.driver;
const url = process.argv[2];
const source = '__g_hugegraph';
async function refused(run, code, text) {
  let got;
  try {
    got = await run();
  } catch (error) {
    assert.strictEqual(error.statusCode, code, error.message);
    assert.ok(error.message.includes(text), error.message);
    return;
  }
  assert.fail(`not refused: ${got}`);
}

const numbers = (values) => values.map(Number).sort((a, b) => a - b);

async function traversals(g) {
  await check('toList', async () => {
    const persons = await g.V().hasLabel('person').toList();
    assert.deepStrictEqual(numbers(persons.map((v) => v.id)), [1, 2, 4, 6]);
  });
  await check('vertex', async () => {
    const { value } = await g.V(1).next();
    assert.strictEqual(value.label, 'person');
    const properties = Array.isArray(value.properties)
      ? value.properties
      : Object.values(value.properties).flat();
    const pairs = properties.map((p) => [p.label, p.value]).sort();
    assert.deepStrictEqual(pairs, [['age', 29], ['name', 'marko']]);
  });
  await check('valueMap', async () => {
    const { value } = await g.V(1).valueMap().next();
    assert.deepStrictEqual([value.get('name'), value.get('age')], [['marko'], [29]]);
  });
  await check('elementMap', async () => {
    const { value } = await g.V(1).elementMap().next();
    assert.strictEqual(value.get('name'), 'marko');
    assert.strictEqual([...value.keys()].length, 4);
  });
  await check('path', async () => {
    const { value } = await g.V(1).as('a').out('knows').has('name', 'josh').values('name').path().next();
    assert.strictEqual(value.objects[2], 'josh');
    assert.strictEqual(Number(value.objects[0].id), 1);
  });
  await check('predicate', async () => {
    const names = await g.V().has('person', 'age', P.gt(30)).values('name').order().toList();
    assert.deepStrictEqual(names, ['josh', 'peter']);
  });
  await check('nested', async () => {
    const names = await g.V().hasLabel('person').where(__.out('created')).values('name').order().toList();
    assert.deepStrictEqual(names, ['josh', 'marko', 'peter']);
  });
  await check('order', async () => {
    const ages = await g.V().hasLabel('person').order().by('age', order.desc).values('age').toList();
    assert.deepStrictEqual(ages, [35, 32, 29, 27]);
  });
  await check('group', async () => {
    const { value } = await g.V().hasLabel('person', 'software').groupCount().by(t.label).next();
    assert.strictEqual(Number(value.get('person')), 4);
  });
  await check('iterate', () => g.V().iterate());
  await check('batches', async () => {
    assert.strictEqual((await g.V().hasLabel('item').toList()).length, 1000);
  });
  await check('timeout', () =>
    refused(() => g.with_('evaluationTimeout', 50).V().repeat(__.both()).count().next(), 598, 'evaluationTimeout'));
  await check('pipelined', async () => {
    const asked = Array.from({ length: 200 }, () => g.V(1).values('name').next());
    const names = (await Promise.all(asked)).map(({ value }) => value);
    assert.deepStrictEqual(new Set(names), new Set(['marko']));
  });
}

// Vertices with ids of the server, sent back as they came: as starts, ends of edges and arguments.
async function made(g) {
  const count = 20;
  const vertices = [];
  for (let i = 0; i < count; i += 1) {
    vertices.push((await g.addV('maker').property('number', i).next()).value);
  }
  assert.strictEqual(new Set(vertices.map((v) => v.id)).size, count);
  for (const [i, v] of vertices.entries()) {
    for (const id of [v, v.id]) {
      assert.strictEqual((await g.V(id).values('number').next()).value, i);
    }
    if (i > 0) {
      const { value } = await g.addE('next').from_(vertices[i - 1]).to(v).next();
      assert.deepStrictEqual([value.outV.id, value.inV.id], [vertices[i - 1].id, v.id]);
    }
  }
  const last = await g.V(vertices[0]).repeat(__.out('next')).times(count - 1).id().toList();
  assert.deepStrictEqual(last, [vertices[count - 1].id]);
  const { value } = await g.V(vertices[0].id).addE('back').to(__.V(vertices[1].id)).inV().next();
  assert.strictEqual(value.id, vertices[1].id);
  assert.strictEqual(Number((await g.V(...vertices).count().next()).value), count);
}

async function scripts(client) {
  const all = async (script, bindings, options) => (await client.submit(script, bindings, options)).toArray();
  await check('script', async () => assert.deepStrictEqual(await all("g.V(1).values('name')"), ['marko']));
  await check('bindings', async () => {
    assert.deepStrictEqual((await all('g.V(x).out(y).count()', { x: 1, y: 'knows' })).map(Number), [2]);
  });
  await check('script batches', async () => {
    assert.strictEqual((await all("g.V().hasLabel('item')", null, { batchSize: 10 })).length, 1000);
  });
  await check('stream', async () => {
    let count = 0;
    for await (const part of client.stream("g.V().hasLabel('item')", null, { batchSize: 100 })) {
      count += part.length;
    }
    assert.strictEqual(count, 1000);
  });
  await check('script error', () => refused(() => all('g.V().nonsense()'), 597, 'nonsense'));
  await check('script timeout', () =>
    refused(() => all('g.V().repeat(both()).count()', null, { evaluationTimeout: 50 }), 598, 'evaluationTimeout'));
}

async function main() {
  const options = { traversalSource: source };
  const user = process.env.VARVE_USER;
  if (user) {
    options.authenticator = new gremlin.driver.auth.PlainTextSaslAuthenticator(user, process.env.VARVE_PASSWORD);
  }
  const graphson = { ...options, mimeType: 'application/vnd.gremlin-v3.0+json' };
  for (const each of [options, graphson]) {
    const connection = new DriverRemoteConnection(url, each);
    await traversals(traversal().withRemote(connection));
    await connection.close();
    const open = new DriverRemoteConnection(url, { ...each, traversalSource: '__g_made' });
    await check('vertices of the server', () => made(traversal().withRemote(open)));
    await open.close();
    const client = new Client(url, each);
    await scripts(client);
    await client.close();
  }
  finish();
}

main();
