// `starling client` puts the types and agents of a configuration in place of this file.

/** The payload of each artifact type, by the name of the type. */
export type Payloads = Record<string, Record<string, unknown>>;

/** For each external agent: the types that it consumes and those that it publishes. */
export type ExternalAgents = Record<string, { consumes: string; publishes: string }>;

export const TYPES: readonly string[] = [];
export const AGENTS: readonly string[] = [];
