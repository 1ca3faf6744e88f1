// Uses two applications on one Postgres, each with its own connections and wake-ups. The model server is a stand-in;
// nothing else is faked.
import pg from 'pg';

import { engine, setKeys } from '../engines/llm/llm-board.js';
import { liveEventsBeforeEntries, SseReader } from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { QUEUED } from '../support/queued-agents.js';
import type { Board } from './board.js';
import { Replicas, SERVER, withoutPolling } from './replica-boards.js';

const config = (models: ModelServer): string => `
types: { Note: {} }
agents:
  echo:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: function, module: ./echo.js }
  writer: { consumes: [{ types: [Topic] }], publishes: [{ type: Story }], engine: ${engine(models)} }
`;

const replicas = new Replicas();
let here: Board;
let elsewhere: Board;
let listener: pg.Client;
let models: ModelServer;
/** The messages that one process has sent to the others. */
const messages: string[] = [];

beforeAll(async () => {
  setKeys();
  models = await ModelServer.start();
  // Polling is off, so that only wake-ups report the other's artifacts and live events. No agent runs here.
  [here, elsewhere] = [
    withoutPolling(await replicas.start(config(models), { files: QUEUED, role: SERVER })),
    withoutPolling(await replicas.start(config(models), { files: QUEUED })),
  ];
  listener = new pg.Client({ connectionString: here.app.database.url });
  await listener.connect();
  listener.on('notification', ({ payload }) => messages.push(...(JSON.parse(payload!) as { texts: string[] }).texts));
  await listener.query('listen starling');
});
afterAll(async () => {
  await listener.end();
  await replicas.close();
  await models.close();
});

const messageKinds = (): string[] => messages.map((text) => (JSON.parse(text) as [string])[0]);

it('send each other no messages about artifacts and executions while no stream is open', async () => {
  await elsewhere.ended(await elsewhere.publish('Question', { n: 1 }));
  // Notifications arrive in the order of their sending.
  await listener.query(`select pg_notify('starling', '{"from": "test", "texts": ["[\\"end\\"]"]}')`);
  await eventually('all messages have arrived', () => messageKinds().includes('end'));
  expect(messageKinds().filter((kind) => kind === 'stored' || kind === 'live')).toEqual([]);
});

it("show the other's artifacts soon, and its live events to readers who request them", async () => {
  const [plain, live] = [
    await SseReader.open(here.app.url),
    await SseReader.open(here.app.url, { live: true, correlation_id: ['far', 'asked'] }),
  ];
  await eventually('the other process knows of the streams', async () => {
    await elsewhere.publish('Note', {}, { correlation: 'asked' });
    return live.liveEvents.length > 0;
  });
  const ofFarCorrelation = <T extends { correlation_id: string }>(all: T[]): T[] =>
    all.filter(({ correlation_id }) => correlation_id === 'far');
  for (let n = 0; n < 20; n += 1) await elsewhere.publish('Note', { n }, { correlation: 'far' });
  await eventually(
    'all came',
    () => ofFarCorrelation(plain.entries).length === 20 && ofFarCorrelation(live.entries).length === 20,
  );
  await elsewhere.ended(await elsewhere.publish('Question', { n: 1 }, { correlation: 'far' }));
  await eventually(
    'it was notified that the correlation has settled',
    () =>
      ofFarCorrelation(live.liveEvents).filter(({ event_type }) => event_type === 'correlation_settled').length === 21,
  );
  expect(plain.liveEvents).toEqual([]);
  const kinds = ofFarCorrelation(live.liveEvents).map(({ event_type }) => event_type);
  expect(kinds).toEqual(expect.arrayContaining(['execution_started', 'artifact_consumed', 'execution_succeeded']));
  plain.close();
  live.close();
});

it("show the other's live events after these artifacts, even while an earlier transaction is open", async () => {
  const reader = await SseReader.open(here.app.url, { live: true });
  await eventually('the other process knows of the stream', async () => {
    await elsewhere.publish('Note', {}, { correlation: 'asked-again' });
    return reader.liveEvents.length > 0;
  });
  const open = new pg.Client({ connectionString: here.app.database.url });
  await open.connect();
  try {
    await open.query('begin');
    await open.query('select pg_current_xact_id()');
    const ids = Array.from({ length: 20 }, (_, n) => `ordered-${n}`);
    await Promise.all(ids.map((correlation, n) => elsewhere.publish('Question', { n }, { correlation })));
    for (const id of ids) await elsewhere.ended(id);
    await open.query('commit');
    const settled = (): number =>
      reader.liveEvents.filter(
        ({ event_type: type, correlation_id: id }) => type === 'correlation_settled' && ids.includes(id),
      ).length;
    await eventually('all have settled', () => settled() === 20);
    expect(liveEventsBeforeEntries(reader.all.filter(({ correlation_id: id }) => ids.includes(id)))).toEqual([]);
  } finally {
    await open.end();
    reader.close();
  }
});

it('show all output of a model on the other process, even if it repeats itself', async () => {
  const reader = await SseReader.open(here.app.url, { live: true, correlation_id: ['begun', 'story'] });
  await eventually('the other process knows of the stream', async () => {
    await elsewhere.publish('Note', {}, { correlation: 'begun' });
    return reader.liveEvents.length > 0;
  });
  // Long enough for several live events together, some of which are equal.
  const story = JSON.stringify({ text: 'la '.repeat(2_000) });
  models.answers({ text: story });
  await elsewhere.publish('Topic', {}, { correlation: 'story' });
  const shown = (): string =>
    (reader.liveEvents as unknown as { event_type: string; text: string }[])
      .filter(({ event_type: type }) => type === 'execution_output')
      .map(({ text }) => text)
      .join('');
  await eventually('its end is shown', () => shown().endsWith('"}'));
  expect([shown().length, shown() === story]).toEqual([story.length, true]);
  reader.close();
});

it('resume on each other', async () => {
  // Work of earlier tests may still run.
  const filter = { correlation_id: ['first', 'second', 'third'] };
  const first = await SseReader.open(here.app.url, filter);
  await elsewhere.publish('Note', {}, { correlation: 'first' });
  await here.publish('Note', {}, { correlation: 'second' });
  await eventually('both came', () => first.entries.length === 2);
  first.close();
  await here.publish('Note', {}, { correlation: 'third' });
  const second = await SseReader.open(elsewhere.app.url, filter, { 'Last-Event-ID': String(first.entries[0]!.seq) });
  await eventually('the rest came', () => second.entries.length === 2);
  expect(second.entries.map(({ correlation_id }) => correlation_id)).toEqual([
    first.entries[1]!.correlation_id,
    'third',
  ]);
  second.close();
});
