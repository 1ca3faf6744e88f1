import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { builtProgram } from '../support/built-program.js';
import { SseReader } from '../support/changelog-readers.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Service } from '../support/service.js';
import { Publisher } from './streams/publisher.js';
import { RoamingReader } from './streams/roaming-reader.js';
import { allEntries } from './streams/truth.js';

const READERS = Number(process.env.STARLING_STREAM_READERS ?? 20);
const SECONDS = Number(process.env.STARLING_STREAM_SECONDS ?? 2);
const RATE = Number(process.env.STARLING_STREAM_RATE ?? 100);
/** One reader in ten has no filter. */
const UNFILTERED = READERS / 10;
const CORRELATIONS = 30;

/** How many MB the service may grow by for a reader that reads nothing: its buffer, and the garbage of that. */
const GROWTH_PER_READER = 1;
const GROWTH = 150;

// Runs the built program as one process, or as two on one Postgres, HTTP, SIGKILL, and clients in both protocols.
// Nothing is faked.
let folder: string;
let database: TestDatabase;
const services: (Service | undefined)[] = [];

const start = (): Promise<Service> =>
  Service.start([
    '--config',
    join(folder, 'starling.yaml'),
    '--database-url',
    database.url,
    '--log-level',
    'warn',
    '--max-streams-per-address',
    '2000',
  ]);

beforeAll(async () => {
  await builtProgram();
  folder = await mkdtemp(join(tmpdir(), 'starling-streams-'));
  await writeFile(join(folder, 'starling.yaml'), 'types: { Note: {} }\n');
  database = await databaseOf(folder);
  for (let count = TEST_DATABASE === 'postgres' ? 2 : 1; count > 0; count -= 1) services.push(await start());
});

afterAll(async () => {
  await Promise.all(services.map((service) => service?.kill()));
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

it(
  `${READERS} readers that disconnect and resume at random, under ${RATE} publishes/s and a kill, see all of their entries once and in order`,
  async () => {
    const random = new Random(printedSeed());
    const anyUrl = (): string | undefined => {
      const up = services.filter((service) => service && !service.hasEnded);
      return up[random.between(0, up.length - 1)]?.url;
    };
    const correlation = (): string => `c-${random.between(1, CORRELATIONS)}`;
    const readers = Array.from(
      { length: READERS },
      (_, index) => new RoamingReader(random, index < UNFILTERED ? undefined : correlation(), anyUrl),
    );
    const publisher = new Publisher(RATE, anyUrl, correlation);
    for (const [index, service] of [...services.entries()]) {
      await setTimeout((SECONDS * 1_000) / (services.length + 1));
      services[index] = undefined;
      await service!.kill();
      services[index] = await start();
    }
    await setTimeout((SECONDS * 1_000) / (services.length + 1));
    await publisher.stop();
    await Promise.all(readers.map((reader) => reader.settle()));

    const all = await allEntries(services[0]!);
    for (const reader of readers) {
      const expected = all.filter((entry) => reader.asksFor(entry));
      await eventually(`${expected.length} entries came`, () => reader.count >= expected.length);
      reader.close();
      const seqs = (entries: typeof all): number[] => entries.map(({ seq }) => seq);
      const { begunBehind } = reader;
      const got = { begunBehind, stored: all.length, seqs: seqs(reader.entries) };
      expect(got).toEqual({ ...got, seqs: seqs(expected) });
      expect(reader.entries).toEqual(expected);
    }
    const stored = new Map<string, number>();
    for (const { correlation_id: id } of all) stored.set(id, (stored.get(id) ?? 0) + 1);
    for (const [id, acknowledged] of Map.groupBy(publisher.acknowledged, (id) => id))
      expect([id, stored.get(id)! >= acknowledged.length]).toEqual([id, true]);
    expect(publisher.failures.filter((failure) => !failure.startsWith('503'))).toEqual([]);
    const sessions = readers.reduce((sum, reader) => sum + reader.sessions, 0);
    expect(sessions).toBeGreaterThan(READERS);
    console.log(
      `${all.length} entries, ${publisher.acknowledged.length} acknowledged, ${READERS} readers in ${sessions} sessions`,
    );
  },
  300_000 + SECONDS * 3_000,
);

it(`${READERS} readers that read nothing are closed: memory stays flat, and another reader sees no delay`, async () => {
  const service = services[0]!;
  const residentMb = (): number =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))![1]) / 1_024;
  const open = async (): Promise<number> =>
    Number(/^starling_streams (\d+)$/m.exec(await (await fetch(`${service.url}/metrics`)).text())![1]);
  // Entries of 25 KB.
  const visibility = { kind: 'Private', agents: Array.from({ length: 100 }, (_, n) => `${n}`.padStart(255, 'x')) };
  const body = JSON.stringify({ type: 'Note', payload: {}, visibility });
  const reading = await SseReader.open(service.url);
  const stalled = await Promise.all(
    Array.from({ length: READERS }, async () => {
      const reader = await SseReader.open(service.url);
      reader.pause();
      return reader;
    }),
  );
  const before = residentMb();
  let [most, published] = [before, 0];
  const took: number[] = [];
  for (; (await open()) > 1; published += 1) {
    expect(published).toBeLessThan(1_000);
    await fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    const acknowledged = performance.now();
    await eventually('the other reader has it', () => reading.entries.length > published);
    took.push(performance.now() - acknowledged);
    most = Math.max(most, residentMb());
  }
  console.log(
    `${READERS} stalled readers closed after ${published} entries; ${Math.round(before)} MB before, ${Math.round(most)} MB at most; the slowest entry took ${Math.round(Math.max(...took))} ms`,
  );
  expect([reading.hasEnded, await open()]).toEqual([false, 1]);
  expect(most - before).toBeLessThan(GROWTH + GROWTH_PER_READER * READERS);
  // A busy machine delays one or the other.
  expect(took.filter((ms) => ms > 2_000).length).toBeLessThanOrEqual(published / 20);
  [reading, ...stalled].forEach((reader) => reader.close());
}, 300_000);
