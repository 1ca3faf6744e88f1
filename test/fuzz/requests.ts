import fc from 'fast-check';

import { bytesOf, contentHeaders } from './bodies.js';
import { type ApiDocument, type Route, routesOf } from './document.js';
import { oddValue, spoiled } from './odd-values.js';
import { headersOf, pathOf, queryOf } from './parameters.js';
import { type KnownValues, SchemaValues } from './schema-values.js';

interface Sent {
  method: string;
  /** The path with its query, as it is sent. */
  target: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

export interface FuzzRequest extends Sent {
  /** The route that answers; null if the document has no such route, to the letter. */
  route: Route | null;
}

/** How often a route is requested, if not once. */
const WEIGHTS: Record<string, number> = {
  artifactsPublish: 12,
  artifactsPublishAndWait: 8,
  agentsRun: 8,
  artifactsList: 8,
  artifactsSummarize: 4,
  agentsSummarizeHistory: 4,
};

/** Makes requests to every route of the document, valid and invalid ones. */
export function requestsOf(document: ApiDocument, known: KnownValues): fc.Arbitrary<FuzzRequest> {
  const values = new SchemaValues(document, known);
  const routes = routesOf(document);
  const sent = fc.oneof(
    ...routes.map((route) => ({ weight: WEIGHTS[route.operationId] ?? 1, arbitrary: requestTo(route, values) })),
  );
  return fc
    .tuple(sent, misdirection)
    .map(([request, turn]) => ({ ...request, ...turn(request) }))
    .map((request) => ({ ...request, route: routeOf(request, routes) }));
}

function requestTo(route: Route, values: SchemaValues): fc.Arbitrary<Sent> {
  const schema = Object.values(route.requestBody?.content ?? {})[0]?.schema;
  const unasked = fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: bytesOf(oddValue) });
  const parts = {
    path: pathOf(route, values),
    query: queryOf(route, values),
    headers: headersOf(route, values),
    body: schema ? bytesOf(spoiled(values.of(schema))) : unasked,
    content: contentHeaders,
  };
  return fc.record(parts).map(({ path, query, headers, body, content }) => ({
    method: route.method,
    target: path + query,
    headers: { ...headers, ...(body && content) },
    body,
  }));
}

type Misdirection = (request: Sent) => Partial<Sent>;

const METHODS = ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND', 'POST', 'GET'];

// Node refuses a request that is too large before its method is known, with a body that an answer to HEAD must not
// have.
const toMethod =
  (method: string): Misdirection =>
  (request) =>
    method === 'HEAD' && request.target.length > 8_000 ? {} : { method };

const TARGETS: ((target: string) => string)[] = [
  (target) => `${target}/`,
  (target) => `/${target}`,
  (target) => target.toUpperCase(),
  (target) => target.slice(0, -1) || '/',
  (target) => `${target}/../..`,
  (target) => target.replace('/', '/%2e/'),
  (target) => `http://127.0.0.1${target}`,
  (target) => `${target}#${target}`,
  (target) => `${target}\u00e9`,
  () => '*',
];

/** Changes a few: another method, or a path that is nearly right. */
const misdirection: fc.Arbitrary<Misdirection> = fc.oneof(
  { weight: 30, arbitrary: fc.constant<Misdirection>(() => ({})) },
  { weight: 1, arbitrary: fc.constantFrom(...METHODS).map(toMethod) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...TARGETS).map((change): Misdirection => ({ target }) => ({ target: change(target) })),
  },
);

function routeOf({ method, target }: Sent, routes: Route[]): Route | null {
  // Node's parser refuses it before there is a path.
  if (/[^\x21-\x7e]/.test(target)) return null;
  const path = target.replace(/[?#].*$/s, '');
  const matching = routes.filter((route) => route.method === method && patternOf(route).test(path));
  return matching.find((route) => route.path === path) ?? matching[0] ?? null;
}

const patternOf = ({ path }: Route): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

/** Describes a request in a message. */
export const inWords = ({ method, target, headers, body }: Sent): string =>
  [
    method,
    target.slice(0, 500),
    JSON.stringify(headers).slice(0, 500),
    JSON.stringify(body?.toString('latin1').slice(0, 2_000)),
  ].join(' ');
