// Uses the application, and HTTP servers as remote agents. The clock is faked if an agent hangs or sends Retry-After.
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, type Behaviour, type Received, Receiver } from '../support/receiver.js';
import { inTurn, replies, requestIn } from '../support/remote-agent.js';
import { isValidForFlock, verified } from '../webhooks/verifying.js';
import { Board, type WireArtifact } from './board.js';

const SECRET = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
const REPLY = { text: 'It is on its way.' };

const configuration = (agents: Receiver): string => `
types:
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string, minLength: 3 } } } }
agents:
  responder:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply, tags: [remote] }]
    engine: { kind: http, url: "${agents.url('/responder')}", secret: "\${AGENT_SECRET}", max_answer: 64KiB }
    timeout: 10s
    retry: { attempts: 2, delay: 1ms }
  gardener:
    consumes: [{ types: [Seed] }]
    publishes: [{ type: Tree }, { type: Leaf, visibility: { kind: Private, agents: [gardener] } }]
    engine: { kind: http, url: "${agents.url('/gardener')}" }
    retry: { attempts: 1 }
  nobody:
    consumes: [{ types: [Lost] }]
    engine: { kind: http, url: "http://127.0.0.1:9/" }
    retry: { attempts: 2, delay: 1ms }
`;

interface Execution {
  id: string;
  state: string;
  attempt: number;
  next_attempt_at: string | null;
  attempts: { attempt: number; error_type: string | null; error_message: string | null }[];
}

const shown = ({ type, payload, tags }: WireArtifact) => ({ type, payload, tags });

describe.each(['the system clock', 'a clock that stands still'])('remote agents, by %s', (name) => {
  const clock = name === 'the system clock' ? undefined : new ManualClock();
  let agents: Receiver;
  let board: Board;
  let host: string;
  beforeAll(async () => {
    agents = await Receiver.start();
    host = `127.0.0.1:${agents.port}`;
    board = await Board.start(configuration(agents), { environment: { AGENT_SECRET: SECRET }, clock });
  });
  afterAll(async () => {
    await board.close();
    await agents.close();
  });
  beforeEach(() => void (agents.received.length = 0));

  const executionOf = async (correlation: string): Promise<Execution> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id: correlation }).expect(200);
    const { id } = (body as { items: { id: string }[] }).items[0]!;
    return (await board.http.get(`/api/v1/executions/${id}`).expect(200)).body as Execution;
  };

  /** Publishes a Question, and returns the result once its correlation has finished. */
  const ask = async (
    behaviour: Behaviour,
  ): Promise<{ execution: Execution; requests: Received[]; produced: WireArtifact[] }> => {
    agents.on('/responder', behaviour);
    const correlation = await board.publish('Question', { text: 'Where is it?' });
    await board.ended(correlation);
    const produced = (await board.artifacts(correlation)).filter(({ produced_by }) => produced_by !== 'external');
    return { execution: await executionOf(correlation), requests: agents.at('/responder'), produced };
  };

  if (!clock) {
    test('receive the inputs, signed, under the id of the execution', async () => {
      const { execution, requests, produced } = await ask(replies(REPLY));
      expect(produced.map(shown)).toEqual([{ type: 'Reply', payload: REPLY, tags: ['remote'] }]);
      expect(requests).toHaveLength(1);
      const { headers } = requests[0]!;
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'idempotency-key': execution.id,
        'webhook-id': execution.id,
      });
      expect(verified(SECRET, requests[0]!)).toEqual({
        execution_id: execution.id,
        correlation_id: produced[0]!.correlation_id,
        agent: 'responder',
        attempt: 1,
        inputs: [
          expect.objectContaining({ type: 'Question', payload: { text: 'Where is it?' }, produced_by: 'external' }),
        ],
      });
      expect(isValidForFlock(SECRET, requests[0]!)).toBe(true);
    });

    const plainReply = { type: 'Reply', payload: REPLY, tags: ['remote'] };
    test.each([
      ['a list of payloads', [REPLY, REPLY], [plainReply, plainReply]],
      [
        'outputs that name their type',
        { outputs: [{ type: 'Reply', payload: REPLY, tags: ['urgent', 'remote'] }] },
        [{ ...plainReply, tags: ['remote', 'urgent'] }],
      ],
      ['no outputs', { outputs: [] }, []],
      ['null', null, []],
    ])('may answer with %s', async (_, answer, expected) => {
      expect((await ask(replies(answer))).produced.map(shown)).toEqual(expected);
    });

    test('answer 204 if there is nothing to publish', async () => {
      const { execution, produced } = await ask(answers(204));
      expect([execution.state, produced]).toEqual(['completed', []]);
    });

    test('that publish several types name each, and may set the visibility', async () => {
      const outputs = [
        { type: 'Leaf', payload: { n: 1 } },
        { type: 'Tree', payload: { n: 2 }, visibility: { kind: 'Labelled', required_labels: ['wood'] } },
        { type: 'Leaf', payload: { n: 3 }, visibility: { kind: 'Public' } },
      ];
      agents.on('/gardener', replies({ outputs }));
      const { artifacts } = await board.publishSync('Seed', {});
      expect(
        artifacts.map(({ type, payload, visibility }: WireArtifact & { visibility?: object }) => [
          type,
          payload.n,
          visibility,
        ]),
      ).toEqual([
        ['Leaf', 1, { kind: 'Private', agents: ['gardener'] }],
        ['Tree', 2, { kind: 'Labelled', required_labels: ['wood'] }],
        ['Leaf', 3, { kind: 'Public' }],
      ]);
    });

    test.each([
      ['408', answers(408), 'http', /answered 408$/],
      ['425', answers(425), 'http', /answered 425$/],
      ['429', answers(429), 'rate_limit', /answered 429$/],
      [
        '500, with its reason',
        (response) => response.writeHead(500).end('out of order\n'),
        'http',
        /answered 500: out of order$/,
      ],
      ['503', answers(503), 'http', /answered 503$/],
      [
        'a connection that is reset',
        (response) => response.socket!.resetAndDestroy(),
        'network',
        /: the connection was closed before an answer came$/,
      ],
      [
        'an answer that breaks off',
        (response) => response.writeHead(200, { 'content-length': '100' }).write('{"text":', () => response.destroy()),
        'network',
        /: the answer broke off$/,
      ],
      [
        'an answer that is too long',
        replies({ text: 'x'.repeat(64 * 1_024) }),
        'output',
        /sent an answer larger than max_answer; raise max_answer or send less$/,
      ],
      ['not JSON', (response) => response.end('It is on its way.'), 'output', /^the answer of .+ is not JSON$/],
      ['an empty answer', answers(200), 'output', /^the answer of .+ is not JSON$/],
      [
        'a payload that the schema refuses',
        replies({ text: 'no' }),
        'output',
        /^Reply refuses its payload: payload\.text: must NOT have fewer than 3 characters$/,
      ],
      [
        'an output that the schema refuses',
        replies({
          outputs: [
            { type: 'Reply', payload: REPLY },
            { type: 'Reply', payload: {} },
          ],
        }),
        'output',
        /^outputs\[1\]: Reply refuses its payload: payload\.text: is required$/,
      ],
      [
        'an output of a type that it does not publish',
        replies({ outputs: [{ type: 'Tree', payload: REPLY }] }),
        'output',
        /^outputs\[0\]\.type: must be one of Reply$/,
      ],
    ] as [string, Behaviour, string, RegExp][])('%s is retried', async (_, fault, type, message) => {
      const { execution, requests, produced } = await ask(inTurn(fault, replies(REPLY)));
      expect(produced.map(shown)).toEqual([plainReply]);
      expect(requests.map((request) => [requestIn(request).execution_id, requestIn(request).attempt])).toEqual([
        [execution.id, 1],
        [execution.id, 2],
      ]);
      expect(execution.attempts.map(({ error_type }) => error_type)).toEqual([type, null]);
      expect(execution.attempts[0]!.error_message).toMatch(message);
    });

    test.each([
      [
        '400',
        (response) => response.writeHead(400).end('{"error":"which parcel?"}'),
        'answered 400: {"error":"which parcel?"}',
      ],
      ['404', answers(404), 'answered 404'],
      ['422', answers(422), 'answered 422'],
      ['a redirect', answers(307, { location: '/elsewhere' }), 'answered 307, and redirects are not followed'],
    ] as [string, Behaviour, string][])('%s is final', async (_, fault, message) => {
      const { execution, requests, produced } = await ask(fault);
      expect([execution.state, requests.length, agents.at('/elsewhere')]).toEqual(['failed', 1, []]);
      expect(
        produced.map(({ type, payload }) => [type, payload.error_type, payload.error_message, payload.attempts]),
      ).toEqual([['WorkflowError', 'http', `${host} ${message}`, 1]]);
    });

    test('an answer of another content type is final, such as the page of a proxy', async () => {
      const { execution, requests } = await ask((response) =>
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<title>Log in</title>'),
      );
      expect([execution.state, requests.length, execution.attempts[0]!.error_type]).toEqual(['failed', 1, 'output']);
      expect(execution.attempts[0]!.error_message).toBe(
        `the answer of ${host} is text/html, not JSON; check the agent's url`,
      );
    });

    test('an answer with the content type of JSON that is not JSON is retried', async () => {
      const broken: Behaviour = (response) =>
        response.writeHead(200, { 'content-type': 'application/problem+json' }).end('{');
      const { execution } = await ask(inTurn(broken, replies(REPLY)));
      expect([execution.state, execution.attempts.length]).toEqual(['completed', 2]);
    });

    test('that do not exist are retried as often as the policy says', async () => {
      const correlation = await board.publish('Lost', {});
      await board.ended(correlation);
      const { attempts } = await executionOf(correlation);
      expect(attempts.map(({ error_type, error_message }) => [error_type, error_message])).toEqual(
        Array(2).fill(['network', '127.0.0.1:9: the connection was refused']),
      );
    });

    test('are disconnected when their execution is cancelled', async () => {
      let closed = false;
      agents.on('/responder', (response) => void response.on('close', () => (closed = true)));
      const correlation = await board.publish('Question', { text: 'Where is it?' });
      await eventually('the agent is asked', () => agents.at('/responder').length === 1);
      await board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
      await eventually('the agent is disconnected', () => closed);
    });

    test('receive a secret that is never shown', async () => {
      const { execution } = await ask((response, { headers }) =>
        response.writeHead(400).end(`the secret is ${SECRET}, not ${headers['webhook-signature']!}`),
      );
      expect(execution.attempts[0]!.error_message).toMatch(/^\S+ answered 400: the secret is \[secret\], not v1,/);
      const shownElsewhere = await Promise.all(
        ['/agents', '/api/v1/agents'].map(async (path) => (await board.http.get(path)).text),
      );
      const rows = await board.app.database.look(async (query) => [
        await query('select * from artifacts'),
        await query('select * from executions'),
      ]);
      expect(JSON.stringify([board.app.logLines, rows, shownElsewhere])).not.toContain(SECRET);
    });
    return;
  }

  test.each([
    ['seconds', () => '30'],
    ['a date', () => new Date(clock.now() + 30_000).toUTCString()],
  ])('are not asked again before their Retry-After, given as %s, has passed', async (_, header) => {
    agents.on(
      '/responder',
      inTurn((response, received) => answers(429, { 'retry-after': header() })(response, received), replies(REPLY)),
    );
    const correlation = await board.publish('Question', { text: 'Where is it?' });
    await eventually(
      'the first attempt has failed',
      async () => (await executionOf(correlation)).next_attempt_at !== null,
    );
    const { next_attempt_at } = await executionOf(correlation);
    expect(Date.parse(next_attempt_at!) - clock.now()).toBe(30_000);
    clock.advance(30_000);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    expect(agents.at('/responder').map((request) => requestIn(request).attempt)).toEqual([1, 2]);
  });

  test('that hang are disconnected at the timeout of the agent, and asked again', async () => {
    let closed = false;
    agents.on(
      '/responder',
      inTurn((response) => void response.on('close', () => (closed = true)), replies(REPLY)),
    );
    const correlation = await board.publish('Question', { text: 'Where is it?' });
    await eventually('the agent is asked', () => agents.at('/responder').length === 1);
    clock.advance(10_000);
    await eventually('the first attempt has failed', async () => (await executionOf(correlation)).attempt === 2);
    clock.advance(10);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    await eventually('the agent is disconnected', () => closed);
    expect(
      (await executionOf(correlation)).attempts.map(({ error_type, error_message }) => [error_type, error_message]),
    ).toEqual([
      ['timeout', 'no answer within 10 s'],
      [null, null],
    ]);
  });
});
