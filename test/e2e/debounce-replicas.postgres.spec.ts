import type { Board } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const CONFIG = `agents:
  last: { consumes: [{ types: [Edited], debounce: { key: payload.key, wait: 1h, at_most: 1h } }], engine: { kind: external } }
`;
const KEYS = 20;

interface Execution {
  state: string;
  superseded_by?: string;
}

/** Uses three apps over HTTP on one Postgres, to which artifacts are published at the same moments. */
describe('three processes to which artifacts with the same key of debounce come at the same time', () => {
  const replicas = new Replicas();
  const boards: Board[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 3; n += 1) boards.push(await replicas.start(CONFIG, { role: WORKER }));
  });
  afterAll(() => replicas.close());

  it('run with one of them, and consume each other one', async () => {
    for (let key = 0; key < KEYS; key += 1) {
      const ids = await Promise.all(boards.map((board) => board.publish('Edited', { key })));
      const found = await Promise.all(
        ids.map(async (correlation_id) => {
          const { body } = await boards[0]!.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
          return (body as { items: Execution[] }).items;
        }),
      );
      const superseded = found.flat().filter((execution) => execution.superseded_by !== undefined);
      expect(superseded).toHaveLength(2);
      const artifacts = await Promise.all(ids.map(async (id) => (await boards[0]!.artifacts(id))[0]!.id));
      const by = superseded.map((execution) => execution.superseded_by!);
      expect(new Set(by).size).toBe(2);
      expect(by.every((id) => artifacts.includes(id))).toBe(true);
    }
  });
});
