import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const SRC = resolve(import.meta.dirname, '../../src');

/** Imports go one way: a folder may import from the layers below its own, and from its own folder. */
const LAYERS: readonly (readonly string[])[] = [
  ['common'],
  ['config'],
  ['expressions', 'logging', 'outbound', 'patterns', 'tracing'],
  ['catalog', 'database'],
  ['engines', 'secrets', 'signals'],
  ['leasing'],
  ['blackboard'],
  ['http'],
  ['artifacts', 'agents', 'correlations', 'executions', 'idempotency', 'health', 'metrics', 'processes', 'docs', 'runs', 'batches', 'webhooks', 'changelog', 'mcp'],
  ['entries'],
];

/** A feature may use another one only through its exported service; each such arrow is named here. */
const BETWEEN_FEATURES = new Set([
  'artifacts → idempotency',
  'artifacts → webhooks',
  'runs → idempotency',
  'batches → idempotency',
  'batches → runs',
  'metrics → webhooks',
  'mcp → agents',
  'mcp → artifacts',
  'mcp → correlations',
  'mcp → idempotency',
  'mcp → runs',
]);

interface Import {
  from: string;
  to: string;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

const imports: Import[] = files.flatMap((file) =>
  [...readFileSync(join(SRC, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => ({
    from: file,
    to: relative(SRC, resolve(SRC, dirname(file), match[1]!)),
  })),
);

/** The files at the top of src, and the command line's folder, are the entries. */
const folderOf = (file: string): string => (file.includes('/') && !file.startsWith('cli/') ? file.split('/')[0]! : 'entries');
const layerOf = (file: string): number => LAYERS.findIndex((layer) => layer.includes(folderOf(file)));

describe('the source tree', () => {
  it('has only folders that have a layer', () => {
    expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
  });

  it('imports downwards only', () => {
    const upwards = imports.filter(({ from, to }) => folderOf(from) !== folderOf(to) && layerOf(to) >= layerOf(from));
    const unnamed = upwards.filter(({ from, to }) => !BETWEEN_FEATURES.has(`${folderOf(from)} → ${folderOf(to)}`));
    expect(unnamed.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([]);
  });

  it('has no circle of files', () => {
    expect(circles(imports)).toEqual([]);
  });

  it('reads the environment in config alone', () => {
    const readers = files.filter((file) => /process\.env\b/.test(readFileSync(join(SRC, file), 'utf8')));
    expect(readers.filter((file) => folderOf(file) !== 'config')).toEqual([]);
  });
});

function circles(all: Import[]): string[] {
  const next = Map.groupBy(all, ({ from }) => from);
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || done.has(file)) return;
    for (const { to } of next.get(file) ?? []) visit(to.replace(/\.js$/, '.ts'), [...path, file]);
    done.add(file);
  };
  files.forEach((file) => visit(file, []));
  return found;
}
