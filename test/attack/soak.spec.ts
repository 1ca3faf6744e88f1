import { integrity } from '../faults/integrity.js';
import { countsOf, pendingOf } from '../faults/invariants.js';
import type { Rows } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { ANSWERS } from './attacks/answers.js';
import { ask, type Attack } from './attacks/attack.js';
import { BATCHES } from './attacks/batches.js';
import { BODIES } from './attacks/bodies.js';
import { CONNECTIONS } from './attacks/connections.js';
import { FILTERS } from './attacks/filters.js';
import { INPUTS } from './attacks/inputs.js';
import { NAMES } from './attacks/names.js';
import { SCHEMAS } from './attacks/schemas.js';
import { STREAMS } from './attacks/streams.js';
import { WAITING } from './attacks/waiting.js';
import { REACHES_VICTIM, WEBHOOKS } from './attacks/webhooks.js';
import { Bystanders } from './bystanders.js';
import { Pod } from './pod.js';
import type { Sent } from './requests.js';
import { broken, SoakClients } from './soak-clients.js';
import { faults } from './withstand.js';

const SECONDS = Number(process.env.STARLING_SOAK_SECONDS ?? 600);
const ATTACKERS = 2;
/**
 * The share of the time before memory is measured for the first time, because V8 compiles each part of the program at its
 * first use.
 */
const WARM_SHARE = 1 / 5;
/**
 * The first request of each loads modules or builds a document that stays in memory: 15 MiB together. They are made before
 * memory is measured, because attacks at random may reach them only later.
 */
const KEPT_AFTER_FIRST_USE: readonly Sent[] = [
  { path: '/openapi.json' },
  { path: '/docs/redoc.standalone.js' },
  {
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_agents', arguments: {} } },
  },
];
const MOST_GROWTH = 1.3;
const SAMPLES = 20;
const NOTE_EVERY_MS = 1_000;
const MOST_TO_FINISH_MS = 900_000;
const MOST_WITHOUT_PROGRESS_MS = 60_000;
const ATTACKS: readonly Attack[] = [
  ANSWERS,
  BATCHES,
  BODIES,
  CONNECTIONS,
  FILTERS,
  INPUTS,
  NAMES,
  SCHEMAS,
  STREAMS,
  WAITING,
  WEBHOOKS,
].flat();

/** Runs the built program as a process with a pod's memory, its database and HTTP. Nothing is faked. */
describe(`attacked at random for ${SECONDS} s`, () => {
  let pod: Pod;

  beforeAll(async () => {
    pod = await Pod.start(REACHES_VICTIM);
  });
  afterAll(() => pod.close());

  it(
    'keeps its promises to 20 honest clients, answers no 5xx but 503, and frees its memory',
    async () => {
      const random = new Random(printedSeed());
      for (const prepare of new Set(ATTACKS.map((attack) => attack.prepare))) await prepare?.(pod);
      const bystanders = await new Bystanders(pod.url, pod.pid).working();
      const clients = new SoakClients(pod.url, random);

      const found: string[] = [];
      const done: string[] = [];
      const running = new Set<string>();
      const began = Date.now();
      const memory: string[] = [];
      const note = (line: string): unknown =>
        memory.push(`${((Date.now() - began) / 1_000).toFixed(1)} s: ${line}; ${[...running].join('; ')}`);
      const noting = setInterval(() => void pod.memoryLine().then(note, () => undefined), NOTE_EVERY_MS);
      const attacker = async (until: number): Promise<void> => {
        while (Date.now() < until && pod.isAlive) {
          const attack = ATTACKS[random.between(0, ATTACKS.length - 1)]!;
          done.push(attack.name);
          running.add(attack.name);
          found.push(...faults(await attack.run(pod)).map((fault) => `${attack.name}: ${fault}`));
          running.delete(attack.name);
        }
      };
      const attackFor = async (seconds: number): Promise<void> => {
        const until = Date.now() + seconds * 1_000;
        await Promise.all(Array.from({ length: ATTACKERS }, () => attacker(until)));
      };
      let before = 0;
      try {
        for (const request of KEPT_AFTER_FIRST_USE) expect((await ask(pod, request)).status).toBe(200);
        await attackFor(SECONDS * WARM_SHARE);
        if (pod.isAlive) before = await leastMemory(pod);
        await attackFor(SECONDS * (1 - WARM_SHARE));
      } finally {
        clearInterval(noting);
      }
      if (!pod.isAlive)
        throw new Error(
          `the process died, with ${Math.round(pod.mostMib)} MiB (${pod.lastResident}), after ${done.join('; ')}:
${memory.filter((_, index) => index % 20 === 0 || index >= memory.length - 20).join('\n')}
${pod.lastOutput}`,
        );

      await clients.stop();
      const { slowestMs } = await bystanders.end();
      // An attack that was prepared but never run leaves its agent paused.
      await ask(pod, { path: '/api/v1/agents/parser/resume', body: {} });
      // The attackers' work also runs to its end. Work that is still pending after that is reported as a breach.
      const isFinished = (): Promise<boolean> =>
        pod.database.look(async (rows) => {
          if ((await rows('select 1 from correlations where pending <> 0 limit 1')).length > 0) return false;
          return (await broken(rows, clients.acknowledged)).length === 0;
        });
      const finishing = Date.now();
      let left: string[] = [];
      let progressAt = finishing;
      const isFinishedOrStuck = async (): Promise<boolean> => {
        if (await isFinished()) return true;
        const now = await pod.database.look(unfinished);
        if (now.join() !== left.join()) progressAt = Date.now();
        left = now;
        return Date.now() - progressAt > MOST_WITHOUT_PROGRESS_MS;
      };
      await eventually('all work is finished', isFinishedOrStuck, MOST_TO_FINISH_MS).catch(() => undefined);
      const finishedMs = Date.now() - finishing;
      const breaches = await pod.database.look(async (rows) => [
        ...(await broken(rows, clients.acknowledged)),
        ...(await integrity(rows)),
        ...(await unfinished(rows)),
        ...(await pendingOf(rows)),
        ...(await countsOf(rows)),
      ]);
      let after = 0;
      const isBack = async (): Promise<boolean> => (after = await pod.memory()) <= before * MOST_GROWTH;
      const isMemoryBack = await eventually('memory is back', isBack, 180_000).then(
        () => true,
        () => false,
      );

      const { correlations, runs, batches } = clients.acknowledged;
      const mib = { before: Math.round(before), after: Math.round(after), most: Math.round(pod.mostMib) };
      const acknowledged = { correlations: correlations.size, runs: runs.size, batches: batches.size };
      console.log(
        `${done.length} attacks; ${JSON.stringify({ acknowledged, refused: clients.refused, slowestMs, finishedMs, mib })}`,
      );
      expect({
        breaches: breaches.slice(0, 10),
        faults: found.slice(0, 10),
        complaints: clients.complaints.slice(0, 10),
      }).toEqual({ breaches: [], faults: [], complaints: [] });
      expect({ isMemoryBack, mib }).toEqual({ isMemoryBack: true, mib });
      for (const count of Object.values(acknowledged)) expect(count).toBeGreaterThan(0);
    },
    (SECONDS + 1_500) * 1_000,
  );
});

/** Returns the least MiB of several samples, because honest clients use the pod meanwhile. */
async function leastMemory(pod: Pod): Promise<number> {
  let least = Infinity;
  for (let sample = 0; sample < SAMPLES; sample += 1) least = Math.min(least, await pod.memory());
  return least;
}

/** Counts the executions that have not ended, by agent and state, and the items of batches that run. */
async function unfinished(rows: Rows): Promise<string[]> {
  const executions = await rows<{ agent: string; state: string; count: number }>(
    `select agent, state, count(*) as count from executions where state in ('pending', 'running') group by agent, state`,
  );
  const batches = await rows<{ agent: string; count: number }>(
    `select agent, sum(total_items - succeeded_items - failed_items) as count from batches where status = 'running' group by agent`,
  );
  return [
    ...executions.map(({ agent, state, count }) => `${count} executions of ${agent} are ${state}`),
    ...batches.map(({ agent, count }) => `${count} items of batches of ${agent} are left`),
  ].sort();
}
