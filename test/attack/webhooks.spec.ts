import { attackedPod } from './attacked-pod.js';
import { MIB } from './attacks/attack.js';
import { REACHES_VICTIM, victim, WEBHOOKS } from './attacks/webhooks.js';
import { withstand } from './withstand.js';

/** The value of `client_webhook_bytes_per_minute`. */
const MOST_BYTES = 10 * MIB;

/** Runs the built program as a process with a pod's memory, its database, HTTP and a receiver. Nothing is faked. */
describe('client webhooks', () => {
  const pod = attackedPod(REACHES_VICTIM);

  it('do not amplify a few publishes into a flood at a receiver', async () => {
    const before = victim.received;
    await withstand(pod(), WEBHOOKS[0]!);
    const received = victim.received - before;
    expect(received).toBeGreaterThan(0);
    // Deliveries that are under way when the limit is reached still arrive.
    expect(received).toBeLessThanOrEqual(MOST_BYTES + 2 * MIB);
  });
});
