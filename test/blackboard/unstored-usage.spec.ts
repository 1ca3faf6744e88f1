import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { agent, anyObject, type Core, startCore } from './core.js';

const BUDGET = 150;
/** The most that one call uses, and what it uses. */
const NEED = { model: 'stand-in', inputTokens: 40, outputTokens: 60, cost: null };
const USED = { model: 'stand-in', inputTokens: 40, outputTokens: 40, cost: null, latencyMs: 1 };

// Uses the core, its tables and its executor. The engine is a function that calls no model.
describe('the usage of a model call that could not be stored', () => {
  let core: Core;

  afterEach(() => core.close());

  it('counts before the next call of the attempt reserves its budget', async () => {
    let calls = 0;
    const writer: PreparedEngine = {
      async run(_, { reserve, used, settle }) {
        for (let call = 0; call < 2; call += 1) {
          await reserve(NEED);
          calls += 1;
          used(USED);
          const { run } = core.unitOfWork;
          core.unitOfWork.run = () => Promise.reject(new Error('the database cannot be reached'));
          const settled = settle('answered');
          core.unitOfWork.run = run;
          await settled;
        }
        return null;
      },
    };
    core = await startCore(
      new Catalog(['Topic', 'WorkflowError'].map(anyObject), [
        agent('writer', [{ types: ['Topic'] }], [], { budget: { tokens: BUDGET, cost: null } }),
      ]),
      { writer },
    );
    const { correlationId, generation } = await core.publisher.publish({
      ...{ artifactId: newId(), correlationId: newId(), type: 'Topic', payload: {} },
      ...{ tags: [], partitionKey: null, visibility: { kind: 'Public' } },
    });
    expect(await core.waiters.wait(correlationId, generation, 90_000)).toBe(true);

    const { reader } = core.unitOfWork;
    const executions = await reader.selectFrom('executions').select(['state', 'error_type']).execute();
    expect(executions).toEqual([{ state: 'failed', error_type: 'budget' }]);
    expect(calls).toBe(1);
    const usage = await reader.selectFrom('usage').select(['input_tokens', 'output_tokens']).execute();
    expect(usage).toMatchObject([{ input_tokens: USED.inputTokens, output_tokens: USED.outputTokens }]);
    expect(await reader.selectFrom('budget_reservations').selectAll().execute()).toEqual([]);
  });
});
