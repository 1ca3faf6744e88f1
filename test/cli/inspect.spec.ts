// Runs the commands that show what a server has, in a pipe and on a terminal, against the built server.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { Clients, ID } from './clients.js';
import { Folder } from './run-program.js';

const CONFIG = `
agents:
  quoter:
    description: Quotes a price
    consumes: [{ types: [Inquiry] }]
    publishes: [{ type: Quote }]
    retry: { attempts: 2, delay: 1ms }
    engine: { kind: function, module: ./quoter.mjs }
  storekeeper: { consumes: [{ types: [Inquiry] }], publishes: [{ type: Stock }], engine: { kind: expression, expression: "{ 'days': 2 }" } }
  clerk: { consumes: [{ types: [Quote, Stock] }], publishes: [{ type: Offer }], engine: { kind: expression, expression: "{ 'total': payload.Quote.total }" } }
  approver: { consumes: [{ types: [Offer], where: payload.total > 400 }], publishes: [{ type: Approval }], engine: { kind: external, assignee: anna } }
  sorter: { consumes: [{ types: [Note] }], cancel_on: { types: [Inquiry], key: payload.page }, publishes: [{ type: Sorted }], engine: { kind: expression, expression: "{ 'page': payload.page }" } }
  collector: { consumes: [{ types: [Offer], batch: { size: 25 } }], publishes: [{ type: Report }], engine: { kind: expression, expression: "{ 'offers': size(payload) }" } }
`;
const QUOTER = `
export default async ([{ payload }]) => {
  if (payload.product === 'Sofa') throw new Error('there is no price\\n for \\u001b[31m' + payload.product, { cause: new Error('no\\u0007 list') });
  return { total: 40 * payload.pieces };
};`;

/** An id that nothing has. */
const UNKNOWN = '01a20000-0000-7000-8000-000000000001';

const folder = new Folder();
let service: Service;
let clients: Clients;

const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const inquiry = async (correlation: string, product: string, pieces: number): Promise<void> => {
  const body = { type: 'Inquiry', payload: { product, pieces }, tags: ['from:test'] };
  expect((await post('/api/v1/artifacts', body, { 'X-Correlation-ID': correlation })).status).toBe(200);
};

interface Thing {
  id: string;
  type: string;
  agent: string;
  [field: string]: unknown;
}

beforeAll(async () => {
  await builtProgram();
  folder.write('quoter.mjs', QUOTER);
  const config = folder.write('starling.yaml', CONFIG);
  const args = ['--config', config, '--database-url', `sqlite:${join(folder.path, 'a.db')}`];
  service = await Service.start(args, { STARLING_ERROR_STACKS: 'true' });
  clients = new Clients(service);
  await inquiry('lamp', 'Lamp', 12);
  await inquiry('sofa', 'Sofa', 1);
  const count = async (path: string): Promise<number> => (await service.get<{ items: Thing[] }>(path)).items.length;
  await eventually('the offer waits for anna, the quoter failed, and the storekeeper has ended', async () => {
    const waits = await count('/api/v1/executions?external=true');
    const failed = await count('/api/v1/executions?state=failed');
    const ended = await count('/api/v1/executions?agent=storekeeper&state=completed');
    return waits === 1 && failed === 1 && ended === 2;
  });
});
afterAll(async () => {
  await service?.kill();
  folder.remove();
});

describe('starling agents', () => {
  test('lists the agents, in a pipe as JSON lines', async () => {
    const agents = await clients.list<Thing>('agents');
    expect(agents.map(({ name }) => name)).toEqual([
      'quoter',
      'storekeeper',
      'clerk',
      'approver',
      'sorter',
      'collector',
    ]);
    expect(agents[0]).toMatchObject({
      paused: false,
      engine: { kind: 'function' },
      waiting: 0,
      running: 0,
      processes: 1,
    });
  });

  test('on a terminal as a table', async () => {
    await post('/api/v1/agents/storekeeper/pause', {});
    expect(await clients.onTerminal(120, ['agents'])).toEqual([
      'AGENT        STATE   ENGINE      WAITING  RUNNING  CONSUMES → PUBLISHES',
      'quoter       active  function          0        0  Inquiry → Quote',
      'storekeeper  paused  expression        0        0  Inquiry → Stock',
      'clerk        active  expression        0        0  Quote + Stock → Offer',
      'approver     active  external          1        0  Offer → Approval',
      'sorter       active  expression        0        0  Note → Sorted',
      'collector    active  expression        0        0  Offer ×25 → Report',
    ]);
    await post('/api/v1/agents/storekeeper/resume', {});
  });

  test('shows one agent', async () => {
    expect(await clients.json('agents', 'quoter')).toMatchObject({ name: 'quoter', total_executions: 2 });
    const lines = await clients.onTerminal(80, ['agents', 'quoter']);
    expect(lines).toEqual(expect.arrayContaining(['description  Quotes a price', 'ended        2 executions']));
  });
});

describe('starling artifacts', () => {
  test('lists the newest first, with the filters of the API', async () => {
    const all = await clients.list<Thing>('artifacts');
    expect(all.length).toBeGreaterThan(6);
    expect(all[0]).toMatchObject({ id: ID, payload: expect.anything(), tags: expect.any(Array) });
    expect(await clients.list<Thing>('artifacts', '--order', 'asc')).toEqual(all.toReversed());
    const some = await clients.list<Thing>(
      ...['artifacts', '--type', 'Quote', '--type', 'Stock', '--produced-by', 'quoter', '--produced-by', 'storekeeper'],
      ...['--correlation-id', 'lamp', '--visibility', 'Public', '--from', '2020-01-01', '--order', 'asc'],
    );
    expect(some.map(({ type }) => type).sort()).toEqual(['Quote', 'Stock']);
    expect(await clients.list('artifacts', '--tag', 'from:test', '--to', '2020-01-01')).toEqual([]);
  });

  test('on a terminal as a table that fits, with a hint that there are more', async () => {
    const lines = await clients.onTerminal(90, ['artifacts', '--type', 'Inquiry', '--limit', '1', '--order', 'asc']);
    expect(lines).toEqual([
      'ARTIFACT                              TYPE     PRODUCED BY  CREATED               PAYLOAD',
      expect.stringMatching(/^[0-9a-f-]{36} {2}Inquiry {2}external {5}\S{19}Z {2}{"produ…$/),
      'There are more than 1; --limit sets how many are listed',
    ]);
    expect(await clients.onTerminal(90, ['artifacts', '--type', 'Approval'])).toEqual(['no artifact matches']);
  });

  test('shows one with its payload', async () => {
    const [offer] = await clients.list<Thing>('artifacts', '--type', 'Offer', '--correlation-id', 'lamp');
    expect(await clients.json('artifacts', offer!.id)).toEqual(offer);
    const lines = await clients.onTerminal(80, ['artifacts', offer!.id]);
    expect(lines.slice(-3)).toEqual(['payload      {', '               "total": 480', '             }']);
  });

  test('--json prints JSON on a terminal too', async () => {
    const [line] = await clients.onTerminal(80, ['artifacts', '--type', 'Offer', '--correlation-id', 'lamp', '--json']);
    expect(JSON.parse(line!)).toMatchObject({ type: 'Offer', payload: { total: 480 } });
  });
});

describe('starling executions', () => {
  test('lists them with the filters of the API', async () => {
    expect(await clients.list('executions', '--state', 'failed')).toMatchObject([{ agent: 'quoter', state: 'failed' }]);
    expect(await clients.list('executions', '--external', '--assignee', 'anna')).toMatchObject([{ agent: 'approver' }]);
    expect(await clients.list('executions', '--without-agent')).toEqual([]);
    const [{ failure_group: group }] = (await clients.list<Thing>('executions', '--state', 'failed')) as [Thing];
    expect(await clients.list('executions', '--failure-group', String(group))).toHaveLength(1);
  });

  test('lists those of replays if asked, as the list of artifacts does', async () => {
    const begun = await post('/api/v1/correlations/sofa/replay', { mode: 'recorded' });
    const { correlation_id } = (await begun.json()) as { correlation_id: string };
    expect(correlation_id).toEqual(ID);
    for (const list of ['executions', 'artifacts']) {
      const correlations = async (...options: string[]): Promise<unknown[]> =>
        (await clients.list<Thing>(list, ...options)).map((thing) => thing.correlation_id);
      expect(await correlations()).not.toContain(correlation_id);
      expect(await correlations('--replay')).toContain(correlation_id);
    }
  });

  test('the table has the error in one line, which cannot control the terminal', async () => {
    const [titles, row] = await clients.onTerminal(200, ['executions', '--state', 'failed']);
    expect(titles).toMatch(/^EXECUTION {29}AGENT {3}STATE {3}CREATED +TOOK {2}ERROR {35}CORRELATION$/);
    expect(row).toMatch(/ Error: there is no price for \ufffd\[31mSofa {2}sofa$/);
  });

  test('shows one with its attempts and its error', async () => {
    const [failed] = (await clients.list<Thing>('executions', '--state', 'failed')) as [Thing];
    expect(await clients.json('executions', failed.id)).toMatchObject({ id: failed.id, attempts: [{}, {}] });
    const lines = await clients.onTerminal(120, ['executions', failed.id]);
    expect(lines).toEqual(
      expect.arrayContaining([
        'state        failed',
        expect.stringMatching(/^attempts {5}1 {2}\S+Z {2}[\d.]+ m?s {2}Error: there is no price$/),
        expect.stringMatching(/^ {13}2 {2}\S+Z {2}[\d.]+ m?s {2}Error: there is no price$/),
        'error        Error: there is no price',
        'cause        Error: no\ufffd list',
        expect.stringMatching(/^(?:stack)? +at .*quoter\.mjs:3:/),
      ]),
    );
  });
});

describe('starling trace', () => {
  interface Traced {
    correlation_id: string;
    artifacts: Thing[];
    executions: Thing[];
  }

  test('finds the cascade by the id of a correlation, an artifact and an execution', async () => {
    const trace = await clients.json<Traced>('trace', 'lamp');
    expect(trace).toMatchObject({ correlation_id: 'lamp', state: 'active' });
    expect(trace).toEqual(await service.get('/api/v1/correlations/lamp/trace'));
    for (const { id } of [trace.artifacts[0]!, trace.executions[0]!])
      expect(await clients.json('trace', id)).toMatchObject({ correlation_id: 'lamp' });
  });

  test('draws it as a tree', async () => {
    const lines = await clients.onTerminal(120, ['trace', 'lamp']);
    const names = lines.map((line) => line.replace(/ +\d+(\.\d\d)? m?s.*$/, '').trimEnd());
    expect(names[0]).toMatch(/^lamp active, 4 artifacts, 0 errors, started at /);
    expect(names).toEqual(
      expect.arrayContaining([
        'Inquiry',
        expect.stringMatching(/^[├└]─ quoter +completed$/),
        expect.stringMatching(/clerk with (Quote|Stock) +completed$/),
        expect.stringMatching(/└─ Offer$/),
        expect.stringMatching(/└─ approver +pending$/),
        expect.stringMatching(/^ +waits: anna can claim it$/),
        'Waits:',
        '  collector: the window has 1 of 25 artifacts',
      ]),
    );
  });

  test('shows why an execution failed, and how to run it again', async () => {
    const lines = await clients.onTerminal(120, ['trace', 'sofa']);
    const failed = lines.findIndex((line) => / quoter +failed /.test(line));
    expect(lines[failed + 1]).toMatch(/^│ {2}│ {2}attempts 1 to 2: Error: there is no price for \ufffd\[31mSofa$/);
    expect(lines[failed + 2]).toMatch(/^│ {2}└─ WorkflowError /);
    expect(lines.at(-1)).toMatch(/^To run a failed execution again: npx starling retry [0-9a-f-]{36} --url http/);
  });

  test('--limit shows a part', async () => {
    expect((await clients.onTerminal(120, ['trace', 'lamp', '--limit', '1'])).at(-1)).toBe(
      'These are the first 1 of 4 artifacts; --limit shows more',
    );
  });
});

test('starling explain says for each subscription why it reacted or not', async () => {
  const [offer] = (await clients.list<Thing>('artifacts', '--type', 'Offer', '--correlation-id', 'lamp')) as [Thing];
  const { verdicts } = await clients.json<{ verdicts: Thing[] }>('explain', offer.id);
  expect(verdicts.map(({ verdict }) => verdict)).toEqual([
    'type',
    'type',
    'type',
    'triggered',
    'type',
    'window_filling',
  ]);
  expect(await clients.json('explain', offer.id, 'approver')).toMatchObject({ verdicts: [{ agent: 'approver' }] });
  expect(await clients.onTerminal(80, ['explain', offer.id, 'approver'])).toEqual([
    'Offer of clerk, in the correlation lamp',
    '',
    'AGENT     VERDICT    WHY',
    expect.stringMatching(/^approver {2}triggered {2}It triggered the agent; .*\.$/),
  ]);
});

test('starling explain says whether an artifact cancels executions of agents that have its type in cancel_on', async () => {
  const [inquiry] = (await clients.list<Thing>('artifacts', '--type', 'Inquiry')) as [Thing];
  expect(await clients.json('explain', inquiry.id, 'sorter')).toMatchObject({
    cancels: [{ agent: 'sorter', verdict: 'key_error' }],
  });
  expect((await clients.onTerminal(200, ['explain', inquiry.id, 'sorter'])).slice(-2)).toEqual([
    'CANCEL_ON OF  VERDICT    WHY',
    expect.stringMatching(/^sorter {8}key_error {2}cancel_on\.key fails: .*, so it cancels nothing\.$/),
  ]);
});

test('starling waiting lists what waits, of everything and of one correlation', async () => {
  const all = await clients.list<Thing>('waiting');
  expect(all).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'join', agent: 'clerk', waiting_for: ['Quote'], correlation_id: 'sofa' }),
      expect.objectContaining({ kind: 'window', agent: 'collector' }),
      expect.objectContaining({ kind: 'unclaimed', agent: 'approver', execution_id: ID, correlation_id: 'lamp' }),
    ]),
  );
  expect(await clients.list('waiting', '--limit', '1')).toHaveLength(1);
  expect(await clients.list('waiting', 'sofa')).toMatchObject([{ kind: 'join', agent: 'clerk' }]);
  // Nothing of it is cut.
  expect(await clients.onTerminal(60, ['waiting', 'sofa'])).toEqual([
    'KIND  AGENT  SINCE                 CORRELATION  WHAT',
    expect.stringMatching(/^join {2}clerk {2}\S{20} {2}sofa {9}it needs Quote, and has Stock, with the key "sofa"$/),
  ]);
});

describe('starling compare', () => {
  test('gives the comparison of the API, found by the ids of a correlation and of an artifact', async () => {
    const [artifact] = await clients.list<Thing>('artifacts', '--correlation-id', 'sofa', '--type', 'Inquiry');
    const comparison = await clients.json<object>('compare', 'lamp', artifact!.id);
    expect(comparison).toMatchObject({
      left: { correlation_id: 'lamp' },
      right: { correlation_id: 'sofa' },
      pagination: { has_more: false },
    });
    const some = await clients.json<{ items: Thing[] }>('compare', 'lamp', 'sofa', '--limit', '2');
    expect(some.items).toHaveLength(2);
    const { code, stderr } = await clients.run('compare', 'lamp', 'soda');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^unknown correlation.* did you mean sofa\?\n$/)]);
  });

  test('prints both sides, the agents and the pairs with their changes on a terminal', async () => {
    const lines = await clients.onTerminal(150, ['compare', 'lamp', 'sofa', '--limit', '3']);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^left {3}lamp active, 4 artifacts, 0 errors$/),
        expect.stringMatching(/^right {2}sofa completed, 3 artifacts, 1 error, took /),
        '2 pairs, 1 changed, 2 only left, 1 only right',
        expect.stringMatching(/^quoter +1 +- → 1 +1 → 2 /),
        expect.stringMatching(/^approver +1 → - +0 → - /),
        expect.stringMatching(/^changed +Inquiry +external /),
        '  /product: "Lamp" → "Sofa"',
        '  /pieces: 12 → 1',
        'These are the first 3 of 5 pairs; --limit shows more',
      ]),
    );
  });
});

describe('one line on standard error, and exit code 1', () => {
  test.each([
    ['an unknown agent', ['agents', 'quotr'], /^unknown agent: quotr; did you mean quoter\?$/],
    [
      'an agent that resembles no other',
      ['agents', 'zebra'],
      /^unknown agent: zebra; npx starling agents --url \S+ lists the agents$/,
    ],
    [
      'an unknown artifact',
      ['artifacts', 'a1'],
      /^unknown artifact: a1; npx starling artifacts --url \S+ lists the newest artifacts$/,
    ],
    ['an unknown execution', ['executions', UNKNOWN], /^unknown execution: 01a2\S+; npx starling executions .*$/],
    [
      'nothing to trace',
      ['trace', 'lam'],
      /^unknown correlation, run, artifact or execution: lam; did you mean lamp\?$/,
    ],
    ['nothing to explain', ['explain', UNKNOWN], /^unknown artifact: 01a2\S+; npx starling artifacts .*$/],
    ['nothing that waits', ['waiting', 'lapm'], /^unknown correlation, .*: lapm; did you mean lamp\?$/],
    ['an empty id', ['artifacts', ''], /^"" is not an id$/],
    ['a path', ['trace', '..'], /^"\.\." is not an id$/],
    ['an id with controls', ['trace', 'x\u001b[2J\u009b1m'], /^unknown .*: x\ufffd\[2J\ufffd1m; /],
    ['a wrong state', ['executions', '--state', 'broken'], /^--state: must be one of pending, running, /],
    ['a wrong limit', ['artifacts', '--limit', '0'], /^--limit: must be a whole number of at least 1 \(got "0"\)$/],
    [
      'a wrong time',
      ['artifacts', '--from', 'yesterday'],
      /^--from: is not a time; give a time such as \S+, or a date such as \S+ \(got "yesterday"\)$/,
    ],
    ['a wrong visibility', ['artifacts', '--visibility', 'Secret'], /^--visibility: must be one of Public, /],
    [
      'a type that does not exist',
      ['artifacts', '--type', 'Quotes'],
      /^--type: unknown type Quotes; did you mean Quote\?$/,
    ],
    [
      'an agent that does not exist',
      ['executions', '--agent', 'clark'],
      /^--agent: unknown agent clark; did you mean clerk\?$/,
    ],
    ['a tail of nothing', ['tail', '--produced-by', 'clark'], /^--produced-by: unknown agent clark; did you mean/],
    [
      'filters for one thing',
      ['artifacts', 'a1', '--type', 'Offer'],
      /^--type: filters only the list; remove it or the id$/,
    ],
    [
      'no server',
      ['waiting', '--url', 'http://127.0.0.1:1'],
      /^the server at http:\/\/127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\); start it with /,
    ],
  ])('for %s', async (_, args, line) => {
    const { code, stdout, stderr } = await clients.run(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.replace(/\n$/, '')).toMatch(line);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  });
});

test('a part of an id finds the whole one', async () => {
  const [offer] = (await clients.list<Thing>('artifacts', '--type', 'Offer')) as [Thing];
  const { code, stderr } = await clients.run('artifacts', offer.id.slice(0, 30));
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `unknown artifact: ${offer.id.slice(0, 30)}; did you mean ${offer.id}?\n`,
  });
});

test('a server behind a proxy with a path prefix', async () => {
  const proxy = createServer((request, response) => {
    if (!request.url!.startsWith('/desk/')) return void response.writeHead(404).end();
    void fetch(`${service.url}${request.url!.slice('/desk'.length)}`).then(async (answer) =>
      response.writeHead(answer.status).end(await answer.text()),
    );
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/desk/`;
  expect(await clients.json('trace', 'lamp', '--url', url)).toMatchObject({ correlation_id: 'lamp' });
  expect(await clients.list('executions', '--state', 'failed', '--url', url)).toHaveLength(1);
  proxy.close();
});

test('--help has examples, which are commands of the program', async () => {
  const names = 'agents artifacts executions trace compare explain waiting tail retry replay cancel';
  for (const name of names.split(' '))
    expect((await clients.run(name, '--help')).stdout).toMatch(new RegExp(`\nExamples:\n  starling ${name}`));
});

test('colours only on a terminal that has them', async () => {
  const colour = '\u001b[';
  const args = ['executions', '--state', 'failed'];
  const withColours = { TERM: 'xterm-256color' };
  expect((await clients.onRealTerminal(120, args, withColours)).join('')).toContain(`${colour}31m`);
  expect((await clients.onRealTerminal(120, args, { ...withColours, NO_COLOR: '1' })).join('')).not.toContain(colour);
  expect((await clients.runAlone(...args)).stdout).not.toContain(colour);
});

test('the built program prints the same as a child process, in a pipe and on a terminal', async () => {
  const args = ['executions', '--state', 'failed'];
  expect(await clients.runAlone(...args)).toEqual(await clients.run(...args));
  expect(await clients.onRealTerminal(120, args)).toEqual(await clients.onTerminal(120, args));
  expect(await clients.runAlone('agents', 'quotr')).toEqual(await clients.run('agents', 'quotr'));
});

test('lists read as many pages as --limit needs', async () => {
  const published = Array.from({ length: 510 }, (_, number) =>
    post('/api/v1/artifacts', { type: 'Note', payload: { page: number } }, { 'X-Correlation-ID': 'notes' }),
  );
  await Promise.all(published);
  const found = await clients.list<Thing>('artifacts', '--type', 'Note', '--limit', '505');
  expect(new Set(found.map(({ id }) => id)).size).toBe(505);
  const executions = await clients.list<Thing>('executions', '--agent', 'sorter', '--limit', '505');
  expect(new Set(executions.map(({ id }) => id)).size).toBe(505);
});

test('a part of the id of an older artifact finds it, with the mark of a cut', async () => {
  const [offer] = (await clients.list<Thing>('artifacts', '--type', 'Offer')) as [Thing];
  const part = `${offer.id.slice(0, 30)}…`;
  for (const command of ['artifacts', 'explain', 'trace'])
    expect((await clients.run(command, part)).stderr).toMatch(`: ${part}; did you mean ${offer.id}?\n`);
});

test('texts of others control no terminal, in tables and in JSON', async () => {
  const page = '\u001b]0;title\u0007\u009b2J\u202e\u2066';
  await post('/api/v1/artifacts', { type: 'Note', payload: { page } }, { 'X-Correlation-ID': 'hostile' });
  const words = ['artifacts', '--type', 'Note', '--correlation-id', 'hostile'];
  const [{ id, payload }] = (await clients.list<Thing>(...words)) as [Thing];
  expect(payload).toEqual({ page });
  for (const args of [words, [...words, '--json'], ['artifacts', id], ['artifacts', id, '--json'], ['trace', id]])
    expect((await clients.onTerminal(200, args)).join('\n')).not.toMatch(
      /[\0-\t\v-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/,
    );
});
