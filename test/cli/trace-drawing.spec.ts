// Runs `starling trace` on a terminal against a server that answers with fixed traces, so that the whole drawing is compared.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { StartedProgram } from './started-program.js';

const START = Date.parse('2026-11-20T10:00:00.000Z');
const at = (ms: number): string => new Date(START + ms).toISOString();
const ID_OF: Record<string, string> = {};
/** A fixed id for a name of one letter. */
const id = (name: string): string =>
  (ID_OF[name] ??= `01a20000-0000-7000-8000-${(Object.keys(ID_OF).length + 1).toString(16).padStart(12, '0')}`);

const artifact = (name: string, type: string, execution: string | null, ms: number) => ({
  id: id(name),
  type,
  produced_by: execution === null ? 'external' : 'agent',
  execution_id: execution === null ? null : id(execution),
  created_at: at(ms),
  input_of: [],
});
const attempt = (number: number, error: string | null = null) => ({
  attempt: number,
  round: 0,
  started_at: at(0),
  ended_at: at(0),
  error_type: error === null ? null : 'Error',
  error_message: error,
});
const execution = (
  name: string,
  agent: string,
  inputs: string[],
  times: [number, number | null],
  more: object = {},
) => ({
  id: id(name),
  agent,
  correlation_id: 'order-17',
  state: 'completed',
  created_at: at(times[0]),
  started_at: at(times[0]),
  ended_at: times[1] === null ? null : at(times[1]),
  next_attempt_at: null,
  attempts: [attempt(1)],
  error_type: null,
  error_message: null,
  inputs: inputs.map(id),
  truncated: false,
  ...more,
});

const TRACE = {
  correlation_id: 'order-17',
  state: 'active',
  started_at: at(0),
  settled_at: null,
  artifact_count: 5,
  error_count: 1,
  artifacts: [
    artifact('i', 'Inquiry', null, 0),
    artifact('q', 'Quote', 'A', 2_850),
    artifact('s', 'Stock', 'B', 2_900),
    artifact('o', 'Offer', 'C', 184_000),
    artifact('w', 'WorkflowError', 'D', 190_000),
  ],
  executions: [
    execution('A', 'quoter', ['i'], [12, 2_850], { attempts: [attempt(1, 'no price'), attempt(2)] }),
    execution('B', 'storekeeper', ['i'], [13, 2_900], { cached_from: id('y') }),
    execution('C', 'clerk', ['q', 's'], [2_910, 184_000]),
    execution('D', 'writer', ['o'], [184_001, 190_000], {
      state: 'failed',
      attempts: [attempt(1, 'busy'), attempt(2, 'busy'), attempt(3, 'the model\nis gone')],
      error_type: 'Error',
      error_message: 'the model\nis gone',
    }),
    execution('E', 'approver', ['o'], [184_002, null], { state: 'pending', started_at: null, attempts: [] }),
    execution('F', 'packer', ['o'], [184_003, 185_003], { state: 'cancelled', cancelled_by: id('z') }),
    execution('G', 'sender', ['o'], [184_004, 184_004], {
      state: 'cancelled',
      started_at: null,
      attempts: [],
      skipped_for: id('y'),
    }),
  ],
  truncated: false,
};
const WAITING = {
  state: 'active',
  items: [
    { kind: 'deadline', since: null, until: at(3_600_000) },
    {
      kind: 'join',
      agent: 'archivist',
      state: 'waiting',
      waiting_for: ['Approval', 'Letter'],
      received: { Offer: 1 },
      join_key: '"order-17"',
      until: null,
    },
    { kind: 'unclaimed', execution_id: id('E'), agent: 'approver', assignee: 'anna', until: null, due_at: null },
  ],
  pagination: { next: null, has_more: false },
};

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url!.split('?')[0]!;
    const answers: Record<string, object> = { status: { state: 'active' }, trace: TRACE, waiting: WAITING };
    response.end(JSON.stringify(answers[path.split('/').at(-1)!]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function drawn(columns: number): Promise<string> {
  const program = await StartedProgram.onTerminal(columns, ['trace', 'order-17'], { STARLING_URL: url });
  await program.ended;
  return program.stdout.replaceAll('\r', '').replaceAll(url, 'URL');
}

test('the whole drawing', async () => {
  expect(await drawn(120)).toBe(`\
order-17 active, 5 artifacts, 1 error, started at 2026-11-20T10:00:00.000Z

ARTIFACTS AND AGENTS             STATE              AT       TOOK  ID
Inquiry                                           0 ms             ${id('i')}
├─ quoter                        completed       12 ms     2.84 s  ${id('A')}
│  │  attempt 1: Error: no price
│  └─ Quote                                     2.85 s             ${id('q')}
└─ storekeeper                   completed       13 ms     2.89 s  ${id('B')}
   │  with the answer of the execution ${id('y')}
   └─ Stock                                     2.90 s             ${id('s')}
      └─ clerk with Quote        completed      2.91 s  3 min 2 s  ${id('C')}
         └─ Offer                            3 min 4 s             ${id('o')}
            ├─ writer            failed      3 min 5 s     6.00 s  ${id('D')}
            │  │  attempts 1 to 2: Error: busy
            │  │  attempt 3: Error: the model is gone
            │  └─ WorkflowError             3 min 10 s             ${id('w')}
            ├─ approver          pending     3 min 5 s             ${id('E')}
            │     waits: anna can claim it
            ├─ packer            cancelled   3 min 5 s     1.00 s  ${id('F')}
            │     cancelled by the artifact ${id('z')}
            └─ sender            cancelled   3 min 5 s             ${id('G')}
                  skipped for the execution ${id('y')}

Waits:
  the correlation is cancelled at its deadline (until 2026-11-20T11:00:00Z)
  archivist: it needs Approval and Letter, and has Offer, with the key "order-17"
To run a failed execution again: npx starling retry ${id('D')} --url URL
`);
});

test('a narrow terminal cuts the notes, but no id', async () => {
  const lines = (await drawn(60)).split('\n');
  expect(lines.slice(2, 9)).toEqual([
    'ARTIFACTS AND AGENTS             STATE              AT       TOOK  ID',
    `Inquiry                                           0 ms             ${id('i')}`,
    `├─ quoter                        completed       12 ms     2.84 s  ${id('A')}`,
    '│  │  attempt 1: Error: no price',
    `│  └─ Quote                                     2.85 s             ${id('q')}`,
    `└─ storekeeper                   completed       13 ms     2.89 s  ${id('B')}`,
    '   │  with the answer of the execution 01a20000-0000-7000-8…',
  ]);
});
