import { Pod } from './pod.js';

interface AttackedPod {
  (): Pod;
  /** Kills the pod and starts it again on the same database. */
  restart(): Promise<void>;
}

/**
 * Keeps one pod for the attacks of a suite. An attack reuses the pod if the attacks before it left it alive, and gets a
 * new one otherwise.
 */
export function attackedPod(options: string[] = []): AttackedPod {
  let pod: Pod | undefined;
  beforeEach(async () => {
    if (pod?.isAlive) return;
    await pod?.close();
    pod = await Pod.start(options);
  });
  afterAll(() => pod?.close());
  const restart = async (): Promise<void> => void (pod = await pod!.restarted());
  return Object.assign(() => pod!, { restart });
}
