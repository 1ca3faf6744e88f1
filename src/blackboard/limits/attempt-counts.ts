import type { Transaction } from '../../database/unit-of-work.js';
import { NEVER } from '../../queue/queue.js';
import { deleteBreaker, holdIfMade, holdOrMake, saveBreaker } from './breaker-rows.js';
import { afterAttempt, type AttemptRule, type EndedAttempt } from './breaker-rule.js';

/** The row that counts the attempts of a key. */
interface Counter {
  key: string;
  agent: string;
  /** Null for a breaker. */
  variant: string | null;
  /** It starts again if no attempt has ended for so long. */
  forgottenAfterMs: number;
}

/**
 * Counts an attempt in the transaction that stores its outcome. Returns true if the breaker opens with it. The row is locked
 * after all correlations and executions of the transaction; those of breakers come before those of variants.
 */
export async function countAttempt(
  tx: Transaction,
  { key: breaker_key, agent, variant, forgottenAfterMs }: Counter,
  rule: AttemptRule,
  attempt: EndedAttempt,
): Promise<boolean> {
  const { failed, now } = attempt;
  const forgetAt = (time: number): number => Math.min(time + forgottenAfterMs, NEVER);
  const closed = { outcomes: '', open_until: null, opened_at: null, forget_at: forgetAt(now) };
  const made = { breaker_key, agent, variant, ...closed };
  const [known] = await (failed ? holdOrMake(tx.db, made) : holdIfMade(tx.db, { breaker_key }));
  if (!known) return false;
  const state = { outcomes: known.outcomes, openUntil: known.open_until };
  const next = afterAttempt(rule, state, attempt);
  if (next === state) return false;
  const isOpen = next !== null && next.openUntil !== null;
  if (next === null) await deleteBreaker(tx.db, { breaker_key });
  else
    await saveBreaker(tx.db, {
      breaker_key,
      outcomes: next.outcomes,
      open_until: next.openUntil,
      opened_at: isOpen ? now : null,
      forget_at: forgetAt(Math.max(now, next.openUntil ?? 0)),
    });
  return isOpen;
}
