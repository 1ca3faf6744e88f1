import type { Document, Node, Pair, Scalar, YAMLMap } from 'yaml';
import { isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';

import type { Environment } from '../../config/environment.js';
import type { Diagnostics, Path, PlaceOf } from '../diagnostics.js';
import { Interpolation, readPlainScalar } from './interpolation.js';
import { YamlPlaces } from './yaml-places.js';
import { type YamlProblem, yamlProblem } from './yaml-problem.js';

/** A parsed configuration file with the positions of its values. */
export interface YamlSource {
  value: unknown;
  /** The value with variables as the file spells them. Null if the file is not readable. */
  spelled: unknown;
  /** False if the text is not YAML: further checks would only find consequences of that. */
  readable: boolean;
  /**
   * Returns the place of the key or list item at `path`, or of the nearest one around it; with `offset`, that of a
   * character of the text at `path`. Undefined if it is not in the file.
   */
  placeOf: PlaceOf;
}

type Ancestors = readonly (Document | Node | Pair)[];

/** Parses YAML or JSON and fills in environment variables. Problems go to the diagnostics. */
export function parseYamlSource(text: string, environment: Environment, errors: Diagnostics): YamlSource {
  const interpolation = new Interpolation(environment);
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false };
  const parsed = interpolation.setAside(text);
  const document = parseDocument(parsed, options);
  const places = new YamlPlaces(parsed, lines, interpolation);
  const placeOf: PlaceOf = (path, offset) => places.of(path, offset, document);
  const unreadable: YamlSource = { value: null, spelled: null, readable: false, placeOf };

  const [first] = [...document.errors, ...document.warnings];
  const problem = first ? yamlProblem(document, first, parsed) : aliasProblem(document);
  if (problem) {
    errors.add([], problem.message, places.at(problem.position));
    return unreadable;
  }

  const spelled = document.clone();
  visit(document, {
    Map: (_, map, ancestors) => reportDuplicateKeys(map, pathOf([...ancestors, map]), errors),
    Scalar: (role, scalar, ancestors) => interpolate(scalar, role === 'key', ancestors, interpolation, errors),
  });
  try {
    return { value: document.toJS() as unknown, spelled: asSpelled(spelled, interpolation), readable: true, placeOf };
  } catch (error) {
    // Aliases that expand beyond the parser's limit.
    errors.add([], (error as Error).message);
    return unreadable;
  }
}

/** The first alias without an anchor before it. */
function aliasProblem(document: Document): YamlProblem | undefined {
  let problem: YamlProblem | undefined;
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document)) return undefined;
      const message = `*${alias.source} names no anchor before it; put the text in quotes, or write &${alias.source} before the value to repeat`;
      problem = { message, position: alias.range?.[0] ?? 0 };
      return visit.BREAK;
    },
  });
  return problem;
}

function asSpelled(document: Document, interpolation: Interpolation): unknown {
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string') scalar.value = interpolation.restore(scalar.value);
    },
  });
  return document.toJS() as unknown;
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
