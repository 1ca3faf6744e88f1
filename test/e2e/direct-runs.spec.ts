import type { Test } from 'supertest';

import { Board, tally, type WireArtifact } from './board.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: number } } } }
agents:
  picky:
    consumes: [{ types: [Order], where: 'false', from_agents: [nobody], tags: [never] }]
    publishes: [{ type: Picked }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  packer:
    consumes: [{ types: [Order], batch: { size: 10, timeout: 1h } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"numbers": payload.map(order, order.n)}' }
  either:
    consumes: [{ types: [Order, Letter], mode: any }]
    publishes: [{ type: Either }]
    engine: { kind: expression, expression: '{"type": artifact.type}' }
  both:
    consumes: [{ types: [Letter] }, { types: [Order, Letter], join: { by: payload.n }, where: payload.Order.n > 100.0 }]
    publishes: [{ type: Both }]
    engine: { kind: expression, expression: '{"first": artifact.type, "inputs": inputs.map(input, input.type)}' }
  several:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Part }, { type: Note }]
    engine: { kind: expression, expression: '{"Part": [{"n": 1}, {"n": 2}], "Note": {"n": 3}}' }
  silent:
    consumes: [{ types: [Order] }]
    engine: { kind: expression, expression: 'null' }
  wrong:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Order }]
    engine: { kind: expression, expression: '{"n": dyn("text")}' }
    retry: { attempts: 1 }
  unlucky:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./unlucky.js }
    retry: { attempts: 2, delay: 1ms }
  broken:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./broken.js }
    retry: { attempts: 2, delay: 1ms }
  reactive:
    consumes: [{ types: [Picked, Pack, Either, Both, WorkflowError], mode: any }]
    publishes: [{ type: Reaction }]
    engine: { kind: expression, expression: '{}' }
`;

const FILES = {
  'unlucky.js': `export default async (inputs, { attempt }) => { if (attempt === 1) throw new Error('not yet'); return { attempt }; };`,
  'broken.js': `export default async () => { throw new Error('the model could not be read'); };`,
};

const order = (n: number): object => ({ type: 'Order', payload: { n } });
const LETTER = { type: 'Letter', payload: {} };

/** Uses the whole app over HTTP on a database. */
describe('a direct run', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: FILES });
  });

  afterAll(() => board.close());

  const run = (agent: string, ...inputs: object[]): Test =>
    board.http.post(`/api/v1/agents/${agent}/run`).send({ inputs });
  const outputsOf = async (agent: string, ...inputs: object[]): Promise<WireArtifact[]> =>
    ((await run(agent, ...inputs).expect(200)).body as { artifacts: WireArtifact[] }).artifacts;

  it.each([
    ['checks no predicate, no producer and no tags', 'picky', [order(7)], [{ n: 7 }]],
    [
      'of a batch window takes all given inputs, and does not wait',
      'packer',
      [order(1), order(2), order(3)],
      [{ numbers: [1, 2, 3] }],
    ],
    ['of a batch window takes a single one as a list, too', 'packer', [order(1)], [{ numbers: [1] }]],
    ['of any takes one of the types', 'either', [LETTER], [{ type: 'Letter' }]],
    ['of several subscriptions takes the first that fits', 'both', [LETTER], [{ first: 'Letter', inputs: ['Letter'] }]],
    [
      'of a join takes one of each type, and checks neither key nor predicate',
      'both',
      [order(1), LETTER],
      [{ first: 'Order', inputs: ['Order', 'Letter'] }],
    ],
    [
      'of a join has the order of `types`, whatever order they are given in',
      'both',
      [LETTER, order(1)],
      [{ first: 'Order', inputs: ['Order', 'Letter'] }],
    ],
    ['returns everything that the agent publishes, in order', 'several', [order(1)], [{ n: 1 }, { n: 2 }, { n: 3 }]],
    ['returns nothing if the agent publishes nothing', 'silent', [order(1)], []],
    ["retries according to the agent's settings", 'unlucky', [order(1)], [{ attempt: 2 }]],
  ])('%s', async (_rule, agent, inputs, payloads) => {
    expect((await outputsOf(agent, ...inputs)).map(({ payload }) => payload)).toEqual(payloads);
  });

  it.each([
    ['either', [order(1), LETTER], 'inputs: either takes one Order or Letter (got Order, Letter)'],
    ['both', [order(1), order(2)], 'inputs: both takes one Letter; or one each of Order and Letter (got Order, Order)'],
    ['packer', [order(1), LETTER], 'inputs: packer takes any number of Order (got Order, Letter)'],
    ['packer', [], 'inputs: packer takes any number of Order (got none)'],
  ])('of %s refuses inputs that do not fit, and stores nothing', async (agent, inputs, detail) => {
    const total = async (): Promise<unknown> =>
      (await board.http.get('/api/v1/artifacts?limit=1')).body.pagination.total;
    const before = await total();
    const { status, body } = await run(agent, ...inputs);
    expect([status, body, await total()]).toEqual([400, { detail }, before]);
  });

  it.each([
    ['broken', 2, 'Agent broken failed: the model could not be read'],
    ['wrong', 1, expect.stringMatching(/^Agent wrong failed: Order refuses its payload: .*n.*number/) as string],
  ])(
    'of %s answers 500 with agent and reason; input and error are stored, and no agent reacts',
    async (agent, attempts, detail) => {
      const { status, body } = await run(agent, order(9));
      expect([status, body]).toEqual([500, { detail }]);
      const { items } = (
        await board.http
          .get('/api/v1/artifacts')
          .query({ type: 'WorkflowError', produced_by: agent, order: 'desc', limit: 1 })
      ).body as { items: WireArtifact[] };
      const { correlation_id: correlation, payload } = items[0]!;
      expect(payload).toMatchObject({ failed_agent: agent, attempts });
      expect(tally(await board.types(correlation))).toEqual({ Order: 1, WorkflowError: 1 });
      expect(await board.status(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
    },
  );

  it('has a separate correlation, in which no agent reacts', async () => {
    const runs = [await outputsOf('picky', order(1)), await outputsOf('picky', order(1))];
    const [first, second] = runs.map(([output]) => output!.correlation_id);
    expect(first).not.toBe(second);
    expect(tally(await board.types(first!))).toEqual({ Order: 1, Picked: 1 });
    expect(await board.status(first!)).toMatchObject({
      state: 'completed',
      has_pending_work: false,
      artifact_count: 2,
    });
  });
});
