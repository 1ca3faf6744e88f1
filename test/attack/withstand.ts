import { setTimeout as delay } from 'node:timers/promises';

import { saysAgentFailed } from '../fuzz/answers.js';
import { eventually } from '../support/eventually.js';
import type { Attack } from './attacks/attack.js';
import { Bystanders } from './bystanders.js';
import type { Pod } from './pod.js';
import type { Answered } from './requests.js';

const UNDISTURBED_MS = 2_000;
const LEAST_ATTACK_MS = 4_000;
/** The limit of memory after a collection, as a multiple of the memory before the attack. */
const MOST_GROWTH = 1.3;
const BACK_WITHIN_MS = 20_000;
const LEAST_SHARE = 0.5;

/**
 * Attacks a pod while honest clients use it. Fails unless the pod stays alive, answers its probe within a second
 * throughout, serves the honest clients at half their rate or better, answers no 5xx but 503 with Retry-After, and
 * frees the attack's memory. Returns the attacker's answers.
 */
export async function withstand(pod: Pod, attack: Attack): Promise<Answered[]> {
  if (!pod.prepared.has(attack.prepare)) await attack.prepare?.(pod);
  pod.prepared.add(attack.prepare);
  const bystanders = await new Bystanders(pod.url, pod.pid).working();
  let answers: Answered[] = [];
  const undisturbed = await bystanders.rateDuring(() => delay(UNDISTURBED_MS));
  const before = await pod.memory();
  const storedBefore = await pod.storedMib();
  const meanwhile = await bystanders.rateDuring(
    async () => void ([answers] = await Promise.all([attack.run(pod), delay(LEAST_ATTACK_MS)])),
  );
  const { failures, slowestMs, refusals } = await bystanders.end();
  const storedMib = Math.round((await pod.storedMib()) - storedBefore);
  let after = 0;
  const isBack = async (): Promise<boolean> => !pod.isAlive || (after = await pod.memory()) <= before * MOST_GROWTH;
  const isMemoryBack = await eventually('memory is back', isBack, BACK_WITHIN_MS).then(
    () => true,
    () => false,
  );
  const honestShare = Math.round((meanwhile / undisturbed) * 100) / 100;
  const mib = { before: Math.round(before), after: Math.round(after), most: Math.round(pod.mostMib) };
  console.log(
    `${expect.getState().currentTestName}: ${JSON.stringify({ honestShare, slowestMs, mib, storedMib, statuses: counted(answers) })}`,
  );
  if (!pod.isAlive) throw new Error(`the process died, with ${mib.most} MiB:\n${pod.lastOutput}`);
  expect({ failures, isMemoryBack, mib, faults: faults(answers) }).toEqual({
    failures: [],
    isMemoryBack: true,
    mib,
    faults: [],
  });
  expect({ honestShare, refusals: honestShare < (attack.leastHonestShare ?? LEAST_SHARE) && refusals }).toEqual({
    honestShare,
    refusals: false,
  });
  const refused = answers.filter(({ status }) => status !== 200);
  if (refused.length > (attack.mostRefused ?? Infinity))
    throw new Error(`not all were answered with 200: ${JSON.stringify(refused.slice(0, 5))}`);
  expect(storedMib).toBeLessThanOrEqual(attack.mostStoredMib ?? Infinity);
  return answers;
}

/**
 * Filters the answers that no client may get, whatever it does. A failed agent that was run directly is not a fault of
 * the service.
 */
export const faults = (answers: readonly Answered[]): string[] =>
  answers
    .filter(
      ({ status, headers, text }) =>
        status >= 500 && !(status === 503 && headers['retry-after'] !== undefined) && !saysAgentFailed(status, text),
    )
    .map(({ status, text }) => `${status} ${text}`);

/** Counts the answers by status; 0 stands for no answer. */
export function counted(answers: readonly Answered[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
