import { type LastingVisibility, PUBLIC, type Visibility } from '../../catalog/visibility.js';
import { releaseTime } from './visibility-rules.js';

/** An input of the execution or group that failed. `createdAt`: epoch ms. */
export interface FailedInput {
  visibility: Visibility;
  createdAt: number;
}

/**
 * The visibility of the WorkflowError of an agent that failed on these inputs, because its message may quote them. If
 * all inputs have the same visibility, the error has it too. Otherwise only the failed agent sees the error, since no
 * visibility means "agents that see all of these".
 *
 * An `After` input counts with its `then`. The error itself is never `After`: it would be hidden for another `ttl`, and
 * would keep its correlation active until then.
 */
export function errorVisibility(agent: string, inputs: readonly FailedInput[], now: number): LastingVisibility {
  const lasting = inputs.map((input) => visibilityNow(input, now));
  const [first] = lasting;
  const alike = first && lasting.every((visibility) => visibility !== null && formOf(visibility) === formOf(first));
  return alike ? first : { kind: 'Private', agents: [agent] };
}

/** Null if the input is not released at `now`, which happens only if the system clock was set back. */
function visibilityNow({ visibility, createdAt }: FailedInput, now: number): LastingVisibility | null {
  if (visibility.kind !== 'After') return visibility;
  return releaseTime(visibility, createdAt)! <= now ? (visibility.then ?? PUBLIC) : null;
}

/** A text that is equal for visibilities that admit the same agents. The order of names and labels does not matter. */
function formOf(visibility: LastingVisibility): string {
  switch (visibility.kind) {
    case 'Public':
      return 'Public';
    case 'Private':
      return JSON.stringify(['Private', ...sorted(visibility.agents)]);
    case 'Labelled':
      return JSON.stringify(['Labelled', ...sorted(visibility.required_labels)]);
    case 'Tenant':
      return JSON.stringify(['Tenant', visibility.tenant_id]);
  }
}

const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort();
