// A JavaScript client of the REST interface: rest.js http://host:port
// Whatever id or time the server answers goes back to it as JSON.parse reads it.
'use strict';
const assert = require('node:assert');
const { check, finish } = require('./checks');

const base = process.argv[2];
const VERTICES = 600; // in batches
const BATCH = 200;
async function send(method, path, body) {
  const headers = { 'Content-Type': 'application/json' };
  const user = process.env.VARVE_USER;
  if (user) {
    headers.Authorization = `Basic ${Buffer.from(`${user}:${process.env.VARVE_PASSWORD}`).toString('base64')}`;
  }
  const answer = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) {
    throw new Error(`${answer.status} to ${method} ${path}: ${text}`);
  }
  return text ? JSON.parse(text) : undefined;
}

const query = (parameters) => new URLSearchParams(parameters);
const json = (value) => JSON.stringify(value);

// The same for a declared graph and for an open one.
async function elements(graph) {
  const at = `/graphs/${graph}/graph`;
  const vertex = (number) => ({ label: 'person', properties: { number, name: `p${number}` } });
  const vertices = [];
  const edges = [];

  await check(`${graph}: vertices with ids of the server`, async () => {
    for (let i = 0; i < 3; i += 1) {
      vertices.push(await send('POST', `${at}/vertices`, vertex(i)));
    }
    while (vertices.length < VERTICES) {
      const batch = Array.from({ length: BATCH - (vertices.length % BATCH) }, (_, i) => vertex(vertices.length + i));
      const ids = await send('POST', `${at}/vertices/batch`, batch);
      vertices.push(...batch.map((each, i) => ({ ...each, id: ids[i] })));
    }
    assert.ok(vertices.every(({ id }) => Number.isSafeInteger(id)), `${vertices[0].id}`);
    assert.strictEqual(new Set(vertices.map(({ id }) => id)).size, VERTICES);
  });
  await check(`${graph}: read by their ids`, async () => {
    for (const { id, properties } of vertices.slice(0, 50)) {
      const found = await send('GET', `${at}/vertices/${id}`);
      assert.deepStrictEqual([found.id, found.properties], [id, properties]);
    }
    const ids = vertices.slice(0, 100).map(({ id }) => id);
    const found = await send('GET', `/graphs/${graph}/traversers/vertices?${new URLSearchParams(ids.map((id) => ['ids', id]))}`);
    assert.deepStrictEqual(found.vertices.map(({ id }) => id).sort(), ids.sort());
  });
  await check(`${graph}: listed page by page`, async () => {
    const found = [];
    for (let page = ''; page !== null; ) {
      const part = await send('GET', `${at}/vertices?${query({ label: 'person', page, limit: 250 })}`);
      found.push(...part.vertices);
      page = part.page;
    }
    const pairs = (list) => list.map(({ id, properties }) => [id, properties.number]).sort((a, b) => a[1] - b[1]);
    assert.deepStrictEqual(pairs(found), pairs(vertices));
  });
  await check(`${graph}: linked by edges`, async () => {
    const link = (i) => ({
      label: 'knows',
      outV: vertices[i].id,
      inV: vertices[i + 1].id,
      outVLabel: 'person',
      inVLabel: 'person',
      properties: { weight: i / 10 },
    });
    edges.push(await send('POST', `${at}/edges`, link(0)));
    const rest = Array.from({ length: 100 }, (_, i) => link(i + 1));
    const ids = await send('POST', `${at}/edges/batch`, rest);
    edges.push(...rest.map((each, i) => ({ ...each, id: ids[i] })));
    for (const each of edges.slice(0, 20)) {
      const found = await send('GET', `${at}/edges/${encodeURIComponent(each.id)}`);
      assert.deepStrictEqual([found.outV, found.inV, found.properties], [each.outV, each.inV, each.properties]);
    }
    const of = await send('GET', `${at}/edges?${query({ vertex_id: json(vertices[1].id), direction: 'OUT' })}`);
    assert.deepStrictEqual(of.edges.map(({ inV }) => inV), [vertices[2].id]);
  });
  await check(`${graph}: walked`, async () => {
    const [a, b] = [json(vertices[0].id), json(vertices[4].id)];
    const { path } = await send('GET', `/graphs/${graph}/traversers/shortestpath?${query({ source: a, target: b, max_depth: 10 })}`);
    const ids = (path.objects ?? path).map((each) => each.id ?? each);
    assert.deepStrictEqual(ids, vertices.slice(0, 5).map(({ id }) => id));
    const { result } = await send('POST', '/gremlin', {
      gremlin: 'g.V(vid).out("knows").id()',
      bindings: { vid: vertices[7].id },
      aliases: { g: `__g_${graph}` },
    });
    assert.deepStrictEqual(result.data, [vertices[8].id]);
  });
  await check(`${graph}: changed, and read as it was`, async () => {
    const { id } = vertices[9];
    const before = (await send('GET', `${at}/vertices/${id}/history`)).versions[0];
    await send('PUT', `${at}/vertices/${id}?action=append`, { label: 'person', properties: { name: 'changed' } });
    const now = await send('GET', `${at}/vertices/${id}`);
    const then = await send('GET', `${at}/vertices/${id}?${query({ as_of_tx: before.as_of_tx })}`);
    assert.deepStrictEqual([now.properties.name, then.properties.name], ['changed', 'p9']);
  });
  await check(`${graph}: doubles`, async () => {
    for (const value of [0.1 + 0.2, 1.4000000000000001, 9722.800000000001, 5e-324, Number.MAX_VALUE]) {
      await send('PUT', `${at}/edges/${encodeURIComponent(edges[3].id)}?action=append`, { label: 'knows', properties: { weight: value } });
      const found = await send('GET', `${at}/edges/${encodeURIComponent(edges[3].id)}`);
      assert.strictEqual(found.properties.weight, value);
    }
  });
  await check(`${graph}: deleted`, async () => {
    const { id } = vertices[20];
    await send('DELETE', `${at}/vertices/${id}`);
    await assert.rejects(() => send('GET', `${at}/vertices/${id}`), /^Error: 404 /);
    await send('GET', `${at}/vertices/${vertices[21].id}`);
  });
}

async function declare(graph) {
  const at = `/graphs/${graph}/schema`;
  for (const [name, type] of [['name', 'TEXT'], ['number', 'INT'], ['weight', 'DOUBLE']]) {
    await send('POST', `${at}/propertykeys`, { name, data_type: type });
  }
  await send('POST', `${at}/vertexlabels`, { name: 'person', id_strategy: 'AUTOMATIC', properties: ['name', 'number'] });
  await send('POST', `${at}/edgelabels`, {
    name: 'knows', source_label: 'person', target_label: 'person', properties: ['weight'],
  });
}

async function main() {
  const clear = query({ confirm_message: "I'm sure to delete all data" });
  const drop = query({ confirm_message: "I'm sure to drop the graph" });
  await send('DELETE', `/graphs/hugegraph/clear?${clear}`);
  await declare('hugegraph');
  await elements('hugegraph');
  await send('DELETE', `/graphs/hugegraph/clear?${clear}`);
  await send('POST', '/graphs/javascript', { schema: 'open' });
  await declare('javascript');
  await elements('javascript');
  await send('DELETE', `/graphs/javascript?${drop}`);
  finish();
}

main();
