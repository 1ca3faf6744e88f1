// Two correlations compared over HTTP. Uses the application, its database, the AI SDK and HTTP; the model server is a
// stand-in.
import type { ComparisonBody } from '../../src/features/compare/dto/comparison-body.js';
import { engine, startWithModels, TYPES } from '../engines/llm/llm-board.js';
import { ManualClock } from '../support/manual-clock.js';
import { type ModelServer, USED } from '../support/model-server.js';
import type { Board } from './board.js';
import { Outside } from './outside.js';

const config = (models: ModelServer): string => `
models: { openai/gpt-5-mini: { input_per_million: 2, output_per_million: 10 } }
${TYPES}
agents:
  responder: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${engine(models)}, retry: { attempts: 2, delay: 0s } }
  splitter:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Line }]
    engine: { kind: expression, expression: 'payload.lines.map(line, {"line": line})' }
  checker:
    consumes: [{ types: [Line], where: 'payload.line != "skip"' }]
    publishes: [{ type: Checked }]
    engine: { kind: expression, expression: '{"line": payload.line, "length": size(payload.line)}' }
  packer:
    consumes: [{ types: [Parcel] }]
    publishes: [{ type: Packed }]
    engine: { kind: external }
`;

const COST = (USED.input * 2 + USED.output * 10) / 1_000_000;

describe('GET /api/v1/compare', () => {
  const clock = new ManualClock();
  let board: Board;
  let models: ModelServer;
  let close: () => Promise<void>;
  beforeAll(async () => ({ board, models, close } = await startWithModels(config, { clock })));
  afterAll(() => close());

  const compare = async (left: string, right: string, query: object = {}): Promise<ComparisonBody> => {
    const response = await board.http.get('/api/v1/compare').query({ left, right, ...query });
    expect([response.status, response.body]).toEqual([200, response.body]);
    return response.body as ComparisonBody;
  };
  const order = async (correlation: string, ...lines: string[]): Promise<void> =>
    void (await board.publishSync('Order', { lines }, { correlation }));
  const refused = async (query: object, status: number, detail: string): Promise<void> => {
    const response = await board.http.get('/api/v1/compare').query(query);
    expect([response.status, response.body]).toMatchObject([status, { detail }]);
  };

  test('pairs artifacts by their place in the cascade, and says what differs', async () => {
    await order('order-1', 'lamp', 'skip', 'sofa');
    await order('order-2', 'lamp', 'chair', 'sofas');
    const comparison = await compare('order-1', 'order-2');
    expect(comparison).toMatchObject({
      left: { correlation_id: 'order-1', state: 'completed', artifact_count: 6, error_count: 0, truncated: false },
      right: { correlation_id: 'order-2', state: 'completed', artifact_count: 7, truncated: false },
      agents: [
        { agent: 'checker', left: { executions: 2, failed: 0, attempts: 2 }, right: { executions: 3, attempts: 3 } },
        { agent: 'splitter', left: { executions: 1 }, right: { executions: 1 } },
      ],
      paired: 6,
      only_left: 0,
      only_right: 1,
      pagination: { limit: 100, next: null, has_more: false },
    });
    const rows = comparison.items.map(({ result, type, produced_by, changes }) => [result, type, produced_by, changes]);
    const replace = (path: string, left: unknown, right: unknown) => ({
      op: 'replace',
      path,
      left: JSON.stringify(left),
      right: JSON.stringify(right),
    });
    expect(rows.filter(([, type]) => type !== 'Checked')).toEqual([
      ['changed', 'Order', 'external', [replace('/lines/1', 'skip', 'chair'), replace('/lines/2', 'sofa', 'sofas')]],
      ['equal', 'Line', 'splitter', []],
      ['changed', 'Line', 'splitter', [replace('/line', 'skip', 'chair')]],
      ['changed', 'Line', 'splitter', [replace('/line', 'sofa', 'sofas')]],
    ]);
    // The third line is compared with the third line, although the left order has no second one.
    expect(rows.filter(([, type]) => type === 'Checked')).toHaveLength(3);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['equal', 'Checked', 'checker', []],
        ['changed', 'Checked', 'checker', [replace('/line', 'sofa', 'sofas'), replace('/length', 4, 5)]],
        ['only_right', 'Checked', 'checker', []],
      ]),
    );
    const only = comparison.items.find(({ result }) => result === 'only_right')!;
    expect(only).toMatchObject({ right: { execution: { state: 'completed', attempts: 1 } }, moved: false });
    expect([only.left, comparison.items[0]!.left?.execution]).toEqual([undefined, undefined]);
  });

  test('counts attempts, tokens and cost of each side', async () => {
    models.answers({ text: '{"text":"On Monday."}' });
    await board.publishSync('Question', { text: 'When?' }, { correlation: 'question-1' });
    // The first attempt asks again once.
    models.answers({ text: 'no' }, { text: 'no' }, { text: '{"text":"On Friday."}' });
    await board.publishSync('Question', { text: 'When?' }, { correlation: 'question-2' });
    const used = (calls: number) => ({
      input_tokens: calls * USED.input,
      output_tokens: calls * USED.output,
      cost: Number((calls * COST).toPrecision(12)),
    });
    expect(await compare('question-1', 'question-2')).toMatchObject({
      left: { usage: used(1) },
      right: { usage: used(3) },
      agents: [
        {
          agent: 'responder',
          left: { executions: 1, attempts: 1, usage: used(1) },
          right: { executions: 1, attempts: 2, usage: used(3) },
        },
      ],
      items: [
        { result: 'equal', type: 'Question' },
        {
          result: 'changed',
          left: { execution: { attempts: 1, usage: used(1) } },
          right: { execution: { attempts: 2, usage: used(3) } },
          changes: [{ op: 'replace', path: '/text', left: '"On Monday."', right: '"On Friday."' }],
        },
      ],
    });
    const { agents } = await compare('order-1', 'question-1');
    expect(agents.map((agent) => Object.keys(agent))).toEqual([
      ['agent', 'left'],
      ['agent', 'right'],
      ['agent', 'left'],
    ]);
  });

  test('measures how long each side took, and its agents and executions', async () => {
    const outside = new Outside(board.http);
    const pack = async (waits: number, takes: number): Promise<void> => {
      clock.advance(waits);
      const [held] = await outside.claim({ agents: ['packer'], max: 1 });
      clock.advance(takes);
      expect(await outside.send(held!, 'complete', { output: {} })).toMatchObject({ status: 200 });
    };
    await board.publish('Parcel', { weight: 1 }, { correlation: 'parcel-1' });
    await pack(1_000, 2_000);
    for (const weight of [1, 2]) await board.publish('Parcel', { weight }, { correlation: 'parcel-2' });
    await pack(3_000, 5_000);
    await pack(4_000, 7_000);
    const comparison = await compare('parcel-1', 'parcel-2');
    expect(comparison).toMatchObject({
      left: { state: 'completed', duration_ms: 3_000 },
      right: { state: 'completed', duration_ms: 19_000 },
      agents: [{ agent: 'packer', left: { duration_ms: 2_000 }, right: { duration_ms: 12_000 } }],
    });
    const packed = comparison.items.filter(({ type }) => type === 'Packed');
    expect(packed.map(({ left, right }) => [left?.execution?.duration_ms, right?.execution?.duration_ms])).toEqual([
      [2_000, 5_000],
      [undefined, 7_000],
    ]);
    // A side that has not ended has no duration yet.
    await board.publish('Parcel', { weight: 3 }, { correlation: 'parcel-3' });
    expect(await compare('parcel-1', 'parcel-3')).toMatchObject({
      left: { duration_ms: 3_000 },
      right: { state: 'active', duration_ms: null },
      agents: [{ agent: 'packer', right: { duration_ms: 0 } }],
    });
  });

  test('gives the pairs in pages', async () => {
    const whole = await compare('order-1', 'order-2');
    const items: ComparisonBody['items'] = [];
    let after: string | null = null;
    do {
      const page = await compare('order-1', 'order-2', { limit: 3, ...(after !== null && { after }) });
      items.push(...page.items);
      after = page.pagination.next;
    } while (after !== null);
    expect(items).toEqual(whole.items);
  });

  test('compares the first 5,000 artifacts and says that there are more', async () => {
    const lines = Array.from({ length: 1_000 }, () => 'skip');
    for (let part = 0; part < 5; part++) await order('order-3', ...lines);
    const comparison = await compare('order-3', 'order-3', { limit: 1 });
    expect(comparison).toMatchObject({ left: { artifact_count: 5_005, truncated: true }, paired: 5_000 });
  });

  test('refuses what it cannot compare', async () => {
    await refused({ left: 'order-1' }, 400, 'right: is required');
    await refused({ left: 'order-1', right: 'order 2' }, 400, 'right: must be 1 to 200 visible ASCII characters');
    await refused({ left: 'order-1', right: 'order-9' }, 404, 'Correlation not found: order-9');
    await refused({ left: 'order-9', right: 'order-1' }, 404, 'Correlation not found: order-9');
    const wrong = 'after: must be next of an earlier page with the same filters (got "2")';
    await refused({ left: 'order-1', right: 'order-2', after: '2' }, 400, wrong);
  });
});
