import type { AgentDefinition } from '../../catalog/definitions.js';
import { breakerName, singletonName } from '../../catalog/limits.js';
import { shown } from '../../common/short-text.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { isTurn, turnKey } from './singleton-turns.js';

const LONGEST_EXPRESSION = 60;
const PAYLOAD = /^payload(\[\d+\])?\./;
const PATH = /^[\w.[\]]+$/;

/**
 * The key for people, such as `customer_id 17`. Only the value if the agent no longer has the limit, or this process has no
 * such agent.
 */
export function shownKey(key: LimitKey, agent: AgentDefinition | undefined): string {
  const given = isTurn(key) ? turnKey(key) : key[1];
  const value = typeof given === 'string' && needsQuotes(given) ? JSON.stringify(given) : String(given);
  const source = agent && expressionOf(agent, key[0]);
  return source == null ? value : `${shownExpression(source)} ${value}`;
}

/** Whether the text would not be seen, or looks like a number, a boolean or null. */
const needsQuotes = (text: string): boolean => !Number.isNaN(Number(text)) || ['true', 'false', 'null'].includes(text);

/** The expression that gives an execution of the agent its key of the limit. Null if it has none. */
function expressionOf({ name, limits, singleton, breaker }: AgentDefinition, limit: string): string | null {
  if (limit === singletonName(name)) return singleton?.key ?? null;
  if (limit === breakerName(name)) return breaker?.key ?? null;
  return limits.find((use) => use.name === limit)?.key ?? null;
}

/** A field is shown by its path in the payload, and any other expression in parentheses. */
function shownExpression(source: string): string {
  const text = source.trim().replace(/\s+/g, ' ');
  return PATH.test(text) ? text.replace(PAYLOAD, '') : `(${shown(text, LONGEST_EXPRESSION)})`;
}
