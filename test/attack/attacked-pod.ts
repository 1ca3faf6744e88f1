import { Pod } from './pod.js';

interface AttackedPod {
  (): Pod;
  /** Ends it as it stands, and starts it again on the same database. */
  restart(): Promise<void>;
}

/** One pod for the attacks of a suite: each has the one that the attacks before it have left alive, or else a new one. */
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
