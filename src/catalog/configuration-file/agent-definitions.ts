import { createHash } from 'node:crypto';

import { isJsonObject, type JsonValue } from '../../common/json.js';
import type { AgentDefinition } from '../definitions.js';
import { overrideIn } from '../override-options.js';
import type { AgentCode, ConfiguredDefinition, StoredDefinition } from '../stored-definition.js';
import { sorted } from './configuration-digest.js';

/** A configuration, with variables as the file spells them. */
export interface Spelled {
  [section: string]: unknown;
  agents?: Record<string, unknown> | null;
  types?: Record<string, unknown> | null;
  models?: Record<string, unknown> | null;
}

/** Returns the definition of an agent, as `storedDefinition` makes it, and those with other options of its engine. */
export function configuredDefinition(
  agent: AgentDefinition,
  options: unknown,
  spelled: Spelled,
  code: AgentCode,
): ConfiguredDefinition {
  // Another share changes no agent. Executions of a variant have its definition, which is that of the agent with its options.
  const own: AsWritten = { ...(options as AsWritten | undefined) };
  const { variants } = own;
  delete own.variants;
  delete own.rollback;
  const overriddenBy = (override: object): StoredDefinition =>
    storedDefinition(agent, { ...own, engine: { ...own.engine, ...override } }, spelled, code);
  return {
    ...storedDefinition(agent, own, spelled, code),
    overriddenBy,
    variants: new Map(
      Object.entries(variants ?? {}).map(([name, written]) => [name, overriddenBy(overrideIn(written))]),
    ),
  };
}

/** The parts of an agent that are read here. */
interface AsWritten {
  engine?: object;
  variants?: Record<string, Record<string, unknown>>;
  rollback?: unknown;
}

/**
 * Returns the definition of an agent. `options`: the agent as it was written. Variables are never replaced by their
 * values, and a header or variable of a program that is written without one is not shown, because it may be a secret;
 * it still changes the digest.
 */
function storedDefinition(
  { name, outputs }: AgentDefinition,
  options: unknown,
  { types }: Spelled,
  code: AgentCode,
): StoredDefinition {
  const published = [...new Set(outputs.map(({ type }) => type))].filter((type) => types?.[type] !== undefined);
  const schemas = Object.fromEntries(published.map((type) => [type, types![type]]));
  const definition = sorted({ options, schemas, ...code }) as JsonValue;
  const digest = createHash('sha256')
    .update(JSON.stringify([name, definition]))
    .digest('hex');
  return { digest: `sha256:${digest}`, agent: name, definition: JSON.stringify(withoutSecrets(definition)) };
}

/** Keys whose values are maps of texts that may be secrets. */
const SECRET_MAPS = ['headers', 'env'];
const ONLY_VARIABLES = /^(?:\$\{[^}]*\}|\s|Bearer|Basic)*$/;

function withoutSecrets(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      SECRET_MAPS.includes(key) && isJsonObject(one) ? hidden(one) : withoutSecrets(one),
    ]),
  );
}

const hidden = (texts: Record<string, JsonValue>): Record<string, JsonValue> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      typeof text === 'string' && ONLY_VARIABLES.test(text) ? text : '(not shown)',
    ]),
  );
