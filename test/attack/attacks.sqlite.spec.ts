import { attackedPod } from './attacked-pod.js';
import { BATCHES } from './attacks/batches.js';
import { BODIES } from './attacks/bodies.js';
import { CONNECTIONS } from './attacks/connections.js';
import { SCHEMAS } from './attacks/schemas.js';
import { STREAMS } from './attacks/streams.js';
import { withstand } from './withstand.js';

/** Runs the built program as a process with a pod's memory, its database and HTTP. Nothing is faked. */
describe.each([
  ['bodies', BODIES],
  ['connections', CONNECTIONS],
  ['batches', BATCHES],
  ['schemas', SCHEMAS],
  ['streams', STREAMS],
])('by %s', (_name, attacks) => {
  const pod = attackedPod();

  it.each(attacks.map((attack) => [attack.name, attack] as const))('withstands %s', (_what, attack) =>
    withstand(pod(), attack),
  );
});
