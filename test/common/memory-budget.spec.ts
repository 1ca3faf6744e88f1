import { setImmediate } from 'node:timers/promises';

import fc from 'fast-check';

import { DomainError } from '../../src/common/domain-error.js';
import { MemoryBudget, type MemoryReservation } from '../../src/common/memory-budget.js';
import { printedSeed } from '../support/random.js';

type Step = { kind: 'reserve' | 'resize'; bytes: number; at: number } | { kind: 'release'; at: number };

const bytes = fc.integer({ min: 0, max: 150 });
const at = fc.nat(20);
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('reserve' as const), bytes, at }),
    fc.record({ kind: fc.constant('resize' as const), bytes, at }),
    fc.record({ kind: fc.constant('release' as const), at }),
  ),
  { maxLength: 60 },
);

function take(budget: MemoryBudget, reservations: MemoryReservation[], step: Step): void {
  const chosen = reservations[step.at % Math.max(reservations.length, 1)];
  if (step.kind === 'reserve') reservations.push(budget.reserve(step.bytes));
  else if (step.kind === 'resize') chosen?.resize(step.bytes);
  else chosen?.release();
}

describe('the memory budget', () => {
  it('counts its reservations, never exceeds its limit, and is empty once all are released', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const budget = new MemoryBudget(100);
        const reservations: MemoryReservation[] = [];
        for (const step of sequence) {
          const before = budget.usedBytes;
          try {
            take(budget, reservations, step);
          } catch (error) {
            expect(error).toBeInstanceOf(DomainError);
            expect(budget.usedBytes).toBe(before);
          }
          expect(budget.usedBytes).toBe(reservations.reduce((sum, reservation) => sum + reservation.bytes, 0));
          expect(budget.usedBytes).toBeLessThanOrEqual(100);
        }
        reservations.forEach((reservation) => reservation.release());
        expect(budget.usedBytes).toBe(0);
      }),
      { seed: printedSeed() },
    );
  });

  it('refuses with an error that asks to try again', () => {
    const budget = new MemoryBudget(100);
    const held = budget.reserve(60);
    expect(() => budget.reserve(41)).toThrow(
      expect.objectContaining({ code: 'unavailable', options: { retryAfterSeconds: 1 } }),
    );
    held.release();
    expect(budget.reserve(100).bytes).toBe(100);
  });

  it('keeps an eighth for small reservations', () => {
    const budget = new MemoryBudget(8_000_000);
    expect(() => budget.reserve(7_000_001)).toThrow(DomainError);
    const large = budget.reserve(7_000_000);
    const small = budget.reserve(65_536);
    expect(() => small.grow(1)).toThrow(DomainError);
    expect(() => large.grow(1)).toThrow(DomainError);
    expect(budget.largestBytes).toBe(7_000_000);
    // Shrinking always succeeds.
    large.resize(6_999_999);
    expect(budget.usedBytes).toBe(7_065_535);
  });

  describe('a queue for memory within the limit', () => {
    const MIB = 2 ** 20;
    const LIMIT = 8 * MIB;
    const never = new AbortController().signal;

    /** Returns the requests that have been served so far. */
    async function admitted(waiting: Promise<MemoryReservation>[]): Promise<number[]> {
      const places: number[] = [];
      waiting.forEach((each, place) => void each.then(() => places.push(place)));
      await setImmediate();
      return places;
    }

    it('serves requests in order, and never beyond the limit', async () => {
      const budget = new MemoryBudget(LIMIT);
      const waiting = [4, 4, 1].map((mib) => budget.whenWithin(mib * MIB, never));
      expect(await admitted(waiting)).toEqual([0]);
      expect(budget.usedBytes).toBe(4 * MIB);
      (await waiting[0]!).release();
      expect(await admitted(waiting)).toEqual([0, 1, 2]);
      expect(budget.usedBytes).toBe(5 * MIB);
    });

    it('lets small requests that ask without waiting pass, and no others', async () => {
      const budget = new MemoryBudget(LIMIT);
      const held = budget.reserveNow(4 * MIB)!;
      const waiting = budget.whenWithin(4 * MIB, never);
      expect([budget.reserveNow(65_536)?.bytes, budget.reserveNow(65_537)]).toEqual([65_536, null]);
      held.release();
      expect((await waiting).bytes).toBe(4 * MIB);
    });

    it('reserves nothing for an aborted request, and serves those behind it', async () => {
      const budget = new MemoryBudget(LIMIT);
      const held = budget.reserve(4 * MIB);
      const abort = new AbortController();
      const first = budget.whenWithin(7 * MIB, abort.signal);
      const second = budget.whenWithin(2 * MIB, never);
      abort.abort(new Error('given up'));
      await expect(first).rejects.toThrow('given up');
      await expect(budget.whenWithin(1, abort.signal)).rejects.toThrow('given up');
      (await second).release();
      held.release();
      expect([budget.usedBytes, budget.isWaitedFor]).toEqual([0, false]);
      // An abort after the reservation does not release it.
      const later = new AbortController();
      const kept = await budget.whenWithin(MIB, later.signal);
      later.abort();
      expect(budget.usedBytes).toBe(MIB);
      kept.release();
    });
  });

  it('gives nothing to a reservation that has been released', () => {
    const budget = new MemoryBudget(100);
    const reservation = budget.reserve(10);
    reservation.release();
    reservation.resize(50);
    expect([reservation.bytes, budget.usedBytes]).toEqual([0, 0]);
  });
});
