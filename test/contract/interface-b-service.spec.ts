import { describeInterfaceB } from './interface-b.js';
import { check, detail } from './rows.js';

describeInterfaceB((api) => {
  const { get } = api;

  describe('Health, metrics, documentation', () => {
    check([
      ['GET /health answers ok', () => get('/health'), 200, expect.objectContaining({ status: 'ok' })],
      ['GET /health/live answers ok', () => get('/health/live'), 200, expect.objectContaining({ status: 'ok' })],
      ['GET /health/ready answers ok', () => get('/health/ready'), 200, expect.objectContaining({ status: 'ok' })],
      [
        'GET /openapi.json is OpenAPI 3.0',
        () => get('/openapi.json'),
        200,
        expect.objectContaining({ openapi: expect.stringMatching(/^3\.0\./) as string }),
      ],
      ['an unknown route is a 404', () => get('/api/v1/nothing'), 404, detail(/^No route for GET \/api\/v1\/nothing/)],
      [
        'another method is a 405',
        () => api.app.http.delete('/api/v1/agents'),
        405,
        detail(/^DELETE is not allowed at \/api\/v1\/agents; use GET, HEAD$/),
      ],
    ]);

    it('GET /metrics gives the three metrics without labels, in the text format', async () => {
      const response = await get('/metrics');
      expect(response.headers['content-type']).toMatch(/^text\/plain/);
      for (const name of ['blackboard_artifacts_total', 'blackboard_agents_count', 'blackboard_executions_total']) {
        expect(response.text).toMatch(new RegExp(`^${name} [1-9]\\d*$`, 'm'));
      }
    });

    it('GET /docs is HTML', async () => {
      expect((await get('/docs')).headers['content-type']).toMatch(/^text\/html/);
    });
  });
});
