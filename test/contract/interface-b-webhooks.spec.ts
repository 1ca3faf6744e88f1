import { describeInterfaceB } from './interface-b.js';
import { check, detail } from './rows.js';

describeInterfaceB(({ get }) => {
  describe('GET /api/v1/webhooks/targets', () => {
    const nothing = { items: [], pagination: { limit: 50, after: null, next: null, has_more: false } };
    check([
      ['without webhooks there is none', () => get('/api/v1/webhooks/targets'), 200, nothing],
      ['none fails', () => get('/api/v1/webhooks/targets?failing=true'), 200, nothing],
      [
        'a page begins after another one',
        () => get('/api/v1/webhooks/targets?after=7'),
        400,
        detail('after: must be next of an earlier page with the same filters (got "7")'),
      ],
      [
        'a page has at most 100',
        () => get('/api/v1/webhooks/targets?limit=101'),
        400,
        detail('limit: must be a whole number from 1 to 100'),
      ],
    ]);
  });
});
