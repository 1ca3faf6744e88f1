import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import type { Board } from './board.js';
import { refusals, refuseSecondTurns } from './one-turn.js';
import { Replicas } from './replica-boards.js';

/** More of them by hand: `STARLING_ROUNDS=100 npm test -- test/e2e/singleton.property`. */
const ROUNDS = Number(process.env.STARLING_ROUNDS ?? 2);
const STEPS = 25;
const PROCESSES = TEST_DATABASE === 'postgres' ? 3 : 1;
const MODES = ['skip', 'cancel_running', 'queue'] as const;
const KEYS = 2;

/** Runs for a while, and sometimes fails at its first attempts. */
const AGENT = `globalThis.singletonRuns ??= [];
export default async (inputs, { attempt, signal }) => {
  const { round, mode, key, n, ms, failures } = inputs[0].payload;
  const run = { round, mode, key, n, from: performance.now(), to: null };
  globalThis.singletonRuns.push(run);
  const end = () => { run.to ??= performance.now(); };
  signal.addEventListener('abort', end);
  await new Promise((resolve) => setTimeout(resolve, ms));
  end();
  if (attempt <= failures) throw new Error('again');
  return null;
};`;

const agentOf = (mode: string): string =>
  `  ${mode}: { consumes: [{ types: [One_${mode}] }, { types: [Left_${mode}, Right_${mode}] }], singleton: { key: artifact.payload.key, on_conflict: ${mode} }, retry: { attempts: 3, delay: 1ms }, engine: { kind: function, module: ./run.js }, concurrency: 20 }`;

const CONFIG = `agents:\n${MODES.map(agentOf).join('\n')}\n`;

interface Run {
  round: number;
  mode: string;
  key: string;
  n: number;
  from: number;
  to: number | null;
}

interface Sent {
  mode: (typeof MODES)[number];
  key: string;
  n: number;
  correlation: string;
  /** Its key is known when it is published. */
  isPlain: boolean;
  isCancelled: boolean;
}

interface Execution {
  id: string;
  agent: string;
  state: string;
  correlation_id: string;
  started_at: string | null;
  cancelled_by?: string;
  skipped_for?: string;
}

const recorded = (round: number): Run[] =>
  ((globalThis as unknown as { singletonRuns?: Run[] }).singletonRuns ?? []).filter((run) => run.round === round);

/** Publishes at random to any of the processes, several at a time, and cancels some. */
async function play(random: Random, round: number, boards: readonly Board[]): Promise<Sent[]> {
  const any = (): Board => boards[random.between(0, boards.length - 1)]!;
  const sent: Sent[] = [];
  const send = async (one: Sent, board: Board, other: Board, payload: object): Promise<void> => {
    const { mode, correlation } = one;
    if (one.isPlain) await board.publish(`One_${mode}`, payload, { correlation });
    else {
      await board.publish(`Left_${mode}`, payload, { correlation });
      await other.publish(`Right_${mode}`, payload, { correlation });
    }
    if (one.isCancelled) await other.http.post(`/api/v1/correlations/${correlation}/cancel`);
  };
  for (let step = 0; step < STEPS; step += 1) {
    const together = Array.from({ length: random.between(1, 4) }, () => {
      const n = sent.length;
      const [mode, key] = [MODES[random.between(0, 2)]!, `k${random.between(1, KEYS)}`];
      const isPlain = random.between(0, 3) > 0;
      const one = { mode, key, n, correlation: `${round}-${n}`, isPlain, isCancelled: random.between(0, 9) === 0 };
      sent.push(one);
      const payload = { round, mode, key, n, ms: random.between(0, 12), failures: Math.max(0, random.between(-4, 2)) };
      return send(one, any(), any(), payload);
    });
    await Promise.all(together);
  }
  return sent;
}

const overlaps = (runs: readonly Run[]): boolean => {
  const sorted = [...runs].sort((one, other) => one.from - other.from);
  return sorted.some(({ from }, index) => index > 0 && from < sorted[index - 1]!.to!);
};

it(`of random executions one of a key has its turn, and nothing is lost (${ROUNDS} rounds)`, async () => {
  const random = new Random(printedSeed());
  for (let round = 0; round < ROUNDS; round += 1) {
    const replicas = new Replicas();
    const boards: Board[] = [];
    for (let n = 0; n < PROCESSES; n += 1) boards.push(await replicas.start(CONFIG, { files: { 'run.js': AGENT } }));
    const [board] = boards as [Board];
    await refuseSecondTurns(board);
    const sent = await play(random, round, boards);
    const states = new Map<string, string>();
    for (const { correlation } of sent) states.set(correlation, (await board.ended(correlation)).state);
    await eventually('every run has returned', () => recorded(round).every(({ to }) => to !== null));
    const executions = new Map<string, Execution>();
    for (const { correlation } of sent) {
      const { body } = await board.http.get('/api/v1/executions').query({ correlation_id: correlation }).expect(200);
      for (const one of (body as { items: Execution[] }).items) executions.set(correlation, one);
    }
    const positions = new Map(
      (await board.app.database.rows<{ id: string; seq: number | string }>('select id, seq from executions')).map(
        ({ id, seq }) => [id, Number(seq)],
      ),
    );
    // A request may find that what it cancels has ended by itself, and is deleted then.
    await eventually('every request to cancel has been done', async () => {
      return (await board.app.database.rows('select id from cancel_requests')).length === 0;
    });
    const refused = boards.flatMap(refusals);
    await replicas.close();

    expect(refused).toEqual([]);
    for (const one of sent) {
      const state = states.get(one.correlation)!;
      const execution = executions.get(one.correlation);
      if (state === 'cancelled') continue;
      const why = execution?.skipped_for
        ? 'skipped'
        : execution?.cancelled_by
          ? 'cancelled by another'
          : execution?.state;
      const allowed = {
        skip: ['completed', 'skipped'],
        cancel_running: ['completed', 'cancelled by another'],
        queue: ['completed'],
      }[one.mode];
      expect({ one, state, why: allowed.includes(why!) ? 'allowed' : why }).toEqual({
        one,
        state: 'completed',
        why: 'allowed',
      });
    }
    for (const same of Map.groupBy(sent, ({ mode, key }) => `${mode} ${key}`).values()) {
      const { mode, key } = same[0]!;
      const ofKey = recorded(round).filter((run) => run.mode === mode && run.key === key);
      const isLive = ({ correlation }: Sent): boolean => states.get(correlation) !== 'cancelled';
      const executionOf = ({ correlation }: Sent): Execution => executions.get(correlation)!;
      const positionOf = (one: Sent): number => positions.get(executionOf(one).id)!;
      // The engine of a cancelled execution hears of it only after its end.
      if (mode !== 'cancel_running' && same.every(({ isCancelled }) => !isCancelled))
        expect({ mode, key, overlaps: overlaps(ofKey) }).toEqual({ mode, key, overlaps: false });
      const ran = ofKey.map(({ n }) => n);
      // Each ran until its end before the next one began.
      expect(ran).toEqual([...new Set(ran)].flatMap((n) => ran.filter((each) => each === n)));
      if (mode === 'skip')
        for (const one of same.filter((each) => executionOf(each)?.skipped_for)) {
          const other = [...executions.values()].find(({ id }) => id === executionOf(one).skipped_for);
          expect(other).toMatchObject({ agent: mode });
          expect(other).not.toHaveProperty('skipped_for');
          expect(executionOf(one).started_at).toBeNull();
        }
      if (mode === 'queue') {
        const plain = same.filter((one) => one.isPlain && isLive(one));
        const inOrder = plain.sort((one, other) => positionOf(one) - positionOf(other)).map(({ n }) => n);
        expect([...new Set(ran)].filter((n) => inOrder.includes(n))).toEqual(inOrder);
      }
      if (mode === 'cancel_running') {
        const newest = same
          .filter((one) => executions.has(one.correlation))
          .sort((one, other) => positionOf(other) - positionOf(one))[0];
        if (newest && isLive(newest)) expect(executionOf(newest).state).toBe('completed');
      }
    }
  }
}, 600_000);
