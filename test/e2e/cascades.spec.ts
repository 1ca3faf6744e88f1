import { Board, tally } from './board.js';

const expression = (consumes: string, publishes: string, source: string): string =>
  `{ consumes: [${consumes}], publishes: [{ type: ${publishes} }], engine: { kind: expression, expression: '${source}' } }`;

/** Uses the whole app over HTTP on a database, with agents from a configuration file. */
describe('cascades', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(`
agents:
  step1: ${expression('{ types: [A0] }', 'A1', '{"n": payload.n + 1.0}')}
  step2: ${expression('{ types: [A1] }', 'A2', '{"n": payload.n + 1.0}')}
  step3: ${expression('{ types: [A2] }', 'A3', '{"n": payload.n + 1.0}')}
  step4: ${expression('{ types: [A3] }', 'A4', '{"n": payload.n + 1.0}')}
  step5: ${expression('{ types: [A4] }', 'A5', '{"n": payload.n + 1.0}')}
  spreader: ${expression('{ types: [Spread] }', 'Part', 'payload.list.map(n, {"n": n})')}
  worker: ${expression('{ types: [Part] }', 'Done', '{"n": payload.n}')}
  eager: ${expression('{ types: [Left, Right], mode: any }', 'Seen', '{"by": artifact.type}')}
  picky: ${expression('{ types: [Picked], where: payload.n > 3.0 }', 'Chosen', '{"n": payload.n}')}
  erring: ${expression('{ types: [Picked], where: payload.missing.deep == 1.0 }', 'Never', '{}')}
  typed: ${expression('{ types: [Picked], where: payload.n }', 'Never', '{}')}
  tagged: ${expression('{ types: [Picked], tags: [vip, gold] }', 'VipSeen', '{"tags": artifact.tags}')}
  internal: ${expression('{ types: [Picked], from_agents: [picky] }', 'Never', '{}')}
  selfish: ${expression('{ types: [Ping] }', 'Ping', '{"n": payload.n + 1.0}')}
  looping: ${expression('{ types: [Loop], allow_self: true, where: payload.n < 5.0 }', 'Loop', '{"n": payload.n + 1.0}')}
`);
  });

  afterAll(() => board.close());

  it('run a chain of five', async () => {
    const { artifacts, completed } = await board.publishSync('A0', { n: 0 });
    expect(completed).toBe(true);
    expect(artifacts.map(({ type, payload }) => [type, payload.n])).toEqual([
      ['A1', 1],
      ['A2', 2],
      ['A3', 3],
      ['A4', 4],
      ['A5', 5],
    ]);
  });

  it('fan out to a hundred', async () => {
    const list = Array.from({ length: 100 }, (_, index) => index);
    const { artifacts, completed } = await board.publishSync('Spread', { list }, { timeout: 300 });
    expect(completed).toBe(true);
    expect(tally(artifacts.map(({ type }) => type))).toEqual({ Part: 100, Done: 100 });
    expect(
      artifacts
        .filter(({ type }) => type === 'Done')
        .map(({ payload }) => payload.n as number)
        .sort((a, b) => a - b),
    ).toEqual(list);
  });

  it('trigger `any` for each artifact separately', async () => {
    const correlation = await board.publish('Left', {});
    await board.publish('Right', {}, { correlation });
    await board.ended(correlation);
    const seen = (await board.artifacts(correlation, { type: 'Seen' })).map(({ payload }) => payload.by);
    expect(seen.sort()).toEqual(['Left', 'Right']);
  });

  it('check predicates, tags and producers; a predicate that fails, or returns no boolean, does not trigger', async () => {
    const refused = await board.publish('Picked', { n: 1 });
    const chosen = await board.publish('Picked', { n: 4 }, { tags: ['gold', 'eu'] });
    expect(await board.ended(refused)).toMatchObject({ state: 'completed', artifact_count: 1, error_count: 0 });
    await board.ended(chosen);
    expect((await board.types(chosen)).sort()).toEqual(['Chosen', 'Picked', 'VipSeen']);
  });

  it('do not trigger an agent by its own output unless allow_self says so', async () => {
    const self = await board.publish('Ping', { n: 0 });
    await board.ended(self);
    expect(tally(await board.types(self))).toEqual({ Ping: 2 });
    const loop = await board.publish('Loop', { n: 0 });
    await board.ended(loop);
    expect(tally(await board.types(loop))).toEqual({ Loop: 6 });
  });

  it('record which executions consumed an artifact', async () => {
    const correlation = await board.publish('A4', { n: 1 });
    await board.ended(correlation);
    const [published] = await board.artifacts(correlation, { embed_meta: true });
    expect(published).toMatchObject({ type: 'A4', consumed_by: ['step5'] });
  });

  it('reopen a settled correlation, and settle it again', async () => {
    const correlation = await board.publish('A4', { n: 1 });
    await board.ended(correlation);
    const { artifacts, completed } = await board.publishSync('A3', { n: 7 }, { correlation });
    expect(completed).toBe(true);
    expect(artifacts.map(({ type }) => type)).toEqual(['A4', 'A5']);
    expect(await board.status(correlation)).toMatchObject({ state: 'completed', artifact_count: 5 });
  });
});

describe('a cycle', () => {
  it('is stopped by its limit, with one WorkflowError', async () => {
    const board = await Board.start(
      `
agents:
  ping: ${expression('{ types: [Pong] }', 'Ping', '{"n": payload.n + 1.0}')}
  pong: ${expression('{ types: [Ping] }', 'Pong', '{"n": payload.n + 1.0}')}
`,
      { settings: { maxExecutionsPerCorrelation: 25 } },
    );
    try {
      const { artifacts } = await board.publishSync('Ping', { n: 0 }, { correlation: 'cycle', timeout: 300 });
      expect(tally(artifacts.map(({ type }) => type))).toEqual({ Ping: 25, Pong: 25, WorkflowError: 1 });
      expect(artifacts.find(({ type }) => type === 'WorkflowError')!.payload).toMatchObject({
        failed_agent: 'pong',
        error_type: 'limit',
        execution_id: null,
        attempts: 0,
      });
      expect(await board.status('cycle')).toMatchObject({ state: 'completed', error_count: 1 });
      // The limit applies to one generation: the next one runs again.
      const again = await board.publishSync('Ping', { n: 0 }, { correlation: 'cycle', timeout: 300 });
      expect(tally(again.artifacts.map(({ type }) => type))).toEqual({ Ping: 25, Pong: 25, WorkflowError: 1 });
    } finally {
      await board.close();
    }
  });
});
