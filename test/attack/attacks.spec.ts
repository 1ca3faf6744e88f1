import { attackedPod } from './attacked-pod.js';
import { FILTERS } from './attacks/filters.js';
import { INPUTS } from './attacks/inputs.js';
import { NAMES } from './attacks/names.js';
import { WAITING } from './attacks/waiting.js';
import { withstand } from './withstand.js';

/**
 * The attacks that involve the database. Runs the built program as a process with a pod's memory, its database and
 * HTTP.
 */
describe.each([
  ['filters', FILTERS],
  ['inputs', INPUTS],
  ['names', NAMES],
  ['waiting', WAITING],
])('by %s', (_name, attacks) => {
  const pod = attackedPod();

  it.each(attacks.map((attack) => [attack.name, attack] as const))('withstands %s', (_what, attack) =>
    withstand(pod(), attack),
  );
});
