// Uses the whole application over sockets: requests that no HTTP client would send.
import fc from 'fast-check';

import { startApp, type TestApp } from '../support/app.js';
import { printedSeed } from '../support/random.js';
import { sendRaw } from './raw.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ settings: { logLevel: 'warn' } });
});
afterAll(() => app.close());

const AT_ONCE = 20;
const BODY = '{"type":"WorkflowError","payload":{}}';

const POST = 'HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const REQUESTS = [
  'GET /api/v1/artifacts?limit=5 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  `POST /api/v1/artifacts ${POST}X-Correlation-ID: one\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  `POST /api/v1/artifacts/sync ${POST}Transfer-Encoding: chunked\r\n\r\n${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
];

const ODD = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  '\x7f',
  '\xff',
  'Host: other\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'X-Idempotency-Key: a\0b\r\n',
  'HTTP/0.9',
  'HTTP/2.0',
  `X: ${'x'.repeat(20_000)}\r\n`,
];

/** Returns a valid request with bytes inserted, removed or changed. */
const damaged = fc
  .tuple(
    fc.constantFrom(...REQUESTS),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.constantFrom('', ...ODD)), { minLength: 1, maxLength: 3 }),
  )
  .map(([request, edits]) =>
    edits.reduce((text, [at, taken, put]) => spliced(text, at % (text.length + 1), taken, put), request),
  );

const spliced = (text: string, at: number, taken: number, put: string): string =>
  text.slice(0, at) + put + text.slice(at + taken);

interface RawAnswer {
  status: number;
  head: string;
  body: string;
}

function answersOf(text: string): RawAnswer[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter(Boolean)
    .map((answer) => {
      const [head = '', ...rest] = answer.split('\r\n\r\n');
      return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body: rest.join('\r\n\r\n') };
    });
}

function problemOf({ status, head, body }: RawAnswer): string | null {
  if (status === 100) return null;
  if (status < 200 || status >= 500 || (status >= 300 && status < 400) || Number.isNaN(status))
    return `status ${status}`;
  if (!/^X-Request-ID: [0-9a-f-]{36}$/im.test(head)) return 'no X-Request-ID';
  return status < 400 || /^\{"detail":"[^]+"\}$/.test(body) ? null : 'no detail';
}

/**
 * Node does not report a chunk that it cannot parse, or a body that ends too early, if the request also asks for an
 * upgrade: its connection closes at the timeout, or when the client closes it.
 */
const hasNoAnswer = (request: string): boolean =>
  /^Upgrade: /m.test(request) && (/^Transfer-Encoding: chunked/m.test(request) || endsTooEarly(request));

function endsTooEarly(request: string): boolean {
  const [head = '', ...body] = request.split('\r\n\r\n');
  return body.join('\r\n\r\n').length < Number(/^Content-Length: (\d+)/m.exec(head)?.[1] ?? 0);
}

it('2,000 requests with damaged bytes are answered with 2xx, or 4xx and a detail', async () => {
  const requests = fc.sample(damaged, { seed: printedSeed(), numRuns: 2_000 });
  const problems: string[] = [];
  const ask = async (request: string): Promise<void> => {
    const text = await sendRaw(app.url, Buffer.from(request, 'latin1'));
    const found =
      text === ''
        ? hasNoAnswer(request)
          ? []
          : ['no answer']
        : answersOf(text)
            .map(problemOf)
            .filter((problem) => problem !== null);
    problems.push(
      ...found.map((problem) => `${problem}: ${JSON.stringify(request.slice(0, 1_000))} → ${text.slice(0, 1_000)}`),
    );
  };
  for (let sent = 0; sent < requests.length; sent += AT_ONCE) {
    await Promise.all(requests.slice(sent, sent + AT_ONCE).map(ask));
    expect(problems.slice(0, 5)).toEqual([]);
  }
  await app.http.get('/health').expect(200);
  expect(app.logLines.filter(({ level }) => (level as number) >= 50)).toEqual([]);
});
