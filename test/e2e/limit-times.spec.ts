// How soon limits let executions start. Uses the whole app over HTTP on a database, and real time.
import { Board } from './board.js';

const CONFIG = `
limits:
  pool: { concurrency: 2 }
  calls: { rate: 1000/s, burst: 10 }
agents:
  both: { consumes: [{ types: [Call] }], publishes: [{ type: Called }], limits: [pool, calls], engine: { kind: expression, expression: '{}' } }
`;
const AT_ONCE_MS = 1_000;

interface Execution {
  created_at: string;
  started_at: string;
}

describe('an execution with two limits', () => {
  let board: Board;
  beforeAll(async () => {
    board = await Board.start(CONFIG);
  });
  afterAll(() => board?.close());

  it('starts immediately when nothing else waits or runs', async () => {
    for (let n = 0; n < 10; n += 1) {
      const { correlation_id, completed } = await board.publishSync('Call', { n });
      expect(completed).toBe(true);
      const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
      const [execution] = (body as { items: Execution[] }).items;
      const waited = Date.parse(execution!.started_at) - Date.parse(execution!.created_at);
      expect(waited).toBeLessThan(AT_ONCE_MS);
    }
  });
});
