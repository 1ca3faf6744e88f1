import type { ClientCatalog } from './client-catalog.js';
import { template } from './template.js';
import { comment, typeScriptKey, typeScriptText, typeScriptType } from './typescript-types.js';

const IMPORTS = /^import [^;]+;\n+/gm;

/** Returns a TypeScript module without imports: the types of the catalog, and the client that every module has. */
export function typeScriptClient(catalog: ClientCatalog): string {
  const parts = ['answers.ts', 'starling.ts'].map((name) => template(`typescript/${name}`).replaceAll(IMPORTS, ''));
  return [catalogTypes(catalog), ...parts].join('\n');
}

function catalogTypes({ types, agents, components }: ClientCatalog): string {
  const payloads = Object.entries(components).map(
    ([name, schema]) => `${comment(schema)}export type ${name} = ${typeScriptType(schema)};\n`,
  );
  const payloadOf = types.map(
    ({ name, component }) => `  ${typeScriptKey(name)}: ${component ?? 'Record<string, unknown>'};\n`,
  );
  const workOf = agents.map(
    ({ name, consumes, publishes }) =>
      `  ${typeScriptKey(name)}: { consumes: ${texts(consumes)}; publishes: ${texts(publishes)} };\n`,
  );
  return [
    ...payloads,
    `/** The payload of each artifact type, by the name of the type. */\nexport interface Payloads {\n${payloadOf.join('')}}\n`,
    `/** For each external agent: the types that it consumes and those that it publishes. */\nexport interface ExternalAgents {\n${workOf.join('')}}\n`,
    `const TYPES = ${names(types)} as const;\nconst AGENTS: readonly AgentName[] = ${names(agents)};\n`,
  ].join('\n');
}

const texts = (values: string[]): string => values.map(typeScriptText).join(' | ') || 'never';

const names = (named: { name: string }[]): string => `[${named.map(({ name }) => typeScriptText(name)).join(', ')}]`;
