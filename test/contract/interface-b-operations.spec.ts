import { describeInterfaceB } from './interface-b.js';
import { check, detail, timestamp, UNKNOWN_ID, uuid } from './rows.js';

describeInterfaceB(({ get, post }) => {
  describe('groups of failures, and operations', () => {
    const number = expect.any(Number) as number;
    const text = expect.any(String) as string;
    const operation = {
      operation_id: uuid,
      kind: 'retry',
      filter: { agent: 'nobody', from: '2026-11-20T00:00:00.000Z' },
      state: 'completed',
      matched: 0,
      done: 0,
      failed: 0,
      last_error: null,
      created_at: timestamp,
      ended_at: timestamp,
    };
    check([
      [
        'failed executions are listed in groups',
        () => get('/api/v1/executions/failures?agent=broken'),
        200,
        {
          items: [
            {
              group: expect.stringMatching(/^[\da-f]{32}$/) as string,
              agent: 'broken',
              error_type: text,
              message: text,
              count: number,
              first_at: timestamp,
              last_at: timestamp,
              example: uuid,
            },
          ],
          pagination: { limit: 50, after: null, next: null, has_more: false },
        },
      ],
      [
        'a filter that matches no failure gives an empty list',
        () => get('/api/v1/executions/failures?error_type=None&limit=1'),
        200,
        { items: [], pagination: { limit: 1, after: null, next: null, has_more: false } },
      ],
      [
        'a page begins after another one',
        () => get('/api/v1/executions/failures?after=7'),
        400,
        detail('after: must be next of an earlier page with the same filters (got "7")'),
      ],
      [
        'a dry run only counts',
        () => post('/api/v1/executions/retry', { agent: 'broken', dry_run: true }),
        200,
        { matched: number },
      ],
      [
        'an operation that matches nothing has completed',
        () => post('/api/v1/executions/retry', { agent: 'nobody', from: '2026-11-20' }),
        200,
        operation,
      ],
      [
        'operations are listed',
        () => get('/api/v1/operations'),
        200,
        { items: [operation], pagination: { limit: 50, offset: 0, has_more: false } },
      ],
      [
        'an operation needs a filter',
        () => post('/api/v1/executions/fail', { dry_run: true }),
        400,
        detail('The body needs a filter: agent, correlation_id, from or to'),
      ],
      [
        'an unknown agent is a 404',
        () => post('/api/v1/executions/fail', { agent: 'nobody' }),
        404,
        detail('Agent not found: nobody'),
      ],
      [
        'an agent that a process has is a 409',
        () => post('/api/v1/executions/fail', { agent: 'broken' }),
        409,
        detail('A live process has the agent broken and runs its executions; GET /api/v1/processes shows which'),
      ],
      [
        'an unknown operation is a 404',
        () => get(`/api/v1/operations/${UNKNOWN_ID}`),
        404,
        detail(`Operation not found: ${UNKNOWN_ID}`),
      ],
      [
        'an unknown operation cannot be cancelled',
        () => post(`/api/v1/operations/${UNKNOWN_ID}/cancel`, {}),
        404,
        detail(`Operation not found: ${UNKNOWN_ID}`),
      ],
    ]);
  });
});
