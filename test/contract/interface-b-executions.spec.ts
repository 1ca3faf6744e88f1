import { eventually } from '../support/eventually.js';
import { describeInterfaceB } from './interface-b.js';
import { check, detail, timestamp, uuid } from './rows.js';

describeInterfaceB(({ get, post }) => {
  describe('executions', () => {
    const failed = {
      id: uuid,
      agent: 'broken',
      correlation_id: 'order-2',
      state: 'failed',
      direct: false,
      round: 0,
      attempt: 1,
    };
    const page = (items: object[], limit = 50): object => ({
      items: items.map((item) => expect.objectContaining(item) as object),
      pagination: { limit, offset: 0, has_more: false },
    });
    const none = page([]);
    let group = '';

    beforeAll(async () => {
      const { body } = await get('/api/v1/executions/failures?agent=broken').expect(200);
      group = (body as { items: [{ group: string }] }).items[0].group;
      await post('/api/v1/agents/router/pause').expect(200);
      await post('/api/v1/artifacts', { type: 'Intent', payload: { intent: 'card' } })
        .set('X-Correlation-ID', 'order-3')
        .expect(200);
      await eventually('the router waits', async () => {
        const { items } = (await get('/api/v1/executions?correlation_id=order-3')).body as { items: object[] };
        return items.length === 1;
      });
    });

    check([
      [
        'are listed by their failure group',
        () => get(`/api/v1/executions?failure_group=${group}`),
        200,
        page([{ ...failed, created_at: timestamp, ended_at: timestamp }]),
      ],
      [
        'a failure group has failed executions alone',
        () => get(`/api/v1/executions?failure_group=${group}&state=completed`),
        200,
        none,
      ],
      [
        'a failure group can be narrowed by agent and correlation',
        () => get(`/api/v1/executions?failure_group=${group}&agent=broken&correlation_id=order-2&limit=1`),
        200,
        page([failed], 1),
      ],
      ['another group has none', () => get('/api/v1/executions?failure_group=0123'), 200, none],
      ['no agent here is external', () => get('/api/v1/executions?external=true'), 200, none],
      [
        'external=false filters nothing',
        () => get('/api/v1/executions?external=false&agent=broken'),
        200,
        page([failed]),
      ],
      [
        'external takes true or false',
        () => get('/api/v1/executions?external=yes'),
        400,
        detail('external: must be true or false'),
      ],
      [
        'are listed by what they wait for',
        () => get('/api/v1/executions?waits_for=resume'),
        200,
        page([{ id: uuid, agent: 'router', correlation_id: 'order-3', state: 'pending', started_at: null }]),
      ],
      ['what waits for one thing waits for no other', () => get('/api/v1/executions?waits_for=slot'), 200, none],
      ['what waits does not run', () => get('/api/v1/executions?waits_for=resume&state=running'), 200, none],
      [
        'what they can wait for is named',
        () => get('/api/v1/executions?waits_for=luck'),
        400,
        detail('waits_for: must be one of slot, claim, retry, limit, resume'),
      ],
    ]);
  });
});
