import fc from 'fast-check';
import { DomainError } from '../../src/common/domain-error.js';
import { MemoryBudget, type MemoryReservation } from '../../src/common/memory-budget.js';

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
  it('holds what its reservations hold, never more than its limit, and nothing once all are released', () => {
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
    );
  });

  it('refuses with an error that asks to try again', () => {
    const budget = new MemoryBudget(100);
    const held = budget.reserve(60);
    expect(() => budget.reserve(41)).toThrow(expect.objectContaining({ code: 'unavailable', options: { retryAfterSeconds: 1 } }));
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
    // Shrinking is never refused.
    large.resize(6_999_999);
    expect(budget.usedBytes).toBe(7_065_535);
  });

  it('gives nothing to a reservation that has been released', () => {
    const budget = new MemoryBudget(100);
    const reservation = budget.reserve(10);
    reservation.release();
    reservation.resize(50);
    expect([reservation.bytes, budget.usedBytes]).toEqual([0, 0]);
  });
});
