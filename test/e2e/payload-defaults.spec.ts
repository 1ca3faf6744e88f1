// Payloads of a type with `defaults: true`, on all ways in and out. Real: the application, its database, HTTP, a remote agent, functions.
// Stood in for: a model server.
import { OutputMemory } from '../../src/blackboard/execution/output-memory.js';
import { newId } from '../../src/common/ids.js';
import { engine, setKeys } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { usedMemory } from '../support/heap.js';
import { ModelServer } from '../support/model-server.js';
import { Receiver } from '../support/receiver.js';
import { replies } from '../support/remote-agent.js';
import { Board, type WireArtifact } from './board.js';
import { Outside } from './outside.js';

const SCHEMA =
  '{"type":"object","required":["priority"],"properties":{"priority":{"type":"integer","default":3},' +
  '"address":{"default":{},"properties":{"country":{"type":"string","default":"NL"}}},' +
  '"constructor":{"default":"own"}}}';
const DEFAULTS = '"priority":3,"address":{"country":"NL"},"constructor":"own"';
const FILLED = `{${DEFAULTS}}`;

const config = (agents: Receiver, models: ModelServer): string => `
types:
  Order: { defaults: true, schema: ${SCHEMA} }
  Urgent: { defaults: true, schema: ${SCHEMA} }
  Checked: { defaults: true, schema: ${SCHEMA} }
  Bare: { schema: ${SCHEMA.replace('"required":["priority"],', '')} }
  Large:
    defaults: true
    schema:
      type: object
      properties: { items: { type: array, items: { type: object, properties: { text: { default: ${'x'.repeat(10_000)} } } } } }
agents:
  copier: { consumes: [{ types: [Order] }], publishes: [{ type: Copy }], engine: { kind: expression, expression: payload } }
  triage:
    consumes: [{ types: [Urgent], where: payload.priority == 3.0 && payload.address.country == 'NL' }]
    publishes: [{ type: Checked }]
    engine: { kind: expression, expression: "{'seen': payload.priority}" }
  writer: { consumes: [{ types: [Draft] }], publishes: [{ type: Checked }, { type: Large }], engine: { kind: function, module: ./write.js }, retry: { attempts: 1 } }
  remote: { consumes: [{ types: [Question] }], publishes: [{ type: Checked }], engine: { kind: http, url: "${agents.url('/remote')}" } }
  approver: { consumes: [{ types: [Reading] }], publishes: [{ type: Checked }, { type: Large }], engine: { kind: external } }
  model: { consumes: [{ types: [Topic] }], publishes: [{ type: Checked }], engine: ${engine(models)} }
  packer: { consumes: [{ types: [Large], batch: { size: 1000, timeout: 1h } }], engine: { kind: expression, expression: 'null' } }
`;

const FILES = { 'write.js': 'export default async ([{ payload }]) => payload.answer;' };

const text = (value: unknown): string => JSON.stringify(value);
const TOO_LARGE = 'payload: the defaults inside it add more bytes than body_limit allows';

describe('the defaults of a type', () => {
  let agents: Receiver;
  let models: ModelServer;
  let board: Board;

  beforeAll(async () => {
    setKeys();
    [agents, models] = [await Receiver.start(), await ModelServer.start()];
    board = await Board.start(config(agents, models), { files: FILES });
  });
  afterAll(async () => {
    await board.close();
    await agents.close();
    await models.close();
  });

  const post = async (path: string, body: string | object, headers: Record<string, string> = {}) => {
    const call = board.http.post(path).set({ 'Content-Type': 'application/json', ...headers });
    const { status, body: answer, headers: answered } = await call.send(typeof body === 'string' ? body : text(body));
    return { status, body: answer as Record<string, unknown>, headers: answered as Record<string, string> };
  };
  const texts = (artifacts: WireArtifact[]): string[] =>
    artifacts.map(({ type, payload }) => `${type} ${text(payload)}`);
  const published = async (type: string, payload: object = {}): Promise<string[]> => {
    const { artifacts, completed } = await board.publishSync(type, payload);
    expect(completed).toBe(true);
    return texts(artifacts);
  };

  it('are in what is stored, and in what agents and predicates see', async () => {
    const correlation = await board.publish('Order', { n: 1 });
    await board.ended(correlation);
    expect(texts(await board.artifacts(correlation))).toEqual([
      `Order {"n":1,${DEFAULTS}}`,
      `Copy {"n":1,${DEFAULTS}}`,
    ]);
    expect(await published('Order')).toEqual([`Copy ${FILLED}`]);
    expect(await published('Urgent')).toEqual([`Checked {"seen":3,${DEFAULTS}}`]);
    expect(await published('Urgent', { priority: 4 })).toEqual([]);
  });

  it('are checked like all other values', async () => {
    const wrong = await post('/api/v1/artifacts', { type: 'Order', payload: { priority: 'high' } });
    expect([wrong.status, wrong.body]).toEqual([400, { detail: 'payload.priority: must be integer' }]);
  });

  it('are left to the client where the type does not ask for them', async () => {
    expect(texts(await board.artifacts(await board.publish('Bare', {})))).toEqual(['Bare {}']);
  });

  it('are in the inputs of direct runs, of runs, of tools and of batches', async () => {
    const direct = await post('/api/v1/agents/copier/run', { inputs: [{ type: 'Order', payload: {} }] });
    expect(texts(direct.body.artifacts as WireArtifact[])).toEqual([`Copy ${FILLED}`]);

    const run = await post('/run/flock', { agent_name: 'copier', inputs: { n: 1 } });
    expect([run.body.status, text(run.body.result)]).toEqual(['completed', `{"n":1,${DEFAULTS}}`]);

    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'publish_Order', arguments: { payload: {} } },
    };
    const tool = await post('/mcp', call, { Accept: 'application/json, text/event-stream' });
    expect(text(tool.body.result)).toContain(`"payload":${FILLED}`);

    const batch = await post('/run/batch', {
      agent_name: 'copier',
      batch_inputs: [{}, { priority: 1 }, { priority: 'high' }],
    });
    const path = `/batch/${batch.body.batch_id as string}`;
    await eventually('the batch has ended', async () =>
      ['completed', 'failed'].includes(((await board.http.get(path)).body as { status: string }).status),
    );
    const { results } = (await board.http.get(path)).body as { results: { result?: unknown }[] };
    expect(results.map(({ result }) => (result === undefined ? 'failed' : text(result)))).toEqual([
      FILLED,
      FILLED.replace('"priority":3,', '').replace('{', '{"priority":1,'),
      'failed',
    ]);
  });

  it('are in the outputs of agents', async () => {
    expect(await published('Draft', { answer: { Checked: [{ n: 1 }, { priority: 1 }] } })).toEqual([
      `Checked {"n":1,${DEFAULTS}}`,
      `Checked {"priority":1,${DEFAULTS.replace('"priority":3,', '')}}`,
    ]);

    agents.on('/remote', replies({ n: 2 }));
    expect(await published('Question')).toEqual([`Checked {"n":2,${DEFAULTS}}`]);

    models.answers({ text: '{"n":3}' });
    expect(await published('Topic')).toEqual([`Checked {"n":3,${DEFAULTS}}`]);

    const reading = await board.publish('Reading', {});
    const outside = new Outside(board.http);
    const held = await outside.claimOne({ agents: ['approver'] });
    expect((await outside.send(held, 'complete', { output: { Checked: { n: 4 } } })).status).toBe(200);
    expect(texts(await board.artifacts(reading)).at(-1)).toBe(`Checked {"n":4,${DEFAULTS}}`);
  });

  it('do not count as a difference between requests with the same idempotency key', async () => {
    const send = (body: object, key: string) => post('/api/v1/artifacts', body, { 'X-Idempotency-Key': key });
    const key = newId();
    const [bare, filled] = [
      { type: 'Order', payload: {} },
      { type: 'Order', payload: JSON.parse(FILLED) as object },
    ];
    expect((await send(bare, key)).status).toBe(200);
    expect((await send(bare, key)).headers['x-idempotency-mismatch']).toBeUndefined();
    // The client sent another payload, although the stored one would be the same.
    expect((await send(filled, key)).headers['x-idempotency-mismatch']).toBe('true');
  });

  describe('are at most as large as body_limit', () => {
    const items = (count: number): object => ({ items: Array.from({ length: count }, () => ({})) });

    it('in a payload of many empty objects, which is refused before it grows', async () => {
      const body = `{"type":"Large","payload":${text(items(340_000))}}`;
      expect(body.length).toBeLessThan(2 ** 20);
      const before = usedMemory();
      const answers = await Promise.all(Array.from({ length: 5 }, () => post('/api/v1/artifacts', body)));
      for (const { status, body: answer } of answers) {
        // Five such bodies at the same time may be too many for the memory, as without defaults.
        expect([400, 503]).toContain(status);
        if (status === 400) expect(answer).toEqual({ detail: TOO_LARGE });
      }
      expect(answers.some(({ status }) => status === 400)).toBe(true);
      // The client may have an answer before the server has let go of the request.
      await eventually('none of the payloads is kept', () => usedMemory() - before < 20_000_000);
    });

    it('and a payload within it is stored', async () => {
      const correlation = await board.publish('Large', items(100));
      const [{ payload }] = (await board.artifacts(correlation)) as [WireArtifact];
      expect(text(payload).length).toBeGreaterThan(1_000_000);
    });

    it('in all inputs of one request together', async () => {
      const inputs = Array.from({ length: 3 }, () => ({ type: 'Large', payload: items(40) }));
      const answer = await post('/api/v1/agents/packer/run', { inputs });
      expect([answer.status, answer.body]).toEqual([400, { detail: `inputs[2].${TOO_LARGE}` }]);
      expect((await post('/api/v1/agents/packer/run', { inputs: inputs.slice(1) })).status).toBe(200);
    });

    it('and answers wait until there is memory for them', async () => {
      const memory = board.app.app.get(OutputMemory, { strict: false });
      const taken = await memory.whenFree(memory.limitBytes + 1);
      const outside = new Outside(board.http);
      const reading = await board.publish('Reading', {});
      const held = await outside.claimOne({ agents: ['approver'] });
      const completed = outside.send(held, 'complete', { output: { Large: items(40) } });
      const draft = await board.publish('Draft', { answer: { Large: items(40) } });
      await eventually('both wait', () => memory.waitingCount === 2);
      expect((await published('Order'))[0]).toContain('Copy');

      taken.release();
      expect((await completed).status).toBe(200);
      for (const correlation of [reading, draft]) {
        const large = () => board.artifacts(correlation, { type: 'Large' });
        await eventually('the output is stored', async () => (await large()).length === 1);
        expect(text((await large())[0]!.payload).length).toBeGreaterThan(400_000);
      }
      await eventually('all memory is free', () => memory.usedBytes === 0);
    });

    it('in all outputs of one answer together', async () => {
      const answer = { Large: [items(40), items(40), items(40)] };
      expect(await published('Draft', { answer })).toEqual([
        expect.stringContaining(`"error_message":"Large refuses its payload: ${TOO_LARGE}"`),
      ]);

      await board.publish('Reading', {});
      const outside = new Outside(board.http);
      const held = await outside.claimOne({ agents: ['approver'] });
      expect(await outside.send(held, 'complete', { output: answer })).toEqual({
        status: 400,
        body: { detail: `Large refuses its payload: ${TOO_LARGE}` },
      });
    });
  });
});
