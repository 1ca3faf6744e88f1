// Subscriptions with `debounce`. Uses the whole app over HTTP on a database. The clock is faked.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { ended, send } from './batch-board.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const SECOND = 1_000;
const MOST_EXECUTIONS = 5;
const debounce = (key = 'payload.document'): string => `debounce: { key: '${key}', wait: 10s, at_most: 30s }`;
const INDEXES = `publishes: [{ type: Indexed }], engine: { kind: expression, expression: "{ 'version': payload.version }" }`;

const CONFIG = `
agents:
  indexer: { consumes: [{ types: [Edited], ${debounce()} }], ${INDEXES} }
  plain: { consumes: [{ types: [Saved, Renamed], mode: any, debounce: { wait: 10s, at_most: 30s } }], ${INDEXES} }
  writer: { consumes: [{ types: [Draft] }], publishes: [{ type: Written }], engine: { kind: expression, expression: "[{ 'version': 1, 'document': 'w' }, { 'version': 2, 'document': 'w' }]" } }
  reader: { consumes: [{ types: [Written], ${debounce()} }], ${INDEXES} }
  filtered: { consumes: [{ types: [Filtered], tags: [final], where: 'payload.version > 1.0', ${debounce()} }], ${INDEXES} }
  penner: { consumes: [{ types: [Outline] }], publishes: [{ type: Penned }], engine: { kind: expression, expression: "{ 'version': 2, 'document': 'p' }" } }
  checker: { consumes: [{ types: [Penned], from_agents: [penner], ${debounce()} }], ${INDEXES} }
  person: { consumes: [{ types: [Task], ${debounce()} }], singleton: { key: payload.document, on_conflict: queue }, engine: { kind: external } }
`;

interface Execution {
  id: string;
  state: string;
  started_at: string | null;
  superseded_by?: string;
}

interface Window {
  kind: string;
  join_key: string | null;
  size: number;
  size_needed: number | null;
  since: string;
  until: string;
}

describe('debounce', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, settings: { maxExecutionsPerCorrelation: MOST_EXECUTIONS } });
  });
  afterAll(() => board?.close());

  const executions = async (correlation_id: string, query: object = {}): Promise<Execution[]> =>
    (
      (
        await board.http
          .get('/api/v1/executions')
          .query({ correlation_id, ...query })
          .expect(200)
      ).body as {
        items: Execution[];
      }
    ).items;

  const only = async (correlation: string): Promise<Execution> => {
    const [execution, ...others] = await executions(correlation);
    expect([execution?.id, others]).toEqual([expect.any(String), []]);
    return execution!;
  };

  const idOf = async (correlation: string): Promise<string> => (await board.artifacts(correlation))[0]!.id;

  const indexed = async (correlation: string): Promise<unknown[]> =>
    (await board.artifacts(correlation, { type: 'Indexed' })).map(({ payload }) => payload.version);

  const windows = async (correlation: string): Promise<Window[]> =>
    ((await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200)).body as { items: Window[] })
      .items;

  const explained = async (correlation: string, agent: string): Promise<{ verdict: string; detail: string }> => {
    const { body } = await board.http.get(`/api/v1/artifacts/${await idOf(correlation)}/explain`).expect(200);
    return (body as { verdicts: { agent: string; verdict: string; detail: string }[] }).verdicts.find(
      (each) => each.agent === agent,
    )!;
  };

  /** It was consumed without a run, because of the artifact of the other correlation. */
  const isSuperseded = async (correlation: string, by: string): Promise<void> => {
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
    expect(await only(correlation)).toMatchObject({
      state: 'cancelled',
      started_at: null,
      superseded_by: await idOf(by),
    });
  };

  it('runs with the last artifact of a key; the earlier ones are consumed and name the one that came', async () => {
    const first = await board.publish('Edited', { document: 'a', version: 1 });
    const second = await board.publish('Edited', { document: 'a', version: 2 });
    await isSuperseded(first, second);
    const third = await board.publish('Edited', { document: 'a', version: 3 });
    const other = await board.publish('Edited', { document: 'b', version: 9 });
    await isSuperseded(second, third);
    const by = await idOf(third);
    expect((await explained(second, 'indexer')).detail).toContain(
      `the execution did not run, because the artifact ${by} with the same key of debounce took its place at `,
    );
    const { body: trace } = await board.http.get(`/api/v1/correlations/${second}/trace`).expect(200);
    expect((trace as { executions: object[] }).executions).toMatchObject([{ superseded_by: by }]);

    const until = new Date(clock.now() + 10 * SECOND).toISOString();
    expect(await windows(third)).toMatchObject([
      { kind: 'window', join_key: '"a"', size: 1, size_needed: null, until },
    ]);
    expect(await explained(third, 'indexer')).toMatchObject({
      verdict: 'window_filling',
      detail: `It is the last artifact of the key "a", and runs at ${until} unless another one takes its place before.`,
    });
    clock.advance(10 * SECOND - 1);
    expect(await board.status(third)).toMatchObject({ state: 'active' });
    clock.advance(1);
    for (const id of [third, other]) expect(await board.ended(id)).toMatchObject({ state: 'completed' });
    expect([await indexed(third), await indexed(other), await indexed(first)]).toEqual([[3], [9], []]);
    expect(await only(third)).not.toHaveProperty('superseded_by');
  });

  it('waits again after each artifact, but at most from the first', async () => {
    const began = clock.now();
    const ids: string[] = [];
    for (let version = 1; version <= 4; version += 1) {
      ids.push(await board.publish('Edited', { document: 'c', version }));
      const [window] = await windows(ids.at(-1)!);
      expect(window).toMatchObject({
        since: new Date(began).toISOString(),
        until: new Date(Math.min(clock.now() + 10 * SECOND, began + 30 * SECOND)).toISOString(),
      });
      if (version < 4) clock.advance(9 * SECOND);
    }
    clock.advance(3 * SECOND);
    expect(await board.ended(ids[3]!)).toMatchObject({ state: 'completed' });
    expect(await indexed(ids[3]!)).toEqual([4]);
    for (const [index, id] of ids.slice(0, 3).entries()) await isSuperseded(id, ids[index + 1]!);
    // The next one begins a new window.
    const next = await board.publish('Edited', { document: 'c', version: 5 });
    expect(await windows(next)).toMatchObject([{ since: new Date(clock.now()).toISOString() }]);
    clock.advance(10 * SECOND);
    await board.ended(next);
    expect(await indexed(next)).toEqual([5]);
  });

  it('takes all types together, and all artifacts without a key', async () => {
    const first = await board.publish('Saved', { version: 1 });
    const second = await board.publish('Renamed', { version: 2 });
    await isSuperseded(first, second);
    expect(await windows(second)).toMatchObject([{ join_key: null, size: 1 }]);
    clock.advance(10 * SECOND);
    await board.ended(second);
    expect(await indexed(second)).toEqual([2]);
  });

  it('keeps a correlation with several artifacts active until the last one has run', async () => {
    const correlation = await board.publish('Edited', { document: 'd', version: 1 });
    await board.publish('Edited', { document: 'd', version: 2 }, { correlation });
    await board.publish('Edited', { document: 'e', version: 3 }, { correlation });
    expect(await board.status(correlation)).toMatchObject({ state: 'active' });
    clock.advance(10 * SECOND);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
    expect((await indexed(correlation)).sort()).toEqual([2, 3]);
    expect((await executions(correlation)).map(({ state }) => state).sort()).toEqual([
      'cancelled',
      'completed',
      'completed',
    ]);
  });

  it('counts only what runs for the limit of a correlation', async () => {
    const correlation = await board.publish('Edited', { document: 'k', version: 0 });
    for (let version = 1; version <= 2 * MOST_EXECUTIONS; version += 1)
      await board.publish('Edited', { document: 'k', version }, { correlation });
    clock.advance(10 * SECOND);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
    expect(await indexed(correlation)).toEqual([2 * MOST_EXECUTIONS]);
  });

  it('takes what agents publish', async () => {
    const correlation = await board.publish('Draft', {});
    await eventually('the last output waits', async () => (await windows(correlation)).length === 1);
    clock.advance(10 * SECOND);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
    expect(await indexed(correlation)).toEqual([2]);
  });

  it('ends with its artifact when the correlation is cancelled, or its deadline passes', async () => {
    const first = await board.publish('Edited', { document: 'f', version: 1 });
    const second = await board.publish('Edited', { document: 'f', version: 2 });
    await board.http.post(`/api/v1/correlations/${second}/cancel`).expect(200);
    await isSuperseded(first, second);
    const third = await board.publish('Edited', { document: 'f', version: 3 }, { deadline: 'PT5S' });
    clock.advance(6 * SECOND);
    expect(await board.ended(third)).toMatchObject({ state: 'cancelled' });
    const { body } = await board.http.get('/api/v1/waiting').query({ agent: 'indexer' }).expect(200);
    expect((body as { items: object[] }).items).toEqual([]);
    clock.advance(10 * SECOND);
    expect([await indexed(first), await indexed(second), await indexed(third)]).toEqual([[], [], []]);
  });

  it('takes a hidden artifact when it is released', async () => {
    const hidden = await board.publish(
      'Edited',
      { document: 'g', version: 1 },
      { visibility: { kind: 'After', ttl: 'PT5S' } },
    );
    const shown = await board.publish('Edited', { document: 'g', version: 2 });
    clock.advance(5 * SECOND);
    await isSuperseded(shown, hidden);
    clock.advance(10 * SECOND);
    await board.ended(hidden);
    expect(await indexed(hidden)).toEqual([1]);
  });

  it('takes no artifact without a key, and explain says it', async () => {
    for (const [payload, verdict] of [
      [
        { document: null },
        { verdict: 'key_null', detail: 'debounce.key is null for this artifact, so it joins no window.' },
      ],
      [{}, { verdict: 'key_error' }],
    ] as const) {
      const correlation = await board.publish('Edited', payload);
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed', artifact_count: 1 });
      expect(await explained(correlation, 'indexer')).toMatchObject(verdict);
    }
  });

  it('gives no place to what `where`, `tags` or `from_agents` refuses, which does not make it wait for longer', async () => {
    const kept = await board.publish('Filtered', { document: 'q', version: 2 }, { tags: ['final'] });
    const penned = await board.publish('Outline', {});
    await eventually('the output waits', async () => (await windows(penned)).length === 1);
    clock.advance(9 * SECOND);
    const refused = [
      await board.publish('Filtered', { document: 'q', version: 1 }, { tags: ['final'] }),
      await board.publish('Filtered', { document: 'q', version: 3 }),
      await board.publish('Penned', { document: 'p', version: 9 }),
    ];
    for (const correlation of refused) expect(await executions(correlation)).toEqual([]);
    clock.advance(SECOND);
    for (const correlation of [kept, penned]) {
      await board.ended(correlation);
      expect(await indexed(correlation)).toEqual([2]);
    }
    for (const correlation of refused) expect(await indexed(correlation)).toEqual([]);
  });

  it('counts an artifact that is sent twice with one idempotency key once', async () => {
    const publish = async (version: number): Promise<unknown> => {
      const correlation = `sent-${version}`;
      const { body } = await board.http
        .post('/api/v1/artifacts')
        .set({ 'X-Idempotency-Key': correlation, 'X-Correlation-ID': correlation })
        .send({ type: 'Edited', payload: { document: 'r', version } })
        .expect(200);
      return body;
    };
    const first = await publish(1);
    await publish(2);
    // It does not take the place of the second.
    expect(await publish(1)).toEqual(first);
    await isSuperseded('sent-1', 'sent-2');
    clock.advance(10 * SECOND);
    await board.ended('sent-2');
    expect([await indexed('sent-1'), await indexed('sent-2')]).toEqual([[], [2]]);
  });

  it('does not hold runs, direct runs and rows of batches, which name their inputs themselves', async () => {
    const { body: run } = await board.http
      .post('/run/flock')
      .send({ agent_name: 'indexer', inputs: { document: 'h', version: 1 } })
      .expect(200);
    expect(run).toMatchObject({ status: 'completed' });
    const { body: direct } = await board.http
      .post('/api/v1/agents/indexer/run')
      .send({ inputs: [{ type: 'Edited', payload: { document: 'h', version: 2 } }] })
      .expect(200);
    expect(direct).toMatchObject({ artifacts: [{ payload: { version: 2 } }] });
    const rows = [3, 4].map((version) => ({ document: 'h', version }));
    const { results } = await ended(board, await send(board, 'indexer', rows));
    expect(results.map(({ result }) => result)).toEqual([{ version: 3 }, { version: 4 }]);
  });

  it('ends its window while the agent is paused, and its execution waits, also for its turn', async () => {
    const outside = new Outside(board.http);
    const claim = () => outside.claim({ agents: ['person'], max: 10 });
    const first = await board.publish('Task', { document: 'i', version: 1 });
    clock.advance(10 * SECOND);
    let held = await claim();
    await eventually('the first can be claimed', async () => {
      held = held.length > 0 ? held : await claim();
      return held.length > 0;
    });
    await board.http.post('/api/v1/agents/person/pause').expect(200);
    await board.publish('Task', { document: 'i', version: 2 });
    const third = await board.publish('Task', { document: 'i', version: 3 });
    clock.advance(10 * SECOND);
    await eventually('its execution waits', async () => (await executions(third)).length === 1);
    await board.http.post('/api/v1/agents/person/resume').expect(200);
    expect(await claim()).toEqual([]);
    await outside.send(held[0]!, 'complete', { outputs: [] });
    expect(await board.ended(first)).toMatchObject({ state: 'completed' });
    let next = await claim();
    await eventually('the next one has its turn', async () => {
      next = next.length > 0 ? next : await claim();
      return next.length > 0;
    });
    expect(next).toMatchObject([{ correlation_id: third }]);
    await outside.send(next[0]!, 'complete', { outputs: [] });
    await board.ended(third);
  });

  it('has separate windows in a replay, and one from the record runs nothing that did not run', async () => {
    const correlation = await board.publish('Edited', { document: 'j', version: 1 });
    await board.publish('Edited', { document: 'j', version: 2 }, { correlation });
    clock.advance(10 * SECOND);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    const live = await board.publish('Edited', { document: 'j', version: 3 });
    const replayed = async (mode: string): Promise<string> =>
      (
        (await board.http.post(`/api/v1/correlations/${correlation}/replay`).send({ mode }).expect(200)).body as {
          correlation_id: string;
        }
      ).correlation_id;
    const recorded = await replayed('recorded');
    expect(await board.ended(recorded)).toMatchObject({ state: 'completed' });
    expect(await indexed(recorded)).toEqual([2]);
    const full = await replayed('full');
    await eventually('the last one waits', async () => (await executions(full, { replays: true })).length === 1);
    clock.advance(10 * SECOND);
    expect(await board.ended(full)).toMatchObject({ state: 'completed' });
    expect(await indexed(full)).toEqual([2]);
    await board.ended(live);
    expect(await indexed(live)).toEqual([3]);
  });

  it('is among the subscriptions of the agents', async () => {
    const { body } = await board.http.get('/api/v1/agents').expect(200);
    const [indexer] = (body as { agents: { subscriptions: object[] }[] }).agents;
    expect(indexer!.subscriptions).toEqual([
      {
        types: ['Edited'],
        mode: 'all',
        priority: 0,
        debounce: { wait_ms: 10_000, at_most_ms: 30_000, key: 'payload.document' },
      },
    ]);
  });
});

describe('debounce after a restart', () => {
  const clock = new ManualClock();
  const folder = new ConfigurationFolder();
  let board: Board;

  const start = async (rule: string): Promise<void> => {
    await board?.close();
    const types = rule.startsWith('types') ? '' : 'types: [Edited], ';
    const config = `agents:\n  indexer: { consumes: [{ ${types}${rule} }], ${INDEXES} }\n`;
    board = await Board.start(config, { clock, folder: folder.path });
  };

  afterAll(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  it('continues its windows, also with other times', async () => {
    await start(debounce());
    const first = await board.publish('Edited', { document: 'a', version: 1 });
    await start('debounce: { key: payload.document, wait: 1m, at_most: 2m }');
    const second = await board.publish('Edited', { document: 'a', version: 2 });
    expect(await board.ended(first)).toMatchObject({ state: 'completed', artifact_count: 1 });
    clock.advance(30 * SECOND);
    await start('debounce: { key: payload.document, wait: 1m, at_most: 2m }');
    expect(await board.status(second)).toMatchObject({ state: 'active' });
    clock.advance(30 * SECOND);
    expect(await board.ended(second)).toMatchObject({ state: 'completed', artifact_count: 2 });
  });

  it('keeps a window while no process has the agent, says so, and then ends it immediately', async () => {
    await start(debounce());
    const correlation = await board.publish('Edited', { document: 'b', version: 1 });
    await board.close();
    const other = 'agents: { other: { consumes: [{ types: [Other] }], engine: { kind: external } } }\n';
    board = await Board.start(other, { clock, folder: folder.path });
    clock.advance(30 * SECOND);
    await eventually('the timer waits for the agent', async () => {
      const parked = await board.app.database.rows('select id from timers where was_due_at is not null');
      return parked.length === 1;
    });
    const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
    expect(body).toMatchObject({ items: [{ kind: 'window', size: 1, size_needed: null, without_process: true }] });
    await start(debounce());
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', artifact_count: 2 });
  });

  it.each([
    ['another key', debounce('payload.name')],
    ['other types', `types: [Edited, Renamed], mode: any, ${debounce()}`],
    ['none', ''],
  ])(
    'keeps a window while the configuration has %s, says so, and continues when the rule is back',
    async (what, rule) => {
      await start(debounce());
      const first = await board.publish('Edited', { document: what, name: what, version: 1 });
      const second = await board.publish('Edited', { document: `${what}, too`, version: 1 });
      await start(rule);
      await eventually('the log names the agent', () =>
        board.app.logLines.some(
          ({ msg, agents }) =>
            String(msg).startsWith('work waits for agents or subscriptions that no worker has') &&
            JSON.stringify(agents).includes('indexer'),
        ),
      );
      const other = await board.publish('Edited', { document: what, name: what, version: 2 });
      clock.advance(30 * SECOND);
      expect(await board.ended(other)).toMatchObject({ state: 'completed', artifact_count: 2 });
      for (const id of [first, second]) expect(await board.status(id)).toMatchObject({ state: 'active' });
      await board.http.post(`/api/v1/correlations/${second}/cancel`).expect(200);
      expect(await board.ended(second)).toMatchObject({ state: 'cancelled' });
      await start(debounce());
      expect(await board.ended(first)).toMatchObject({ state: 'completed', artifact_count: 2 });
    },
  );
});
