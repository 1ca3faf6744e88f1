import { durationProblem, durationSchema } from '../../catalog/configuration-file/duration-keys.js';
import type { EngineFinding } from '../../catalog/configuration-file/engine-kind.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
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

/** Agents whose work external workers and people claim (src/blackboard/external). */
export class ExternalEngine implements Engine {
  readonly kind = EXTERNAL_KIND;

  readonly optionsSchema: JsonObject = {
    type: 'object',
    additionalProperties: false,
    properties: {
      kind: { const: EXTERNAL_KIND },
      assignee: name('The person or system that its executions are assigned to; without it, anyone may claim them'),
      due: {
        description: 'What happens to an execution that has not ended in time',
        type: 'object',
        additionalProperties: false,
        required: ['after', 'then'],
        objectMessage:
          'must be an object such as { after: 48h, then: escalate, to: head-of-finance } or { after: 48h, then: fail }',
        properties: {
          after: durationSchema('Time since the execution was created'),
          then: {
            description: 'escalate: assign it to someone else; fail: end it as failed, without a retry',
            enum: ['escalate', 'fail'],
          },
          to: name('The new assignee of an escalated execution'),
        },
      },
    },
  };

  async check(agent: AgentDefinition): Promise<EngineFinding[]> {
    const { assignee, due } = agent.engine as unknown as ExternalOptions;
    if (!due) return [];
    const problem = durationProblem(due.after);
    const found: EngineFinding[] = problem === null ? [] : [{ path: ['due', 'after'], message: problem }];
    if (due.then === 'escalate' && due.to === undefined)
      found.push({ path: ['due', 'to'], message: 'is missing: escalate needs the name of the new assignee' });
    if (due.then === 'fail' && due.to !== undefined)
      found.push({ path: ['due', 'to'], message: 'applies only to escalate; remove it, or set then: escalate' });
    if (due.to !== undefined && due.to === assignee)
      found.push({ path: ['due', 'to'], message: `must differ from the assignee (${assignee})` });
    return found;
  }

  async prepare(): Promise<PreparedEngine> {
    return {
      run: () =>
        Promise.reject(
          new Error('external workers claim the executions of external agents over HTTP; this process cannot run them'),
        ),
    };
  }
}
