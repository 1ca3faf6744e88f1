// Keys with a meaning in JavaScript are data in every payload, on all ways in and out. Uses the application, its
// database, HTTP, a remote agent and functions. The model server is a stand-in.
import { newId } from '../../src/common/ids.js';
import { engine, setKeys } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { Receiver } from '../support/receiver.js';
import { replies } from '../support/remote-agent.js';
import { Board, type WireArtifact } from './board.js';
import { Outside } from './outside.js';

/** JSON texts, because an object literal cannot have a key `__proto__`. */
const ODD =
  '"__proto__":{"admin":true},"constructor":{"prototype":{"polluted":1}},"toString":"x","hasOwnProperty":null,"prototype":{},"list":[{"__proto__":[1],"valueOf":2}]';
const PAYLOAD = `{${ODD}}`;

const config = (agents: Receiver, models: ModelServer): string => `
types:
  Checked: { schema: { type: object, required: [constructor], additionalProperties: { type: [object, string, array, 'null'] } } }
  Exact: { schema: { type: object, properties: { v: { const: { constructor: { valueOf: 2 }, toString: x } } } } }
  Closed: { schema: { type: object, additionalProperties: false, properties: { text: {} } } }
agents:
  copier: { consumes: [{ types: [Note] }], publishes: [{ type: Copy }], engine: { kind: function, module: ./copy.js } }
  viewer:
    consumes: [{ types: [Viewed], where: "payload['constructor']['prototype']['polluted'] == 1.0 && payload['__proto__']['admin'] && payload.toString == 'x'" }]
    publishes: [{ type: Seen }]
    engine: { kind: expression, expression: "{'whole': payload, 'part': payload['__proto__'], 'first': inputs[0].payload}" }
  joiner:
    consumes: [{ types: [Left, Right], join: { by: "payload['__proto__']['admin']" } }]
    publishes: [{ type: Joined }]
    engine: { kind: expression, expression: payload }
  remote: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: { kind: http, url: "${agents.url('/remote')}" } }
  approver: { consumes: [{ types: [Reading] }], publishes: [{ type: Approval }], engine: { kind: external } }
  writer: { consumes: [{ types: [Topic] }], publishes: [{ type: Story }], engine: ${engine(models)} }
  checker: { consumes: [{ types: [Checked] }], publishes: [{ type: Verdict }], engine: { kind: expression, expression: payload } }
`;

const FILES = {
  'copy.js': `export default async ([{ payload }]) => ({ ...payload, keys: Object.keys(payload), admin: payload.admin ?? null });`,
};

const text = (value: unknown): string => JSON.stringify(value);

describe('keys with a meaning in JavaScript', () => {
  let agents: Receiver;
  let models: ModelServer;
  let board: Board;

  beforeAll(async () => {
    setKeys();
    [agents, models] = [await Receiver.start(), await ModelServer.start()];
    board = await Board.start(config(agents, models), { files: FILES });
  });
  afterEach(() => {
    // Checks that no object has a field from them.
    expect([({} as Record<string, unknown>).admin, ({} as Record<string, unknown>).polluted]).toEqual([
      undefined,
      undefined,
    ]);
  });
  afterAll(async () => {
    await board.close();
    await agents.close();
    await models.close();
  });

  const post = async (
    path: string,
    body: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const { status, body: answer } = await board.http
      .post(path)
      .set({ 'Content-Type': 'application/json', ...headers })
      .send(body);
    return { status, body: answer as Record<string, unknown> };
  };
  const publishSync = async (type: string, payload = PAYLOAD): Promise<WireArtifact[]> => {
    const { status, body } = await post('/api/v1/artifacts/sync', `{"type":"${type}","payload":${payload}}`);
    expect([status, body.completed]).toEqual([200, true]);
    return body.artifacts as WireArtifact[];
  };
  const stored = async (correlation: string): Promise<string[]> =>
    (await board.artifacts(correlation)).map(({ payload }) => text(payload));

  test('are stored and returned as they were sent, by each query', async () => {
    const correlation = newId();
    expect(
      (await post('/api/v1/artifacts', `{"type":"Plain","payload":${PAYLOAD}}`, { 'X-Correlation-ID': correlation }))
        .status,
    ).toBe(400);
    expect(
      (await post('/api/v1/artifacts', `{"type":"Copy","payload":${PAYLOAD}}`, { 'X-Correlation-ID': correlation }))
        .status,
    ).toBe(200);
    expect(await stored(correlation)).toEqual([PAYLOAD]);
    const [{ id }] = (await board.artifacts(correlation)) as [WireArtifact];
    const one = await board.http.get(`/api/v1/artifacts/${id}`).expect(200);
    expect([text((one.body as WireArtifact).payload), one.text.includes(PAYLOAD)]).toEqual([PAYLOAD, true]);
  });

  test('reach functions as own fields, and are returned', async () => {
    const [copy] = await publishSync('Note');
    expect(text(copy!.payload)).toBe(
      `{${ODD},"keys":["__proto__","constructor","toString","hasOwnProperty","prototype","list"],"admin":null}`,
    );
  });

  test('are read by expressions: predicates, keys of joins, results', async () => {
    const [seen] = await publishSync('Viewed');
    expect(text(seen!.payload)).toBe(`{"whole":${PAYLOAD},"part":{"admin":true},"first":${PAYLOAD}}`);
    const correlation = await board.publish('Left', JSON.parse(PAYLOAD) as object);
    await board.publish('Right', JSON.parse(PAYLOAD) as object, { correlation });
    await board.ended(correlation);
    expect((await stored(correlation)).at(-1)).toBe(`{"Left":${PAYLOAD},"Right":${PAYLOAD}}`);
  });

  test('are checked by schemas like any other key', async () => {
    expect(text((await publishSync('Checked'))[0]!.payload)).toBe(PAYLOAD);
    const exact = (v: string): string => `{"type":"Exact","payload":{"v":${v}}}`;
    expect((await post('/api/v1/artifacts', exact('{"toString":"x","constructor":{"valueOf":2}}'))).status).toBe(200);
    expect((await post('/api/v1/artifacts', exact('{"toString":"x","valueOf":2}'))).status).toBe(400);
    const refused = [
      ['{"type":"Checked","payload":{"toString":"x"}}', 'payload.constructor: is required'],
      [
        '{"type":"Checked","payload":{"constructor":{},"__proto__":7}}',
        'payload.__proto__: must be object,string,array,null',
      ],
      ['{"type":"Closed","payload":{"__proto__":{}}}', 'payload.__proto__: is not a known key'],
    ] as const;
    for (const [body, detail] of refused)
      expect(await post('/api/v1/artifacts', body)).toEqual({ status: 400, body: { detail } });
  });

  test('are sent to remote agents, workers and models, and returned', async () => {
    agents.on('/remote', replies(JSON.parse(PAYLOAD)));
    expect((await publishSync('Question')).map(({ payload }) => text(payload))).toEqual([PAYLOAD]);
    expect(agents.received.at(-1)!.body).toContain(PAYLOAD);

    const outside = new Outside(board.http);
    const reading = await board.publish('Reading', JSON.parse(PAYLOAD) as object);
    const held = await outside.claimOne({ agents: ['approver'] });
    expect(text(held.inputs[0]!.payload)).toBe(PAYLOAD);
    expect((await outside.send(held, 'complete', { output: JSON.parse(PAYLOAD) as object })).status).toBe(200);
    expect((await stored(reading)).at(-1)).toBe(PAYLOAD);

    models.answers({ text: PAYLOAD });
    expect((await publishSync('Topic')).map(({ payload }) => text(payload))).toEqual([PAYLOAD]);
    expect(text(models.requests.at(-1))).toContain(text(PAYLOAD).slice(1, -1));
  });

  test('are distinguished by idempotency keys', async () => {
    const key = { 'X-Idempotency-Key': newId() };
    const send = (payload: string) =>
      board.http
        .post('/api/v1/artifacts')
        .set({ 'Content-Type': 'application/json', ...key })
        .send(`{"type":"Copy","payload":${payload}}`);
    await send('{"__proto__":1}').expect(200);
    expect((await send('{"__proto__":1}')).headers['x-idempotency-mismatch']).toBeUndefined();
    expect((await send('{"__proto__":2}')).headers['x-idempotency-mismatch']).toBe('true');
    expect((await send('{}')).headers['x-idempotency-mismatch']).toBe('true');
  });

  test('are inputs of direct runs, of runs and of tools', async () => {
    const direct = await post('/api/v1/agents/copier/run', `{"inputs":[{"type":"Note","payload":${PAYLOAD}}]}`);
    expect([direct.status, text(direct.body)]).toEqual([200, expect.stringContaining(ODD)]);
    const run = await post(
      '/run/flock',
      `{"agent_name":"copier","inputs":${PAYLOAD},"__proto__":{"async_run":true},"constructor":{}}`,
    );
    expect([run.status, run.body.status, text(run.body.result)]).toEqual([
      200,
      'completed',
      expect.stringContaining(ODD),
    ]);
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish_Note","arguments":{"payload":${PAYLOAD}}}}`;
    const tool = await post('/mcp', call, { Accept: 'application/json, text/event-stream' });
    expect([tool.status, text(tool.body.result)]).toEqual([200, expect.stringContaining(`"payload":{${ODD},"keys"`)]);
  });

  describe('are inputs of batches', () => {
    const results = async ({ status, body }: { status: number; body: Record<string, unknown> }): Promise<string[]> => {
      expect([status, body.detail]).toEqual([200, undefined]);
      const path = `/batch/${body.batch_id as string}`;
      await eventually('the batch has finished', async () =>
        ['completed', 'failed'].includes(((await board.http.get(path)).body as { status: string }).status),
      );
      return ((await board.http.get(path).expect(200)).body as { results: { result: object }[] }).results.map(
        ({ result }) => text(result),
      );
    };

    test('in items, with static inputs and a mapping', async () => {
      const items = `"batch_inputs":[${PAYLOAD},{"__proto__":"own","constructor":"own"}]`;
      const plain = await results(
        await post('/run/batch', `{"agent_name":"copier",${items},"static_inputs":{"__proto__":"static","valueOf":1}}`),
      );
      expect(plain).toEqual([
        `{"__proto__":{"admin":true},"valueOf":1,${ODD.slice(ODD.indexOf('"constructor"'))},"keys":["__proto__","valueOf","constructor","toString","hasOwnProperty","prototype","list"],"admin":null}`,
        '{"__proto__":"own","valueOf":1,"constructor":"own","keys":["__proto__","valueOf","constructor"],"admin":null}',
      ]);
      const mapped = await results(
        await post(
          '/run/batch',
          `{"agent_name":"copier",${items},"input_mapping":{"__proto__":"constructor","constructor":"__proto__"},"row_key":"__proto__"}`,
        ),
      );
      expect(mapped[1]).toBe('{"constructor":"own","__proto__":"own","keys":["constructor","__proto__"],"admin":null}');
    });

    test('as columns of a CSV', async () => {
      const upload = board.http
        .post('/run/batch')
        .field('request', '{"agent_name":"copier","__proto__":{"max_workers":0}}')
        .attach('file', Buffer.from('__proto__,constructor,toString\n1,2,3\n'), 'rows.csv');
      const { status, body } = await upload;
      expect(await results({ status, body: body as Record<string, unknown> })).toEqual([
        '{"__proto__":"1","constructor":"2","toString":"3","keys":["__proto__","constructor","toString"],"admin":null}',
      ]);
    });
  });

  test('are unknown fields outside payloads', async () => {
    const bodies = [
      ['{"type":"Copy","payload":{},"__proto__":{"visibility":{"kind":"Public"}}}', /^__proto__: is not a known field/],
      ['{"type":"Copy","payload":{},"constructor":{}}', /^constructor: is not a known field/],
      [
        '{"type":"Copy","payload":{},"webhook":{"url":"https://example.com/","__proto__":{}}}',
        /^webhook\.__proto__: is not a known field/,
      ],
      [
        '{"type":"Copy","payload":{},"visibility":{"kind":"Public","__proto__":{}}}',
        /^visibility: __proto__ is not a known field of Public/,
      ],
    ] as const;
    for (const [body, detail] of bodies) {
      const answer = await post('/api/v1/artifacts', body);
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
    }
  });
});
