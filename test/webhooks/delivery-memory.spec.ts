import { DeliveryMemory, type GiveBack } from '../../src/features/webhooks/delivery-memory.js';

const LIMIT = 1_200;
const signal = new AbortController().signal;

describe('the memory for payloads that are being sent', () => {
  let memory: DeliveryMemory;
  let begun: string[];
  let held: Map<string, GiveBack>;

  beforeEach(() => {
    memory = new DeliveryMemory(LIMIT);
    begun = [];
    held = new Map();
  });

  /** `bytes` is the size of the payload, which counts three times. */
  const take = (name: string, bytes: number, host = name): Promise<void> =>
    memory.take(host, bytes, signal).then((giveBack) => {
      begun.push(name);
      held.set(name, giveBack);
    });

  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  async function release(name: string): Promise<void> {
    held.get(name)!();
    await settled();
  }

  it('is assigned in the order of the requests, as far as it suffices, without overtaking', async () => {
    for (const [name, bytes] of [
      ['a', 200],
      ['b', 100],
      ['c', 200],
      ['d', 50],
    ] as const)
      void take(name, bytes);
    await settled();
    expect(begun).toEqual(['a', 'b']);
    await release('b');
    expect(begun).toEqual(['a', 'b', 'c', 'd'].slice(0, 3));
    await release('a');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is assigned to a payload larger than the whole, which is then sent alone', async () => {
    void take('huge', 10_000);
    void take('small', 1);
    await settled();
    expect(begun).toEqual(['huge']);
    await release('huge');
    expect(begun).toEqual(['huge', 'small']);
  });

  it('is not all assigned to one host', async () => {
    for (let n = 0; n < 8; n += 1) void take(`slow-${n}`, 100, 'slow');
    await settled();
    expect(begun).toEqual(['slow-0', 'slow-1']);
    void take('other', 100);
    await settled();
    expect(begun).toEqual(['slow-0', 'slow-1', 'other']);
  });

  it('is no longer waited for by an aborted request, and those behind it follow', async () => {
    await take('first', 300);
    const giveUp = new AbortController();
    const waiting = memory.take('waits', 400, giveUp.signal);
    void take('behind', 100);
    await settled();
    expect(begun).toEqual(['first']);
    giveUp.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await settled();
    expect(begun).toEqual(['first', 'behind']);
    await expect(memory.take('late', 1, giveUp.signal)).rejects.toThrow('stopped');
  });
});
