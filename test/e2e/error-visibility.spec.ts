import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  failing:
    labels: [pii, eu]
    tenant_id: acme
    consumes: [{ types: [Left] }, { types: [Left, Right], from_agents: [external], join: { by: payload.pair } }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./failing.js }
    retry: { attempts: 1 }
  hurried:
    consumes: [{ types: [Question, Answer], join: { within: 5m } }]
    publishes: [{ type: Asked }]
    engine: { kind: expression, expression: '{}' }
  busy:
    consumes: [{ types: [Loop], allow_self: true }]
    publishes: [{ type: Loop, visibility: { kind: Private, agents: [busy, friend] } }]
    engine: { kind: expression, expression: '{}' }
  # What agents may learn of failures: each tells which errors it was given, and which it finds.
  stranger:
    consumes: [{ types: [WorkflowError] }, { types: [Look] }]
    publishes: [{ type: Heard }]
    engine: { kind: function, module: ./listener.js }
  friend:
    labels: [pii, eu]
    tenant_id: acme
    consumes: [{ types: [WorkflowError] }, { types: [Look] }]
    publishes: [{ type: Heard }]
    engine: { kind: function, module: ./listener.js }
`;

const FAILING = `export default async (inputs) => { throw new Error('cannot use ' + inputs.map(({ payload }) => payload.secret).join(' and ')); };`;

const LISTENER = `export default async ([input], { blackboard }) => {
  const errors = input.type === 'Look' ? await blackboard.list({ type: ['WorkflowError'], correlation_id: input.payload.correlation }) : [input];
  return { errors: errors.map(({ payload }) => payload.error_message) };
};`;

const PUBLIC = { kind: 'Public' };
const PRIVATE = { kind: 'Private', agents: ['failing', 'friend'] };
const LABELLED = { kind: 'Labelled', required_labels: ['pii', 'eu'] };
const TENANT = { kind: 'Tenant', tenant_id: 'acme' };
const FAILED_ALONE = { kind: 'Private', agents: ['failing'] };
const after = (then?: object): object => ({ kind: 'After', ttl: 'PT1H', ...(then && { then }) });

const HOUR = 3_600_000;

/** Uses the application, its database, HTTP and function agents. The clock is faked. */
describe('a WorkflowError, whose message may quote its inputs', () => {
  let board: Board;
  const clock = new ManualClock();

  beforeAll(async () => {
    board = await Board.start(CONFIG, {
      clock,
      files: { 'failing.js': FAILING, 'listener.js': LISTENER },
      settings: { maxExecutionsPerCorrelation: 3 },
    });
  });
  afterAll(() => board.close());

  const errorsOf = async (correlation: string) =>
    (await board.artifacts(correlation, { type: 'WorkflowError' })).map((error) => ({
      message: error.payload.error_message,
      visibility: (error as unknown as { visibility: object }).visibility,
      kind: (error as unknown as { visibility_kind: string }).visibility_kind,
    }));

  /** Returns the errors of the correlation that each listener was given, and those that it finds. */
  async function errorsSeenBy(agent: string, correlation: string): Promise<{ given: unknown[]; found: unknown[] }> {
    const given = (await board.artifacts(correlation, { type: 'Heard', produced_by: agent })).flatMap(
      ({ payload }) => payload.errors as unknown[],
    );
    const { body } = await board.http
      .post(`/api/v1/agents/${agent}/run`)
      .send({ inputs: [{ type: 'Look', payload: { correlation } }] })
      .expect(200);
    return { given, found: (body as { artifacts: { payload: { errors: unknown[] } }[] }).artifacts[0]!.payload.errors };
  }

  const message = 'cannot use swordfish';

  it.each<[what: string, given: object, expected: { kind: string }, friendHears: boolean]>([
    ['Public', PUBLIC, PUBLIC, true],
    ['Private', PRIVATE, PRIVATE, true],
    ['Labelled', LABELLED, LABELLED, true],
    ['Tenant', TENANT, TENANT, true],
  ])('is as visible as its one input: %s', async (_what, visibility, expected, friendHears) => {
    const correlation = await board.publish('Left', { secret: 'swordfish' }, { visibility });
    await board.ended(correlation);
    expect(await errorsOf(correlation)).toEqual([{ message, visibility: expected, kind: expected.kind }]);
    const nothing = { given: [], found: [] };
    const heard = { given: [message], found: [message] };
    expect(await errorsSeenBy('friend', correlation)).toEqual(friendHears ? heard : nothing);
    expect(await errorsSeenBy('stranger', correlation)).toEqual(expected.kind === 'Public' ? heard : nothing);
  });

  it.each<[what: string, given: object, expected: { kind: string }]>([
    ['everyone', after(), PUBLIC],
    ['some', after(PRIVATE), PRIVATE],
  ])(
    'is as visible as its one input after its release, not before and not a while after it: After, then %s',
    async (_what, visibility, expected) => {
      const correlation = await board.publish('Left', { secret: 'swordfish' }, { visibility });
      clock.advance(HOUR - 1);
      expect(await errorsOf(correlation)).toEqual([]);
      clock.advance(1);
      // Waits no further hour: an error that is hidden itself would keep the correlation open.
      expect(await board.ended(correlation)).toMatchObject({
        state: expect.stringMatching('failed|completed') as string,
        has_pending_work: false,
      });
      expect(await errorsOf(correlation)).toEqual([{ message, visibility: expected, kind: expected.kind }]);
      expect(await errorsSeenBy('friend', correlation)).toEqual({ given: [message], found: [message] });
    },
  );

  it.each<[what: string, left: object, right: object, expected: object]>([
    ['all Public', PUBLIC, PUBLIC, PUBLIC],
    ['all equal', PRIVATE, PRIVATE, PRIVATE],
    [
      'equal in another order',
      LABELLED,
      { kind: 'Labelled', required_labels: ['eu', 'pii'] },
      { ...LABELLED, required_labels: expect.arrayContaining(['eu', 'pii']) as string[] },
    ],
    ['one Private', PUBLIC, PRIVATE, FAILED_ALONE],
    ['for different agents', { kind: 'Private', agents: ['failing', 'stranger'] }, PRIVATE, FAILED_ALONE],
    ['of different kinds', TENANT, LABELLED, FAILED_ALONE],
  ])('about several inputs: %s', async (what, left, right, expected) => {
    const correlation = `pair ${what}`.replaceAll(' ', '-');
    await board.publish('Right', { pair: what, secret: 'hunter2' }, { correlation, visibility: right });
    await board.publish('Left', { pair: what, secret: 'swordfish' }, { correlation, visibility: left });
    await board.ended(correlation);
    const both = (await errorsOf(correlation)).find((error) => String(error.message).includes(' and '));
    expect(both?.visibility).toEqual(expected);
  });

  it('about an expired join is as visible as the waiting artifacts', async () => {
    const open = await board.publish('Question', {}, {});
    const closed = await board.publish('Question', {}, { visibility: { kind: 'Private', agents: ['hurried'] } });
    clock.advance(300_000);
    await Promise.all([board.ended(open), board.ended(closed)]);
    expect((await errorsOf(open)).map(({ visibility }) => visibility)).toEqual([PUBLIC]);
    expect((await errorsOf(closed)).map(({ visibility }) => visibility)).toEqual([
      { kind: 'Private', agents: ['hurried'] },
    ]);
    expect(await errorsSeenBy('stranger', closed)).toEqual({ given: [], found: [] });
  });

  it('about a limit is as visible as the artifact that the agent was not run on', async () => {
    const correlation = await board.publish('Loop', {});
    await board.ended(correlation);
    expect((await errorsOf(correlation)).map(({ visibility }) => visibility)).toEqual([
      { kind: 'Private', agents: ['busy', 'friend'] },
    ]);
    expect(await errorsSeenBy('stranger', correlation)).toEqual({ given: [], found: [] });
  });

  it('is shown to clients on every route', async () => {
    const { correlation_id: correlation, artifacts } = await board.publishSync(
      'Left',
      { secret: 'swordfish' },
      { visibility: PRIVATE },
    );
    expect(artifacts.map(({ payload }) => payload.error_message)).toEqual([message]);
    expect(await board.status(correlation)).toMatchObject({ error_count: 1 });
    const { body } = await board.http.get(`/api/v1/artifacts/${artifacts[0]!.id}`).expect(200);
    expect(body).toMatchObject({ visibility: PRIVATE, payload: { error_message: message } });
    const { body: entries } = await board.http
      .get('/api/v1/changelog/events')
      .query({ correlation_id: correlation, artifact_type: 'WorkflowError' })
      .expect(200);
    expect(entries).toMatchObject({ items: [{ visibility: PRIVATE }] });
  });
});
