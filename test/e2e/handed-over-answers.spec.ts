// Uses the application on both databases, over HTTP, and counts how often it reads what a synchronous publish has produced.
import { randomUUID } from 'node:crypto';

import { ArtifactStore } from '../../src/blackboard/queries/artifact-store.js';
import { MemoryBudget } from '../../src/common/memory-budget.js';
import { Board, type WireArtifact } from './board.js';

const CONFIG = `
types: { Order: {}, Packed: {}, Shipped: {} }
agents:
  packer:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Packed, tags: [packed] }]
    engine: { kind: function, module: ./packer.js }
  shipper:
    consumes: [{ types: [Packed] }]
    publishes: [{ type: Shipped }]
    retry: { attempts: 1 }
    engine: { kind: function, module: ./shipper.js }
`;

const FILES = {
  'package.json': '{"type":"module"}',
  'packer.js':
    'export default async ([{ payload }]) => Array.from({ length: payload.boxes ?? 1 }, (_, box) => ({ ...payload, box }));',
  'shipper.js':
    'export default async ([{ payload }]) => { if (payload.isLost) throw new Error("lost"); return { box: payload.box, note: "é\\u0000\\"".padEnd(payload.size ?? 10, ".") }; };',
};

let board: Board;
let reads: jest.SpyInstance;
beforeAll(async () => {
  board = await Board.start(CONFIG, { files: FILES });
  reads = jest.spyOn(board.app.app.get(ArtifactStore), 'producedAfter');
});
afterEach(() => {
  reads.mockClear();
  expect(board.app.app.get(MemoryBudget).usedBytes).toBe(0);
});
afterAll(() => board.close());

/** Returns what agents have published in the correlation, as a query finds it. */
const stored = async (correlation: string): Promise<WireArtifact[]> =>
  (await board.artifacts(correlation)).filter(({ produced_by: producer }) => producer !== 'external');

it('answers without a query if this process has stored everything', async () => {
  const { artifacts, completed, correlation_id: id } = await board.publishSync('Order', { boxes: 2 });
  expect(completed).toBe(true);
  expect(artifacts.map(({ type }) => type).sort()).toEqual(['Packed', 'Packed', 'Shipped', 'Shipped']);
  expect(artifacts).toEqual(await stored(id));
  expect(reads).not.toHaveBeenCalled();
});

it('leaves out what was in the correlation before, and what the filters exclude', async () => {
  const correlation = randomUUID();
  const first = await board.publishSync('Order', { round: 1 }, { correlation });
  const second = await board.publishSync('Order', { round: 2 }, { correlation });
  expect([...first.artifacts, ...second.artifacts]).toEqual(await stored(correlation));
  expect(second.artifacts).toMatchObject([{ payload: { round: 2 } }, { type: 'Shipped' }]);
  const filtered = await board.http
    .post('/api/v1/artifacts/sync')
    .send({ type: 'Order', payload: {}, filters: { type_names: ['Shipped'] } });
  expect(filtered.body).toMatchObject({ artifacts: [{ type: 'Shipped', produced_by: 'shipper' }] });
  expect(reads).not.toHaveBeenCalled();
});

it('has the error of an execution', async () => {
  const { artifacts, correlation_id: id } = await board.publishSync('Order', { isLost: true });
  expect(artifacts).toMatchObject([
    { type: 'Packed' },
    { type: 'WorkflowError', payload: { failed_agent: 'shipper' } },
  ]);
  expect(artifacts).toEqual(await stored(id));
  expect(reads).not.toHaveBeenCalled();
});

it.each([
  ['many artifacts', { boxes: 40 }],
  ['a large one', { boxes: 2, size: 10_000 }],
])('reads %s, which it does not keep', async (_, payload) => {
  const { artifacts, correlation_id: id } = await board.publishSync('Order', payload);
  expect(artifacts).toHaveLength(2 * payload.boxes);
  expect(artifacts).toEqual(await stored(id));
  expect(reads).toHaveBeenCalled();
});

it('shows what there is if the time is over before the end', async () => {
  await board.http.post('/api/v1/agents/shipper/pause');
  const { artifacts, completed } = await board.publishSync('Order', {}, { timeout: 1 });
  expect([completed, artifacts.map(({ type }) => type)]).toEqual([false, ['Packed']]);
  await board.http.post('/api/v1/agents/shipper/resume');
});
