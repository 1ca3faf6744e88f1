import type { AgentDefinition } from '../catalog/definitions.js';
import { LLM_KIND, optionsOf } from './llm/llm-options.js';
import { PROVIDER } from './provider/agent.decorator.js';

/**
 * Returns why a run of the agent may change something outside of Starling. Null if it only answers: expressions, models
 * without tools, and functions that are declared pure.
 */
export function effectOf({ engine }: AgentDefinition): string | null {
  switch (engine.kind) {
    case 'expression':
      return null;
    case 'function':
      return engine.pure === true ? null : 'its function is not declared pure';
    case LLM_KIND:
      return optionsOf({ engine }).tools?.length ? 'its model has tools' : null;
    case PROVIDER:
      return 'it is a class';
    default:
      return `it is an ${engine.kind} agent`;
  }
}

/** False only if the agent is known to change nothing. */
export const mayHaveEffects = (agent: AgentDefinition | undefined): boolean => !agent || effectOf(agent) !== null;
