// Uses the application, its database and HTTP, and a server as remote agent. The clock is faked.
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, Receiver } from '../support/receiver.js';
import { inTurn, replies, requestIn } from '../support/remote-agent.js';
import { Board } from './board.js';

const LATER = answers(202, { location: '/later' });
const SECOND = 1_000;

const configuration = (agents: Receiver): string => `
types:
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string, minLength: 3 } } } }
agents:
  responder:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply }]
    engine: { kind: http, url: "${agents.url('/responder')}" }
    timeout: 10s
    concurrency: 2
    retry: { attempts: 2, delay: 1s }
`;

interface Execution {
  id: string;
  state: string;
  attempt: number;
  lost_leases: number;
  attempts: { error_type: string | null; error_message: string | null }[];
}

describe('a remote agent that answers 202', () => {
  const clock = new ManualClock();
  let agents: Receiver;
  let board: Board;
  beforeAll(async () => {
    agents = await Receiver.start();
    // Only its timer ends a lease here, because the regular check is minutes away.
    board = await Board.start(configuration(agents), { clock, settings: { leaseMs: 30 * 60 * SECOND } });
  });
  afterAll(async () => {
    await board.close();
    await agents.close();
  });
  beforeEach(() => {
    agents.received.length = 0;
    agents.on('/responder', LATER);
  });

  const execution = async (id: string): Promise<Execution> =>
    (await board.http.get(`/api/v1/executions/${id}`).expect(200)).body as Execution;

  /** The data that an agent has of an accepted attempt, once the service waits for its later answer. */
  async function taken(attempt = 1): Promise<{ id: string; token: string; correlation: string }> {
    await eventually('the agent is asked', () => agents.received.length >= attempt);
    const { headers, correlation } = agents.received[attempt - 1]!;
    const asked = {
      id: requestIn(agents.received[attempt - 1]!).execution_id,
      token: headers['starling-lease-token'] as string,
      correlation,
    };
    await eventually('the attempt is left to it', async () => {
      const [row] = await board.app.database.rows<{ lease_owner: string | null }>(
        `select lease_owner from executions where id = '${asked.id}'`,
      );
      return row!.lease_owner === null;
    });
    return asked;
  }

  const ask = async (): Promise<Awaited<ReturnType<typeof taken>>> => {
    await board.publish('Question', { text: 'Where is it?' });
    return taken();
  };

  const send = async (id: string, what: string, body: object): Promise<[number, unknown]> => {
    const response = await board.http.post(`/api/v1/executions/${id}/${what}`).send(body);
    return [
      response.status,
      (response.body as { detail?: unknown; state?: unknown }).detail ?? (response.body as { state?: unknown }).state,
    ];
  };

  it('returns its outputs later, with the lease that its request had', async () => {
    const { id, token, correlation } = await ask();
    expect(await execution(id)).toMatchObject({ state: 'running', attempt: 1 });
    expect(await send(id, 'complete', { lease_token: token, outputs: [{ type: 'Reply', payload: {} }] })).toEqual([
      400,
      'outputs[0]: Reply refuses its payload: payload.text: is required',
    ]);
    const outputs = [{ type: 'Reply', payload: { text: 'Here.' }, tags: ['late'] }];
    for (let sent = 0; sent < 2; sent += 1)
      expect(await send(id, 'complete', { lease_token: token, outputs })).toEqual([200, 'completed']);
    const others = [{ type: 'Reply', payload: { text: 'There.' } }];
    expect(await send(id, 'complete', { lease_token: token, outputs: others })).toEqual([
      409,
      expect.stringContaining('with another answer, which it keeps'),
    ]);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    expect(
      (await board.artifacts(correlation)).map(({ type, payload, tags }) => ({ type, payload, tags })),
    ).toContainEqual({ type: 'Reply', payload: { text: 'Here.' }, tags: ['late'] });
    expect(agents.received).toHaveLength(1);
    expect(JSON.stringify(board.app.logLines)).not.toContain(token);
  });

  it('may return them before its 202 has arrived', async () => {
    agents.on('/responder', (response, received) => {
      const { execution_id: id } = requestIn(received);
      void send(id, 'complete', {
        lease_token: received.headers['starling-lease-token'],
        output: { text: 'At once.' },
      }).then(([status]) => LATER(response, { ...received, body: String(status) }));
    });
    const correlation = await board.publish('Question', {});
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    expect(
      (await board.artifacts(correlation)).filter(({ type }) => type === 'Reply').map(({ payload }) => payload),
    ).toEqual([{ text: 'At once.' }]);
  });

  it('may send a heartbeat before its 202 has arrived, which changes nothing', async () => {
    const beat = new Promise<{ status: number; body: { lease_until: string } }>((resolve) => {
      agents.on('/responder', (response, received) => {
        const { execution_id: id } = requestIn(received);
        const call = board.http
          .post(`/api/v1/executions/${id}/heartbeat`)
          .send({ lease_token: received.headers['starling-lease-token'] });
        void call.then(({ status, body }) => {
          resolve({ status, body: body as { lease_until: string } });
          return LATER(response, received);
        });
      });
    });
    const { id, token } = await ask();
    const { status, body } = await beat;
    expect([status, Date.parse(body.lease_until)]).toEqual([200, clock.now() + 10 * SECOND]);
    expect((await send(id, 'complete', { lease_token: token, output: { text: 'Here.' } }))[0]).toBe(200);
  });

  it('cannot release the attempt, because the agent would be asked again immediately', async () => {
    const { id, token } = await ask();
    expect(await send(id, 'release', { lease_token: token })).toEqual([
      400,
      `Execution ${id}: responder is not an external agent; fail the attempt instead of releasing it`,
    ]);
    expect((await send(id, 'complete', { lease_token: token, output: { text: 'Here.' } }))[0]).toBe(200);
  });

  it('may fail the attempt, and the next one follows', async () => {
    const { id, token, correlation } = await ask();
    agents.on('/responder', replies({ text: 'Here.' }));
    expect(await send(id, 'fail', { lease_token: token, error_message: 'the shelf is locked' })).toEqual([
      200,
      'pending',
    ]);
    clock.advance(2 * SECOND);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    expect((await execution(id)).attempts.map(({ error_message }) => error_message)).toEqual([
      'the shelf is locked',
      null,
    ]);
  });

  it("is asked again if its outputs have not come when the agent's timeout passes; its late outputs are refused", async () => {
    const { id, token, correlation } = await ask();
    clock.advance(9 * SECOND);
    expect(await execution(id)).toMatchObject({ state: 'running', attempt: 1 });
    clock.advance(2 * SECOND);
    await eventually('the attempt has failed', async () => (await execution(id)).attempt === 2);
    expect(await send(id, 'complete', { lease_token: token, output: { text: 'Late.' } })).toEqual([
      409,
      expect.stringContaining('expired, was released or ended its attempt; use'),
    ]);
    agents.on('/responder', replies({ text: 'Here.' }));
    clock.advance(2 * SECOND);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    const { attempts, lost_leases } = await execution(id);
    expect(attempts.map(({ error_type, error_message }) => [error_type, error_message])).toEqual([
      ['timeout', 'no answer within 10 s: the agent answered 202, but did not complete the execution'],
      [null, null],
    ]);
    expect(lost_leases).toBe(0);
  });

  it('has the full time again after each heartbeat', async () => {
    const { id, token, correlation } = await ask();
    clock.advance(9 * SECOND);
    expect((await send(id, 'heartbeat', { lease_token: token }))[0]).toBe(200);
    clock.advance(9 * SECOND);
    expect(await execution(id)).toMatchObject({ state: 'running', attempt: 1 });
    expect((await send(id, 'heartbeat', { lease_token: token }))[0]).toBe(200);
    agents.on('/responder', replies({ text: 'Again.' }));
    clock.advance(11 * SECOND);
    await eventually('its time is up', async () => (await execution(id)).attempt === 2);
    clock.advance(2 * SECOND);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
  });

  it('counts towards the concurrency of the agent until the attempt has finished in any way', async () => {
    agents.on('/responder', inTurn(LATER, LATER, replies({ text: 'Third.' }), LATER, replies({ text: 'Fifth.' })));
    const first = await ask();
    await board.publish('Question', {});
    const second = await taken(2);
    const third = await board.publish('Question', {});
    expect(await board.status(third)).toMatchObject({ state: 'active' });
    expect((await send(first.id, 'complete', { lease_token: first.token, output: { text: 'First.' } }))[0]).toBe(200);
    await board.ended(third);
    await board.publish('Question', {});
    await taken(4);
    const fifth = await board.publish('Question', {});
    await board.http.post(`/api/v1/correlations/${second.correlation}/cancel`).expect(200);
    await board.ended(fifth);
    expect(await send(second.id, 'complete', { lease_token: second.token, output: { text: 'Second.' } })).toEqual([
      409,
      expect.stringContaining('was cancelled'),
    ]);
    const fourth = await taken(4);
    expect((await send(fourth.id, 'complete', { lease_token: fourth.token, output: { text: 'Fourth.' } }))[0]).toBe(
      200,
    );
  });

  it("is identified by its token: one execution's lease cannot finish another", async () => {
    await Promise.all([board.publish('Question', {}), board.publish('Question', {})]);
    const [one, other] = [await taken(1), await taken(2)];
    expect(await send(one.id, 'complete', { lease_token: other.token, output: { text: 'Not mine.' } })).toEqual([
      409,
      expect.stringContaining('expired, was released or ended its attempt; use'),
    ]);
    for (const { id, token } of [one, other])
      expect((await send(id, 'complete', { lease_token: token, output: { text: 'Mine.' } }))[0]).toBe(200);
  });

  it('must confirm with a Location header, and fails for good without it', async () => {
    agents.on('/responder', answers(202));
    const correlation = await board.publish('Question', {});
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed' });
    const { state, attempts } = await execution(requestIn(agents.received[0]!).execution_id);
    expect([state, attempts]).toMatchObject([
      'failed',
      [
        {
          error_type: 'output',
          error_message: expect.stringMatching(
            / answered 202 without a Location header; a 202 needs one to announce a later answer$/,
          ),
        },
      ],
    ]);
    expect(agents.received).toHaveLength(1);
  });
});
