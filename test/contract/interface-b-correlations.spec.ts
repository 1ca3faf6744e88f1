import type { Test } from 'supertest';

import { eventually } from '../support/eventually.js';
import { describeInterfaceB, MESSAGE } from './interface-b.js';
import { check, detail, timestamp } from './rows.js';

describeInterfaceB(({ get, publish, publishSync }) => {
  describe('GET /api/v1/correlations', () => {
    const list = (query: string): Test => get(`/api/v1/correlations?${query}`);
    const ORDERS = ['order-2', 'order-1'];
    const LAST_PAGE = { limit: 50, after: null, next: null, has_more: false };
    const page = (ids: string[], pagination: object = {}): object => ({
      items: ids.map((id) => expect.objectContaining({ correlation_id: id }) as object),
      pagination: { ...LAST_PAGE, ...pagination },
    });

    check([
      [
        'shows the status, what is pending and how long it took',
        () => list('id_prefix=order-1'),
        200,
        {
          items: [
            {
              correlation_id: 'order-1',
              state: 'completed',
              has_pending_work: false,
              artifact_count: 4,
              error_count: 0,
              started_at: timestamp,
              last_activity_at: timestamp,
              pending_count: 0,
              settled_at: timestamp,
              duration_ms: expect.any(Number) as number,
            },
          ],
          pagination: LAST_PAGE,
        },
      ],
      ['lists newest first', () => list('id_prefix=order-'), 200, page(ORDERS)],
      [
        'gives the cursor of the next page',
        () => list('id_prefix=order-&limit=1'),
        200,
        page(['order-2'], { limit: 1, next: expect.any(String) as string, has_more: true }),
      ],
      ['filters by state', () => list('id_prefix=order-&state=failed'), 200, page(['order-2'])],
      ['filters by agent', () => list('id_prefix=order-&agent=classifier'), 200, page(['order-1'])],
      ['filters by type', () => list('id_prefix=order-&type=Trouble'), 200, page(['order-2'])],
      ['filters by errors', () => list('id_prefix=order-&type=WorkflowError'), 200, page(['order-2'])],
      ['filters by tag', () => list('id_prefix=order-&tag=vip'), 200, page(['order-1'])],
      ['filters by start', () => list('id_prefix=order-&to=2020-01-02T00:00:00Z'), 200, page([])],
      ['finds nothing for an unknown agent', () => list('agent=unknown'), 200, page([])],
      ['ignores unknown parameters', () => list('id_prefix=order-&colour=red'), 200, page(ORDERS)],
      ['takes a limit of 500', () => list('id_prefix=order-&limit=500'), 200, page(ORDERS, { limit: 500 })],
      ['refuses a limit of 501', () => list('limit=501'), 400, detail('limit: must be a whole number from 1 to 500')],
      [
        'refuses an unknown state',
        () => list('state=not_found'),
        400,
        detail('state: must be one of active, completed, failed, cancelled'),
      ],
      [
        'refuses an empty prefix',
        () => list('id_prefix='),
        400,
        detail('id_prefix: must be 1 to 200 visible ASCII characters'),
      ],
      [
        'refuses a cursor that no page gave',
        () => list('after=order-2'),
        400,
        detail('after: must be next of an earlier page with the same filters (got "order-2")'),
      ],
      [
        'refuses a time that is none',
        () => list('from=yesterday'),
        400,
        detail('Invalid from: yesterday; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24'),
      ],
    ]);

    it('goes from page to page', async () => {
      const { body: first } = await list('id_prefix=order-&limit=1');
      const { next } = (first as { pagination: { next: string } }).pagination;
      const { body: second } = await list(`id_prefix=order-&limit=1&after=${next}`);
      expect(second).toEqual(page(['order-1'], { limit: 1, after: next }));
    });
  });

  describe('GET /api/v1/correlations/{correlation_id}/status', () => {
    const status = (id: string): Test => get(`/api/v1/correlations/${id}/status`);
    const state = (id: string, more: object): object => ({
      correlation_id: id,
      has_pending_work: false,
      started_at: timestamp,
      last_activity_at: timestamp,
      ...more,
    });

    check([
      [
        'completed: it finished, and agents produced artifacts',
        () => status('order-1'),
        200,
        state('order-1', { state: 'completed', artifact_count: 4, error_count: 0 }),
      ],
      [
        'failed: it finished with errors only',
        () => status('order-2'),
        200,
        state('order-2', { state: 'failed', artifact_count: 2, error_count: 1 }),
      ],
      [
        'not_found: no artifact has this correlation id',
        () => status('unknown'),
        200,
        {
          correlation_id: 'unknown',
          state: 'not_found',
          has_pending_work: false,
          artifact_count: 0,
          error_count: 0,
          started_at: null,
          last_activity_at: null,
        },
      ],
    ]);

    it('active: some work is left', async () => {
      await publish({ type: 'Endless' }).set('X-Correlation-ID', 'endless');
      await eventually('the agent runs', async () => (await status('endless')).body.state === 'active');
      expect((await status('endless')).body).toMatchObject({
        state: 'active',
        has_pending_work: true,
        artifact_count: 1,
        error_count: 0,
      });
    });

    it('completed: errors beside outputs are not a failure', async () => {
      await publish({ type: 'Trouble' }).set('X-Correlation-ID', 'mixed');
      await publishSync(MESSAGE).set('X-Correlation-ID', 'mixed');
      expect((await status('mixed')).body).toMatchObject({ state: 'completed', error_count: 1 });
    });
  });
});
