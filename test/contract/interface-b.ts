import type { Test } from 'supertest';

import { startApp, type TestApp } from '../support/app.js';

const CONFIG = `
types:
  CustomerMessage:
    version: 3
    description: What a customer wrote
    schema: { type: object, required: [text], properties: { text: { type: string, minLength: 1 } } }
agents:
  classifier:
    description: Names the intent of a message
    consumes: [{ types: [CustomerMessage] }]
    publishes: [{ type: Intent, tags: [classified] }]
    engine: { kind: expression, expression: '{"intent": payload.text.contains("card") ? "card" : "other"}' }
  router:
    description: Sends an intent to its queue
    consumes: [{ types: [Intent], mode: any }]
    publishes: [{ type: Routing }]
    engine: { kind: expression, expression: '{"queue": payload.intent + "s"}' }
  supervisor:
    consumes: [{ types: [Intent, Routing] }]
    publishes: [{ type: Review }, { type: Alarm }]
    engine: { kind: expression, expression: '{"Review": {"of": payload.Routing.queue}}' }
  broken:
    consumes: [{ types: [Trouble] }]
    publishes: [{ type: Nothing }]
    engine: { kind: expression, expression: payload.missing.deeper }
    retry: { attempts: 1 }
  slow:
    consumes: [{ types: [Endless], priority: 2 }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./slow.js }
    timeout: 5m
    concurrency: 4
    retry: { attempts: 5, delay: 500ms, max_delay: 30s }
    budget: { tokens: 1000, cost: 0.5 }
    labels: [pii]
    tenant_id: acme
`;

const SLOW = `export default (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`;

/** Three agents react to it, one after the other. */
export const MESSAGE = { type: 'CustomerMessage', payload: { text: 'Where is my card?' } };

/** The requests that the specs of Interface B send. */
export interface InterfaceB {
  /** Set while the tests run. */
  app: TestApp;
  get: (path: string) => Test;
  post: (path: string, body?: object) => Test;
  publish: (body?: object) => Test;
  publishSync: (body?: object) => Test;
  /** Returns the artifacts of a page. */
  items: (query: string) => Promise<Record<string, unknown>[]>;
}

/**
 * Declares tests of Interface B as docs/api.md describes it, row by row. They use the application, its database, HTTP,
 * and expression and function agents. The correlation `order-1` has completed, and `order-2` has failed.
 */
export function describeInterfaceB(tests: (api: InterfaceB) => void): void {
  describe('Interface B', () => {
    const get = (path: string): Test => api.app.http.get(path);
    const post = (path: string, body: object = {}): Test => api.app.http.post(path).send(body);
    const api = {
      get,
      post,
      publish: (body = {}) => post('/api/v1/artifacts', body),
      publishSync: (body = {}) => post('/api/v1/artifacts/sync', body),
      items: async (query) =>
        ((await get(`/api/v1/artifacts?${query}`)).body as { items: Record<string, unknown>[] }).items,
    } as InterfaceB;

    beforeAll(async () => {
      api.app = await startApp({ config: CONFIG, files: { 'slow.js': SLOW } });
      await api
        .publishSync({ ...MESSAGE, tags: ['channel:chat', 'vip'] })
        .set('X-Correlation-ID', 'order-1')
        .expect(200);
      await api.publishSync({ type: 'Trouble', partition_key: 'p7' }).set('X-Correlation-ID', 'order-2').expect(200);
    });

    afterAll(() => api.app.close());

    tests(api);
  });
}
