import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Service } from '../support/service.js';

const ROUNDS = Number(process.env.STARLING_CRASH_ROUNDS ?? 8);
const CONFIG = `
agents:
  count: { consumes: [{ types: [Due] }], publishes: [{ type: Counted }], engine: { kind: expression, expression: '{"at": payload.scheduled_for}' } }
schedules:
${Array.from({ length: 5 }, (_, index) => `  s${index}: { every: 1s, publishes: { type: Due } }`).join('\n')}
`;

/** Runs the built program as a process, its database and SIGKILL, with ticks every second. Nothing is faked. */
describe(`schedules of a service that is killed ${ROUNDS} times`, () => {
  let folder: string;
  let configuration: ConfigurationFolder;
  let service: Service | undefined;

  beforeAll(async () => {
    await builtProgram();
    folder = await mkdtemp(join(tmpdir(), 'starling-ticks-'));
    configuration = new ConfigurationFolder();
  });
  afterAll(async () => {
    await service?.kill();
    await rm(folder, { recursive: true, force: true });
    configuration.remove();
  });

  it(
    'lose no tick and double none',
    async () => {
      const random = new Random(printedSeed());
      const database = await databaseOf(folder);
      const config = configuration.write('starling.yaml', CONFIG);
      const args = ['--config', config, '--database-url', database.url, '--lease', '2s', '--log-level', 'warn'];
      for (let round = 1; round <= ROUNDS; round += 1) {
        service = await Service.start(args);
        await new Promise((resolve) => setTimeout(resolve, random.between(0, 2_500)));
        await service.kill('SIGKILL');
      }
      service = await Service.start(args);
      const ticks = () =>
        database.rows(`select schedule, scheduled_for, state, artifact_id from schedule_ticks`) as Promise<
          { schedule: string; scheduled_for: number; state: string; artifact_id: string }[]
        >;
      const before = (await ticks()).length;
      await eventually('further ticks', async () => (await ticks()).length > before + 10);
      expect(await service.kill('SIGTERM')).toBe(0);

      const all = await ticks();
      const bySchedule = Map.groupBy(all, ({ schedule }) => schedule);
      expect(bySchedule.size).toBe(5);
      for (const [name, own] of bySchedule) {
        const times = own.map(({ scheduled_for }) => Number(scheduled_for)).sort((a, b) => a - b);
        const gaps = times.slice(1).filter((time, index) => time - times[index]! !== 1_000);
        expect([name, gaps]).toEqual([name, []]);
      }
      expect(new Set(all.map(({ state }) => state))).toEqual(new Set(['published']));
      const artifacts = (await database.rows(`select id from artifacts where produced_by = 'schedule'`)) as {
        id: string;
      }[];
      expect(artifacts.map(({ id }) => id).sort()).toEqual(all.map(({ artifact_id }) => artifact_id).sort());
    },
    120_000 + ROUNDS * 10_000,
  );
});
