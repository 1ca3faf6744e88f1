import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const SRC = resolve(import.meta.dirname, '../../src');

/** Imports go one way: a file may import from its own folder and from the rows above. A folder that is not listed belongs to the nearest listed one around it. */
const ROWS: readonly (readonly string[])[] = [
  ['common'],
  ['config'],
  ['cel/language', 'http-client', 'observability', 'patterns'],
  ['cel/sandbox', 'cel/types'],
  ['cel'],
  ['catalog', 'database'],
  ['catalog/schemas'],
  ['catalog/configuration-file'],
  ['crypto', 'engines', 'pubsub'],
  ['queue'],
  ['blackboard/correlations'],
  ['blackboard/artifacts'],
  ['blackboard/budgets', 'blackboard/matching', 'blackboard/queries'],
  ['blackboard/processes'],
  ['blackboard/fairness'],
  ['blackboard/limits'],
  ['blackboard/scheduling'],
  ['blackboard/joins'],
  ['blackboard/publishing', 'blackboard/retention'],
  ['blackboard/execution'],
  ['blackboard/external', 'blackboard/replays', 'blackboard/schedules'],
  ['blackboard/timers', 'blackboard/waits'],
  ['blackboard/explain', 'blackboard/presence'],
  ['blackboard/operations'],
  ['blackboard'],
  ['http/openapi'],
  ['http/validation'],
  ['http/middleware'],
  ['http/errors'],
  ['http/connections'],
  ['http/bodies', 'http/dto', 'http/responses'],
  ['http'],
  ['features'],
  ['', 'cli', 'testing'],
];

/** A feature may use another one only through its exported service; each such arrow is named here. */
const BETWEEN_FEATURES = [
  'artifacts → idempotency',
  'artifacts → webhooks',
  'operations → idempotency',
  'runs → idempotency',
  'batches → idempotency',
  'batches → runs',
  'replays → idempotency',
  'experiments → batches',
  'experiments → idempotency',
  'experiments → replays',
  'metrics → webhooks',
  'mcp → agents',
  'mcp → artifacts',
  'mcp → correlations',
  'mcp → idempotency',
  'mcp → runs',
];

/** Large packages that a start does not need. The first request that needs one loads it. */
const LOADED_LATER = ['@nestjs/swagger', 'class-validator', 'csv-parse', 'pino-pretty', 'undici', 'ws'];

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

const FOLDERS = new Map(ROWS.flatMap((row, index) => row.map((folder) => [folder, index])));

function folderOf(path: string): string {
  const folder = dirname(path) === '.' ? '' : dirname(path);
  return FOLDERS.has(folder) ? folder : folderOf(folder);
}

const rowOf = (file: string): number => FOLDERS.get(folderOf(file))!;
const featureOf = (file: string): string => file.split('/')[1]!;

describe('the source tree', () => {
  it('has a row for every folder', () => {
    expect(files.filter((file) => file.includes('/') && folderOf(file) === '')).toEqual([]);
  });

  it('imports only from the rows above', () => {
    const wrong = imports.filter(({ from, to }) => folderOf(from) !== folderOf(to) && rowOf(to) >= rowOf(from));
    // The command line, the test kit and the files at the top start each other.
    const named = wrong.filter(({ from }) => rowOf(from) < ROWS.length - 1);
    expect(named.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([]);
  });

  it('has features that meet only where an arrow is named', () => {
    const between = imports.filter(
      ({ from, to }) =>
        folderOf(from) === 'features' && folderOf(to) === 'features' && featureOf(from) !== featureOf(to),
    );
    expect([...new Set(between.map(({ from, to }) => `${featureOf(from)} → ${featureOf(to)}`))].sort()).toEqual(
      [...BETWEEN_FEATURES].sort(),
    );
  });

  it('has no circular imports', () => {
    expect(circles(imports)).toEqual([]);
  });

  it('loads no package at the start that only a request needs', () => {
    const loaded = [...loadedBy('main.ts', new Set()), ...loadedBy('create-app.ts', new Set())];
    expect(loaded).toContain('http-client/outbound.ts');
    expect(loaded).toContain('@nestjs/core');
    expect(loaded.filter((name) => LOADED_LATER.includes(name))).toEqual([]);
  });

  it('reads the environment only in config', () => {
    const readers = files.filter((file) => /process\.env\b/.test(readFileSync(join(SRC, file), 'utf8')));
    expect(readers.filter((file) => folderOf(file) !== 'config')).toEqual([]);
  });
});

/** Adds the file, and the files and packages that are loaded with it. */
function loadedBy(file: string, known: Set<string>): string[] {
  known.add(file);
  const text = readFileSync(join(SRC, file), 'utf8');
  for (const [, name] of text.matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?'([^']+)'/gm)) {
    const next = name!.startsWith('.') ? join(dirname(file), name!).replace(/\.js$/, '.ts') : name!;
    if (known.has(next)) continue;
    if (name!.startsWith('.')) loadedBy(next, known);
    else known.add(next);
  }
  return [...known];
}

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
