import type { ExplanationBody, VerdictBody } from '../../src/features/artifacts/dto/explanation-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board, type PublishParts } from './board.js';
import { operate } from './operations.js';
import { SERVER } from './replica-boards.js';

const CONFIG = `
agents:
  plain:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Plain }]
    engine: { kind: expression, expression: '{"n": 1}' }
  choosy:
    consumes:
      - { types: [Order], from_agents: [plain, echo] }
      - { types: [Order], tags: [vip, staff] }
      - { types: [Order], where: payload.n > 10.0 }
      - { types: [Order], where: payload.missing > 10.0 }
    publishes: [{ type: Chosen }]
    engine: { kind: expression, expression: '{"n": 2}' }
  cleared:
    labels: [pii]
    tenant_id: acme
    consumes: [{ types: [Secret] }]
    publishes: [{ type: Plain }]
    engine: { kind: expression, expression: '{"n": 3}' }
  echo:
    consumes: [{ types: [Say, Echo], mode: any }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": 4}' }
  looper:
    consumes: [{ types: [Ping], allow_self: true }]
    publishes: [{ type: Ping }]
    engine: { kind: expression, expression: '{"n": 5}' }
  pairer:
    consumes: [{ types: [Left, Middle, Right] }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"n": 6}' }
  keyed:
    consumes: [{ types: [Ticket, Reply], join: { by: payload.ticket } }]
    publishes: [{ type: Answered }]
    engine: { kind: expression, expression: '{"n": 7}' }
  hurried:
    consumes: [{ types: [Question, Answer], join: { within: 5m } }]
    publishes: [{ type: Asked }]
    engine: { kind: expression, expression: '{"n": 8}' }
  patient:
    consumes:
      - { types: [Call, Pickup], join: { within: 1m } }
      - { types: [Call, Hangup], join: { within: 1m } }
      - { types: [Call], tags: [urgent] }
    publishes: [{ type: Talk }]
    engine: { kind: expression, expression: '{"n": 8}' }
  judge:
    consumes: [{ types: [Claim, Proof], where: payload.Claim.n == payload.Proof.n }]
    publishes: [{ type: Judged }]
    engine: { kind: expression, expression: '{"n": 9}' }
  timed:
    consumes: [{ types: [Event], batch: { size: 3, timeout: 30s } }]
    publishes: [{ type: Digest }]
    engine: { kind: expression, expression: '{"n": 10}' }
  failing:
    consumes: [{ types: [Bad] }]
    publishes: [{ type: Good }]
    engine: { kind: expression, expression: '{"n": payload.nothing}' }
    retry: { attempts: 2, delay: 1m }
`;

const id = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

interface Asked {
  artifact: string;
  correlation: string;
}

const asking = (board: () => Board) => {
  const explain = async (artifact: string): Promise<ExplanationBody> =>
    (await board().http.get(`/api/v1/artifacts/${artifact}/explain`).expect(200)).body as ExplanationBody;
  return {
    explain,
    /** Returns the verdicts on the artifact at this agent's subscriptions. */
    at: async (agent: string, artifact: string): Promise<VerdictBody[]> =>
      (await explain(artifact)).verdicts.filter((verdict) => verdict.agent === agent),
    publish: async (type: string, payload: object = {}, parts: PublishParts = {}): Promise<Asked> => {
      const correlation = await board().publish(type, payload, parts);
      const [newest] = await board().artifacts(correlation, { type, produced_by: 'external', order: 'desc', limit: 1 });
      return { artifact: newest!.id, correlation };
    },
  };
};

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('why an agent ran on an artifact, or did not', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, settings: { maxExecutionsPerCorrelation: 3 } });
  });

  afterAll(() => board.close());

  const { explain, at, publish } = asking(() => board);
  const stateBecomes = (agent: string, artifact: string, state: string): Promise<void> =>
    eventually(
      `the execution of ${agent} is ${state}`,
      async () => (await at(agent, artifact))[0]!.execution_state === state,
    );

  it('has a verdict for every subscription, in the order of the configuration', async () => {
    const { artifact, correlation } = await publish('Order', { n: 7 }, { tags: ['late'] });
    await board.ended(correlation);
    const { verdicts, ...about } = await explain(artifact);
    expect(about).toEqual({
      artifact_id: artifact,
      type: 'Order',
      produced_by: 'external',
      correlation_id: correlation,
    });
    const executed = { execution_id: id, execution_state: 'completed', execution_correlation_id: correlation };
    const done = expect.stringMatching(
      /^It triggered the agent; the execution completed at 2026-11-20T10:00:00\.\d{3}Z\.$/,
    ) as string;
    expect(verdicts.slice(0, 5)).toEqual([
      { agent: 'plain', subscription: 0, verdict: 'triggered', detail: done, ...executed },
      {
        agent: 'choosy',
        subscription: 0,
        verdict: 'producer',
        detail: 'from_agents accepts plain or echo, and external published this artifact.',
      },
      {
        agent: 'choosy',
        subscription: 1,
        verdict: 'tag',
        detail: 'tags accepts vip or staff, and this artifact has only late.',
      },
      { agent: 'choosy', subscription: 2, verdict: 'where_false', detail: 'where is false for this artifact.' },
      {
        agent: 'choosy',
        subscription: 3,
        verdict: 'where_error',
        detail: expect.stringMatching(
          /^where failed for this artifact, so it does not trigger the agent: .*missing/,
        ) as string,
      },
    ]);
    expect(new Set(verdicts.slice(5).map(({ verdict }) => verdict))).toEqual(new Set(['type']));
    expect(verdicts.find(({ agent }) => agent === 'pairer')!.detail).toBe(
      'The subscription takes Left, Middle and Right, and this artifact has the type Order.',
    );
    const [first] = await board.artifacts(correlation, { embed_meta: true });
    expect(
      (first as unknown as { consumptions: { run_id: string }[] }).consumptions.map(({ run_id }) => run_id),
    ).toEqual([verdicts[0]!.execution_id]);
  });

  it('evaluates the predicates without counting or logging an error once more', async () => {
    const failures = async (): Promise<string[]> =>
      (await board.http.get('/metrics')).text
        .split('\n')
        .filter((line) => line.startsWith('starling_predicate_failures_total'));
    const { artifact } = await publish('Order', { n: 7 });
    const warnings = (): number =>
      board.app.logLines.filter(({ msg }) => /fails and does not trigger/.test(String(msg))).length;
    const before = [await failures(), warnings()];
    expect(before).toEqual([[expect.any(String)], 1]);
    expect((await at('choosy', artifact))[3]!.verdict).toBe('where_error');
    expect([await failures(), warnings()]).toEqual(before);
  });

  it('says which agents may see it', async () => {
    const cases: [object, string][] = [
      [{ kind: 'Private', agents: ['echo', 'plain'] }, 'cleared may not see it: it is visible only to echo and plain.'],
      [
        { kind: 'Labelled', required_labels: ['pii', 'legal'] },
        'cleared may not see it: it requires the labels pii and legal, and the agent has only pii.',
      ],
      [
        { kind: 'Tenant', tenant_id: 'other' },
        "cleared may not see it: it is for the tenant other, and the agent's tenant is acme.",
      ],
      [
        { kind: 'After', ttl: 'PT1H', then: { kind: 'Private', agents: [] } },
        'cleared may not see it: it is visible to no agent.',
      ],
    ];
    for (const [visibility, sentence] of cases) {
      const { artifact } = await publish('Secret', {}, { visibility });
      expect(await at('cleared', artifact)).toEqual([
        { agent: 'cleared', subscription: 0, verdict: 'visibility', detail: sentence },
      ]);
    }
  });

  it('says that an agent ignores its own output', async () => {
    const { artifacts } = await board.publishSync('Say', {});
    expect(await at('echo', artifacts[0]!.id)).toEqual([
      {
        agent: 'echo',
        subscription: 0,
        verdict: 'own_output',
        detail: 'echo published it itself, and the subscription does not set allow_self: true.',
      },
    ]);
  });

  it('says when an artifact is released, and the result then; or that it was cancelled before', async () => {
    const visibility = { kind: 'After', ttl: 'PT1H' };
    const [first, second] = [
      await publish('Order', { n: 1 }, { visibility }),
      await publish('Order', { n: 1 }, { visibility }),
    ];
    const until = new Date(clock.now() + 3_600_000).toISOString();
    expect(await at('plain', first.artifact)).toEqual([
      {
        agent: 'plain',
        subscription: 0,
        verdict: 'not_released',
        detail: `It is not released yet: its subscriptions get it at ${until}.`,
        until,
      },
    ]);
    // The refusal after the release is reported already.
    expect((await at('choosy', first.artifact)).map(({ verdict }) => verdict)).toEqual([
      'producer',
      'tag',
      'where_false',
      'where_error',
    ]);
    await board.http.post(`/api/v1/correlations/${second.correlation}/cancel`).expect(200);
    clock.advance(3_600_000);
    await board.ended(first.correlation);
    expect(await at('plain', first.artifact)).toMatchObject([{ verdict: 'triggered', execution_state: 'completed' }]);
    expect(await at('plain', second.artifact)).toEqual([
      {
        agent: 'plain',
        subscription: 0,
        verdict: 'cancelled',
        detail: 'Its correlation was cancelled before the agent ran.',
      },
    ]);
  });

  it('says for which types and key a join waits', async () => {
    const { artifact, correlation } = await publish('Left');
    await board.publish('Right', {}, { correlation });
    const since = new Date(clock.now()).toISOString();
    const waiting = {
      agent: 'pairer',
      subscription: 0,
      verdict: 'join_waiting',
      join_key: JSON.stringify(correlation),
      since,
      until: null,
    };
    expect(await at('pairer', artifact)).toEqual([
      {
        ...waiting,
        waiting_for: ['Middle'],
        detail: `It waits for Middle with the same key, since ${since} and without a time limit.`,
      },
    ]);
    await board.publish('Middle', {}, { correlation });
    await board.ended(correlation);
    expect(await at('pairer', artifact)).toMatchObject([
      { verdict: 'triggered', execution_correlation_id: correlation },
    ]);

    const ticket = await publish('Ticket', { ticket: 't1' });
    expect(await at('keyed', ticket.artifact)).toMatchObject([
      { verdict: 'join_waiting', waiting_for: ['Reply'], join_key: '"t1"' },
    ]);
    const reply = await publish('Reply', { ticket: 't1' });
    await board.ended(reply.correlation);
    expect(await at('keyed', ticket.artifact)).toMatchObject([
      { verdict: 'triggered', execution_correlation_id: reply.correlation },
    ]);
  });

  it('says that an artifact has no join key', async () => {
    const [none, wrong] = [await publish('Ticket', { ticket: null }), await publish('Ticket', {})];
    expect(await at('keyed', none.artifact)).toEqual([
      {
        agent: 'keyed',
        subscription: 0,
        verdict: 'key_null',
        detail: 'join.by is null for this artifact, so it joins no group.',
      },
    ]);
    expect(await at('keyed', wrong.artifact)).toEqual([
      {
        agent: 'keyed',
        subscription: 0,
        verdict: 'key_error',
        detail: expect.stringMatching(/^join\.by failed for this artifact, so it joins no group: .*ticket/) as string,
      },
    ]);
  });

  it('says until when a join waits, that it has expired, and that it was cancelled', async () => {
    const [expiring, cancelled] = [await publish('Question'), await publish('Question')];
    expect(await at('hurried', expiring.artifact)).toMatchObject([
      { verdict: 'join_waiting', waiting_for: ['Answer'], until: new Date(clock.now() + 300_000).toISOString() },
    ]);
    await board.http.post(`/api/v1/correlations/${cancelled.correlation}/cancel`).expect(200);
    clock.advance(300_000);
    await board.ended(expiring.correlation);
    const [error] = await board.artifacts(expiring.correlation, { type: 'WorkflowError' });
    expect(await at('hurried', expiring.artifact)).toEqual([
      {
        agent: 'hurried',
        subscription: 0,
        verdict: 'join_expired',
        detail: "hurried waited for Answer and the join's window ended.",
        error_artifact_id: error!.id,
      },
    ]);
    expect(await at('hurried', cancelled.artifact)).toMatchObject([{ verdict: 'cancelled' }]);
  });

  it('has an error for each of the joins of one agent that have expired', async () => {
    const { artifact, correlation } = await publish('Call');
    clock.advance(60_000);
    await board.ended(correlation);
    const errors = await board.artifacts(correlation, { type: 'WorkflowError' });
    const verdicts = await at('patient', artifact);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['join_expired', 'join_expired', 'tag']);
    expect(
      verdicts
        .slice(0, 2)
        .map(({ error_artifact_id }) => error_artifact_id)
        .sort(),
    ).toEqual(errors.map(({ id: error }) => error).sort());
  });

  it('says that the predicate of a join dropped its group', async () => {
    const { artifact, correlation } = await publish('Claim', { n: 1 });
    await board.publish('Proof', { n: 2 }, { correlation });
    await board.ended(correlation);
    const detail = 'It joined a group whose where was not true, and the group was dropped.';
    expect(await at('judge', artifact)).toEqual([{ agent: 'judge', subscription: 0, verdict: 'join_let_go', detail }]);
  });

  it('says how full a batch window is, and in which correlation it ran', async () => {
    const first = await publish('Event');
    const second = await publish('Event');
    const [since, until] = [new Date(clock.now()).toISOString(), new Date(clock.now() + 30_000).toISOString()];
    const detail = `It is in a batch window that has 2 so far and runs with 3 or at ${until}.`;
    expect(await at('timed', first.artifact)).toEqual([
      { agent: 'timed', subscription: 0, verdict: 'window_filling', detail, size: 2, size_needed: 3, since, until },
    ]);
    clock.advance(30_000);
    await board.ended(second.correlation);
    expect(await at('timed', first.artifact)).toMatchObject([
      { verdict: 'triggered', execution_correlation_id: second.correlation },
    ]);
  });

  it('says that the limit of executions stopped an agent, also after the first artifact', async () => {
    const { correlation } = await publish('Ping');
    await board.ended(correlation);
    const pings = await board.artifacts(correlation, { type: 'Ping' });
    const [error] = await board.artifacts(correlation, { type: 'WorkflowError' });
    const limited = {
      agent: 'looper',
      subscription: 0,
      verdict: 'limit',
      detail: expect.stringMatching(/^looper has had 3 executions in this correlation, /) as string,
      error_artifact_id: error!.id,
    };
    expect(await at('looper', pings.at(-1)!.id)).toEqual([limited]);
    expect((await at('looper', pings.at(-2)!.id))[0]!.verdict).toBe('triggered');
  });

  it('says that an execution retries, fails and is cancelled', async () => {
    const [failing, cancelled] = [await publish('Bad'), await publish('Bad')];
    for (const { artifact } of [failing, cancelled]) {
      await eventually('the first attempt has failed', async () =>
        /waits for attempt 2, which may start at 2026-11-20T/.test((await at('failing', artifact))[0]!.detail),
      );
    }
    await board.http.post(`/api/v1/correlations/${cancelled.correlation}/cancel`).expect(200);
    expect(await at('failing', cancelled.artifact)).toMatchObject([
      { verdict: 'triggered', execution_state: 'cancelled' },
    ]);
    clock.advance(120_000);
    await stateBecomes('failing', failing.artifact, 'failed');
    expect(await at('failing', failing.artifact)).toMatchObject([
      {
        verdict: 'triggered',
        detail: expect.stringMatching(/failed permanently at 2026-11-20T.*, in attempt 2: .*nothing/) as string,
      },
    ]);
  });

  it('says that an execution waits for its agent to be resumed', async () => {
    await board.http.post('/api/v1/agents/plain/pause').expect(200);
    const { artifact, correlation } = await publish('Order', { n: 1 });
    expect((await at('plain', artifact))[0]!.detail).toBe(
      'It triggered the agent; the execution waits until the agent is resumed.',
    );
    await board.http.post('/api/v1/agents/plain/resume').expect(200);
    await board.ended(correlation);
    expect(await at('plain', artifact)).toMatchObject([{ verdict: 'triggered', execution_state: 'completed' }]);
  });

  it('says that only the named agent reacts to the input of a run', async () => {
    const run = await board.http
      .post('/run/flock')
      .send({ agent_name: 'plain', inputs: { n: 100 } })
      .expect(200);
    const [input, output] = await board.artifacts((run.body as { run_id: string }).run_id);
    expect((await at('plain', input!.id))[0]).toMatchObject({
      verdict: 'invoked',
      execution_state: 'completed',
      detail: expect.stringMatching(/^A caller named the agent, and this is its input; /) as string,
    });
    const detail = 'It is the input of a run that named plain, and no other agent reacts to it.';
    expect((await at('choosy', input!.id)).map((verdict) => [verdict.verdict, verdict.detail])).toEqual(
      Array(4).fill(['not_offered', detail]),
    );
    expect((await at('echo', input!.id))[0]!.verdict).toBe('type');
    expect((await at('plain', output!.id))[0]!.verdict).toBe('type');
  });

  it('says that no agent reacts to the outputs of a direct run', async () => {
    const run = await board.http
      .post('/api/v1/agents/looper/run')
      .send({ inputs: [{ type: 'Ping', payload: {} }] })
      .expect(200);
    const [output] = (run.body as { artifacts: { id: string; correlation_id: string }[] }).artifacts;
    const [input] = await board.artifacts(output!.correlation_id);
    expect((await at('looper', input!.id))[0]!.verdict).toBe('invoked');
    const detail = 'looper published it in a direct run, and no agent reacts to the outputs of a direct run.';
    expect(await at('looper', output!.id)).toEqual([
      { agent: 'looper', subscription: 0, verdict: 'not_offered', detail },
    ]);
  });

  it('returns 404 for an unknown artifact, and 400 for a malformed id', async () => {
    const unknown = '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80';
    await board.http
      .get(`/api/v1/artifacts/${unknown}/explain`)
      .expect(404, { detail: `Artifact not found: ${unknown}` });
    await board.http
      .get('/api/v1/artifacts/42/explain')
      .expect(400, { detail: 'artifact_id: must be a UUID (got "42")' });
  });
});

const BEFORE = `
agents:
  leaver: { consumes: [{ types: [Order] }], publishes: [{ type: Left }], engine: { kind: expression, expression: '{"n": 1}' } }
  waiter: { consumes: [{ types: [Order, Payment], join: { within: 5m } }], publishes: [{ type: Pair }], engine: { kind: expression, expression: '{"n": 2}' } }
  judge: { consumes: [{ types: [Claim, Proof], where: payload.Claim.n == payload.Proof.n }], publishes: [{ type: Judged }], engine: { kind: expression, expression: '{"n": 3}' } }
  stayer: { consumes: [{ types: [Order] }], publishes: [{ type: Stayed }], engine: { kind: expression, expression: '{"n": 4}' } }
`;

const AFTER = `
agents:
  newcomer: { consumes: [{ types: [Order] }], publishes: [{ type: New }], engine: { kind: expression, expression: '{"n": 1}' } }
  stayer: { consumes: [{ types: [Order], where: payload.n > 100.0 }], publishes: [{ type: Stayed }], engine: { kind: expression, expression: '{"n": 4}' } }
`;

/**
 * Uses two apps on one database, one after the other. The first accepts requests and runs no executions. The clock is
 * faked.
 */
it('explains stored work while no process works on it, and after the configuration has changed', async () => {
  const clock = new ManualClock();
  const folder = new ConfigurationFolder();
  let board = await Board.start(BEFORE, { clock, folder: folder.path, role: SERVER });
  const { at, explain, publish } = asking(() => board);

  const order = await publish('Order', { n: 1 });
  const claim = await publish('Claim', { n: 1 });
  await board.publish('Proof', { n: 1 }, { correlation: claim.correlation });
  expect(await at('leaver', order.artifact)).toMatchObject([
    {
      verdict: 'triggered',
      execution_state: 'pending',
      detail: 'It triggered the agent; the execution waits, since no process has the agent leaver.',
    },
  ]);
  expect(await at('judge', claim.artifact)).toEqual([
    {
      agent: 'judge',
      subscription: 0,
      verdict: 'join_undecided',
      detail: 'All artifacts of the join are there, and where is being evaluated.',
      join_key: JSON.stringify(claim.correlation),
      since: new Date(clock.now()).toISOString(),
    },
  ]);

  await board.close();
  board = await Board.start(AFTER, { clock, folder: folder.path });
  expect((await explain(order.artifact)).verdicts.map(({ agent, verdict }) => [agent, verdict])).toEqual([
    ['newcomer', 'not_recorded'],
    ['stayer', 'triggered'],
    ['leaver', 'triggered'],
    ['waiter', 'join_waiting'],
  ]);
  expect((await at('newcomer', order.artifact))[0]!.detail).toMatch(
    /^It would trigger the agent today, but nothing is stored about it\. /,
  );
  expect(await at('leaver', order.artifact)).toMatchObject([
    {
      execution_state: 'pending',
      detail: 'It triggered the agent; the execution waits, since no process has the agent leaver.',
    },
  ]);
  expect((await at('waiter', order.artifact))[0]).toMatchObject({
    waiting_for: [],
    detail: expect.stringMatching(
      /^It has waited in a join since .* and cannot continue: no process has its subscription of waiter\.$/,
    ) as string,
  });
  expect(await at('judge', claim.artifact)).toMatchObject([
    {
      subscription: null,
      verdict: 'join_undecided',
      detail:
        'All artifacts of the join are there, and where cannot be evaluated: no process has its subscription of judge.',
    },
  ]);

  await operate(board.http, 'fail', { agent: 'waiter' });
  const [error] = (await board.artifacts(order.correlation, { type: 'WorkflowError' })).filter(
    ({ payload }) => payload.failed_agent === 'waiter',
  );
  const detail = 'no process has the subscription of waiter that these artifacts waited for; a request ended the wait.';
  expect(await at('waiter', order.artifact)).toEqual([
    { agent: 'waiter', subscription: null, verdict: 'agent_removed', detail, error_artifact_id: error!.id },
  ]);

  await board.close();
  await board.app.database.drop();
  folder.remove();
});
