import { describeInterfaceB, MESSAGE } from './interface-b.js';
import { check, detail, timestamp, uuid } from './rows.js';

describeInterfaceB(({ items, publishSync }) => {
  describe('POST /api/v1/artifacts/sync', () => {
    const produced = (type: string, producedBy: string, payload: object, tags: string[] = []): object => ({
      id: uuid,
      type,
      payload,
      produced_by: producedBy,
      execution_id: uuid,
      visibility: { kind: 'Public' },
      visibility_kind: 'Public',
      created_at: timestamp,
      correlation_id: expect.any(String) as string,
      partition_key: null,
      tags,
      version: 1,
    });
    const INTENT = produced('Intent', 'classifier', { intent: 'card' }, ['classified']);
    const ROUTING = produced('Routing', 'router', { queue: 'cards' });
    const REVIEW = produced('Review', 'supervisor', { of: 'cards' });
    const answer = (artifacts: object[], completed = true): object => ({
      correlation_id: uuid,
      artifacts,
      completed,
      duration_ms: expect.any(Number) as number,
    });
    const failure = produced('WorkflowError', 'broken', {
      failed_agent: 'broken',
      error_type: expect.any(String) as string,
      error_message: expect.any(String) as string,
      timestamp,
      execution_id: uuid,
      attempts: 1,
      input_artifact_ids: [uuid],
    });

    check([
      [
        'answers with what agents produced, in the order of publishing',
        () => publishSync(MESSAGE),
        200,
        answer([INTENT, ROUTING, REVIEW]),
      ],
      [
        'keeps only the types asked for',
        () => publishSync({ ...MESSAGE, filters: { type_names: ['Routing', 'Intent'] } }),
        200,
        answer([INTENT, ROUTING]),
      ],
      [
        'keeps only the producers asked for',
        () => publishSync({ ...MESSAGE, filters: { produced_by: ['supervisor'] } }),
        200,
        answer([REVIEW]),
      ],
      [
        'keeps artifacts that both filters match',
        () => publishSync({ ...MESSAGE, filters: { type_names: ['Intent'], produced_by: ['router'] } }),
        200,
        answer([]),
      ],
      [
        'keeps everything for empty filters',
        () => publishSync({ ...MESSAGE, filters: { type_names: [], produced_by: [] } }),
        200,
        answer([INTENT, ROUTING, REVIEW]),
      ],
      ['answers with WorkflowError artifacts too', () => publishSync({ type: 'Trouble' }), 200, answer([failure])],
      ['is complete immediately if no agent reacts', () => publishSync({ type: 'Alarm' }), 200, answer([])],
      [
        'is not complete when the timeout comes first, which is not an error',
        () => publishSync({ type: 'Endless', timeout: 1 }),
        200,
        answer([], false),
      ],
      ['takes a timeout of 300 s', () => publishSync({ ...MESSAGE, timeout: 300 }), 200, expect.anything()],
      ['takes a fraction of a second', () => publishSync({ ...MESSAGE, timeout: 1.5 }), 200, expect.anything()],
      [
        'refuses a timeout of more than 300 s',
        () => publishSync({ timeout: 301 }),
        400,
        detail('timeout: must not be greater than 300; type: is required'),
      ],
      [
        'refuses a timeout of less than 1 s',
        () => publishSync({ ...MESSAGE, timeout: 0.9 }),
        400,
        detail('timeout: must not be less than 1'),
      ],
      [
        'refuses a timeout in words',
        () => publishSync({ ...MESSAGE, timeout: '30' }),
        400,
        detail('timeout: must be a number'),
      ],
      [
        'refuses filters that are not an object',
        () => publishSync({ ...MESSAGE, filters: [] }),
        400,
        detail('filters: must be an object'),
      ],
      [
        'refuses filters that are not lists',
        () => publishSync({ ...MESSAGE, filters: { type_names: 'Intent', produced_by: [1] } }),
        400,
        detail('filters.produced_by: each value must be a string; filters.type_names: must be an array'),
      ],
      ['refuses an unknown type', () => publishSync({ type: 'Nope' }), 400, detail(/^Unknown artifact type: Nope/)],
      [
        'refuses a webhook without a URL',
        () => publishSync({ ...MESSAGE, webhook: {} }),
        400,
        detail('webhook.url: is required'),
      ],
      [
        'refuses a correlation id with a space',
        () => publishSync(MESSAGE).set('X-Correlation-ID', 'a b'),
        400,
        detail(/^X-Correlation-ID: /),
      ],
    ]);

    it('answers with the given correlation id, and only with artifacts after this publish', async () => {
      const first = await publishSync(MESSAGE).set('X-Correlation-ID', 'twice');
      const second = await publishSync({ ...MESSAGE, filters: { type_names: ['Intent'] } }).set(
        'X-Correlation-ID',
        'twice',
      );
      expect(first.headers['x-correlation-id']).toBe('twice');
      expect(second.body).toMatchObject({ correlation_id: 'twice', artifacts: [{ type: 'Intent' }] });
      expect(await items('correlation_id=twice&type=Intent')).toHaveLength(2);
    });
  });
});
