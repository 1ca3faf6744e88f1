import { attackedPod } from './attacked-pod.js';
import { MIB } from './attacks/attack.js';
import { REACHES_VICTIM, victim, WEBHOOKS } from './attacks/webhooks.js';
import { withstand } from './withstand.js';

/** `client_webhook_bytes_per_minute`. */
const MOST_BYTES = 10 * MIB;

/** Real: the built program as a process in as much memory as a pod has, its database, HTTP, and a receiver. Nothing is faked. */
describe('webhooks of clients', () => {
  const pod = attackedPod(REACHES_VICTIM);

  it('do not turn a few publishes into a flood at a receiver', async () => {
    await withstand(pod(), WEBHOOKS[0]!);
    expect(victim.received).toBeGreaterThan(0);
    // What is under way when the bound is reached still arrives.
    expect(victim.received).toBeLessThanOrEqual(MOST_BYTES + 2 * MIB);
  });
});
