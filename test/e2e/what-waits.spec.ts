import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, gatesOf, openAll, started } from './batch-board.js';
import { Board } from './board.js';
import { Outside } from './outside.js';
import { SERVER } from './replica-boards.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const UNLUCKY = `export default async (inputs, { attempt }) => { if (attempt === 1) throw new Error('not yet'); return { attempt }; };`;

// An agent that only computes would need no slot.
const NOTER = 'export default () => ({ ok: true });';

const AGENTS = {
  price: `{ consumes: [{ types: [Order] }], publishes: [{ type: Price }], engine: { kind: expression, expression: '{"n": payload.n}' } }`,
  noter: `{ consumes: [{ types: [Note] }], publishes: [{ type: Noted }], engine: { kind: function, module: ./noter.js } }`,
  pairer: `{ consumes: [{ types: [Left, Right], join: { within: 2h } }], publishes: [{ type: Pair }], engine: { kind: expression, expression: '{"ok": true}' } }`,
  window: `{ consumes: [{ types: [Event], batch: { size: 10, timeout: 3h } }], publishes: [{ type: Digest }], engine: { kind: expression, expression: '{"size": size(payload)}' } }`,
  matcher: `{ consumes: [{ types: [Bill], where: payload.n > 100 }, { types: [Bill, Payment], join: { by: payload.n } }], publishes: [{ type: Match }], engine: { kind: expression, expression: '{"ok": true}' } }`,
  judge: `{ consumes: [{ types: [Claim, Proof], where: payload.Claim.n == payload.Proof.n }], publishes: [{ type: Judged }], engine: { kind: expression, expression: '{"ok": true}' } }`,
  unlucky: `{ consumes: [{ types: [Doomed] }], publishes: [{ type: Done }], retry: { attempts: 2, delay: 5m }, engine: { kind: function, module: ./unlucky.js } }`,
  approver: `{ consumes: [{ types: [Request] }], publishes: [{ type: Approval }], timeout: 4h, engine: { kind: external, assignee: anna, due: { after: 8h, then: fail } } }`,
  gate: `{ consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], concurrency: 1, timeout: 24h, engine: { kind: function, module: ./gate.js } }`,
};

type AgentName = keyof typeof AGENTS;

const ALL = Object.keys(AGENTS) as AgentName[];

interface Item {
  kind: string;
  execution_id?: string;
  group_id?: string;
  [field: string]: unknown;
}

interface Pagination {
  limit: number;
  after: string | null;
  next: string | null;
  has_more: boolean;
}

interface Page {
  items: Item[];
  pagination: Pagination;
}

interface Waiting extends Page {
  correlation_id: string;
  state: string;
  counts: Record<string, number>;
}

const NOTHING = Object.fromEntries(
  [
    ['release', 'deadline', 'join', 'window', 'running', 'held', 'retry', 'ready', 'unclaimed', 'concurrency', 'limit'],
    ['slots', 'paused', 'no_process', 'no_configuration', 'budget'],
  ]
    .flat()
    .map((kind) => [kind, 0]),
);

const ONE_PAGE = { limit: 50, after: null, next: null, has_more: false };

/** Uses the whole app over HTTP, stopped and started again on one database. The clock is faked. */
describe('what waits', () => {
  const clock = new ManualClock();
  const folder = new ConfigurationFolder();
  let board: Board;

  const start = async (
    agents: readonly AgentName[],
    options: Parameters<typeof Board.start>[1] = {},
  ): Promise<void> => {
    const { settings, ...others } = options;
    board = await Board.start(`agents:\n${agents.map((name) => `  ${name}: ${AGENTS[name]}`).join('\n')}\n`, {
      clock,
      folder: folder.path,
      files: { 'gate.js': GATE, 'unlucky.js': UNLUCKY, 'noter.js': NOTER },
      settings: { shutdownGraceMs: 0, leaseMs: 2 * 24 * HOUR, ...settings },
      ...others,
    });
  };
  const restart = async (...given: Parameters<typeof start>): Promise<void> => {
    await board.close();
    await start(...given);
  };

  afterEach(() => board.close());
  afterAll(async () => {
    await board.app.database.drop();
    folder.remove();
  });

  const get = async <T>(path: string, query: object = {}): Promise<T> =>
    (await board.http.get(path).query(query).expect(200)).body as T;
  const waiting = (correlation: string, query: object = {}): Promise<Waiting> =>
    get(`/api/v1/correlations/${correlation}/waiting`, query);
  const groups = async (query: object): Promise<Item[]> => (await get<Page>('/api/v1/waiting', query)).items;
  const time = (): string => new Date(clock.now()).toISOString();
  /** Publishes into the correlation and returns the time. */
  const publish = async (correlation: string, type: string, payload: object = {}, more: object = {}) => {
    clock.advance(SECOND);
    await board.publish(type, payload, { correlation, ...more });
    return time();
  };
  /** Follows the pages of one item each. */
  const allPages = async (path: string, query: object = {}): Promise<Item[]> => {
    const found: Item[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const { items, pagination } = await get<Page>(path, { ...query, limit: 1, ...(after && { after }) });
      expect(pagination).toEqual({
        limit: 1,
        after: after ?? null,
        next: pagination.next,
        has_more: pagination.next !== null,
      });
      found.push(...items);
      after = pagination.next;
    }
    return found;
  };

  it('is listed for a correlation, with the reason of each execution, until the correlation has settled', async () => {
    await start(ALL, { role: SERVER });
    const order = await publish('c', 'Order', { n: 1 }, { deadline: 'P1D' });
    const deadline = new Date(Date.parse(order) + 24 * HOUR).toISOString();
    expect(await waiting('c')).toMatchObject({ state: 'active', counts: { ...NOTHING, deadline: 1, no_process: 1 } });

    await restart(ALL.filter((name) => name !== 'price'));
    await publish('c', 'Note');
    await eventually('it has run', async () => (await waiting('c')).items.length === 2);
    await board.http.post('/api/v1/agents/noter/pause').expect(200);
    const note = await publish('c', 'Note');
    const left = await publish('c', 'Left');
    const event = await publish('c', 'Event');
    await publish('c', 'Event');
    const bill = await publish('c', 'Bill', { n: 7 });
    const hidden = await publish('c', 'Note', {}, { visibility: { kind: 'After', ttl: 'PT1H' } });
    const doomed = await publish('c', 'Doomed');
    await eventually('it has failed once', async () => (await waiting('c')).counts.retry === 1);
    const request = await publish('c', 'Request');
    const outside = new Outside(board.http);
    const held = await outside.claimOne({ agents: ['approver'], assignee: 'anna', claimed_by: 'anna@desk' });
    const other = await publish('c', 'Request');
    const running = await publish('c', 'Gated', { n: 1, batch: 'gates' });
    await started('gates', 1);
    const full = await publish('c', 'Gated', { n: 2, batch: 'gates' });

    const executions = await get<{ items: { id: string; agent: string; next_attempt_at: string }[] }>(
      '/api/v1/executions',
      { correlation_id: 'c' },
    );
    const [second, first, request2, request1, retried, pausedNote, , lacking] = executions.items;
    const artifacts = await board.artifacts('c');
    const idOf = (type: string): string => artifacts.findLast((artifact) => artifact.type === type)!.id;
    const [join, keyed, window] = await groups({ correlation_id: 'c' }).then((found) =>
      ['pairer', 'matcher', 'window'].map((agent) => found.find((group) => group.agent === agent)!.group_id),
    );
    const execution = { attempt: 1, until: null, limit: null, assignee: null, claimed_by: null, due_at: null };
    const group = { correlation_id: 'c', state: 'waiting', without_process: false };
    const after = (from: string, ms: number): string => new Date(Date.parse(from) + ms).toISOString();
    const approval = { agent: 'approver', assignee: 'anna' };
    const expected: Waiting = {
      correlation_id: 'c',
      state: 'active',
      counts: {
        ...NOTHING,
        deadline: 1,
        release: 1,
        join: 2,
        window: 1,
        no_process: 1,
        paused: 1,
        retry: 1,
        held: 1,
        unclaimed: 1,
        running: 1,
        concurrency: 1,
      },
      items: [
        { kind: 'deadline', artifact_id: null, artifact_type: null, since: null, until: deadline },
        {
          kind: 'release',
          artifact_id: idOf('Note'),
          artifact_type: 'Note',
          since: hidden,
          until: after(hidden, HOUR),
        },
        {
          ...group,
          kind: 'join',
          group_id: keyed,
          agent: 'matcher',
          subscription: 1,
          types: ['Bill', 'Payment'],
          join_key: '7',
          received: { Bill: 1 },
          waiting_for: ['Payment'],
          size: 1,
          size_needed: 2,
          since: bill,
          until: null,
        },
        {
          ...group,
          kind: 'join',
          group_id: join,
          agent: 'pairer',
          subscription: 0,
          types: ['Left', 'Right'],
          join_key: '"c"',
          received: { Left: 1 },
          waiting_for: ['Right'],
          size: 1,
          size_needed: 2,
          since: left,
          until: after(left, 2 * HOUR),
        },
        {
          ...group,
          kind: 'window',
          group_id: window,
          agent: 'window',
          subscription: 0,
          types: ['Event'],
          join_key: null,
          received: { Event: 2 },
          waiting_for: [],
          size: 2,
          size_needed: 10,
          since: event,
          until: after(event, 3 * HOUR),
        },
        { ...execution, kind: 'no_process', execution_id: lacking!.id, agent: 'price', since: order },
        { ...execution, kind: 'paused', execution_id: pausedNote!.id, agent: 'noter', since: note },
        {
          ...execution,
          kind: 'retry',
          execution_id: retried!.id,
          agent: 'unlucky',
          attempt: 2,
          since: doomed,
          until: retried!.next_attempt_at,
        },
        {
          ...execution,
          kind: 'held',
          execution_id: request1!.id,
          ...approval,
          claimed_by: 'anna@desk',
          since: request,
          until: held.lease_until,
          due_at: after(request, 8 * HOUR),
        },
        {
          ...execution,
          kind: 'unclaimed',
          execution_id: request2!.id,
          ...approval,
          since: other,
          due_at: after(other, 8 * HOUR),
        },
        { ...execution, kind: 'running', execution_id: first!.id, agent: 'gate', since: running },
        {
          ...execution,
          kind: 'concurrency',
          execution_id: second!.id,
          agent: 'gate',
          since: full,
          limit: 'concurrency of gate: 1 of 1 used, 1st of 1',
        },
      ],
      pagination: ONE_PAGE,
    };
    expect(await waiting('c')).toEqual(expected);
    expect(await allPages('/api/v1/correlations/c/waiting')).toEqual(expected.items);

    await restart(ALL);
    await board.http.post('/api/v1/agents/noter/resume').expect(200);
    await publish('c', 'Right');
    const again = new Outside(board.http);
    const unclaimed = await again.claimOne({ agents: ['approver'], assignee: 'anna' });
    for (const each of [held, unclaimed])
      expect(await again.send(each, 'complete', { output: { ok: true } })).toMatchObject({ status: 200 });
    clock.advance(3 * HOUR);
    await eventually('it has settled', async () => {
      gatesOf('gates').forEach((gate) => gate.open());
      return (await board.status('c')).state !== 'active';
    });
    // It waits without a time limit, which keeps no correlation active.
    const open = await groups({ correlation_id: 'c' });
    expect(open).toMatchObject([{ kind: 'join', agent: 'matcher', until: null }]);
    expect(await waiting('c')).toEqual({
      correlation_id: 'c',
      state: 'completed',
      counts: { ...NOTHING, join: 1 },
      items: open,
      pagination: ONE_PAGE,
    });
    await board.http.get('/api/v1/correlations/nope/waiting').expect(404, { detail: 'Correlation not found: nope' });
  });

  it('says which place an execution has among those that wait for a slot of their agent, as explain does', async () => {
    await start(['gate']);
    await publish('f', 'Gated', { n: 1, batch: 'line' });
    await started('line', 1);
    for (const n of [2, 3]) await publish('f', 'Gated', { n, batch: 'line' });
    const { items } = await waiting('f');
    expect(items.map(({ limit }) => limit)).toEqual([
      null,
      'concurrency of gate: 1 of 1 used, 1st of 2',
      'concurrency of gate: 1 of 1 used, 2nd of 2',
    ]);
    const last = (await board.artifacts('f')).find(({ payload }) => payload.n === 3)!;
    const { body } = await board.http.get(`/api/v1/artifacts/${last.id}/explain`).expect(200);
    expect((body as { verdicts: object[] }).verdicts).toMatchObject([
      { detail: 'It triggered the agent; the execution waits for concurrency of gate: 1 of 1 used, 2nd of 2.' },
    ]);
    await openAll(['line'], async () => (await board.status('f')).state === 'completed');
  });

  it('includes executions that wait for a slot of the process', async () => {
    await start(ALL, { settings: { maxConcurrentExecutions: 1 } });
    await publish('s', 'Gated', { n: 1, batch: 'slots' });
    await started('slots', 1);
    await publish('s', 'Note');
    expect((await waiting('s')).items).toMatchObject([
      { kind: 'running', agent: 'gate' },
      { kind: 'slots', agent: 'noter', since: time() },
    ]);
    gatesOf('slots')[0]!.open();
    expect(await board.ended('s')).toMatchObject({ state: 'completed' });
    expect(await waiting('s')).toMatchObject({ counts: NOTHING, items: [] });
  });

  it('is empty for a correlation that was cancelled', async () => {
    await start(ALL, { role: SERVER });
    await publish('x', 'Left');
    await publish('x', 'Note', {}, { visibility: { kind: 'After', ttl: 'PT1H' } });
    expect((await waiting('x')).counts).toEqual({ ...NOTHING, join: 1, release: 1 });
    await board.http.post('/api/v1/correlations/x/cancel').expect(200);
    expect(await waiting('x')).toMatchObject({ state: 'cancelled', counts: NOTHING, items: [] });
    expect(await board.app.database.rows('select id from timers where correlation_id is not null')).toEqual([]);
  });

  it('is listed by agent, subscription and key, and filtered by agent and correlation', async () => {
    await start(ALL);
    await publish('one', 'Bill', { n: 2 });
    await publish('two', 'Bill', { n: 1 });
    await publish('two', 'Bill', { n: 2 });
    await publish('one', 'Left');
    const all = (await groups({})).filter(({ join_key }) => join_key !== '7');
    expect(all.map(({ agent, join_key, correlation_id }) => [agent, join_key, correlation_id])).toEqual([
      ['matcher', '1', 'two'],
      ['matcher', '2', 'one'],
      ['matcher', '2', 'two'],
      ['pairer', '"one"', 'one'],
    ]);
    expect(await groups({ agent: 'pairer' })).toEqual([all[3]]);
    expect(await groups({ correlation_id: 'one' })).toEqual([all[1], all[3]]);
    expect(await groups({ agent: 'matcher', correlation_id: 'one' })).toEqual([all[1]]);
    expect(await groups({ agent: 'nope' })).toEqual([]);
    for (const query of [
      {},
      { agent: 'matcher' },
      { correlation_id: 'two' },
      { agent: 'matcher', correlation_id: 'two' },
    ])
      expect(await allPages('/api/v1/waiting', query)).toEqual(await groups(query));

    const { pagination } = await get<Page>('/api/v1/waiting', { agent: 'matcher', limit: 1 });
    const refused = await board.http.get('/api/v1/waiting').query({ agent: 'pairer', after: pagination.next });
    expect([refused.status, refused.body]).toEqual([
      400,
      { detail: `after: must be next of an earlier page with the same filters (got "${pagination.next}")` },
    ]);
  });

  it('can only be a batch window where the list of agents says so', async () => {
    await start(['pairer', 'window', 'noter']);
    const { agents } = await get<{ agents: { subscriptions: unknown[] }[] }>('/api/v1/agents');
    expect(agents.map(({ subscriptions }) => subscriptions)).toEqual([
      [{ types: ['Left', 'Right'], mode: 'all', priority: 0 }],
      [{ types: ['Event'], mode: 'all', priority: 0, window: { size: 10, timeout_ms: 3 * HOUR, key: null } }],
      [{ types: ['Note'], mode: 'all', priority: 0 }],
    ]);
  });

  it('is shown with its artifacts', async () => {
    await start(ALL);
    const first = await publish('early', 'Event');
    const second = await publish('late', 'Event');
    const [group] = await groups({ agent: 'window' });
    expect(group).toMatchObject({ correlation_id: null, received: { Event: 2 }, since: first });
    const path = `/api/v1/waiting/${group!.group_id}`;
    const [[early], [late]] = await Promise.all([board.artifacts('early'), board.artifacts('late')]);
    const members = [
      { artifact_id: early!.id, artifact_type: 'Event', correlation_id: 'early', arrived_at: first },
      { artifact_id: late!.id, artifact_type: 'Event', correlation_id: 'late', arrived_at: second },
    ];
    expect(await get(path)).toEqual({ ...group, items: members, pagination: ONE_PAGE });
    expect(await allPages(path)).toEqual(members);
    clock.advance(3 * HOUR);
    await eventually('it has closed', async () => (await groups({ agent: 'window' })).length === 0);
    await board.http.get(path).expect(404, { detail: `Waiting group not found: ${group!.group_id}` });
  });

  it('says what no process has, with the types that the database knows', async () => {
    await start(ALL, { role: SERVER });
    await publish('gone', 'Claim', { n: 1 });
    const [waits] = await groups({ agent: 'judge' });
    expect(waits).toMatchObject({ state: 'waiting', waiting_for: ['Proof'], without_process: true, subscription: 0 });
    await publish('gone', 'Proof', { n: 1 });
    expect(await groups({ agent: 'judge' })).toEqual([
      { ...waits, state: 'complete', received: { Claim: 1, Proof: 1 }, waiting_for: [], size: 2 },
    ]);
    await publish('gone', 'Event');
    await restart(['noter']);
    expect((await waiting('gone')).items).toMatchObject([
      {
        kind: 'join',
        agent: 'judge',
        subscription: null,
        types: ['Claim', 'Proof'],
        size_needed: 2,
        without_process: true,
      },
      {
        kind: 'window',
        agent: 'window',
        subscription: null,
        types: ['Event'],
        size_needed: null,
        without_process: true,
      },
    ]);
    await restart(ALL);
    await eventually('it was judged', async () => (await groups({ agent: 'judge' })).length === 0);
  });

  it.each([
    'nope',
    'e30',
    Buffer.from('["execution"]').toString('base64url'),
    Buffer.from('["execution","1"]').toString('base64url'),
    Buffer.from('["group","a",1.5,"k",1]').toString('base64url'),
    Buffer.from('["a",3000000000,"k",1]').toString('base64url'),
    Buffer.from('["group","a",3000000000,"k",1]').toString('base64url'),
    Buffer.from('["a",1,"k\\u0000",1]').toString('base64url'),
    Buffer.from('["a",1e300,"k",1]').toString('base64url'),
  ])('refuses %s as the place where a page begins', async (after) => {
    await start(ALL);
    await publish('y', 'Left');
    const [group] = await groups({ correlation_id: 'y' });
    for (const path of ['/api/v1/correlations/y/waiting', '/api/v1/waiting', `/api/v1/waiting/${group!.group_id}`]) {
      const { status, body } = await board.http.get(path).query({ after });
      expect([path, status, body]).toEqual([
        path,
        400,
        { detail: `after: must be next of an earlier page with the same filters (got "${after}")` },
      ]);
    }
  });
});
