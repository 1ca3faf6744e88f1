// Artifacts that cancel executions by a key. Uses the whole app over HTTP on a database, and a server as remote agent.
// The clock is faked.
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, Receiver } from '../support/receiver.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const RULE = 'cancel_on: { types: [Withdrawn], key: payload.order }';

const configuration = (remote: string): string => `
limits:
  pool: { concurrency: 1 }
agents:
  shipper: { consumes: [{ types: [Order] }], publishes: [{ type: Shipped }], ${RULE}, timeout: 1h, engine: { kind: function, module: ./gate.js } }
  limited: { consumes: [{ types: [Job] }], publishes: [{ type: Worked }], limits: [pool], ${RULE}, timeout: 1h, engine: { kind: function, module: ./gate.js } }
  unlucky: { consumes: [{ types: [Doomed] }], publishes: [{ type: Never }], ${RULE}, retry: { attempts: 2, delay: 1h }, engine: { kind: expression, expression: payload.missing } }
  remote: { consumes: [{ types: [Call] }], publishes: [{ type: Called }], ${RULE}, engine: { kind: http, url: "${remote}" } }
  person: { consumes: [{ types: [Task] }], publishes: [{ type: Done }], ${RULE}, engine: { kind: external }, concurrency: 1000 }
  other: { consumes: [{ types: [Task] }], engine: { kind: external } }
  spread: { consumes: [{ types: [Bulk] }], publishes: [{ type: Task }], engine: { kind: expression, expression: payload.tasks } }
  pair: { consumes: [{ types: [Left, Right] }], engine: { kind: external }, cancel_on: { types: [Withdrawn], key: artifact.payload.order } }
  window: { consumes: [{ types: [Event], batch: { size: 2 } }], engine: { kind: external }, cancel_on: { types: [Withdrawn], key: artifact.payload.order } }
  newest: { consumes: [{ types: [Version] }], engine: { kind: external }, cancel_on: { types: [Version], key: payload.order } }
  closer: { consumes: [{ types: [Close] }], publishes: [{ type: Closed }], engine: { kind: external }, cancel_on: { types: [Closed, WorkflowError], key: payload.order } }
  blind: { consumes: [{ types: [Secret] }], engine: { kind: external }, ${RULE} }
  twice: { consumes: [{ types: [Two] }], engine: { kind: external }, cancel_on: { types: [Failure, WorkflowError], key: "has(payload.failed_agent) ? payload.failed_agent : payload.of" } }
`;

interface Execution {
  id: string;
  agent: string;
  state: string;
  correlation_id: string;
  attempt: number;
  cancelled_by?: string;
}

describe('cancel_on', () => {
  const clock = new ManualClock();
  let agents: Receiver;
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    agents = await Receiver.start();
    agents.on('/remote', answers(202, { location: '/later' }));
    board = await Board.start(configuration(agents.url('/remote')), {
      clock,
      files: { 'gate.js': GATE },
      settings: { shutdownGraceMs: 0 },
    });
    outside = new Outside(board.http);
  });

  afterAll(async () => {
    await board?.close();
    await agents?.close();
  });

  const executions = async (query: object): Promise<Execution[]> =>
    (
      (
        await board.http
          .get('/api/v1/executions')
          .query({ limit: 500, ...query })
          .expect(200)
      ).body as { items: Execution[] }
    ).items;

  /** The one execution of an agent in a correlation. */
  const only = async (agent: string, correlation: string): Promise<Execution | undefined> =>
    (await executions({ agent, correlation_id: correlation }))[0];

  const reaches = (agent: string, correlation: string, state: string): Promise<void> =>
    eventually(`${agent} in ${correlation} is ${state}`, async () => (await only(agent, correlation))?.state === state);

  /** Publishes what cancels, and returns the artifact's id once all that it cancels is cancelled. */
  const withdraw = async (payload: object, type = 'Withdrawn', parts: object = {}): Promise<string> => {
    const correlation = await board.publish(type, payload, parts);
    await noRequests();
    return (await board.artifacts(correlation))[0]!.id;
  };

  const noRequests = (): Promise<void> =>
    eventually('nothing waits to be cancelled', async () => (await requests()) === 0);

  const requests = async (): Promise<number> =>
    (await board.app.database.rows('select id from cancel_requests')).length;

  const explained = async (artifact: string, agent: string): Promise<string> => {
    const { body } = await board.http.get(`/api/v1/artifacts/${artifact}/explain`).expect(200);
    return (body as { verdicts: { agent: string; detail: string }[] }).verdicts.find((each) => each.agent === agent)!
      .detail;
  };

  it('answers a direct run that it cancels with 409, which names the artifact', async () => {
    const before = (await executions({ agent: 'person', state: 'pending' })).length;
    const direct = board.http
      .post('/api/v1/agents/person/run')
      .send({ inputs: [{ type: 'Task', payload: { order: 'direct' } }] })
      .then(({ status, body }) => ({ status, body: body as { detail: string } }));
    await eventually(
      'it waits to be claimed',
      async () => (await executions({ agent: 'person', state: 'pending' })).length > before,
    );
    const artifact = await withdraw({ order: 'direct' });
    const { status, body } = await direct;
    expect([status, body.detail]).toEqual([
      409,
      expect.stringMatching(`^Agent person was cancelled by the artifact ${artifact}, in correlation `),
    ]);
  });

  it('aborts the engine of a running execution with the same key, says which artifact did, and no other execution ends', async () => {
    const one = await board.publish('Order', { batch: 'run', n: 1, order: 'A-1' });
    const two = await board.publish('Order', { batch: 'run', n: 2, order: 'A-2' });
    await started('run', 2);
    const artifact = await withdraw({ order: 'A-1' });
    await reaches('shipper', one, 'cancelled');
    expect(await only('shipper', one)).toMatchObject({ state: 'cancelled', cancelled_by: artifact });
    await eventually('its engine is aborted', () => gatesOf('run').some(({ n, isAborted }) => n === 1 && isAborted));
    expect(await board.ended(one)).toMatchObject({ state: 'completed', error_count: 0 });
    expect(await board.types(one)).toEqual(['Order']);
    const [order] = await board.artifacts(one);
    expect(await explained(order!.id, 'shipper')).toMatch(
      new RegExp(`; the execution was cancelled at \\S+ by the artifact ${artifact}, whose key is the same\\.$`),
    );
    const { body } = await board.http.get(`/api/v1/correlations/${one}/trace`).expect(200);
    expect((body as { executions: object[] }).executions).toMatchObject([
      { state: 'cancelled', cancelled_by: artifact },
    ]);
    gatesOf('run')
      .filter(({ n }) => n === 2)
      .forEach((gate) => gate.open());
    await board.ended(two);
    const other = await only('shipper', two);
    expect([other!.state, 'cancelled_by' in other!]).toEqual(['completed', false]);
    expect(await board.types(two)).toEqual(['Order', 'Shipped']);
  });

  it('cancels what waits for a person, and what a person holds, who is then told', async () => {
    const held = await board.publish('Task', { order: 'B' });
    const claimed = await outside.claimOne({ agents: ['person'] });
    const waiting = await board.publish('Task', { order: 'B' });
    const artifact = await withdraw({ order: 'B' });
    for (const id of [held, waiting]) {
      await reaches('person', id, 'cancelled');
      // Agents without the rule continue.
      expect(await only('other', id)).toMatchObject({ state: 'pending' });
      expect(await board.status(id)).toMatchObject({ state: 'active' });
    }
    const { status, body } = await outside.send(claimed, 'complete', { outputs: [{ type: 'Done', payload: {} }] });
    expect([status, body.detail]).toEqual([
      409,
      expect.stringMatching(
        new RegExp(
          `^Execution ${claimed.execution_id} was cancelled at \\S+, by the artifact ${artifact}, and accepts no more requests$`,
        ),
      ),
    ]);
    expect(await outside.claim({ agents: ['person'], max: 10 })).toEqual([]);
  });

  it('cancels what waits for the later answer of a remote agent, for its next attempt, and for a limit', async () => {
    const call = await board.publish('Call', { order: 'C' });
    await eventually('the remote agent will answer later', async () => {
      const rows = await board.app.database.rows<{ lease_owner: string | null }>(
        `select lease_owner from executions where agent = 'remote' and state = 'running'`,
      );
      return rows.length === 1 && rows[0]!.lease_owner === null;
    });
    const doomed = await board.publish('Doomed', { order: 'C' });
    await eventually('it waits for its next attempt', async () => (await only('unlucky', doomed))?.attempt === 2);
    const first = await board.publish('Job', { batch: 'limit', n: 1, order: 'other' });
    await started('limit', 1);
    const behind = await board.publish('Job', { batch: 'limit', n: 2, order: 'C' });
    await eventually('it waits for the limit', async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${behind}/waiting`).expect(200);
      return (body as { items: { kind: string }[] }).items[0]?.kind === 'limit';
    });
    const artifact = await withdraw({ order: 'C' });
    for (const [agent, id] of [
      ['remote', call],
      ['unlucky', doomed],
      ['limited', behind],
    ] as const) {
      await reaches(agent, id, 'cancelled');
      expect(await only(agent, id)).toMatchObject({ cancelled_by: artifact });
      expect(await board.ended(id)).toMatchObject({ state: 'completed' });
    }
    const { body, headers } = agents.at('/remote')[0]!;
    const { execution_id } = JSON.parse(body) as { execution_id: string };
    const lease = { execution_id, lease_token: headers['starling-lease-token'] as string };
    expect(await outside.send(lease, 'complete', { outputs: [] })).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringContaining(`, by the artifact ${artifact}, and accepts no more requests`) as string,
      },
    });
    const third = await board.publish('Job', { batch: 'limit', n: 3, order: 'other' });
    gatesOf('limit')[0]!.open();
    await started('limit', 2);
    expect(gatesOf('limit').map(({ n }) => n)).toEqual([1, 3]);
    gatesOf('limit')[1]!.open();
    for (const id of [first, third]) await board.ended(id);
  });

  it('computes the key of joins and batch windows from their first artifact', async () => {
    for (const order of ['D', 'E']) {
      const join = await board.publish('Left', { order });
      await board.publish('Right', {}, { correlation: join });
      const window = await board.publish('Event', { order });
      await board.publish('Event', {}, { correlation: window });
      await board.publish('Withdrawn', { order: 'D' });
      // Keys that are not computed yet are looked for again a moment later.
      await eventually('nothing waits to be cancelled', async () => {
        clock.advance(100);
        return (await requests()) === 0;
      });
      for (const [agent, id] of [
        ['pair', join],
        ['window', window],
      ] as const)
        await reaches(agent, id, order === 'D' ? 'cancelled' : 'pending');
    }
  });

  it('cancels nothing that the same artifact triggers, so that the newest of a key stays', async () => {
    const versions: string[] = [];
    for (let n = 0; n < 3; n++) versions.push(await board.publish('Version', { order: 'F', n }));
    const others = await board.publish('Version', { order: 'G' });
    for (const id of versions.slice(0, 2)) await reaches('newest', id, 'cancelled');
    await noRequests();
    for (const id of [versions[2]!, others]) expect(await only('newest', id)).toMatchObject({ state: 'pending' });
  });

  it("does not count an agent's own artifacts, nor those that it may not see", async () => {
    const closed = await board.publish('Close', { order: 'H' });
    const claimed = await outside.claimOne({ agents: ['closer'] });
    const open = await board.publish('Close', { order: 'H' });
    expect(
      (await outside.send(claimed, 'complete', { outputs: [{ type: 'Closed', payload: { order: 'H' } }] })).status,
    ).toBe(200);
    await board.ended(closed);
    const secret = await board.publish('Secret', { order: 'H' });
    await withdraw({ order: 'H' }, 'Withdrawn', { visibility: { kind: 'Private', agents: ['person'] } });
    expect(await only('closer', open)).toMatchObject({ state: 'pending' });
    expect(await only('blind', secret)).toMatchObject({ state: 'pending' });
    await withdraw({ order: 'H' }, 'Closed');
    await reaches('closer', open, 'cancelled');
  });

  it('waits until an artifact is released', async () => {
    const secret = await board.publish('Secret', { order: 'I' });
    const later = await board.publish('Withdrawn', { order: 'I' }, { visibility: { kind: 'After', ttl: 'PT10M' } });
    const after = await board.publish('Secret', { order: 'I' });
    expect(await only('blind', secret)).toMatchObject({ state: 'pending' });
    clock.advance(10 * 60_000);
    for (const id of [secret, after]) await reaches('blind', id, 'cancelled');
    await board.ended(later);
  });

  it('takes errors as artifacts', async () => {
    const two = await board.publish('Two', { of: 'person' });
    const task = await board.publish('Task', { order: 'J' });
    const claimed = await outside.claimOne({ agents: ['person'] });
    expect((await outside.send(claimed, 'fail', { error_message: 'no', final: true })).status).toBe(200);
    await reaches('twice', two, 'cancelled');
    await board.http.post(`/api/v1/correlations/${task}/cancel`).expect(200);
  });

  it('cancels nothing if a key fails, is null or cannot be a key', async () => {
    const ids: string[] = [];
    for (const payload of [{}, { order: null }, { order: ['a'] }, { order: 'x'.repeat(201) }, { order: 'K' }])
      ids.push(await board.publish('Secret', payload));
    for (const payload of [{}, { order: null }, { order: ['a'] }, { order: 'x'.repeat(201) }]) await withdraw(payload);
    for (const id of ids) expect(await only('blind', id)).toMatchObject({ state: 'pending' });
  });

  it('is explained for an artifact: what it cancels, and why it cancels nothing', async () => {
    const explained = async (id: string): Promise<unknown> =>
      ((await board.http.get(`/api/v1/artifacts/${id}/explain`).expect(200)).body as { cancels?: { agent: string }[] })
        .cancels;
    const about = async (agent: string, id: string): Promise<unknown> =>
      ((await explained(id)) as { agent: string }[]).filter((one) => one.agent === agent);
    const one = (verdict: string, detail: unknown): unknown[] => [{ agent: 'blind', verdict, detail }];
    expect(await about('blind', await withdraw({ order: 'S' }))).toEqual(
      one('cancels', 'It cancels the executions whose key is the same and that were queued before it.'),
    );
    expect(await about('blind', await withdraw({ order: null }))).toEqual(
      one('key_null', 'cancel_on.key is null for this artifact, so it cancels nothing.'),
    );
    expect(await about('blind', await withdraw({}))).toEqual(
      one('key_error', expect.stringMatching(/^cancel_on\.key fails: .*order.*, so it cancels nothing\.$/)),
    );
    expect(await about('blind', await withdraw({ order: ['a'] }))).toEqual(
      one('key_error', 'cancel_on.key must give a text, a number or a boolean, so it cancels nothing.'),
    );
    const visibility = { kind: 'Private', agents: ['person'] };
    const hidden = await withdraw({ order: 'S' }, 'Withdrawn', { visibility });
    expect(await about('blind', hidden)).toEqual(
      one('visibility', 'blind may not see it, so it cancels nothing: it is visible only to person.'),
    );
    expect(await about('person', hidden)).toMatchObject([{ verdict: 'cancels' }]);
    const correlation = await board.publish('Close', { order: 'S' });
    const [close] = await board.artifacts(correlation);
    expect(await explained(close!.id)).toBeUndefined();
    const outputs = [{ type: 'Closed', payload: { order: 'S' } }];
    await outside.send(await outside.claimOne({ agents: ['closer'] }), 'complete', { outputs });
    const closed = (await board.artifacts(correlation)).find(({ type }) => type === 'Closed')!;
    expect(await explained(closed.id)).toEqual([
      { agent: 'closer', verdict: 'own_output', detail: 'closer published it itself, so it cancels nothing.' },
    ]);
  });

  it('cancels hundreds of executions of one key in several correlations, and one among hundreds of keys', async () => {
    const tasks = (order: (n: number) => string) => Array.from({ length: 250 }, (_, n) => ({ order: order(n) }));
    const same = [
      await board.publish('Bulk', { tasks: tasks(() => 'L') }),
      await board.publish('Task', { order: 'L' }),
    ];
    const many = await board.publish('Bulk', { tasks: tasks((n) => `M${n}`) });
    const count = async (correlation_id: string, state: string): Promise<number> =>
      (await executions({ agent: 'person', correlation_id, state })).length;
    await eventually(
      'all wait',
      async () => (await count(many, 'pending')) === 250 && (await count(same[0]!, 'pending')) === 250,
    );
    await withdraw({ order: 'L' });
    expect([await count(same[0]!, 'cancelled'), await count(same[1]!, 'cancelled')]).toEqual([250, 1]);
    await withdraw({ order: 'M17' });
    expect([await count(many, 'cancelled'), await count(many, 'pending')]).toEqual([1, 249]);
  });

  it('is explained for a replay: what it takes from the record cancels nothing, and what it publishes itself does', async () => {
    const order = 'R';
    const original = await board.publish('Close', { order });
    const outputs = [{ type: 'Closed', payload: { order } }];
    await outside.send(await outside.claimOne({ agents: ['closer'] }), 'complete', { outputs });
    await withdraw({ order }, 'Withdrawn', { correlation: original });
    const cancelsIn = async (mode: string): Promise<Record<string, unknown>> => {
      const { body } = await board.http.post(`/api/v1/correlations/${original}/replay`).send({ mode }).expect(200);
      const artifacts = await board.artifacts((body as { correlation_id: string }).correlation_id);
      const { id } = artifacts.find(({ type }) => type === 'Withdrawn')!;
      const explanation = (await board.http.get(`/api/v1/artifacts/${id}/explain`).expect(200)).body as {
        cancels: { agent: string; verdict: string; detail: string }[];
      };
      return explanation.cancels.find(({ agent }) => agent === 'blind')!;
    };
    for (const mode of ['recorded', 'shadow'])
      expect(await cancelsIn(mode)).toEqual({
        agent: 'blind',
        verdict: 'from_record',
        detail: 'The replay took it from the record when it began, so it cancels nothing.',
      });
    expect(await cancelsIn('full')).toMatchObject({ verdict: 'cancels' });
  });

  it('keeps replays and live work apart', async () => {
    const original = await board.publish('Secret', { order: 'N' });
    await withdraw({ order: 'N' }, 'Withdrawn', { correlation: original });
    await reaches('blind', original, 'cancelled');
    const live = await board.publish('Secret', { order: 'N' });
    const replay = async (of: string): Promise<string> =>
      (
        (await board.http.post(`/api/v1/correlations/${of}/replay`).send({ mode: 'full' }).expect(200)).body as {
          correlation_id: string;
        }
      ).correlation_id;
    // The replay cancels its own execution.
    const again = await replay(original);
    const inReplay = async (id: string): Promise<Execution | undefined> =>
      (await executions({ agent: 'blind', correlation_id: id, replays: true }))[0];
    await eventually('the replay has cancelled its own', async () => (await inReplay(again))?.state === 'cancelled');
    await noRequests();
    expect(await only('blind', live)).toMatchObject({ state: 'pending' });
    // Live artifacts cancel nothing in a replay.
    const alone = await board.publish('Secret', { order: 'O' });
    await withdraw({ order: 'O' });
    const spared = await replay(alone);
    await withdraw({ order: 'O' });
    expect((await inReplay(spared))?.state).toBe('pending');
  });
});
