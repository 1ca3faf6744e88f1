import { KeyScan } from '../../src/blackboard/limits/key-scan.js';
import { replaceScheduler, type Scheduler, scheduler } from '../../src/common/scheduler.js';

const MANY = 1_200;
const PART_MS = 100;

/** Uses no database: how long a scan takes is decided here. */
describe('a scan of all keys', () => {
  let elapsed: number;
  let keys: string[];
  let readAfter: string[];
  let usedReads: number;
  let scan: KeyScan<number>;
  let restore: () => void;

  beforeEach(() => {
    elapsed = 0;
    keys = Array.from({ length: MANY }, (_, index) => `k${String(index).padStart(4, '0')}`);
    readAfter = [];
    usedReads = 0;
    restore = replaceScheduler(Object.assign(Object.create(scheduler) as Scheduler, { elapsed: () => elapsed }));
    scan = new KeyScan({
      keys: async (after, limit) => {
        readAfter.push(after);
        elapsed += PART_MS;
        return keys.filter((key) => key > after).slice(0, limit);
      },
      used: async () => (usedReads += 1),
    });
  });

  afterEach(() => restore());

  const readAll = async (): Promise<string[]> => {
    const found: string[] = [];
    while (scan.isRunning) found.push(...((await scan.next())?.keys ?? []));
    return found;
  };

  it('reads each key once, and what is used once', async () => {
    scan.begin();
    expect(await readAll()).toEqual(keys);
    expect(usedReads).toBe(1);
    expect(await scan.next()).toBeNull();
  });

  it('begins again only after a rest that is as long as the last one took', async () => {
    scan.begin();
    await readAll();
    const took = elapsed;
    expect(took).toBe(3 * PART_MS);
    elapsed = 2 * took - 1;
    scan.begin();
    expect(scan.isRunning).toBe(false);
    elapsed = 2 * took;
    scan.begin();
    expect(await readAll()).toEqual(keys);
    expect(usedReads).toBe(2);
  });

  it('rests for at most half a minute, also if the database was away while it ran', async () => {
    scan.begin();
    await scan.next();
    elapsed += 600_000;
    await readAll();
    elapsed += 30_000;
    scan.begin();
    expect(scan.isRunning).toBe(true);
  });

  it('does not begin again while it runs', async () => {
    scan.begin();
    await scan.next();
    scan.begin();
    expect(await readAll()).toEqual(keys.slice(500));
  });

  it('begins without a rest after a change, also of keys that it has read already', async () => {
    scan.begin();
    await readAll();
    scan.beginNow();
    await scan.next();
    scan.beginNow();
    expect(await readAll()).toEqual([...keys.slice(500), ...keys]);
    expect(usedReads).toBe(3);
  });

  it('leaves other work a turn between two parts', async () => {
    scan.begin();
    await scan.next();
    let reads: number | null = null;
    scheduler.later(() => (reads = readAfter.length));
    await scan.next();
    expect(reads).toBe(1);
  });

  it('knows whether keys are left, and reads nothing else if none are', async () => {
    keys = keys.slice(0, 500);
    scan.begin();
    await readAll();
    expect(scan.areSome).toBe(true);
    keys = [];
    scan.beginNow();
    await readAll();
    expect([scan.areSome, usedReads]).toEqual([false, 1]);
  });
});
