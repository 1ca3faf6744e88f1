import type { Test } from 'supertest';

import { eventually } from '../support/eventually.js';
import { describeInterfaceB } from './interface-b.js';
import { check, detail, timestamp, UNKNOWN_ID, uuid } from './rows.js';

describeInterfaceB(({ get, items, publish }) => {
  describe('GET /api/v1/correlations/{correlation_id}/waiting', () => {
    const waiting = (id: string, query = ''): Test => get(`/api/v1/correlations/${id}/waiting${query}`);
    const KINDS = [
      'release',
      'deadline',
      'join',
      'window',
      'running',
      'held',
      'retry',
      'ready',
      'unclaimed',
      'concurrency',
      'slots',
      'paused',
      'no_process',
      'no_configuration',
      'budget',
      'limit',
    ];
    const counts = (some: Record<string, number>): object => ({
      ...Object.fromEntries(KINDS.map((kind) => [kind, 0])),
      ...some,
    });
    const execution = {
      execution_id: uuid,
      agent: 'slow',
      attempt: 1,
      since: timestamp,
      until: null,
      limit: null,
      assignee: null,
      claimed_by: null,
      due_at: null,
    };

    beforeAll(async () => {
      await publish({ type: 'Endless', deadline: 'PT1H' }).set('X-Correlation-ID', 'waits');
      await publish({ type: 'Alarm', visibility: { kind: 'After', ttl: 'PT1H' } }).set('X-Correlation-ID', 'waits');
      await publish({ type: 'Routing' }).set('X-Correlation-ID', 'waits');
      await eventually('the agent runs', async () => (await waiting('waits')).body.counts.running === 1);
    });

    check([
      [
        'lists timers, joins and executions, and counts them by kind',
        () => waiting('waits'),
        200,
        {
          correlation_id: 'waits',
          state: 'active',
          counts: counts({ deadline: 1, release: 1, join: 1, running: 1 }),
          items: [
            { kind: 'deadline', artifact_id: null, artifact_type: null, since: null, until: timestamp },
            { kind: 'release', artifact_id: uuid, artifact_type: 'Alarm', since: timestamp, until: timestamp },
            expect.objectContaining({ kind: 'join', agent: 'supervisor', waiting_for: ['Intent'], until: null }),
            { kind: 'running', ...execution },
          ],
          pagination: { limit: 50, after: null, next: null, has_more: false },
        },
      ],
      [
        'takes limit, and gives the cursor of the next page',
        () => waiting('waits', '?limit=1'),
        200,
        expect.objectContaining({
          items: [expect.objectContaining({ kind: 'deadline' })],
          pagination: { limit: 1, after: null, next: expect.any(String) as string, has_more: true },
        }),
      ],
      [
        'is empty for a correlation that has ended',
        () => waiting('order-1'),
        200,
        {
          correlation_id: 'order-1',
          state: 'completed',
          counts: counts({}),
          items: [],
          pagination: { limit: 50, after: null, next: null, has_more: false },
        },
      ],
      ['is a 404 for an unknown one', () => waiting('unknown'), 404, detail('Correlation not found: unknown')],
      [
        'refuses a limit beyond 500',
        () => waiting('waits', '?limit=501'),
        400,
        detail('limit: must be a whole number from 1 to 500'),
      ],
      [
        'refuses a cursor that no page gave',
        () => waiting('waits', '?after=2'),
        400,
        detail('after: must be next of an earlier page with the same filters (got "2")'),
      ],
    ]);

    it('goes from page to page', async () => {
      const kinds: string[] = [];
      for (let after: string | null = ''; after !== null;) {
        const { body } = await waiting('waits', `?limit=1${after && `&after=${after}`}`);
        kinds.push(...(body as { items: { kind: string }[] }).items.map(({ kind }) => kind));
        after = (body as { pagination: { next: string | null } }).pagination.next;
      }
      expect(kinds).toEqual(['deadline', 'release', 'join', 'running']);
    });
  });

  describe('GET /api/v1/waiting and /api/v1/waiting/{group_id}', () => {
    const groups = (query: string): Test => get(`/api/v1/waiting?${query}`);
    const group = {
      kind: 'join',
      group_id: uuid,
      agent: 'supervisor',
      subscription: 0,
      types: ['Intent', 'Routing'],
      join_key: '"half"',
      correlation_id: 'half',
      state: 'waiting',
      received: { Routing: 1 },
      waiting_for: ['Intent'],
      size: 1,
      size_needed: 2,
      since: timestamp,
      until: null,
      without_process: false,
    };
    const pagination = { limit: 50, after: null, next: null, has_more: false };

    beforeAll(() => publish({ type: 'Routing' }).set('X-Correlation-ID', 'half').expect(200));

    check([
      ['lists groups', () => groups('correlation_id=half&agent=supervisor'), 200, { items: [group], pagination }],
      ['is empty if none matches', () => groups('agent=router'), 200, { items: [], pagination }],
      [
        'refuses a cursor that no page gave',
        () => groups('after=2'),
        400,
        detail('after: must be next of an earlier page with the same filters (got "2")'),
      ],
      [
        'is a 404 for an unknown group',
        () => get(`/api/v1/waiting/${UNKNOWN_ID}`),
        404,
        detail(`Waiting group not found: ${UNKNOWN_ID}`),
      ],
    ]);

    it('shows a group with its artifacts', async () => {
      const { items: listed } = (await groups('correlation_id=half')).body as { items: { group_id: string }[] };
      const [artifact] = await items('correlation_id=half');
      expect((await get(`/api/v1/waiting/${listed[0]!.group_id}`)).body).toEqual({
        ...group,
        items: [{ artifact_id: artifact!.id, artifact_type: 'Routing', correlation_id: 'half', arrived_at: timestamp }],
        pagination,
      });
    });
  });
});
