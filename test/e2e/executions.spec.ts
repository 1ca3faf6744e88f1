import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board, tally, type WireArtifact } from './board.js';

const FILES = {
  'agents/fail-once.js': `export default async ([input], { attempt }) => {
    if (attempt === 1) throw new Error('not on the first try');
    return { n: input.payload.n, attempt };
  };`,
  'agents/fail.js': `export default async () => { throw new TypeError('this never works'); };`,
  'agents/wrong.js': `export default async () => ({ n: 'text' });`,
  'agents/echo.js': `export default async ([input]) => ({ n: input.payload.n });`,
  // Waits until it is aborted, and publishes the reason.
  'agents/patient.js': `export default (inputs, { signal }) => new Promise((resolve, reject) => {
    globalThis.patientSignals = (globalThis.patientSignals ?? []).concat(signal);
    signal.addEventListener('abort', () => reject(signal.reason));
  });`,
  // Ignores its signal until the test releases it.
  'agents/stubborn.js': `globalThis.stubborn = [];
  export default () => new Promise((resolve) => globalThis.stubborn.push(() => resolve({ n: 1 })));`,
  'agents/gate.js': `globalThis.gates = new Map();
  export default ([input]) => new Promise((resolve) => globalThis.gates.set(input.payload.n, () => resolve({ n: input.payload.n })));`,
  'agents/reader.js': `export default async ([input], { blackboard }) => {
    const seen = await blackboard.list({ correlation_id: input.correlation_id, type: ['Note'] });
    const one = await blackboard.get(seen[0]?.id ?? input.id);
    return { seen: seen.map(({ payload }) => payload.n), first: one.payload.n };
  };`,
};

const CONFIG = `
types:
  Done: { schema: { type: object, properties: { n: { type: number } } } }
  Fence: { schema: { type: object } }
agents:
  unlucky:
    consumes: [{ types: [Unlucky] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./agents/fail-once.js }
  failing:
    consumes: [{ types: [Doomed, Shared] }, { types: [Shared2], mode: any }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./agents/fail.js }
    retry: { attempts: 2, delay: 1s }
  hopeless:
    consumes: [{ types: [Doom] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./agents/fail.js }
    retry: { attempts: 2, delay: 1s }
  lucky:
    consumes: [{ types: [Shared2] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./agents/echo.js }
  wrong:
    consumes: [{ types: [Wrong] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./agents/wrong.js }
    retry: { attempts: 1 }
  patient:
    consumes: [{ types: [Wait] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./agents/patient.js }
    timeout: 10s
    retry: { attempts: 1 }
  stubborn:
    consumes: [{ types: [Stubborn] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./agents/stubborn.js }
    timeout: 10s
    concurrency: 1
    retry: { attempts: 1 }
  gate:
    consumes: [{ types: [Gate] }, { types: [Urgent], priority: 10 }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./agents/gate.js }
    concurrency: 2
    timeout: 1h
  watcher:
    consumes: [{ types: [WorkflowError], where: payload.failed_agent == "hopeless" }]
    publishes: [{ type: Noticed }]
    engine: { kind: expression, expression: '{"agent": payload.failed_agent}' }
  secretary:
    labels: [pii]
    tenant_id: acme
    consumes: [{ types: [Read] }]
    publishes: [{ type: Report }]
    engine: { kind: function, module: ./agents/reader.js }
  stranger:
    tenant_id: other
    consumes: [{ types: [Read] }]
    publishes: [{ type: Report }]
    engine: { kind: function, module: ./agents/reader.js }
  insider:
    labels: [pii, legal]
    tenant_id: acme
    consumes: [{ types: [Note] }]
    publishes: [{ type: Read2 }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
`;

const shared = globalThis as unknown as {
  stubborn: (() => void)[];
  gates: Map<number, () => void>;
  patientSignals: AbortSignal[];
};

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('executions', () => {
  let board: Board;
  const clock = new ManualClock();

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, files: FILES });
  });

  afterAll(() => board.close());

  const outputs = async (correlation: string): Promise<WireArtifact[]> =>
    (await board.artifacts(correlation)).filter(({ produced_by }) => produced_by !== 'external');

  /** Advances the clock by a second at a time, until the correlation has finished. */
  const endedWhileTimePasses = async (correlation: string) => {
    await eventually(`${correlation} has finished`, async () => {
      clock.advance(1_000);
      return (await board.status(correlation)).state !== 'active';
    });
    return board.status(correlation);
  };

  it('retry a failed attempt', async () => {
    const correlation = await board.publish('Unlucky', { n: 5 });
    expect(await endedWhileTimePasses(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
    expect((await outputs(correlation)).map(({ payload }) => payload)).toEqual([{ n: 5, attempt: 2 }]);
  });

  it('end in a WorkflowError if every attempt fails, to which other agents may react', async () => {
    const correlation = await board.publish('Doom', {});
    expect(await endedWhileTimePasses(correlation)).toMatchObject({ state: 'completed', error_count: 1 });
    const [error, noticed] = await outputs(correlation);
    expect(error).toMatchObject({
      type: 'WorkflowError',
      produced_by: 'hopeless',
      payload: { failed_agent: 'hopeless', error_type: 'TypeError', error_message: 'this never works', attempts: 2 },
    });
    expect(error!.payload.input_artifact_ids).toEqual([(await board.artifacts(correlation))[0]!.id]);
    expect(noticed).toMatchObject({ type: 'Noticed', payload: { agent: 'hopeless' } });
  });

  it('fail their correlation if agents produced only errors', async () => {
    const correlation = await board.publish('Wrong', {});
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
    const [error] = await outputs(correlation);
    expect(error!.payload).toMatchObject({ error_type: 'output', attempts: 1 });
    expect(error!.payload.error_message).toContain('n');
  });

  it('continue in other branches, and complete the correlation', async () => {
    const correlation = await board.publish('Shared2', { n: 3 });
    expect(await endedWhileTimePasses(correlation)).toMatchObject({ state: 'completed', error_count: 1 });
    expect(tally((await outputs(correlation)).map(({ type }) => type))).toEqual({ Done: 1, WorkflowError: 1 });
  });

  it('abort the signal of an engine that takes too long', async () => {
    const correlation = await board.publish('Wait', {});
    await eventually('the agent runs', () => shared.patientSignals?.length === 1);
    clock.advance(10_000);
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed' });
    expect(shared.patientSignals[0]!.aborted).toBe(true);
    expect((await outputs(correlation))[0]!.payload).toMatchObject({ error_type: 'timeout' });
  });

  it('discard what an engine returns after its timeout, and keep its slot until then', async () => {
    const first = await board.publish('Stubborn', {});
    await eventually('the agent runs', () => shared.stubborn?.length === 1);
    clock.advance(10_000);
    expect(await board.ended(first)).toMatchObject({ state: 'failed' });
    const second = await board.publish('Stubborn', {});
    await board.ended(await board.publish('Fence', {}));
    expect(shared.stubborn).toHaveLength(1);
    shared.stubborn[0]!();
    await eventually('the next one runs', () => shared.stubborn.length === 2);
    shared.stubborn[1]!();
    expect(await board.ended(second)).toMatchObject({ state: 'completed' });
    expect((await outputs(first)).map(({ type }) => type)).toEqual(['WorkflowError']);
  });

  it('respect the concurrency of an agent, and run by priority', async () => {
    const running = [await board.publish('Gate', { n: 1 }), await board.publish('Gate', { n: 2 })];
    await eventually('two are running', () => shared.gates?.size === 2);
    const waiting = [await board.publish('Gate', { n: 3 }), await board.publish('Urgent', { n: 4 })];
    await board.ended(await board.publish('Fence', {}));
    expect([...shared.gates.keys()]).toEqual([1, 2]);
    shared.gates.get(1)!();
    await board.ended(running[0]!);
    await eventually('a third one runs', () => shared.gates.size === 3);
    expect([...shared.gates.keys()]).toEqual([1, 2, 4]);
    shared.gates.get(2)!();
    shared.gates.get(4)!();
    await eventually('the last runs', () => shared.gates.size === 4);
    shared.gates.get(3)!();
    for (const correlation of [...running, ...waiting])
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
  });

  it('delay only a synchronous publish into their own correlation', async () => {
    const slow = await board.publish('Gate', { n: 77 });
    await eventually('the slow one runs', () => shared.gates.has(77));
    const { completed } = await board.publishSync('Note', { n: 1 });
    expect(completed).toBe(true);
    expect(await board.status(slow)).toMatchObject({ state: 'active', has_pending_work: true });
    shared.gates.get(77)!();
    await board.ended(slow);
  });

  it('do not delay a synchronous publish beyond its timeout', async () => {
    const answer = board.publishSync('Gate', { n: 88 }, { timeout: 1 });
    await eventually('it runs', () => shared.gates.has(88));
    clock.advance(1_000);
    expect(await answer).toMatchObject({ completed: false, artifacts: [] });
    shared.gates.get(88)!();
  });
});

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('visibility', () => {
  let board: Board;
  const clock = new ManualClock();

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, files: FILES });
  });

  afterAll(() => board.close());

  it.each([
    ['Public', { kind: 'Public' }, true],
    ['Private to it', { kind: 'Private', agents: ['insider'] }, true],
    ['Private to another', { kind: 'Private', agents: ['lucky'] }, false],
    ['Labelled with its labels', { kind: 'Labelled', required_labels: ['pii', 'legal'] }, true],
    ['Labelled with more', { kind: 'Labelled', required_labels: ['pii', 'board'] }, false],
    ['Tenant of its own', { kind: 'Tenant', tenant_id: 'acme' }, true],
    ['Tenant of another', { kind: 'Tenant', tenant_id: 'other' }, false],
    ['Tenant for everyone', { kind: 'Tenant', tenant_id: null }, true],
  ])('%s: triggers only agents that may see it', async (_name, visibility, triggers) => {
    const { artifacts } = await board.publishSync('Note', { n: 1 }, { visibility });
    expect(artifacts.map(({ type }) => type)).toEqual(triggers ? ['Read2'] : []);
  });

  it("applies to an agent's queries", async () => {
    const correlation = await board.publish('Note', { n: 1 }, { visibility: { kind: 'Tenant', tenant_id: 'acme' } });
    await board.publish('Note', { n: 2 }, { correlation });
    await board.publish('Note', { n: 3 }, { correlation, visibility: { kind: 'Labelled', required_labels: ['pii'] } });
    await board.publish('Note', { n: 4 }, { correlation, visibility: { kind: 'After', ttl: 'PT1H' } });
    await board.publish('Read', {}, { correlation });
    await eventually(
      'both have read',
      async () => (await board.artifacts(correlation, { type: 'Report' })).length === 2,
    );
    const reports = await board.artifacts(correlation, { type: 'Report' });
    const by = Object.fromEntries(reports.map(({ produced_by, payload }) => [produced_by, payload]));
    expect(by).toEqual({ secretary: { seen: [1, 2, 3], first: 1 }, stranger: { seen: [2], first: 2 } });
  });

  it('After: keeps its correlation pending, and arrives when released, as `then` says', async () => {
    const hidden = await board.publish('Note', { n: 1 }, { visibility: { kind: 'After', ttl: 'PT1H' } });
    const never = await board.publish(
      'Note',
      { n: 2 },
      { visibility: { kind: 'After', ttl: 'PT1H', then: { kind: 'Private', agents: ['lucky'] } } },
    );
    expect(await board.status(hidden)).toMatchObject({ state: 'active', has_pending_work: true });
    clock.advance(3_599_999);
    expect(await board.types(hidden)).toEqual(['Note']);
    clock.advance(1);
    await board.ended(hidden);
    await board.ended(never);
    expect(await board.types(hidden)).toEqual(['Note', 'Read2']);
    expect(await board.types(never)).toEqual(['Note']);
    expect(await board.artifacts(hidden, { visibility: 'After' })).toHaveLength(1);
  });
});
