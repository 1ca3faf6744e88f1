import { BackgroundLoop, type LoopOptions } from '../common/background-loop.js';

/** Returns a loop that renews leases every third of their duration (ms), from a third on until it is stopped. */
export function leaseHeartbeat(
  leaseMs: number,
  renew: () => Promise<void>,
  options: Omit<LoopOptions, 'backOffMs'>,
): BackgroundLoop {
  const every = leaseMs / 3;
  const loop = new BackgroundLoop(
    async () => {
      // Counted from the beginning, so that a slow renewal does not delay the next one.
      const next = options.clock.now() + every;
      await renew();
      return next;
    },
    { ...options, backOffMs: every },
  );
  loop.wake(options.clock.now() + every);
  return loop;
}
