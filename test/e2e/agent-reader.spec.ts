import { Board } from './board.js';

const CONFIG = `
types:
  Note: { schema: { type: object } }
  Card: {}
agents:
  reader:
    labels: [pii]
    consumes: [{ types: [Ask] }]
    publishes: [{ type: Told }]
    engine: { kind: function, module: ./reader.js }
    retry: { attempts: 1 }
`;

// Runs the artifact's query and publishes the result.
const READER = `export default async ([{ payload }], { blackboard }) => {
  const found = 'id' in payload ? [await blackboard.get(payload.id)] : await blackboard.list(payload.filter);
  return { found: found.map((artifact) => artifact && artifact.payload.n) };
};`;

/** Uses the application, its database, HTTP and a function agent. */
describe('a query of an agent on the blackboard', () => {
  let board: Board;
  let ids: string[];

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: { 'reader.js': READER } });
    // This agent may see every tenth artifact and none of the others.
    for (let n = 0; n < 600; n += 1) {
      const visibility =
        n % 10 === 0 ? { kind: 'Labelled', required_labels: ['pii'] } : { kind: 'Private', agents: ['another'] };
      await board.publish('Note', { n }, { visibility, tags: [n < 300 ? 'early' : 'late'], correlation: 'notes' });
    }
    const response = await board.http.get('/api/v1/artifacts?type=Note&limit=20');
    ids = (response.body as { items: { id: string }[] }).items.map(({ id }) => id);
  });

  afterAll(() => board.app.close());

  const ask = async (payload: object): Promise<unknown> => {
    const { artifacts } = await board.publishSync('Ask', payload);
    return artifacts.map(({ type, payload: told }) => (type === 'Told' ? told.found : told.error_message))[0];
  };
  const tens = (from: number, to: number): number[] =>
    Array.from({ length: to - from }, (_, index) => (from + index) * 10);

  it('returns only visible artifacts, however many others lie in between', async () => {
    expect(await ask({ filter: { type: ['Note'] } })).toEqual(tens(0, 50));
    expect(await ask({ filter: { type: ['Note'], limit: 3 } })).toEqual(tens(0, 3));
    expect(await ask({ filter: { type: ['Note'], limit: 500 } })).toEqual(tens(0, 60));
  });

  it('applies the order and the filters', async () => {
    expect(await ask({ filter: { type: ['Note'], limit: 2, order: 'desc' } })).toEqual([590, 580]);
    expect(
      await ask({ filter: { tag: ['late'], limit: 2, correlation_id: 'notes', produced_by: ['external'] } }),
    ).toEqual([300, 310]);
    expect(await ask({ filter: { correlation_id: 'notes', produced_by: ['reader'] } })).toEqual([]);
  });

  it('does not return an invisible artifact by its id either', async () => {
    expect(await ask({ id: ids[10] })).toEqual([10]);
    expect(await ask({ id: ids[11] })).toEqual([null]);
    expect(await ask({ id: 'no id' })).toEqual([null]);
  });

  it('has a limit', async () => {
    expect(await ask({ filter: { limit: 501 } })).toContain('limit: must be a whole number from 1 to 500');
  });

  it('finds artifacts of a replay only in that replay', async () => {
    const found = async (correlation: string): Promise<unknown> =>
      (await board.artifacts(correlation, { type: 'Told' })).map(({ payload }) => payload.found);
    const replayed = async (original: string): Promise<string> => {
      const answer = await board.http
        .post(`/api/v1/correlations/${original}/replay`)
        .send({ mode: 'full' })
        .expect(200);
      const { correlation_id } = answer.body as { correlation_id: string };
      await board.ended(correlation_id);
      return correlation_id;
    };
    const filter = { type: ['Card'] };
    await board.publish('Card', { n: 7 }, { correlation: 'cards' });
    await board.publishSync('Ask', { filter }, { correlation: 'cards' });
    const first = await replayed('cards');
    const second = await replayed('cards');
    // Each replay finds the card of the original and its own copy.
    expect([await found('cards'), await found(first), await found(second)]).toEqual([[[7]], [[7, 7]], [[7, 7]]]);
    expect(await ask({ filter })).toEqual([7]);
    expect(await ask({ filter: { ...filter, correlation_id: first } })).toEqual([]);

    const [card] = await board.artifacts(first, { type: 'Card' });
    await board.publishSync('Ask', { id: card!.id }, { correlation: 'by-id' });
    expect([await found('by-id'), await found(await replayed('by-id'))]).toEqual([[[null]], [[null]]]);
  });
});
