import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { type Held, Outside } from './outside.js';

const CONFIG = `
types:
  Read: { schema: { type: object, required: [total], properties: { total: { type: number } } } }
agents:
  reader:
    consumes: [{ types: [Scan] }, { types: [Urgent], priority: 5 }]
    publishes: [{ type: Read, tags: [read] }]
    engine: { kind: external }
    timeout: 60s
    concurrency: 3
    retry: { attempts: 2, delay: 10s }
  sorter:
    consumes: [{ types: [Pile] }]
    publishes: [{ type: Big }, { type: Small }]
    engine: { kind: external }
  checker:
    consumes: [{ types: [Read] }]
    publishes: [{ type: Checked }]
    engine: { kind: expression, expression: '{"total": payload.total, "tags": artifact.tags}' }
`;

// Uses an app, its database and HTTP. The clock stands still until a test moves it.
describe('executions that external workers claim', () => {
  const clock = new ManualClock();
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock });
    outside = new Outside(board.http);
  });

  afterAll(() => board.close());

  /** Returns a scan's execution, claimed. */
  async function claimedScan(body: object = {}): Promise<Held> {
    const correlation = await board.publish('Scan', { page: 1 });
    const held = await outside.claimOne({ agents: ['reader'], ...body });
    expect(held.correlation_id).toBe(correlation);
    return held;
  }

  it('wait until a worker claims them, and continue with its outputs', async () => {
    const correlation = await board.publish('Scan', { page: 7 });
    const held = await outside.claimOne({ agents: ['reader'], claimed_by: 'worker-1' });
    expect(held).toMatchObject({
      correlation_id: correlation,
      agent: 'reader',
      attempt: 1,
      assignee: null,
      due_at: null,
    });
    expect(held.inputs.map(({ type, payload }) => [type, payload])).toEqual([['Scan', { page: 7 }]]);
    expect(held.form).toMatchObject({ Read: { required: ['total'] } });
    expect(Date.parse(held.lease_until)).toBe(clock.now() + 60_000);
    expect(await outside.claim({ agents: ['reader'] })).toEqual([]);
    expect(await outside.execution(held.execution_id)).toMatchObject({
      state: 'running',
      claimed_by: 'worker-1',
      lease_until: held.lease_until,
    });

    const { status, body } = await outside.send(held, 'complete', {
      outputs: [{ type: 'Read', payload: { total: 12 }, tags: ['by-hand'] }],
    });
    expect([status, body.state, body.lease_until]).toEqual([200, 'completed', null]);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
    const [, read, checked] = await board.artifacts(correlation);
    expect(read).toMatchObject({ type: 'Read', produced_by: 'reader', tags: ['read', 'by-hand'] });
    expect(checked!.payload).toEqual({ total: 12, tags: ['read', 'by-hand'] });
  });

  it('accept an answer in the form that any engine returns', async () => {
    const pile = await board.publish('Pile', {});
    const held = await outside.claimOne({ agents: ['sorter'] });
    expect(
      await outside.send(held, 'complete', { output: { Small: [{ n: 1 }, { n: 2 }], Big: { n: 9 } } }),
    ).toMatchObject({ status: 200 });
    expect(await board.ended(pile)).toMatchObject({ state: 'completed' });
    expect((await board.types(pile)).sort()).toEqual(['Big', 'Pile', 'Small', 'Small']);
  });

  it.each([
    [
      'a payload that its type refuses',
      { outputs: [{ type: 'Read', payload: { total: 'x' } }] },
      'outputs[0]: Read refuses its payload: payload.total: must be number',
    ],
    [
      'the same without its list',
      { output: { total: 'x' } },
      'Read refuses its payload: payload.total: must be number',
    ],
    [
      'a type that the agent does not publish',
      { outputs: [{ type: 'Big', payload: {} }] },
      'outputs[0].type: must be one of Read',
    ],
    ['a malformed output', { outputs: [7] }, 'outputs[0]: must be an object with type and payload'],
    [
      'malformed tags',
      { outputs: [{ type: 'Read', payload: { total: 1 }, tags: [''] }] },
      'outputs[0].tags: must be a list',
    ],
    [
      'a visibility without a label',
      { outputs: [{ type: 'Read', payload: { total: 1 }, visibility: { kind: 'Labelled', required_labels: [] } }] },
      'outputs[0].visibility: required_labels must be a list of 1 to 1000 names, each 1 to 255 characters of text, without NUL',
    ],
    [
      'a ttl beyond max_ttl',
      { outputs: [{ type: 'Read', payload: { total: 1 }, visibility: { kind: 'After', ttl: 'P31D' } }] },
      'outputs[0].visibility: ttl must be at most 30d (max_ttl)',
    ],
    [
      'a malformed visibility',
      { outputs: [{ type: 'Read', payload: { total: 1 }, visibility: { kind: 'Secret' } }] },
      'outputs[0].visibility: kind must be one of',
    ],
    ['nothing at all', {}, 'output: give either outputs or output'],
    ['two answers', { outputs: [], output: {} }, 'output: give either outputs or output'],
  ])('refuse %s, and keep the lease so that the worker can correct it', async (_what, answer, detail) => {
    const held = await claimedScan();
    const refused = await outside.send(held, 'complete', answer);
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(detail)]);
    expect(await outside.send(held, 'complete', { output: { total: 3 } })).toMatchObject({
      status: 200,
      body: { state: 'completed' },
    });
  });

  it('are completed once, however often the same lease completes them', async () => {
    const held = await claimedScan();
    const answers = await Promise.all([1, 2, 3].map(() => outside.send(held, 'complete', { output: { total: 5 } })));
    expect(answers.map(({ status, body }) => [status, body.state])).toEqual(Array(3).fill([200, 'completed']));
    await board.ended(held.correlation_id);
    expect(await board.types(held.correlation_id)).toEqual(['Scan', 'Read', 'Checked']);
    expect(await outside.send(held, 'fail', { error_message: 'no' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('was completed') },
    });
    const stranger = { ...held, lease_token: 'another' };
    expect(await outside.send(stranger, 'complete', { output: { total: 6 } })).toMatchObject({ status: 409 });
  });

  it('keep their first answer, and refuse another one under the same lease', async () => {
    const held = await claimedScan();
    const outputs = [{ type: 'Read', payload: { total: 5, pages: [1] } }];
    expect(await outside.send(held, 'complete', { outputs })).toMatchObject({ status: 200 });
    const same = [{ payload: { pages: [1], total: 5 }, type: 'Read' }];
    expect(await outside.send(held, 'complete', { outputs: same })).toMatchObject({ status: 200 });
    const id = held.execution_id;
    for (const other of [
      { outputs: [{ ...outputs[0], tags: ['late'] }] },
      { output: { total: 6 } },
      { output: null },
    ]) {
      expect(await outside.send(held, 'complete', other)).toMatchObject({
        status: 409,
        body: {
          detail: expect.stringMatching(
            `^Execution ${id} was completed at .+Z with another answer, which it keeps; GET /api/v1/executions/${id} shows its outputs$`,
          ),
        },
      });
    }
    const next = await claimedScan();
    const answers = await Promise.all([1, 2, 3].map((total) => outside.send(next, 'complete', { output: { total } })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });

  it('are retried as the agent says when an attempt fails, and fail for good if the failure is final', async () => {
    const held = await claimedScan();
    const failure = { error_type: 'Unreadable', error_message: 'too dark' };
    expect(await outside.send(held, 'fail', failure)).toMatchObject({
      status: 200,
      body: { state: 'pending', attempt: 2 },
    });
    expect(await outside.send(held, 'fail', failure)).toMatchObject({
      status: 200,
      body: { state: 'pending', attempt: 2 },
    });
    expect(await outside.claim({ agents: ['reader'] })).toEqual([]);
    clock.advance(15_000);
    let again: Held | undefined;
    await eventually(
      'its retry is pending',
      async () => ([again] = await outside.claim({ agents: ['reader'] })).length > 0,
    );
    expect(again).toMatchObject({ execution_id: held.execution_id, attempt: 2 });
    expect(await outside.send(held, 'complete', { output: { total: 1 } })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('expired, was released or ended its attempt; use') },
    });
    expect(await outside.send(again!, 'fail', failure)).toMatchObject({
      status: 200,
      body: { state: 'failed', error_type: 'Unreadable', error_message: 'too dark' },
    });

    const hopeless = await claimedScan();
    expect(await outside.send(hopeless, 'fail', { ...failure, final: true })).toMatchObject({
      status: 200,
      body: { state: 'failed', attempt: 1 },
    });
    expect(await board.types(hopeless.correlation_id)).toEqual(['Scan', 'WorkflowError']);
  });

  it('come back when their lease expires, for the same attempt', async () => {
    const [kept, lost] = [await claimedScan(), await claimedScan({ claimed_by: 'worker-2' })];
    let again: Held | undefined;
    const ended = clock.now() + 120_000;
    await eventually('the other one waits again, and the first has outlived its lease twice', async () => {
      clock.advance(10_000);
      expect(await outside.send(kept, 'heartbeat')).toMatchObject({ status: 200 });
      again ??= (await outside.claim({ agents: ['reader'] }))[0];
      if (again) expect(await outside.send(again, 'heartbeat')).toMatchObject({ status: 200 });
      return again !== undefined && clock.now() >= ended;
    });
    expect(again).toMatchObject({ execution_id: lost.execution_id, attempt: 1 });
    expect(again!.lease_token).not.toBe(lost.lease_token);
    for (const what of ['heartbeat', 'complete', 'fail'] as const) {
      const { status, body } = await outside.send(lost, what, {
        ...(what === 'complete' && { output: { total: 1 } }),
        ...(what === 'fail' && { error_message: 'late' }),
      });
      expect([what, status, body.detail]).toEqual([
        what,
        409,
        expect.stringContaining('expired, was released or ended its attempt; use'),
      ]);
    }
    expect(await outside.execution(lost.execution_id)).toMatchObject({ state: 'running', lost_leases: 1 });
    expect(await outside.send(again!, 'complete', { output: { total: 2 } })).toMatchObject({ status: 200 });
    expect(await outside.send(kept, 'complete', { output: { total: 3 } })).toMatchObject({ status: 200 });
  });

  it('wait again immediately when a worker releases them: no attempt and no lease is lost', async () => {
    const held = await claimedScan({ claimed_by: 'worker-4' });
    const waiting = outside.claim({ agents: ['reader'], wait: 60, claimed_by: 'worker-5' });
    expect(await outside.send(held, 'release')).toMatchObject({
      status: 200,
      body: { id: held.execution_id, attempt: 1, lost_leases: 0 },
    });
    const [again] = await waiting;
    expect(again).toMatchObject({ execution_id: held.execution_id, attempt: 1 });
    expect(again!.lease_token).not.toBe(held.lease_token);
    // Released again, as by a worker that got no answer: the current lease does not change.
    expect(await outside.send(held, 'release')).toMatchObject({
      status: 200,
      body: { state: 'running', claimed_by: 'worker-5', lost_leases: 0 },
    });
    for (const [what, body] of [
      ['heartbeat', {}],
      ['complete', { output: { total: 1 } }],
      ['fail', { error_message: 'x' }],
    ] as const) {
      expect([what, await outside.send(held, what, body)]).toEqual([
        what,
        { status: 409, body: { detail: expect.stringContaining('was released') } },
      ]);
    }
    expect(await outside.send({ ...held, lease_token: 'another' }, 'release')).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('expired, was released or ended its attempt; use') },
    });
    expect(await outside.send(again!, 'complete', { output: { total: 2 } })).toMatchObject({
      status: 200,
      body: { state: 'completed', attempt: 1, lost_leases: 0 },
    });
    expect(await outside.send(again!, 'release')).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('was completed at') },
    });
    // The release itself may still be repeated.
    expect(await outside.send(held, 'release')).toMatchObject({ status: 200, body: { state: 'completed' } });
  });

  it('say why a chosen one cannot be claimed: its agent is paused, or all its slots are taken', async () => {
    for (const page of [1, 2, 3, 4]) await board.publish('Scan', { page });
    const { items } = (await board.http.get('/api/v1/executions?agent=reader&state=pending').expect(200)).body as {
      items: { id: string }[];
    };
    const ids = items.map(({ id }) => id);
    expect(ids).toHaveLength(4);
    const claim = async (id: string): Promise<[number, Held & { detail: string }]> => {
      const { status, body } = await board.http.post(`/api/v1/executions/${id}/claim`).send({});
      return [status, body as Held & { detail: string }];
    };
    await board.http
      .post(`/api/v1/executions/${ids[0]}/claim`)
      .expect(400, { detail: 'The body must be a JSON object; send {} to leave out all fields' });
    await board.http.post('/api/v1/agents/reader/pause').expect(200);
    expect(await claim(ids[0]!)).toEqual([
      409,
      { detail: `Execution ${ids[0]} cannot be claimed now: reader is paused` },
    ]);
    await board.http.post('/api/v1/agents/reader/resume').expect(200);
    const held: Held[] = [];
    for (const id of ids.slice(0, 3)) held.push((await claim(id))[1]);
    expect(await claim(ids[3]!)).toEqual([
      409,
      {
        detail: `Execution ${ids[3]} cannot be claimed now: reader has as many claimed executions as its concurrency allows (3)`,
      },
    ]);
    expect(await outside.send(held[0]!, 'release')).toMatchObject({ status: 200, body: { state: 'pending' } });
    const [status, last] = await claim(ids[3]!);
    expect(status).toBe(200);
    expect(await outside.send(held[1]!, 'complete', { output: { total: 1 } })).toMatchObject({ status: 200 });
    const first = await outside.claimOne({ agents: ['reader'] });
    for (const each of [first, held[2]!, last])
      expect(await outside.send(each, 'complete', { output: { total: 1 } })).toMatchObject({ status: 200 });
  });

  it('fail after ten leases have expired, one after the other', async () => {
    const correlation = await board.publish('Scan', { page: 13 });
    const held = await outside.claimOne({ agents: ['reader'] });
    for (let losses = 1; losses < 10; losses += 1) {
      let again: Held | undefined;
      await eventually('it waits again', async () => {
        clock.advance(20_000);
        return ([again] = await outside.claim({ agents: ['reader'] })).length > 0;
      });
      expect(again).toMatchObject({ execution_id: held.execution_id, attempt: 1 });
      expect(await outside.execution(held.execution_id)).toMatchObject({ state: 'running', lost_leases: losses });
    }
    await eventually('it has finished', async () => {
      clock.advance(20_000);
      return (await board.status(correlation)).state === 'failed';
    });
    const failure = {
      error_type: 'lost',
      error_message: 'its lease was lost 10 times: its claimants sent neither a result nor a heartbeat in time',
    };
    expect(await outside.execution(held.execution_id)).toMatchObject({ state: 'failed', attempt: 1, ...failure });
    expect(await outside.send(held, 'complete', { output: { total: 1 } })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('its lease was lost 10 times') },
    });
  });

  it('are refused once they are cancelled', async () => {
    const held = await claimedScan();
    await board.http.post(`/api/v1/correlations/${held.correlation_id}/cancel`).expect(200);
    for (const [what, body] of [
      ['heartbeat', {}],
      ['complete', { output: { total: 1 } }],
      ['fail', { error_message: 'x' }],
    ] as const) {
      const answer = await outside.send(held, what, body);
      expect([what, answer.status, answer.body.detail]).toEqual([
        what,
        409,
        expect.stringMatching(/was cancelled at .*, with its correlation/),
      ]);
    }
  });

  it('are claimed up to the concurrency, by priority, and not while the agent is paused', async () => {
    const scans: string[] = [];
    for (const page of [1, 2, 3]) scans.push(await board.publish('Scan', { page }));
    const urgent = await board.publish('Urgent', {});
    await board.http.post('/api/v1/agents/reader/pause').expect(200);
    expect(await outside.claim({ agents: ['reader'], max: 10 })).toEqual([]);
    await board.http.post('/api/v1/agents/reader/resume').expect(200);
    const held = await outside.claim({ agents: ['sorter', 'reader'], max: 10 });
    expect(held.map(({ correlation_id }) => correlation_id)).toEqual([urgent, ...scans.slice(0, 2)]);
    expect(await outside.claim({ agents: ['reader'], max: 10 })).toEqual([]);
    const waiting = outside.claim({ agents: ['reader'], max: 10, wait: 60 });
    expect(await outside.send(held[0]!, 'complete', { output: { total: 1 } })).toMatchObject({ status: 200 });
    const [last, ...none] = await waiting;
    expect([last!.correlation_id, none]).toEqual([scans[2], []]);
    for (const each of [...held.slice(1), last!])
      expect(await outside.send(each, 'complete', { output: { total: 1 } })).toMatchObject({ status: 200 });
  });

  it('are counted by agent, waiting and claimed ones', async () => {
    const samples = async (): Promise<string[]> => {
      const { text } = await board.http.get('/metrics').expect(200);
      return text.split('\n').filter((line) => line.startsWith('starling_external_executions{'));
    };
    const counted = (agent: string, waiting: number, claimed: number): string[] => [
      `starling_external_executions{agent="${agent}",state="waiting"} ${waiting}`,
      `starling_external_executions{agent="${agent}",state="claimed"} ${claimed}`,
    ];
    const [held, failed] = [await claimedScan(), await claimedScan()];
    await board.publish('Scan', { page: 1 });
    expect(await outside.send(failed, 'fail', { error_message: 'again' })).toMatchObject({
      status: 200,
      body: { state: 'pending' },
    });
    // The counts are cached for a moment.
    await eventually(
      'they are counted',
      async () =>
        JSON.stringify(await samples()) === JSON.stringify([...counted('reader', 2, 1), ...counted('sorter', 0, 0)]),
    );
    const waiting = await outside.claimOne({ agents: ['reader'] });
    for (const each of [held, waiting])
      expect(await outside.send(each, 'complete', { output: { total: 1 } })).toMatchObject({ status: 200 });
    await board.http.post(`/api/v1/correlations/${failed.correlation_id}/cancel`).expect(200);
    await eventually(
      'nothing is left',
      async () =>
        JSON.stringify(await samples()) === JSON.stringify([...counted('reader', 0, 0), ...counted('sorter', 0, 0)]),
    );
  });

  it('are listed apart from other executions until they end', async () => {
    const waiting = await board.publish('Pile', {});
    const claimed = await outside.claimOne({ agents: ['sorter'] });
    const listed = async (query: string): Promise<string[]> => {
      const { body } = await board.http.get(`/api/v1/executions?external=true&${query}`).expect(200);
      return (body as { items: { agent: string; state: string }[] }).items.map(
        ({ agent, state }) => `${agent} ${state}`,
      );
    };
    expect(await listed(`correlation_id=${waiting}`)).toEqual(['sorter running']);
    const again = await board.publish('Pile', {});
    expect(await listed(`correlation_id=${again}`)).toEqual(['sorter pending']);
    expect((await listed('agent=sorter')).slice(0, 2)).toEqual(['sorter pending', 'sorter running']);
    expect(await listed(`correlation_id=${again}&state=running`)).toEqual([]);
    expect(await listed('agent=checker')).toEqual([]);
    expect(await listed('without_agent=true')).toEqual([]);
    await outside.send(claimed, 'complete', { outputs: [{ type: 'Big', payload: {} }] });
    expect(await listed(`correlation_id=${waiting}`)).toEqual([]);
    expect(await listed('state=completed')).toEqual([]);
    const rest = await outside.claimOne({ agents: ['sorter'] });
    await outside.send(rest, 'complete', { outputs: [{ type: 'Big', payload: {} }] });
  });

  it('are claimed only of external agents', async () => {
    const refusals = [
      [{ agents: ['checker'] }, 400, 'agents: checker is not an external agent'],
      [{ agents: ['nobody'] }, 404, 'Agent not found: nobody'],
      [{ agents: ['raeder'] }, 404, 'Agent not found: raeder'],
      [{ agents: [] }, 400, 'agents:'],
      [{ agents: ['reader'], max: 101 }, 400, 'max:'],
      [{ agents: ['reader'], wait: 61 }, 400, 'wait:'],
    ] as const;
    for (const [body, status, detail] of refusals) {
      const response = await board.http.post('/api/v1/executions/claim').send(body);
      expect([response.status, response.body]).toEqual([status, { detail: expect.stringContaining(detail) }]);
    }
    const held = { lease_token: 'x' };
    const bodies = {
      claim: {},
      heartbeat: held,
      complete: { ...held, output: {} },
      fail: { ...held, error_message: 'x' },
      release: held,
    };
    for (const [what, body] of Object.entries(bodies)) {
      await board.http
        .post(`/api/v1/executions/${what}-nobody/${what}`)
        .send(body)
        .expect(404, { detail: `Execution not found: ${what}-nobody` });
    }
  });

  it('never show the token of a lease', async () => {
    const held = await claimedScan({ claimed_by: 'worker-3' });
    expect(held.lease_token).toMatch(/^[\w-]{43}$/);
    const views = await Promise.all(
      [
        `executions/${held.execution_id}`,
        'executions',
        `correlations/${held.correlation_id}/trace`,
        `artifacts/${held.inputs[0]!.id}/explain`,
      ].map((path) => board.http.get(`/api/v1/${path}`).expect(200)),
    );
    const shown = views.map(({ text }) => text).join('\n');
    expect(shown).toContain('worker-3');
    expect(shown).not.toContain(held.lease_token);
    await outside.send(held, 'complete', { output: { total: 1 } });
    expect(JSON.stringify(board.app.logLines)).toContain(held.execution_id);
    expect(JSON.stringify(board.app.logLines)).not.toContain(held.lease_token);
  });
});
