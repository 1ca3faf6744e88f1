import fc from 'fast-check';

import { isJsonObject, type JsonValue } from '../../src/common/json.js';
import { Resolver } from '../../src/http-client/lookups.js';
import { AGENT_FILES, AGENTS, Shouter } from '../fuzz/agents.js';
import { type ApiDocument, type Parameter, type Route, routesOf, type Schema } from '../fuzz/document.js';
import { type InvalidValue, InvalidValues } from '../fuzz/invalid-values.js';
import { type Answer, Client } from '../fuzz/send.js';
import { ValidValues } from '../fuzz/valid-values.js';
import { startApp, type TestApp } from '../support/app.js';
import { builtProgram } from '../support/built-program.js';
import { FastClock, UNHURRIED_TRANSFERS } from '../support/fast-clock.js';
import { printedSeed } from '../support/random.js';

const REQUESTS_A_ROUTE = Number(process.env.STARLING_VALID_REQUESTS ?? 20);

/** Bounds that a schema cannot express: they are in descriptions, or depend on the configuration and the database. */
const BEYOND_SCHEMAS: [reason: string, detail: RegExp][] = [
  ["a type's own schema, and what the agent subscribes to", /^(payload|inputs): /],
  ['values of several lists together', /: must have at most 50 values together/],
  ['an artifact that exists', /^after: must be the id of an artifact/],
  ['a page that was given', /^after: must be next of an earlier page/],
  ['an artifact that the path names', /^artifact_id: must be a UUID/],
  ['a position that was given', /^(after|Last-Event-ID): must be the position of an entry/],
  [
    'the length of a duration',
    /(^visibility|\.visibility): ttl must be at (most 30d \(max_ttl\)|least one millisecond; .*)$/,
  ],
  ['the length of a duration', /^deadline: must be a duration above zero and of at most 100 years/],
  [
    'an address and a port that the operator allows',
    /^webhook\.url: must (be a URL such as|point to a public address|have a port)/,
  ],
  ['at most ten targets in a correlation', /^webhook: correlation \S+ has 10 targets/],
  ['a folder that the operator allows', /^batch_inputs: a path needs the setting csv_root/],
  ['a name of one line', /^name: is not a valid name/],
  ['columns that the rows have', /^row_key: /],
  ['what an uploaded file holds', /^file: /],
  ['different names of all inputs', /^input_mapping: .* both become /],
  ['agents of the configuration, and options of their engines', /^overrides\./],
  ['configurations that the operator gave', /^configuration: the operator gave no /],
  ['the size of all overrides together', /^overrides: must have at most \d+ bytes of JSON/],
  ['columns that the file has', /^input_mapping: there is no column /],
  ['a step that fits its window', /^step: must be (shorter than|at least)/],
  ['the order of two times, and the clock', /^to: must not be (before from|in the future)$/],
  ['a time that the id of a tick can have', /^from: must not be before 1970, /],
  ['the ticks of a time', /^to: more than 1,000 ticks are between from and to; choose less time$/],
  ['the time of a rate', /^rate: must be over a time above zero$/],
  ['values of a limit that belong together', /^(burst: counts for a rate)/],
  ['agents that are external', /is not an external agent/],
  ['a metric that exists', /^name: unknown metric /],
  ['one data set, with rows, agents and types that exist', /^data[.:]/],
  ['one place of the expected values, which the data set has', /^expected[.:]/],
  ['overrides that fit the agents', /^variants\[\d+\]/],
  ['what a kind of scorer needs, and expressions that compile', /^scorers\[\d+\]/],
  [
    'the types that the agent publishes, and their schemas',
    /^(outputs\[\d+\](\.type)?: |the answer )|refuses its payload|the payload of \w+ must be an object/,
  ],
];

/** Values that the document does not allow, and that count as an absent field. */
const ALSO_TAKEN = /(\.then|outputs\[0\]\.visibility): null as object$/;

const KNOWN = {
  type: ['Note'],
  agent_name: ['router', 'shouter'],
  agent_id: ['router', 'shouter'],
  agents: [['approver'], Array<string>(100).fill('approver')],
  payload: [{ text: 'hello', n: 1, key: 'a' }],
  file: ['swagger-ui.css'],
  limit_name: ['calls'],
  schedule_name: ['stocktaking', 'daily'],
  options: [{ every: '1h', publishes: { type: 'Note' } }],
  output: ['Note'],
  agent: ['router', 'shouter'],
  variants: [[{ name: 'a' }, { name: 'b' }]],
};

const EXTERNAL = `
  approver:
    consumes: [{ types: [Reading] }]
    publishes: [{ type: Note }]
    engine: { kind: external }
    timeout: 30d
    concurrency: 10000
`;

/** A schedule whose ticks any backfill can publish, and one with more ticks than most times allow. */
const SCHEDULES = `
schedules:
  stocktaking: { at: [1600-12-31T18:00Z, 2020-06-30T18:00Z], publishes: { type: Note } }
  daily: { every: 1d, publishes: { type: Note } }
`;

const LIMITS = 'limits: { calls: { concurrency: 5 } }\n';

class NoNames extends Resolver {
  resolve(): Promise<never> {
    return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
  }
}

const JSON_TYPE = 'application/json';
const AT_ONCE = 20;
const CSV = 'text\r\nhello\r\n';

interface Valid {
  target: string;
  headers: Record<string, string>;
  body: JsonValue | undefined;
  isForm: boolean;
}

interface Held {
  execution_id: string;
  lease_token: string;
}

/**
 * Uses the application, its database and HTTP. The clock runs fast, so that waiting is short, and outbound names
 * resolve to nothing.
 */
describe('the bounds that the document states', () => {
  let app: TestApp;
  let client: Client;
  let document: ApiDocument;
  let held: Held[] = [];

  beforeAll(async () => {
    // The files of the documentation pages.
    await builtProgram();
    const settings = {
      ...UNHURRIED_TRANSFERS,
      leaseMs: 3_600_000,
      logLevel: 'warn',
      secretKey: 'ab'.repeat(32),
      maxStreams: 100_000,
      maxStreamsPerAddress: 100_000,
    } as const;
    app = await startApp({
      config: AGENTS + EXTERNAL + SCHEDULES + LIMITS,
      files: AGENT_FILES,
      agents: [Shouter],
      clock: new FastClock(1_000),
      resolver: new NoNames(),
      settings,
    });
    client = new Client(app.url);
    document = (await app.http.get('/openapi.json')).body as ApiDocument;
  });
  afterAll(async () => {
    client.close();
    await app.close();
  });

  const post = (target: string, body: object): Promise<Answer> =>
    client.send({
      method: 'POST',
      target,
      headers: { 'Content-Type': JSON_TYPE },
      body: Buffer.from(JSON.stringify(body)),
    });

  /** Returns an execution that is claimed and has not finished. */
  async function oneHeld(): Promise<Held> {
    if (held.length === 0) {
      await Promise.all(Array.from({ length: 100 }, () => post('/api/v1/artifacts', { type: 'Reading' })));
      const { text } = await post('/api/v1/executions/claim', { agents: ['approver'], max: 100 });
      held = (JSON.parse(text) as { executions: Held[] }).executions;
    }
    return held.pop()!;
  }

  /** Returns the request about a claimed execution, if the route needs a lease. */
  async function withLease(request: Valid, lease?: Held): Promise<Valid> {
    const { target, body } = request;
    if (!isJsonObject(body) || typeof body.lease_token !== 'string') return request;
    const { execution_id, lease_token } = lease ?? (await oneHeld());
    return {
      ...request,
      target: target.replace(/(?<=\/executions\/)[^/]+/, execution_id),
      body: { ...body, lease_token },
    };
  }

  function send({ method }: Route, { target, headers, body, isForm }: Valid): Promise<Answer> {
    const content = isForm
      ? formOf(body!)
      : { type: JSON_TYPE, bytes: body === undefined ? null : Buffer.from(JSON.stringify(body)) };
    return client.send({
      method,
      target,
      headers: { ...headers, ...(content.bytes && { 'Content-Type': content.type }) },
      body: content.bytes,
    });
  }

  /** Runs a few at a time, each about a different execution. */
  async function sendAll(route: Route, requests: Valid[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let sent = 0; sent < requests.length; sent += AT_ONCE) {
      const leased: Valid[] = [];
      for (const request of requests.slice(sent, sent + AT_ONCE)) leased.push(await withLease(request));
      answers.push(...(await Promise.all(leased.map((request) => send(route, request)))));
    }
    return answers;
  }

  const isMeaning = (detail: string): boolean => BEYOND_SCHEMAS.some(([, rule]) => rule.test(detail));

  it('allow only requests whose form is accepted', async () => {
    const seed = printedSeed();
    const refused: Record<string, string> = {};
    for (const { route, valid } of routesOf(document).flatMap((one) =>
      validRequests(one, document).map((requests) => ({ route: one, valid: requests })),
    )) {
      const requests = fc.sample(valid, { seed, numRuns: REQUESTS_A_ROUTE });
      const answers = await sendAll(route, requests);
      for (const [index, { status, text }] of answers.entries()) {
        // The bound of a whole body is less than the sum of the bounds of its fields.
        if (status < 400 || [404, 409, 413].includes(status)) continue;
        const { detail } = JSON.parse(text) as { detail: string };
        if (status === 400 && isMeaning(detail)) continue;
        const { target, headers, body } = requests[index]!;
        refused[`${route.method} ${route.path}: ${status} ${detail.slice(0, 300)}`] =
          `${target.slice(0, 200)} ${JSON.stringify(headers)} ${JSON.stringify(body)?.slice(0, 300)}`;
      }
    }
    expect(refused).toEqual({});
  }, 300_000);

  it('a body one step beyond them is refused, and the error names the field', async () => {
    const wrong: string[] = [];
    const invalid = new InvalidValues(document, KNOWN);
    for (const { route, schema, isForm } of routesOf(document).flatMap(bodiesOf)) {
      const target = route.path
        .replace('{agent_name}', 'router')
        .replace(/\{(?:execution|artifact)_id\}/, '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80');
      const request = (body: JsonValue): Valid => ({ target, headers: {}, body, isForm });
      const { status, text } = await send(route, await withLease(request(invalid.valid(schema))));
      if (status >= 400 && status !== 404 && status !== 409)
        wrong.push(`${route.path} refused ${JSON.stringify(invalid.valid(schema))}: ${text}`);
      let lease = await oneHeld();
      for (const { what, value } of invalid.of(schema)) {
        if (ALSO_TAKEN.test(what)) continue;
        const answer = await send(
          route,
          what.startsWith('.lease_token') ? request(value) : await withLease(request(value), lease),
        );
        if (answer.status !== 400) lease = await oneHeld();
        if (answer.status !== 400 || !names(answer.text, what))
          wrong.push(
            `${route.path}${what}: ${answer.status} ${answer.text.slice(0, 200)} for ${JSON.stringify(value).slice(0, 300)}`,
          );
      }
    }
    expect(wrong).toEqual([]);
  }, 300_000);

  it('a parameter one step beyond them is refused', async () => {
    const wrong: string[] = [];
    for (const route of routesOf(document)) {
      for (const parameter of route.parameters ?? []) {
        for (const texts of wrongTexts(parameter, document)) {
          const answer = await client.send(withParameter(route, parameter, texts));
          const expected = parameter.in === 'path' ? [400, 404] : [400];
          if (!expected.includes(answer.status))
            wrong.push(
              `${route.method} ${route.path} ${parameter.name} ${JSON.stringify(texts).slice(0, 100)}: ${answer.status} ${answer.text.slice(0, 200)}`,
            );
        }
      }
    }
    expect(wrong).toEqual([]);
  }, 300_000);
});

/** An error about the whole body, or about the number of outputs, names no field. */
function names(text: string, what: string): boolean {
  const { detail } = JSON.parse(text) as { detail: string };
  if (
    what.startsWith(': ') ||
    /^The (body|field request) |visibilty|give either outputs or output|^the (answer has|payload of) /.test(detail)
  )
    return true;
  return detail.includes(/\w+/.exec(what.replace(/^ without /, ''))![0]);
}

function formOf(request: JsonValue): { type: string; bytes: Buffer } {
  const boundary = 'documented-bounds';
  const part = (name: string, type: string, content: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${name === 'file' ? '; filename="rows.csv"' : ''}\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
  const text =
    part('request', JSON_TYPE, JSON.stringify(request)) + part('file', 'text/csv', CSV) + `--${boundary}--\r\n`;
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.from(text) };
}

interface Body {
  route: Route;
  schema: Schema;
  isForm: boolean;
}

/** A form's field `request` is checked as the other bodies are; its file is always the same. */
function bodiesOf(route: Route): Body[] {
  const { [JSON_TYPE]: json, 'multipart/form-data': form } = route.requestBody?.content ?? {};
  return [
    ...(json ? [{ route, schema: json.schema, isForm: false }] : []),
    ...(form ? [{ route, schema: form.schema.properties?.request ?? form.schema, isForm: true }] : []),
  ];
}

function validRequests(route: Route, document: ApiDocument): fc.Arbitrary<Valid>[] {
  const values = new ValidValues(document, KNOWN);
  const { parameters = [] } = route;
  const textsOf = (place: Parameter['in']): fc.Arbitrary<[string, string[]][]> =>
    fc
      .tuple(
        ...parameters
          .filter((parameter) => parameter.in === place)
          .map(({ name, required = false, schema }) => {
            const texts = values
              .of(schema, name)
              .map((value): [string, string[]] => [name, Array.isArray(value) ? value.map(String) : [String(value)]]);
            return required ? texts : fc.option(texts, { nil: null, freq: 2 });
          }),
      )
      .map((given) => given.filter((one) => one !== null));
  const bodies = bodiesOf(route);
  const choices =
    bodies.length > 0
      ? bodies.map(({ schema, isForm }) => ({ body: values.of(schema) as fc.Arbitrary<JsonValue | undefined>, isForm }))
      : [{ body: fc.constant(undefined), isForm: false }];
  return choices.map(({ body, isForm }) =>
    fc
      .record({ path: textsOf('path'), query: textsOf('query'), headers: textsOf('header'), body })
      .map(({ path, query, headers, body: given }) => ({
        target: targetOf(route, path, query),
        // Other characters cannot be in a header, whatever a schema allows.
        headers: Object.fromEntries(headers.map(([name, [text]]) => [name, text!.replace(/[^\x21-\x7e]/gu, '?')])),
        body: given,
        isForm,
      }))
      // Node refuses headers beyond 16 KiB.
      .filter(({ target }) => target.length < 12_000),
  );
}

function targetOf(route: Route, path: [string, string[]][], query: [string, string[]][]): string {
  const filled = path.reduce(
    (target, [name, [text]]) => target.replace(`{${name}}`, () => encodeURIComponent(text!)),
    route.path,
  );
  const pairs = query.flatMap(([name, texts]) => texts.map((text) => `${name}=${encodeURIComponent(text)}`));
  return pairs.length > 0 ? `${filled}?${pairs.join('&')}` : filled;
}

/** Every parameter arrives as text. */
function wrongTexts({ in: place, schema, name }: Parameter, document: ApiDocument): string[][] {
  const invalid = new InvalidValues(document, KNOWN).of(schema, name);
  const texts = invalid.flatMap(({ value }: InvalidValue): string[][] => {
    if (schema.type === 'array')
      return Array.isArray(value) && value.every((one) => typeof one === 'string') ? [value as string[]] : [];
    return typeof value === (schema.type === 'string' ? 'string' : 'number') && schema.type !== 'boolean'
      ? [[String(value)]]
      : [];
  });
  if (schema.type !== 'string' && schema.type !== 'array') texts.push(['none']);
  return place === 'header'
    ? texts.filter(([text]) => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text!))
    : texts.filter(([text]) => place !== 'path' || text !== '');
}

function withParameter(route: Route, { name, in: place }: Parameter, texts: string[]) {
  const path = (route.parameters ?? [])
    .filter((one) => one.in === 'path')
    .map((one): [string, string[]] => [
      one.name,
      one.name === name ? texts : [String((KNOWN as Record<string, unknown[]>)[one.name]?.[0] ?? one.schema.example)],
    ]);
  const target = targetOf(route, path, place === 'query' ? [[name, texts]] : []);
  const example = Object.values(route.requestBody?.content[JSON_TYPE]?.examples ?? {})[0]?.value;
  const headers: Record<string, string> = {
    ...(example !== undefined && { 'Content-Type': JSON_TYPE }),
    ...(place === 'header' && { [name]: texts[0]! }),
  };
  return {
    method: route.method,
    target,
    headers,
    body: example === undefined ? null : Buffer.from(JSON.stringify(example)),
  };
}
