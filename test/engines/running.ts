import { pino } from 'pino';

import type { Catalog } from '../../src/catalog/catalog.js';
import type { JsonObject } from '../../src/common/json.js';
import type { AgentArtifact, EngineContext, ExecutionInputs } from '../../src/engines/engine.js';
import type { AgentClass } from '../../src/engines/engine.js';
import { loadConfiguration } from '../../src/engines/load-configuration.js';
import type { ConfigurationFolder } from '../support/configuration-folder.js';

export async function catalogOf(
  folder: ConfigurationFolder,
  text: string,
  classes: AgentClass[] = [],
): Promise<Catalog> {
  return (await loadConfiguration(folder.write('starling.yaml', text), {}, classes)).catalog;
}

export const artifact = (payload: JsonObject, type = 'Ticket'): AgentArtifact => ({
  id: '0193b7a0-0000-7000-8000-000000000001',
  type,
  payload,
  tags: ['channel:chat'],
  produced_by: 'external',
  correlation_id: 'case-1',
  partition_key: null,
  version: 1,
  created_at: '2026-11-20T10:00:00.000Z',
});

/** One artifact, and an engine's view of it. */
export const inputsOf = (payload: JsonObject): ExecutionInputs => ({ artifacts: [artifact(payload)], view: payload });

/** Returns the executor's arguments for an engine; the blackboard behind it is empty. */
export const context = (): EngineContext => ({
  executionId: '0193b7a0-0000-7000-8000-000000000002',
  correlationId: 'case-1',
  attempt: 2,
  traceparent: null,
  leaseToken: 'the lease of this suite',
  signal: new AbortController().signal,
  logger: pino({ level: 'silent' }),
  blackboard: { get: async () => null, list: async () => [] },
  newest: async () => ({ artifacts: [], isCut: false }),
  parses: async () => undefined,
  refusal: () => null,
  used: () => undefined,
  reserve: async () => undefined,
  settle: async () => undefined,
  calls: () => () => undefined,
  wrote: () => undefined,
});
