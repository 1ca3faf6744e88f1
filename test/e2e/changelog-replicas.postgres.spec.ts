// Two applications on one Postgres, each with its own connections and wake-ups. Nothing is faked.
import pg from 'pg';
import { SseReader } from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import type { Board } from './board.js';
import { Replicas, withoutLooks } from './replica-boards.js';

const CONFIG = `
types: { Note: {} }
agents:
  echo:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
`;

const replicas = new Replicas();
let here: Board;
let elsewhere: Board;
let listener: pg.Client;
/** What one process has told the others. */
const told: string[] = [];

beforeAll(async () => {
  // Without looks, only wake-ups bring what the other has published.
  [here, elsewhere] = [withoutLooks(await replicas.start(CONFIG)), withoutLooks(await replicas.start(CONFIG))];
  listener = new pg.Client({ connectionString: here.app.database.url });
  await listener.connect();
  listener.on('notification', ({ payload }) => told.push(...(JSON.parse(payload!) as { texts: string[] }).texts));
  await listener.query('listen starling');
});
afterAll(async () => {
  await listener.end();
  await replicas.close();
});

const kindsTold = (): string[] => told.map((text) => (JSON.parse(text) as [string])[0]);

it('tell each other nothing of artifacts and executions while no stream is open', async () => {
  await elsewhere.ended(await elsewhere.publish('Question', { n: 1 }));
  // Notifications come in the order of their sending.
  await listener.query(`select pg_notify('starling', '{"from": "test", "texts": ["[\\"end\\"]"]}')`);
  await eventually('all that was told is here', () => kindsTold().includes('end'));
  expect(kindsTold().filter((kind) => kind === 'stored' || kind === 'notice')).toEqual([]);
});

it('show what the other has published, soon, and its notices to those who ask', async () => {
  const [plain, noticing] = [await SseReader.open(here.app.url), await SseReader.open(here.app.url, { notices: true, correlation_id: ['far', 'asked'] })];
  await eventually('the other knows of the streams', async () => {
    await elsewhere.publish('Note', {}, { correlation: 'asked' });
    return noticing.notices.length > 0;
  });
  const ofFar = <T extends { correlation_id: string }>(all: T[]): T[] => all.filter(({ correlation_id }) => correlation_id === 'far');
  for (let n = 0; n < 20; n += 1) await elsewhere.publish('Note', { n }, { correlation: 'far' });
  await eventually('all came', () => ofFar(plain.entries).length === 20 && ofFar(noticing.entries).length === 20);
  await elsewhere.ended(await elsewhere.publish('Question', { n: 1 }, { correlation: 'far' }));
  await eventually('it was told that the correlation has settled', () => ofFar(noticing.notices).filter(({ event_type }) => event_type === 'correlation_settled').length === 21);
  expect(plain.notices).toEqual([]);
  const kinds = ofFar(noticing.notices).map(({ event_type }) => event_type);
  expect(kinds).toEqual(expect.arrayContaining(['execution_started', 'artifact_consumed', 'execution_succeeded']));
  plain.close();
  noticing.close();
});

it('resume on each other', async () => {
  const first = await SseReader.open(here.app.url);
  await elsewhere.publish('Note', {}, { correlation: 'first' });
  await here.publish('Note', {}, { correlation: 'second' });
  await eventually('both came', () => first.entries.length === 2);
  first.close();
  await here.publish('Note', {}, { correlation: 'third' });
  const second = await SseReader.open(elsewhere.app.url, {}, { 'Last-Event-ID': String(first.entries[0]!.seq) });
  await eventually('the rest came', () => second.entries.length === 2);
  expect(second.entries.map(({ correlation_id }) => correlation_id)).toEqual([first.entries[1]!.correlation_id, 'third']);
  second.close();
});
