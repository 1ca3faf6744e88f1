import type { Document, Node, Pair, Scalar, YAMLError, YAMLMap } from 'yaml';
import { isAlias, isCollection, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';

import type { Environment } from '../../config/environment.js';
import type { Diagnostics, Path } from '../diagnostics.js';
import { Interpolation, readPlainScalar } from './interpolation.js';

/** A parsed configuration file with the positions of its values. */
export interface YamlSource {
  value: unknown;
  /** The value with variables as the file spells them. Null if the file is not readable. */
  spelled: unknown;
  /** False if the text is not YAML: further checks would only find consequences of that. */
  readable: boolean;
  /**
   * Returns the line, from 1, of the value at `path` or of the nearest value around it. Undefined if it is not in the
   * file.
   */
  lineOf(path: Path): number | undefined;
}

type Ancestors = readonly (Document | Node | Pair)[];

/** Parses YAML or JSON and fills in environment variables. Problems go to the diagnostics. */
export function parseYamlSource(text: string, environment: Environment, errors: Diagnostics): YamlSource {
  const interpolation = new Interpolation(environment);
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false };
  const document = parseDocument(interpolation.setAside(text), options);
  const lineOf = (path: Path): number | undefined => lineAt(document, lines, path);
  const unreadable: YamlSource = { value: null, spelled: null, readable: false, lineOf };

  const problems: YAMLError[] = [...document.errors, ...document.warnings];
  for (const problem of problems) errors.add([], describeProblem(problem), lines.linePos(problem.pos[0]).line);
  if (problems.length > 0) return unreadable;

  const spelled = document.clone();
  visit(document, {
    Map: (_, map, ancestors) => reportDuplicateKeys(map, pathOf([...ancestors, map]), errors),
    Scalar: (role, scalar, ancestors) => interpolate(scalar, role === 'key', ancestors, interpolation, errors),
  });
  try {
    return { value: document.toJS() as unknown, spelled: asSpelled(spelled, interpolation), readable: true, lineOf };
  } catch (error) {
    // An alias without an anchor, or aliases that expand beyond the parser's limit.
    errors.add([], (error as Error).message);
    return unreadable;
  }
}

function asSpelled(document: Document, interpolation: Interpolation): unknown {
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string') scalar.value = interpolation.restore(scalar.value);
    },
  });
  return document.toJS() as unknown;
}

function describeProblem(problem: YAMLError): string {
  return problem.code === 'MULTIPLE_DOCS' ? 'the file contains several YAML documents; keep one' : problem.message;
}

function reportDuplicateKeys(map: YAMLMap, path: Path, errors: Diagnostics): void {
  const seen = new Set<string>();
  for (const { key } of map.items) {
    const name = String(isScalar(key) ? key.value : key);
    if (seen.has(name)) errors.add([...path, name], 'occurs twice; keep one');
    seen.add(name);
  }
}

function interpolate(
  scalar: Scalar,
  isKey: boolean,
  ancestors: Ancestors,
  interpolation: Interpolation,
  errors: Diagnostics,
): void {
  if (typeof scalar.value !== 'string' || !interpolation.areIn(scalar.value)) return;
  const path = pathOf([...ancestors, scalar]);
  if (isKey) {
    scalar.value = interpolation.restore(scalar.value);
    errors.add(pathOf([...ancestors, scalar]), 'a key cannot come from the environment');
    return;
  }
  const text = interpolation.fillIn(scalar.value, (message) => errors.add(path, message));
  scalar.value = scalar.type === 'PLAIN' && scalar.tag === undefined ? readPlainScalar(text) : text;
}

function pathOf(nodes: Ancestors): Path {
  return nodes.flatMap<string | number>((node, depth) => {
    if (isPair(node)) return [String(isScalar(node.key) ? node.key.value : node.key)];
    if (isSeq(node) && depth + 1 < nodes.length) return [node.items.indexOf(nodes[depth + 1])];
    return [];
  });
}

function lineAt(document: Document, lines: LineCounter, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [depth, segment] of path.entries()) {
    const step = stepInto(isAlias(node) ? node.resolve(document) : node, segment);
    if (step === null && depth === 0) return undefined;
    if (step === null) break;
    offset = startOf(step.marker) ?? offset;
    node = step.value;
  }
  return lines.linePos(offset).line;
}

/** Returns the value under one path segment and the node that marks its position: the key or the list item. */
function stepInto(node: unknown, segment: string | number): { value: unknown; marker: unknown } | null {
  if (isMap(node)) {
    // If a key occurs twice, this is the last one, because that is the one to remove.
    const pair = node.items.findLast(({ key }) => isScalar(key) && key.value === String(segment));
    return pair ? { value: pair.value, marker: pair.key } : null;
  }
  if (isSeq(node) && typeof segment === 'number' && segment < node.items.length) {
    return { value: node.items[segment], marker: node.items[segment] };
  }
  return null;
}

const startOf = (node: unknown): number | undefined =>
  (isScalar(node) || isCollection(node) || isAlias(node) ? node.range?.[0] : undefined) ?? undefined;
