import type { Test } from 'supertest';

import { describeInterfaceB, MESSAGE } from './interface-b.js';
import { check, detail, uuid } from './rows.js';

describeInterfaceB(({ get, items, post }) => {
  describe('GET /api/v1/agents', () => {
    const EXPRESSION = { kind: 'expression', model: null };
    const DEFINITION = expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string;
    const OPTIONS = {
      timeout_ms: 60_000,
      concurrency: 10,
      retry: { attempts: 3, delay_ms: 1_000, max_delay_ms: 60_000 },
      budget: { tokens: null, cost: null },
      labels: [],
      tenant_id: null,
    };

    check([
      [
        'lists agents with their subscriptions and outputs, in the order of the configuration',
        () => get('/api/v1/agents'),
        200,
        {
          agents: [
            {
              name: 'classifier',
              description: 'Names the intent of a message',
              subscriptions: [{ types: ['CustomerMessage'], mode: 'all', priority: 0 }],
              outputs: ['Intent'],
              paused: false,
              waiting: expect.any(Number) as number,
              definition: DEFINITION,
              engine: EXPRESSION,
              options: OPTIONS,
            },
            {
              name: 'router',
              description: 'Sends an intent to its queue',
              subscriptions: [{ types: ['Intent'], mode: 'any', priority: 0 }],
              outputs: ['Routing'],
              paused: false,
              waiting: expect.any(Number) as number,
              definition: DEFINITION,
              engine: EXPRESSION,
              options: OPTIONS,
            },
            {
              name: 'supervisor',
              description: '',
              subscriptions: [{ types: ['Intent', 'Routing'], mode: 'all', priority: 0 }],
              outputs: ['Review', 'Alarm'],
              paused: false,
              waiting: expect.any(Number) as number,
              definition: DEFINITION,
              engine: EXPRESSION,
              options: OPTIONS,
            },
            {
              name: 'broken',
              description: '',
              subscriptions: [{ types: ['Trouble'], mode: 'all', priority: 0 }],
              outputs: ['Nothing'],
              paused: false,
              waiting: expect.any(Number) as number,
              definition: DEFINITION,
              engine: EXPRESSION,
              options: { ...OPTIONS, retry: { ...OPTIONS.retry, attempts: 1 } },
            },
            {
              name: 'slow',
              description: '',
              subscriptions: [{ types: ['Endless'], mode: 'all', priority: 2 }],
              outputs: ['Never'],
              paused: false,
              waiting: expect.any(Number) as number,
              definition: DEFINITION,
              engine: { kind: 'function', model: null },
              options: {
                timeout_ms: 300_000,
                concurrency: 4,
                retry: { attempts: 5, delay_ms: 500, max_delay_ms: 30_000 },
                budget: { tokens: 1_000, cost: 0.5 },
                labels: ['pii'],
                tenant_id: 'acme',
              },
            },
          ],
        },
      ],
    ]);
  });

  describe('POST /api/v1/agents/{agent_name}/run', () => {
    const run = (name: string, ...inputs: unknown[]): Test => post(`/api/v1/agents/${name}/run`, { inputs });
    const INTENT = { type: 'Intent', payload: { intent: 'card' } };
    const ROUTING = { type: 'Routing', payload: { queue: 'cards' } };

    check([
      [
        'runs the agent on one artifact',
        () => run('router', INTENT),
        200,
        {
          artifacts: [
            expect.objectContaining({ id: uuid, type: 'Routing', payload: { queue: 'cards' }, produced_by: 'router' }),
          ],
        },
      ],
      [
        'runs it on one artifact of each type that it joins',
        () => run('supervisor', ROUTING, INTENT),
        200,
        { artifacts: [expect.objectContaining({ type: 'Review', payload: { of: 'cards' } })] },
      ],
      ['does not know an unknown agent', () => run('nobody', INTENT), 404, detail('Agent not found: nobody')],
      [
        'refuses inputs that fit no subscription',
        () => run('supervisor', INTENT),
        400,
        detail('inputs: supervisor takes one each of Intent and Routing (got Intent)'),
      ],
      ['refuses inputs of another type', () => run('router', ROUTING), 400, detail(/^inputs: router takes one Intent/)],
      ['refuses no inputs', () => run('router'), 400, detail(/^inputs: router takes one Intent/)],
      [
        'refuses a payload that its schema refuses',
        () => run('classifier', { type: 'CustomerMessage', payload: { text: 7 } }),
        400,
        detail('inputs[0].payload.text: must be string'),
      ],
      [
        'refuses another type before it checks the payload',
        () => run('classifier', { type: 'Intent', payload: {} }),
        400,
        detail('inputs: classifier takes one CustomerMessage (got Intent)'),
      ],
      [
        'refuses inputs that are not a list',
        () => post('/api/v1/agents/router/run', { inputs: INTENT }),
        400,
        detail('inputs: must be a list of objects with type and payload'),
      ],
      [
        'refuses a body without inputs',
        () => post('/api/v1/agents/router/run', {}),
        400,
        detail('inputs: is required'),
      ],
      [
        'names every bad input',
        () => run('router', 7, { type: 1 }),
        400,
        detail(
          'inputs: [0] must be an object with type and payload; inputs: [1].type must be a string; inputs: [1].payload must be an object',
        ),
      ],
      [
        'answers a failure of the agent with a 500 that names the agent and the reason',
        () => run('broken', { type: 'Trouble', payload: {} }),
        500,
        detail(/^Agent broken failed: .*missing/),
      ],
    ]);

    it('stores inputs and outputs in a separate correlation, and no agent reacts', async () => {
      const { body } = await run('classifier', MESSAGE);
      const [intent] = (body as { artifacts: { correlation_id: string }[] }).artifacts;
      const stored = await items(`correlation_id=${intent!.correlation_id}`);
      expect(stored.map(({ type, produced_by }) => [type, produced_by])).toEqual([
        ['CustomerMessage', 'external'],
        ['Intent', 'classifier'],
      ]);
      expect((await get(`/api/v1/correlations/${intent!.correlation_id}/status`)).body).toMatchObject({
        state: 'completed',
        artifact_count: 2,
      });
    });

    it('stores the error of an agent that failed', async () => {
      const before = await items('type=WorkflowError&limit=500');
      await run('broken', { type: 'Trouble', payload: {} });
      expect(await items('type=WorkflowError&limit=500')).toHaveLength(before.length + 1);
    });
  });

  describe('GET /api/v1/agents/{agent_id}/history-summary', () => {
    const history = (agent: string, query = ''): Test => get(`/api/v1/agents/${agent}/history-summary?${query}`);
    const hour = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/) as string;

    check([
      ['does not know an unknown agent', () => history('nobody'), 404, detail('Agent not found: nobody')],
      [
        'refuses an unreadable time',
        () => history('router', 'to=later'),
        400,
        detail('Invalid to: later; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24'),
      ],
      [
        'is empty for an agent without matching executions',
        () => history('router', 'correlation_id=unknown'),
        200,
        {
          agent_id: 'router',
          summary: {
            total_executions: 0,
            total_artifacts_consumed: 0,
            total_artifacts_produced: 0,
            execution_timeline: {},
          },
        },
      ],
    ]);

    const only = async (agent: string, query: string): Promise<object> => {
      const { body } = await history(agent, query);
      const { summary, agent_id } = body as {
        agent_id: string;
        summary: { execution_timeline: Record<string, object> };
      };
      const [[name, counts]] = Object.entries(summary.execution_timeline) as [[string, object]];
      expect(Object.keys(summary.execution_timeline)).toEqual([name]);
      expect(name).toEqual(hour);
      return { ...summary, execution_timeline: counts, agent_id };
    };

    it('counts executions by hour, and with a filter the matching artifacts of these', async () => {
      expect(await only('supervisor', 'correlation_id=order-1')).toEqual({
        agent_id: 'supervisor',
        total_executions: 1,
        total_artifacts_consumed: 2,
        total_artifacts_produced: 1,
        execution_timeline: { executions: 1, failures: 0, artifacts_consumed: 2, artifacts_produced: 1 },
      });
      expect(await only('supervisor', 'correlation_id=order-1&type=Routing')).toMatchObject({
        total_executions: 1,
        execution_timeline: { executions: 1, failures: 0, artifacts_consumed: 1, artifacts_produced: 0 },
      });
      expect(await only('broken', 'correlation_id=order-2')).toMatchObject({
        execution_timeline: { executions: 1, failures: 1, artifacts_consumed: 1, artifacts_produced: 1 },
      });
    });
  });
});
