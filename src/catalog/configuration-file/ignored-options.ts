import { formatPath, type Path } from '../diagnostics.js';
import { digestOf } from './configuration-digest.js';
import type { LoadedCatalog } from './load-catalog.js';

/** The sections that replays use, or that must be as in the configuration of the service. */
const SECTIONS = ['agents', 'types', 'models'];
const OPTIONS = ['consumes', 'publishes', 'engine', 'timeout', 'variants'];

type Read = Pick<LoadedCatalog, 'catalog' | 'spelled'>;

/**
 * Returns a warning of what replays with this file ignore, because it is in another section or option than they use, and
 * differs from the configuration of the service. Null if there is nothing.
 */
export function warningOfIgnored({ catalog, spelled, placeOf }: LoadedCatalog, service: Read): string | null {
  const sections = ignored([], spelled, service.spelled, SECTIONS);
  const options = catalog.agents.flatMap(({ name }) =>
    ignored(['agents', name], optionsOf(catalog, name), optionsOf(service.catalog, name), OPTIONS),
  );
  const paths = [...sections, ...options].map((path) => ({ path, line: placeOf(path)?.line ?? Infinity }));
  if (paths.length === 0) return null;
  const places = paths
    .toSorted((one, other) => one.line - other.line)
    .map(({ path, line }) => (line === Infinity ? formatPath(path) : `${formatPath(path)} (line ${line})`));
  return `replays take only engine, timeout and models from here, and everything else as the service has it; they ignore ${places.join(', ')}`;
}

const ignored = (
  path: Path,
  own: Readonly<Record<string, unknown>>,
  service: Readonly<Record<string, unknown>>,
  used: readonly string[],
): Path[] =>
  Object.keys(own)
    .filter((key) => !used.includes(key) && digestOf(own[key] ?? null) !== digestOf(service[key] ?? null))
    .map((key) => [...path, key]);

/** The options of an agent as they were written. `rollback` does not belong to its definition. */
function optionsOf(catalog: LoadedCatalog['catalog'], name: string): Record<string, unknown> {
  const definition = catalog.definitions.get(name)?.definition ?? '{}';
  const { options } = JSON.parse(definition) as { options?: Record<string, unknown> };
  const rollback = catalog.agent(name)?.variants?.rollback;
  return { ...options, ...(rollback && { rollback }) };
}
