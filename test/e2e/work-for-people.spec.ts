import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const CONFIG = `
types:
  Approval: { schema: { type: object, required: [approved], properties: { approved: { type: boolean } } } }
agents:
  approver:
    consumes: [{ types: [Invoice] }]
    publishes: [{ type: Approval }]
    engine: { kind: external, assignee: anna, due: { after: 48h, then: escalate, to: head-of-finance } }
    timeout: 8h
  auditor:
    consumes: [{ types: [Audit] }]
    publishes: [{ type: Approval }]
    engine: { kind: external, assignee: bela, due: { after: 2h, then: fail } }
    timeout: 30m
    retry: { attempts: 5 }
  porter:
    consumes: [{ types: [Trunk] }]
    publishes: [{ type: Carried }]
    engine: { kind: external, due: { after: 2h, then: escalate, to: head-porter } }
  payer:
    consumes: [{ types: [Approval], where: payload.approved }]
    publishes: [{ type: Payment }]
    engine: { kind: expression, expression: '{}' }
`;

const HOUR_MS = 3_600_000;

interface Listed {
  items: { id: string; agent: string; state: string; assignee: string | null }[];
}

// Uses an app, its database and HTTP. The clock stands still until a test moves it.
describe('work for a person', () => {
  const clock = new ManualClock();
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock });
    outside = new Outside(board.http);
  });

  afterAll(() => board.close());

  const assigned = async (query: object): Promise<Listed['items']> =>
    ((await board.http.get('/api/v1/executions').query(query).expect(200)).body as Listed).items;

  /** Returns the execution that an artifact triggered, which is the person's newest. */
  async function published(type: string, assignee: string): Promise<{ id: string; correlation: string }> {
    const correlation = await board.publish(type, { total: 12 });
    const [newest] = await assigned({ assignee, state: 'pending' });
    return { id: newest!.id, correlation };
  }

  const claimed = async (id: string, body: object = {}): Promise<{ status: number; body: Record<string, unknown> }> =>
    board.http.post(`/api/v1/executions/${id}/claim`).send(body);

  it('is found in the list, chosen from it, and completed with the fields of the form', async () => {
    const { id, correlation } = await published('Invoice', 'anna');
    expect(await assigned({ assignee: 'anna', agent: 'auditor' })).toEqual([]);
    expect(await outside.execution(id)).toMatchObject({
      assignee: 'anna',
      due_at: new Date(clock.now() + 48 * HOUR_MS).toISOString(),
      form: { Approval: { required: ['approved'] } },
      inputs: [{ payload: { total: 12 } }],
    });
    expect(await outside.claim({ agents: ['approver'], assignee: 'bela' })).toEqual([]);

    const held = await claimed(id, { claimed_by: 'anna' });
    expect([held.status, held.body.execution_id]).toEqual([200, id]);
    expect(await claimed(id, { claimed_by: 'bela' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`is held by anna until ${held.body.lease_until as string}`) },
    });
    const { artifacts, executions } = (await board.http.get(`/api/v1/correlations/${correlation}/trace`).expect(200))
      .body as { artifacts: { id: string }[]; executions: object[] };
    expect(executions).toMatchObject([
      { id, assignee: 'anna', claimed_by: 'anna', lease_until: held.body.lease_until },
    ]);
    const explained = await board.http.get(`/api/v1/artifacts/${artifacts[0]!.id}/explain`).expect(200);
    expect(explained.text).toContain(`is held by anna until ${held.body.lease_until as string}`);

    const lease = { execution_id: id, lease_token: held.body.lease_token as string };
    expect(await outside.send(lease, 'complete', { output: { approved: 'yes' } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('payload.approved: must be boolean') },
    });
    expect(await outside.send(lease, 'complete', { output: { approved: true } })).toMatchObject({
      status: 200,
      body: { claimed_by: 'anna', lease_until: null },
    });
    await board.ended(correlation);
    expect(await board.types(correlation)).toEqual(['Invoice', 'Approval', 'Payment']);
    expect(await assigned({ assignee: 'anna', state: 'completed' })).toMatchObject([
      { id, agent: 'approver', assignee: 'anna' },
    ]);
    expect(await claimed(id)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('is completed; only a pending execution') },
    });
    const [payer] = (
      await board.http.get('/api/v1/executions').query({ agent: 'payer', correlation_id: correlation }).expect(200)
    ).body.items as Listed['items'];
    expect(await claimed(payer!.id)).toMatchObject({
      status: 400,
      body: { detail: `Execution ${payer!.id}: payer is not an external agent; its executions cannot be claimed` },
    });
  });

  it('goes to the new assignee when it escalates, and waiting claims and readers of the changelog are notified', async () => {
    const { id, correlation } = await published('Invoice', 'anna');
    clock.advance(48 * HOUR_MS - 1_000);
    expect(await outside.execution(id)).toMatchObject({ assignee: 'anna', escalated_at: null });
    const stream = watchLiveEvents(board.app.url, correlation);
    await eventually('the stream shows the correlation', () => stream.text().includes('"Invoice"'));
    const next = outside.claim({ agents: ['approver'], assignee: 'head-of-finance', wait: 60 });
    // The time does not move so far that heartbeats of the stream pass together, which would close it.
    clock.advance(1_000);
    const [held] = await next;
    expect(held).toMatchObject({ execution_id: id, assignee: 'head-of-finance', attempt: 1 });
    expect(await outside.execution(id)).toMatchObject({
      assignee: 'head-of-finance',
      escalated_at: new Date(clock.now()).toISOString(),
    });
    await eventually('the live event was seen', () => stream.text().includes('execution_escalated'));
    expect(stream.text()).toContain('"assignee":"head-of-finance"');
    stream.close();
    expect(await outside.send(held!, 'complete', { output: { approved: false } })).toMatchObject({ status: 200 });
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
  });

  it('stays unassigned if its configuration assigns it later, and goes to claims without assignee', async () => {
    const folder = new ConfigurationFolder();
    const agent = (assignee: string): string =>
      `agents: { approver: { consumes: [{ types: [Invoice] }], publishes: [{ type: Approval }], engine: { kind: external${assignee} } } }`;
    const before = await Board.start(agent(''), { folder: folder.path });
    const earlier = await before.publish('Invoice', {});
    await before.close();
    const after = await Board.start(agent(', assignee: anna'), { folder: folder.path });
    const claims = new Outside(after.http);
    const later = await after.publish('Invoice', {});
    expect(await claims.claimOne({ agents: ['approver'], assignee: 'anna' })).toMatchObject({ correlation_id: later });
    expect(await claims.claimOne({ agents: ['approver'] })).toMatchObject({ correlation_id: earlier, assignee: null });
    await after.http
      .post('/api/v1/executions/claim')
      .send({ agents: ['approver'] })
      .expect(400);
    await after.close();
    folder.remove();
  });

  it('is not claimed by a client that names no assignee', async () => {
    const { id, correlation } = await published('Invoice', 'anna');
    const detail =
      'assignee: must name an assignee, because the configuration assigns the executions of approver (to anna)';
    const claim = (body: object) =>
      board.http.post('/api/v1/executions/claim').send({ agents: ['porter', 'approver'], ...body });
    for (const body of [{}, { wait: 60 }]) await claim(body).expect(400, { detail });
    await claim({ assigne: 'anna' }).expect(400, { detail: 'assigne: is not a known field; did you mean assignee?' });
    expect(await outside.execution(id)).toMatchObject({ state: 'pending' });
    const held = await outside.claimOne({ agents: ['porter', 'approver'], assignee: 'anna' });
    expect(held.execution_id).toBe(id);
    expect(await outside.send(held, 'complete', { output: { approved: false } })).toMatchObject({ status: 200 });
    await board.ended(correlation);
  });

  it('without assignee is open to all, until it is escalated to a person', async () => {
    const trunks = [await board.publish('Trunk', { n: 1 }), await board.publish('Trunk', { n: 2 })];
    const all = await outside.claimOne({ agents: ['porter'], max: 1 });
    expect(all).toMatchObject({ correlation_id: trunks[0], assignee: null });
    expect(await outside.send(all, 'complete', { output: {} })).toMatchObject({ status: 200 });
    clock.advance(2 * HOUR_MS);
    let escalated;
    await eventually(
      'it is the head’s',
      async () => ([escalated] = await outside.claim({ agents: ['porter'], assignee: 'head-porter' })).length > 0,
    );
    expect(await outside.send(escalated!, 'release')).toMatchObject({
      status: 200,
      body: { state: 'pending', assignee: 'head-porter' },
    });
    expect(await outside.claim({ agents: ['porter'] })).toEqual([]);
    const held = await outside.claimOne({ agents: ['porter'], assignee: 'head-porter' });
    expect(held.correlation_id).toBe(trunks[1]);
    expect(await outside.send(held, 'complete', { output: {} })).toMatchObject({ status: 200 });
  });

  it('fails for good when it is due and its agent says so, even while a person holds it', async () => {
    const [waiting, held] = [await published('Audit', 'bela'), await published('Audit', 'bela')];
    const lease = (await claimed(held.id, { claimed_by: 'bela' })).body as unknown as {
      execution_id: string;
      lease_token: string;
    };
    for (let beats = 0; beats < 6; beats += 1) {
      expect(await outside.send(lease, 'heartbeat')).toMatchObject({ status: 200 });
      clock.advance(HOUR_MS / 3);
    }
    for (const { correlation } of [waiting, held])
      expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
    expect(await outside.execution(waiting.id)).toMatchObject({
      state: 'failed',
      attempt: 1,
      error_type: 'overdue',
      error_message: expect.stringContaining('no client claimed it in time'),
    });
    expect(await outside.execution(held.id)).toMatchObject({
      state: 'failed',
      error_type: 'overdue',
      error_message: expect.stringContaining('bela did not end it in time'),
    });
    expect(await outside.send(lease, 'complete', { output: { approved: true } })).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/ failed at \S+ and accepts no more requests: it was due at /) },
    });

    const retried = await board.http.post(`/api/v1/executions/${waiting.id}/retry`).expect(200);
    expect(retried.body).toMatchObject({
      state: 'pending',
      round: 1,
      assignee: 'bela',
      due_at: new Date(clock.now() + 2 * HOUR_MS).toISOString(),
    });
    clock.advance(2 * HOUR_MS);
    await eventually('it is overdue again', async () => (await outside.execution(waiting.id)).state === 'failed');
  });

  it('is no longer due once it has finished or is cancelled', async () => {
    const [done, cancelled] = [await published('Audit', 'bela'), await published('Audit', 'bela')];
    const lease = (await claimed(done.id)).body as unknown as { execution_id: string; lease_token: string };
    expect(await outside.send(lease, 'complete', { output: { approved: true } })).toMatchObject({ status: 200 });
    await board.http.post(`/api/v1/correlations/${cancelled.correlation}/cancel`).expect(200);
    clock.advance(3 * HOUR_MS);
    // A later one's time has passed, so the earlier ones' would have been checked.
    const later = await published('Audit', 'bela');
    clock.advance(3 * HOUR_MS);
    expect(await board.ended(later.correlation)).toMatchObject({ state: 'failed' });
    expect(await outside.execution(done.id)).toMatchObject({ state: 'completed' });
    expect(await outside.execution(cancelled.id)).toMatchObject({ state: 'cancelled' });
  });
});

/** Returns the stream of a correlation from its beginning, including live events. */
function watchLiveEvents(url: string, correlation: string): { text: () => string; close: () => void } {
  const abort = new AbortController();
  let seen = '';
  const read = async (): Promise<void> => {
    const headers = { 'last-event-id': '0' };
    const response = await fetch(`${url}/api/v1/changelog/stream?correlation_id=${correlation}&live=true`, {
      headers,
      signal: abort.signal,
    });
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) seen += chunk;
  };
  void read().catch(() => undefined);
  return { text: () => seen, close: () => abort.abort() };
}
