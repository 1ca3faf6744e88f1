// A budget together with other rules that share the end of an execution. Uses the application, its database, the AI SDK and
// HTTP. The model server is a stand-in, and each of its calls uses the same amount.
import { engine as asking, errorOf, startWithModels, TYPES } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import type { ModelServer } from '../support/model-server.js';
import { ended, send } from './batch-board.js';
import type { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { MINUTE } from './pairs-board.js';
import { withoutPolling } from './replica-boards.js';

const USED = { input: 1_000, output: 200 };
const GOOD = { text: '{"text":"It is on its way."}' };
const EXTERNAL = 'engine: { kind: external }';

const config = (models: ModelServer): string => `
models: { openai/gpt-5-mini: { input_per_million: 1000, output_per_million: 1000 } }
budget: { tokens: 1199 }
limits:
  desk: { concurrency: 1 }
  machine: { concurrency: 1, hold: true }
${TYPES}
agents:
  asked: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${asking(models, 'max_output_tokens: 50')}, retry: { attempts: 1 } }
  clerk: { consumes: [{ types: [Question], where: "payload.with == 'limit'" }], limits: [desk], ${EXTERNAL} }
  other_clerk: { consumes: [{ types: [Form] }], limits: [desk], ${EXTERNAL} }
  operator: { consumes: [{ types: [Question], where: "payload.with == 'hold'" }], limits: [machine], ${EXTERNAL} }
  other_operator: { consumes: [{ types: [Job] }], limits: [machine], ${EXTERNAL} }
  turner: { consumes: [{ types: [Question, Turn], mode: any, where: "!has(payload.with) || payload.with == 'singleton'" }], singleton: { key: "'a'", on_conflict: queue }, ${EXTERNAL} }
`;

/** The clock stands still and nothing is polled, so only the end itself lets another one go. */
describe('an overrun budget, which ends the work of its correlation, together with', () => {
  let board: Board;
  let outside: Outside;
  let models: ModelServer;
  let close: () => Promise<void>;

  beforeEach(async () => {
    const settings = { shutdownGraceMs: 0, leaseMs: 3_600_000 };
    ({ board, models, close } = await startWithModels(config, { clock: new ManualClock(), settings }));
    withoutPolling(board);
    models.used = () => USED;
    outside = new Outside(board.http);
  });
  afterEach(() => close());

  const waits = (correlation: string): Promise<void> =>
    eventually(`${correlation} waits`, async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
      return (body as { items: { kind: string }[] }).items[0]?.kind === 'limit';
    });

  const claim = async (agent: string): Promise<Held> => {
    let held: Held[] = [];
    await eventually(`${agent} has one`, async () => (held = await outside.claim({ agents: [agent] })).length > 0);
    return held[0]!;
  };

  it.each([
    ['limit', 'clerk', 'Form', 'other_clerk'],
    ['hold', 'operator', 'Job', 'other_operator'],
    ['singleton', 'turner', 'Turn', 'turner'],
  ])('%s: the next one can start immediately', async (rule, agent, type, other) => {
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    models.script = () => ({ ...GOOD, before: asked });
    const ended = await board.publish('Question', { text: 'Where?', with: rule });
    const held = await claim(agent);
    if (rule === 'hold') expect(await outside.send(held, 'release')).toMatchObject({ status: 200 });
    const next = await board.publish(type, {});
    expect(await outside.claim({ agents: [other] })).toEqual([]);
    await waits(next);
    answer();
    expect(await board.ended(ended)).toMatchObject({ error_count: 1, has_pending_work: false });
    expect(await claim(other)).toMatchObject({ correlation_id: next });
    expect(await outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 409 });
  });
});

const agent = (models: ModelServer, consumes: string, more = '', attempts = 1): string =>
  `{ consumes: [${consumes}], publishes: [{ type: Reply }], engine: ${asking(models, 'max_output_tokens: 600')}, retry: { attempts: ${attempts}, delay: 0s }, timeout: 1h${more} }`;

/** A correlation has room for one call, and for none after it. */
const oneCall = (models: ModelServer): string => `
models: { openai/gpt-5-mini: { input_per_million: 1000, output_per_million: 1000 } }
budget: { tokens: 1300 }
${TYPES}
agents:
  asked: ${agent(models, '{ types: [Question] }', ', cancel_on: { types: [Off], key: artifact.partition_key }')}
  again: ${agent(models, '{ types: [Again] }', '', 3)}
  cached: ${agent(models, '{ types: [Known] }', ', cache: { for: 50h }')}
  joined: ${agent(models, '{ types: [Left, Right], join: { by: payload.order } }')}
  gathered: ${agent(models, '{ types: [Part], batch: { size: 2 } }')}
  settled: ${agent(models, '{ types: [Edited], debounce: { wait: 1m, at_most: 5m } }')}
  broken: ${agent(models, '{ types: [Letter] }', ', breaker: { failures: 50%, of: 2, open: 5m }')}
  shared: ${agent(models, '{ types: [Shared] }', ', fair_by: payload.tenant, concurrency: 1')}
  paused: ${agent(models, '{ types: [Paused] }')}
  person: { consumes: [{ types: [Task] }], ${EXTERNAL} }
`;

describe('a budget and', () => {
  const clock = new ManualClock();
  let board: Board;
  let models: ModelServer;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const settings = { shutdownGraceMs: 0, leaseMs: 3_600_000 };
    ({ board, models, close } = await startWithModels(oneCall, { clock, settings }));
  });
  beforeEach(() => {
    models.used = () => USED;
    models.answers(GOOD);
  });
  afterAll(() => close());

  const publish = (type: string, correlation: string, payload: object = {}): Promise<string> =>
    board.publish(type, { text: 'Where?', ...payload }, { correlation });

  /** Uses the whole budget of a correlation. */
  const spend = async (correlation: string): Promise<void> => {
    await publish('Question', correlation);
    await isAnswered(correlation);
  };

  const isAnswered = async (correlation: string): Promise<void> =>
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });

  const isRefused = async (correlation: string): Promise<void> => {
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({ error_type: 'budget' });
  };

  const kindOf = async (correlation: string): Promise<string | undefined> => {
    const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
    return (body as { items: { kind: string }[] }).items.at(-1)?.kind;
  };

  it('cache: an answer that is taken uses nothing', async () => {
    await publish('Known', 'bc1');
    await isAnswered('bc1');
    const asked = models.requests.length;
    await publish('Known', 'bc1');
    await isAnswered('bc1');
    expect(models.requests).toHaveLength(asked);
    expect(await board.status('bc1')).toMatchObject({
      usage: { input_tokens: USED.input, output_tokens: USED.output },
    });
    await publish('Known', 'bc1', { text: 'Who?' });
    await isRefused('bc1');
  });

  it('the rows of a batch: each has the budget of a correlation', async () => {
    const batch = await send(board, 'asked', [{ text: 'Where?' }, { text: 'Who?' }]);
    expect(await ended(board, batch)).toMatchObject({ completed_items: 2, failed_items: 0 });
  });

  it.each<[string, string, string, string]>([
    ['a join', 'bj', 'Left', 'Right'],
    ['a batch window', 'bw', 'Part', 'Part'],
    ['debounce', 'bd', 'Edited', 'Edited'],
  ])('%s: the correlation of the last artifact pays', async (_, name, first, last) => {
    const [spent, other, next] = [`${name}1`, `${name}2`, `${name}3`];
    await spend(spent);
    await publish(first, spent, { order: 'A' });
    await publish(last, other, { order: 'A' });
    clock.advance(MINUTE);
    await isAnswered(other);
    expect(await board.status(other)).toMatchObject({ usage: { input_tokens: USED.input } });
    await publish(first, next, { order: 'B' });
    await publish(last, spent, { order: 'B' });
    clock.advance(MINUTE);
    await isRefused(spent);
    expect(await board.ended(next)).toMatchObject({ error_count: 0 });
  });

  it('a breaker: an attempt that a budget ends counts as failed', async () => {
    await spend('bb1');
    await publish('Letter', 'bb1');
    await isRefused('bb1');
    await publish('Letter', 'bb2');
    await eventually('the next one waits for the breaker', async () => (await kindOf('bb2')) === 'limit');
    clock.advance(5 * MINUTE);
    await isAnswered('bb2');
  });

  it('fair_by and concurrency: what waits for room has no place, and others start meanwhile', async () => {
    models.used = () => ({ input: 100, output: 20 });
    const held = Promise.withResolvers<void>();
    models.script = ({ text }) => (text.includes('Hold') ? { ...GOOD, before: held.promise } : GOOD);
    await publish('Question', 'bf1', { text: 'Hold' });
    await eventually('its model is asked', () => models.requests.at(-1)!.text.includes('Hold'));
    await publish('Shared', 'bf1', { tenant: 'a' });
    await eventually('it waits for room', async () => (await kindOf('bf1')) === 'budget');
    for (const name of ['bf2', 'bf3']) {
      await publish('Shared', name, { tenant: 'b' });
      await isAnswered(name);
    }
    held.resolve();
    await isAnswered('bf1');
  });

  it('a pause: nothing is reserved before the agent is resumed', async () => {
    await board.http.post('/api/v1/agents/paused/pause').expect(200);
    const asked = models.requests.length;
    await publish('Paused', 'bp1');
    await eventually('it waits', async () => (await kindOf('bp1')) === 'paused');
    expect(await board.app.database.rows('select execution_id from budget_reservations')).toEqual([]);
    expect(models.requests).toHaveLength(asked);
    await board.http.post('/api/v1/agents/paused/resume').expect(200);
    await isAnswered('bp1');
  });

  it('retries: when no room is left, no further attempt follows', async () => {
    const asked = models.requests.length;
    models.answers({ text: 'no' });
    await publish('Again', 'bn1');
    await isRefused('bn1');
    expect(models.requests.length - asked).toBe(1);
  });

  it.each<[string, string, string, () => unknown]>([
    ['a deadline', 'bt1', 'cancelled', () => clock.advance(MINUTE)],
    ['cancel_on', 'bt2', 'completed', () => board.publish('Off', {}, { partition_key: 'bt2' })],
  ])('%s: the call that it ends counts as all that it reserved', async (_, name, state, end) => {
    models.script = () => ({ ...GOOD, before: new Promise(() => undefined) });
    const asked = models.requests.length;
    const parts = { correlation: name, partition_key: name, deadline: 'PT1M' };
    await board.publish('Question', { text: 'Where?' }, parts);
    await eventually('its model is asked', () => models.requests.length > asked);
    const [{ tokens }] = (await board.app.database.rows('select tokens from budget_reservations')) as [
      { tokens: number | string },
    ];
    await end();
    expect((await board.ended(name)).state).toBe(state);
    await eventually('it has counted', async () => {
      const { usage } = (await board.status(name)) as { usage?: { input_tokens: number; output_tokens: number } };
      return usage !== undefined && usage.input_tokens + usage.output_tokens === Number(tokens);
    });
    expect(await board.app.database.rows('select execution_id from budget_reservations')).toEqual([]);
  });

  it('external work: it uses nothing, also when the budget is used up', async () => {
    const outside = new Outside(board.http);
    await spend('be1');
    await publish('Task', 'be1');
    const held = await outside.claimOne({ agents: ['person'] });
    expect(await outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 200 });
    await isAnswered('be1');
  });

  it('a replay: it has a separate budget', async () => {
    await spend('br1');
    const { body } = await board.http.post('/api/v1/correlations/br1/replay').send({ mode: 'full' }).expect(200);
    await isAnswered((body as { correlation_id: string }).correlation_id);
  });
});
