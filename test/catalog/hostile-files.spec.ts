import fc from 'fast-check';
import { parse } from 'yaml';

import { CatalogError } from '../../src/catalog/diagnostics.js';
import { printedSeed } from '../support/random.js';
import { load } from './loading.js';

const EXAMPLE = parse(`
server: { server_name: Desk, port: 8344 }
types: { T: { version: 1, description: d, schema: { type: object, required: [a], properties: { a: { type: string, format: email } } } } }
agents:
  a:
    labels: [x]
    consumes:
      - { types: [T, U], where: payload.T.a == "x", join: { by: payload.id, within: 5m }, from_agents: [external], tags: [t] }
      - { types: [T], batch: { size: 2, timeout: 1s }, priority: 1, allow_self: true }
    publishes: [{ type: V, tags: [y], visibility: { kind: After, ttl: PT1H, then: { kind: Private, agents: [b] } } }]
    engine: { kind: expression, expression: payload }
    timeout: 30s
    retry: { attempts: 3, delay: 1s, max_delay: 1m }
  b: { consumes: [{ types: [V] }], engine: { kind: function, module: ./none.ts } }
`) as object;

/** Returns the path of every value in `value` except itself. */
function pathsIn(value: unknown, at: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...at, key], ...pathsIn(inner, [...at, key])]);
}

const someMutations = fc.array(
  fc.tuple(fc.constantFrom(...pathsIn(EXAMPLE)), fc.oneof(fc.jsonValue(), fc.constant(undefined))),
  { minLength: 1, maxLength: 4 },
);

function mutated(mutations: [string[], unknown][]): string {
  const copy = structuredClone(EXAMPLE) as Record<string, unknown>;
  for (const [path, value] of mutations) {
    const around = path
      .slice(0, -1)
      .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined | null)?.[key], copy);
    if (typeof around === 'object' && around !== null) (around as Record<string, unknown>)[path.at(-1)!] = value;
  }
  return JSON.stringify(copy);
}

/** Loads any file, or refuses it with errors that have their places. Nothing else is thrown. */
async function loadsOrReports(text: string): Promise<void> {
  try {
    await load(text);
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    expect(error.diagnostics.length).toBeGreaterThan(0);
    for (const { line, message } of error.diagnostics) {
      expect(line).toBeGreaterThan(0);
      expect(message).not.toMatch(/undefined|\[object/);
    }
  }
}

describe('files with unforeseen errors', () => {
  test('a configuration with values replaced or removed', async () => {
    await fc.assert(
      fc.asyncProperty(someMutations, (mutations) => loadsOrReports(mutated(mutations))),
      { seed: printedSeed(), numRuns: 80 },
    );
  });

  test('any text', async () => {
    await fc.assert(fc.asyncProperty(fc.oneof(fc.string(), fc.json()), loadsOrReports), {
      seed: printedSeed(),
      numRuns: 100,
    });
  });

  test.each([
    ['an alias of itself', 'types: &t { T: *t }'],
    [
      'aliases that multiply',
      `a: &a [${'x,'.repeat(20)}]\n${[...'bcdefgh'].map((name, i) => `${name}: &${name} [${`*${'abcdefgh'[i]!},`.repeat(20)}]`).join('\n')}\n`,
    ],
    ['a list as a key', '? [a, b]\n: c\n'],
    ['deep nesting', `types: ${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ])('%s', async (_, text) => {
    await expect(load(text)).rejects.toBeInstanceOf(CatalogError);
  });
});
