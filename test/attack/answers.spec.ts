import { attackedPod } from './attacked-pod.js';
import { ANSWERS } from './attacks/answers.js';
import { withstand } from './withstand.js';

/** Runs the built program as a process with a pod's memory, its database and HTTP. Nothing is faked. */
describe('by answers', () => {
  const pod = attackedPod();

  it.each(ANSWERS.map((attack) => [attack.name, attack] as const))('withstands %s', (_what, attack) =>
    withstand(pod(), attack),
  );

  it('withstands the same after a restart', async () => {
    await pod.restart();
    await withstand(pod(), ANSWERS[0]!);
  });
});
