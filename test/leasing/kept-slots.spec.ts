import { KeptSlots } from '../../src/queue/kept-slots.js';
import { Slots } from '../../src/queue/slots.js';

const TOTAL = 4;

describe('a slot that is kept for a row which is being inserted', () => {
  let slots: Slots;
  let pending: Set<string>;
  let kept: KeptSlots;
  /** Searches queues, and finds nothing. */
  const search = (...queues: string[]): void => {
    kept.beginSearch(slots.free(queues));
    kept.endSearch(queues);
  };

  beforeEach(() => {
    slots = new Slots(() => 2, TOTAL);
    pending = new Set();
    kept = new KeptSlots(slots, pending);
  });

  it('is given only after a search that found the queue empty', () => {
    expect(kept.keep('a', '1')).toBe(false);
    search('a');
    expect(kept.keep('a', '1')).toBe(true);
    expect(kept.ids).toEqual(['1']);
  });

  it('is not given while other rows may wait in the queue, or after rows were left there', () => {
    search('a');
    pending.add('a');
    expect(kept.keep('a', '1')).toBe(false);
    pending.delete('a');
    kept.beginSearch(slots.free(['a']));
    expect(kept.keep('a', '1')).toBe(false);
    kept.endSearch([]);
    expect(kept.keep('a', '1')).toBe(false);
    search('a');
    kept.forget();
    expect(kept.keep('a', '1')).toBe(false);
  });

  it('is within the limits of the queue and of all', () => {
    search('a', 'b', 'c');
    const given = ['a', 'a', 'a', 'b', 'b', 'c'].map((queue, id) => kept.keep(queue, `${id}`));
    expect(given).toEqual([true, true, false, true, true, false]);
    expect(slots.free(['a', 'b', 'c']).total).toBe(0);
  });

  it('is left for rows of other queues that may wait, or that a search is claiming', () => {
    search('a', 'b', 'c');
    slots.take('c');
    slots.take('c');
    pending.add('b');
    expect(kept.keep('a', '1')).toBe(false);
    pending.delete('b');
    kept.beginSearch(slots.free(['b']));
    expect(kept.keep('a', '1')).toBe(false);
    kept.endSearch(['b']);
    expect(kept.keep('a', '1')).toBe(true);
  });

  it('is waited for until it is used or free again', async () => {
    search('a');
    kept.keep('a', '1');
    kept.keep('a', '2');
    let isUnused = false;
    const unused = kept.unused().then(() => (isUnused = true));
    expect(kept.end('1')).toBe(true);
    expect(kept.end('1')).toBe(false);
    await Promise.resolve();
    expect(isUnused).toBe(false);
    kept.end('2');
    await unused;
    await kept.unused();
  });
});
