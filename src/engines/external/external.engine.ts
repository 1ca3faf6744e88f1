import { duration } from '../../catalog/configuration-file/agent-schema.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { durationProblem } from '../../catalog/configuration-file/duration-checks.js';
import type { EngineFinding } from '../../catalog/configuration-file/engine-kind.js';
import type { JsonObject } from '../../common/json.js';
import type { Engine, PreparedEngine } from '../engine.js';
import { EXTERNAL_KIND, type ExternalOptions } from './external-work.js';

const name = (description: string): JsonObject => ({
  description,
  type: 'string',
  minLength: 1,
  maxLength: 200,
  errorMessage: 'must be a name of 1 to 200 characters',
});

/** Work that remote workers and people fetch (src/blackboard/external). */
export class ExternalEngine implements Engine {
  readonly kind = EXTERNAL_KIND;

  readonly optionsSchema: JsonObject = {
    type: 'object',
    additionalProperties: false,
    properties: {
      kind: { const: EXTERNAL_KIND },
      assignee: name('Whose its executions are; without it, those of whoever claims them'),
      due: {
        description: 'What happens to an execution that has not ended in time',
        type: 'object',
        additionalProperties: false,
        required: ['after', 'then'],
        errorMessage: 'must be an object such as { after: 48h, then: escalate, to: head-of-finance } or { after: 48h, then: fail }',
        properties: {
          after: duration('Counted from when it began to wait'),
          then: { description: 'escalate: it is assigned to somebody else; fail: it has failed, for good', enum: ['escalate', 'fail'] },
          to: name('To whom it is escalated'),
        },
      },
    },
  };

  async check(agent: AgentDefinition): Promise<EngineFinding[]> {
    const { assignee, due } = agent.engine as unknown as ExternalOptions;
    if (!due) return [];
    const problem = durationProblem(due.after);
    const found: EngineFinding[] = problem === null ? [] : [{ path: ['due', 'after'], message: problem }];
    if (due.then === 'escalate' && due.to === undefined) found.push({ path: ['due', 'to'], message: 'is missing: escalate needs the name of whom it is escalated to' });
    if (due.then === 'fail' && due.to !== undefined) found.push({ path: ['due', 'to'], message: 'is for escalate alone; leave it out, or say then: escalate' });
    if (due.to !== undefined && due.to === assignee) found.push({ path: ['due', 'to'], message: `must be somebody else than the assignee, who has it already: ${assignee}` });
    return found;
  }

  async prepare(): Promise<PreparedEngine> {
    return { run: () => Promise.reject(new Error('executions of external agents are claimed over HTTP, and not run here')) };
  }
}
