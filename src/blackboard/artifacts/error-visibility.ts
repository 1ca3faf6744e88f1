import { type LastingVisibility, PUBLIC, type Visibility } from '../../catalog/visibility.js';
import { releaseTime } from './visibility-rules.js';

/** An input of what failed. `createdAt`: epoch ms. */
export interface FailedInput {
  visibility: Visibility;
  createdAt: number;
}

/**
 * Who may see the WorkflowError of an agent that failed on these inputs: its message may quote them. All Public: everyone. All
 * alike: whoever sees them. Otherwise only the agent that failed, since no visibility says "whoever sees all of these".
 *
 * `After` counts as what holds since its release. The error itself is never `After`: it would be hidden again for a whole `ttl`, and keep its
 * correlation open until then.
 */
export function errorVisibility(agent: string, inputs: readonly FailedInput[], now: number): LastingVisibility {
  const lasting = inputs.map((input) => visibilityNow(input, now));
  const [first] = lasting;
  const alike = first && lasting.every((visibility) => visibility !== null && formOf(visibility) === formOf(first));
  return alike ? first : { kind: 'Private', agents: [agent] };
}

/** Null where it is not released at `now`. No agent gets such an input, unless the system's clock was set back. */
function visibilityNow({ visibility, createdAt }: FailedInput, now: number): LastingVisibility | null {
  if (visibility.kind !== 'After') return visibility;
  return releaseTime(visibility, createdAt)! <= now ? (visibility.then ?? PUBLIC) : null;
}

/** Equal for visibilities that admit the same agents, in whatever order they name them. */
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
