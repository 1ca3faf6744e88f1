// Uses the application on both databases, with one megabyte for clients' data, and function agents. The clock is faked,
// so that all attempts come soon.
import { MemoryBudget } from '../../src/common/memory-budget.js';
import type { TraceBody } from '../../src/features/correlations/dto/trace-body.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const ATTEMPTS = 50;
const BROKEN = 5;
const EXPIRED = 100;

const CONFIG = `
types: { Note: {}, Left: {}, Right: {} }
agents:
  reader:
    consumes: [{ types: [Note], where: size(payload) > 1000000 }]
    publishes: [{ type: Never }]
    engine: { kind: expression, expression: 'payload' }
  joiner:
    consumes: [{ types: [Left, Right], join: { by: payload.n, within: 1s } }]
    publishes: [{ type: Never }]
    engine: { kind: expression, expression: 'payload' }
  broken:
    consumes: [{ types: [Start] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./broken.js }
    retry: { attempts: ${ATTEMPTS}, delay: 1s, max_delay: 1s }
`;

const FILES = { 'broken.js': `export default async () => { throw new Error('x'.repeat(2_000)); };` };

const clock = new ManualClock();
let board: Board;
let memory: MemoryBudget;
beforeAll(async () => {
  board = await Board.start(CONFIG, { files: FILES, clock, settings: { memoryBudgetBytes: 1_024 ** 2 } });
  memory = board.app.app.get(MemoryBudget);
});
afterEach(nothingIsReserved);
afterAll(() => board.close());

/** An answer may arrive before the service has released its memory. */
async function nothingIsReserved(): Promise<void> {
  await eventually('all memory is free', () => memory.usedBytes === 0);
}

/** Leaves only so much of the memory. */
async function takeAllBut(bytes: number): Promise<{ release(): void }> {
  await nothingIsReserved();
  return memory.reserve(memory.largestBytes - bytes);
}

const explain = (id: string) => board.http.get(`/api/v1/artifacts/${id}/explain`);
const trace = (correlation: string, query: object = {}) =>
  board.http.get(`/api/v1/correlations/${correlation}/trace`).query(query);

it('an explanation is refused while there is no memory for its artifact', async () => {
  await board.publish('Note', { list: Array.from({ length: 1_000 }, () => ({})) }, { correlation: 'explained' });
  const [{ id }] = (await trace('explained').expect(200)).body.artifacts as [{ id: string }];
  const taken = await takeAllBut(16 * 1_024);
  const refused = await explain(id);
  taken.release();
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  await explain(id).expect(200);
});

it('an explanation is refused while there is no memory for the errors of its correlation', async () => {
  for (let n = 0; n < EXPIRED; n += 1) await board.publish('Left', { n }, { correlation: 'expired' });
  await eventually('all groups have expired', async () => {
    clock.advance(1_000);
    return (await board.status('expired')).error_count === EXPIRED;
  });
  const { id } = (await board.artifacts('expired'))[0]!;
  const taken = await takeAllBut(32 * 1_024);
  const refused = await explain(id);
  taken.release();
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  const { verdicts } = (await explain(id).expect(200)).body as { verdicts: { agent: string; verdict: string }[] };
  expect(verdicts).toContainEqual(expect.objectContaining({ agent: 'joiner', verdict: 'join_expired' }));
});

it('a trace is refused while there is no memory for it, and if there can never be enough, the error says to request less', async () => {
  for (let n = 0; n < BROKEN; n += 1) await board.publish('Start', { n }, { correlation: 'traced' });
  await eventually('all attempts have failed', async () => {
    clock.advance(1_000);
    return (await board.status('traced')).state !== 'active';
  });
  const never = await trace('traced');
  expect([never.status, (never.body as { detail: string }).detail]).toEqual([
    400,
    'limit: a trace of 500 artifacts takes more memory than memory_budget allows for one request; use a smaller limit',
  ]);

  const taken = await takeAllBut(100 * 1_024);
  const refused = await trace('traced', { limit: 1 });
  taken.release();
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  const [execution] = ((await trace('traced', { limit: 1 }).expect(200)).body as TraceBody).executions;
  expect(execution!.attempts).toHaveLength(ATTEMPTS);
});
