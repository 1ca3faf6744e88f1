import fc from 'fast-check';

import type { Parameter, Route } from './document.js';
import { oddText } from './odd-values.js';
import type { SchemaValues } from './schema-values.js';

/** Returns `fitting`, and once in a while `odd`. */
const mostly = <T>(weight: number, fitting: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fitting }, { weight: 1, arbitrary: odd });

/** The value of a parameter: one text, or several if it is repeated. */
function textsFor({ name, schema }: Parameter, values: SchemaValues): fc.Arbitrary<string[]> {
  const fitting = values.of(schema, name).map((value) => (Array.isArray(value) ? value.map(String) : [String(value)]));
  return mostly(6, fitting, fc.array(oddText, { minLength: 1, maxLength: 3 }));
}

const parametersIn = (place: Parameter['in'], { parameters = [] }: Route): Parameter[] =>
  parameters.filter((parameter) => parameter.in === place);

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

const RAW_SEGMENTS = ['%', '%FF', '%00', '%2F', '..', '%2e%2e%2f', ';a=b', '*'];

export function pathOf(route: Route, values: SchemaValues): fc.Arbitrary<string> {
  const parameters = parametersIn('path', route);
  const segments = parameters.map((parameter) =>
    mostly(
      20,
      textsFor(parameter, values).map(([text = '']) => encoded(text)),
      fc.constantFrom(...RAW_SEGMENTS),
    ),
  );
  const filled = (chosen: string[]): string =>
    parameters.reduce((path, { name }, index) => path.replace(`{${name}}`, () => chosen[index]!), route.path);
  return fc.tuple(...segments).map(filled);
}

const RAW_QUERIES = [
  '&&=&',
  'limit',
  'type[a]=b',
  'type[]=x',
  '%FF=%',
  '__proto__=1',
  'limit=1&limit=2',
  'from=2026-11-20T10:00:00+02:00',
  'x=1&'.repeat(500),
];

export function queryOf(route: Route, values: SchemaValues): fc.Arbitrary<string> {
  const none = fc.constant<string[]>([]);
  const known = parametersIn('query', route).map((parameter) => {
    const pairs = textsFor(parameter, values).map((texts) =>
      texts.map((text) => `${encoded(parameter.name)}=${encoded(text)}`),
    );
    return fc.oneof({ weight: 4, arbitrary: none }, { weight: 1, arbitrary: pairs });
  });
  const unknown = fc.tuple(oddText, oddText).map(([name, text]) => [`${encoded(name)}=${encoded(text)}`]);
  const raw = fc.constantFrom(...RAW_QUERIES).map((text) => [text]);
  const parts = fc.tuple(...known, mostly(12, none, unknown), mostly(12, none, raw)).map((lists) => lists.flat());
  return parts.map((pairs) => (pairs.length > 0 ? `?${pairs.join('&')}` : ''));
}

/** Bytes that Node's own client sends; raw-bytes.spec.ts sends others on a bare socket. */
const asHeader = (text: string): string =>
  Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
    .slice(0, 5_000);

const OTHER_HEADERS: Record<string, string>[] = [
  { Origin: 'https://evil.test' },
  { Host: 'evil.test' },
  { Host: '' },
  { 'X-Request-ID': 'mine' },
  { Accept: 'text/nothing' },
  { 'If-None-Match': 'x' },
  { Range: 'bytes=5-1' },
];

export function headersOf(route: Route, values: SchemaValues): fc.Arbitrary<Record<string, string>> {
  const own = parametersIn('header', route).map((parameter) => [
    parameter.name,
    textsFor(parameter, values).map(([text = '']) => asHeader(text)),
  ]);
  const described = fc.record(Object.fromEntries(own) as Record<string, fc.Arbitrary<string>>, { requiredKeys: [] });
  return fc
    .tuple(described, mostly(30, fc.constant({}), fc.constantFrom(...OTHER_HEADERS)))
    .map(([ours, others]) => ({ ...ours, ...others }));
}
