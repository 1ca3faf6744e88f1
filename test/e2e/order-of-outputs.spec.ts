// The executions that the artifacts of one transaction trigger. Uses the whole app over HTTP on a database.
import { eventually } from '../support/eventually.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  spread: { consumes: [{ types: [Bulk] }], publishes: [{ type: Item }], engine: { kind: expression, expression: payload.items } }
  worker:
    consumes: [{ types: [Item] }]
    concurrency: 1
    engine: { kind: function, module: ./worker.js }
`;
const WORKER = `globalThis.startsOfOutputs ??= [];
export default async ([{ payload }]) => { globalThis.startsOfOutputs.push(payload.n); return null; };`;

const starts = (): number[] => ((globalThis as unknown as { startsOfOutputs?: number[] }).startsOfOutputs ??= []);

describe('the executions of the outputs of an agent', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: { 'worker.js': WORKER } });
  });
  afterAll(() => board?.close());

  it.each([2, 4, 20])('start in the order of the outputs, of which there are %i', async (count) => {
    starts().length = 0;
    const order = Array.from({ length: count }, (_, n) => n);
    await board.http.post('/api/v1/agents/worker/pause').expect(200);
    await board.publish('Bulk', { items: order.map((n) => ({ n })) });
    await eventually('all wait', async () => {
      const { body } = await board.http.get('/api/v1/executions?agent=worker&state=pending').expect(200);
      return (body as { items: unknown[] }).items.length === count;
    });
    await board.http.post('/api/v1/agents/worker/resume').expect(200);
    await eventually('all have started', () => starts().length === count);
    expect(starts()).toEqual(order);
  });
});
