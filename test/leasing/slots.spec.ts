import { Slots } from '../../src/queue/slots.js';

const TOTAL = 256;
const hostOf = (queue: string): string => queue.split(' ')[0]!;

describe('slots of queues that are grouped', () => {
  const newSlots = (): Slots => new Slots(() => 16, TOTAL, { of: hostOf, limit: 64 });
  const queuesOf = (host: string): string[] => Array.from({ length: 8 }, (_, n) => `${host} ${n}`);

  /** Takes the free slots for a host, one after another. */
  function takeAll(slots: Slots, host: string): string[] {
    for (const taken: string[] = []; ;) {
      const [queue] = slots.free(queuesOf(host)).byQueue.keys();
      if (queue === undefined) return taken;
      slots.take(queue);
      taken.push(queue);
    }
  }

  it('are as many for one group as its limit allows, if no other group takes any', () => {
    expect(takeAll(newSlots(), 'alone')).toHaveLength(64);
  });

  it.each([4, 16])('are left for another group, even if %i groups take all they can', (count) => {
    const slots = newSlots();
    const slow = Array.from({ length: count }, (_, n) => `slow-${n}`);
    const taken = slow.flatMap((host) => takeAll(slots, host));
    for (let round = 0; round < 2 * TOTAL; round += 1) {
      slots.release(taken.shift()!);
      taken.push(...slow.flatMap((host) => takeAll(slots, host)));
    }
    expect(new Set(taken.map(hostOf)).size).toBe(count);
    expect(takeAll(slots, 'another').length).toBeGreaterThan(0);
  });

  it('return to a group as others release them', () => {
    const slots = newSlots();
    const [some, more] = [takeAll(slots, 'one'), takeAll(slots, 'two'), takeAll(slots, 'three')];
    const before = takeAll(slots, 'another');
    expect(before.length).toBeLessThan(64);
    for (const queue of [...some!, ...more!]) slots.release(queue);
    expect([...before, ...takeAll(slots, 'another')]).toHaveLength(64);
  });
});
