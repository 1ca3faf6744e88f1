// A budget together with other rules that share the end of an execution. Uses the application, its database, the AI SDK and
// HTTP. The model server is a stand-in, and each of its calls uses the same amount.
import { engine as asking, startWithModels, TYPES } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import type { ModelServer } from '../support/model-server.js';
import type { Board } from './board.js';
import { type Held, Outside } from './outside.js';
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
