// Replays from the record after an agent has changed. Uses the application over HTTP, stopped and started again with
// another configuration on one database. The clock is moved by the test.
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { changeStored } from '../faults/change-stored.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const config = (greeting: string): string => `
types: { Request: {}, Half: {} }
agents:
  reader:
    consumes: [{ types: [Request] }]
    publishes: [{ type: Reading }]
    engine: { kind: expression, expression: '{"text": payload.text}' }
  greeter:
    consumes: [{ types: [Reading] }]
    publishes: [{ type: Greeting }]
    engine: { kind: expression, expression: '{"text": "${greeting} " + payload.text}' }
  printer:
    consumes: [{ types: [Greeting] }]
    publishes: [{ type: Print }]
    engine: { kind: expression, expression: '{"printed": payload.text}' }
  joiner:
    consumes: [{ types: [Reading, Half], mode: all, join: { by: payload.text } }]
    publishes: [{ type: Whole }]
    engine: { kind: expression, expression: '{"half": payload.Half.side}' }
`;

interface Listed {
  agent: string;
  replay: string;
}

describe('a replay from the record after a change', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let board: Board;
  const start = async (greeting: string): Promise<void> => {
    board = await Board.start(config(greeting), { clock, folder: folder.path });
  };
  beforeAll(() => start('Hello'));
  afterAll(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  const totals = async (): Promise<number[]> => {
    const { text } = await board.http.get('/metrics').expect(200);
    return ['artifacts', 'executions'].map((name) =>
      Number(new RegExp(`^blackboard_${name}_total (\\d+)$`, 'm').exec(text)![1]),
    );
  };

  const replayed = async (original: string): Promise<string> => {
    const { body } = await board.http
      .post(`/api/v1/correlations/${original}/replay`)
      .send({ mode: 'recorded' })
      .expect(200);
    const { correlation_id } = body as ReplayBody;
    await eventually('the replay has ended', async () => (await board.status(correlation_id)).state === 'completed');
    return correlation_id;
  };
  /** Returns each agent with the source of its answer. */
  const sources = async (correlation_id: string): Promise<string[]> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
    return (body as { items: Listed[] }).items.map(({ agent, replay }) => `${agent} ${replay}`).sort();
  };

  test('runs the changed agent and what is behind it, and takes the rest from the record', async () => {
    await board.publish('Half', { text: 'Ann', side: 'left' }, { correlation: 'half-1' });
    await board.publishSync('Request', { text: 'Ann' }, { correlation: 'request-1' });
    expect((await board.types('request-1')).sort()).toEqual(['Greeting', 'Print', 'Reading', 'Request', 'Whole']);
    await board.close();
    clock.advance(60_000);
    await start('Goodbye');
    const half = (await board.artifacts('half-1', { embed_meta: true }))[0];
    const before = await totals();
    const correlation_id = await replayed('request-1');
    const payloads = (await board.artifacts(correlation_id)).map(({ type, payload }) => [type, payload]);
    expect(payloads).toEqual(
      expect.arrayContaining([
        ['Request', { text: 'Ann' }],
        ['Reading', { text: 'Ann' }],
        ['Greeting', { text: 'Goodbye Ann' }],
        ['Print', { printed: 'Goodbye Ann' }],
        ['Whole', { half: 'left' }],
      ]),
    );
    expect(payloads).toHaveLength(5);
    expect(await sources(correlation_id)).toEqual(['greeter run', 'joiner recorded', 'printer run', 'reader recorded']);
    // Two ran, and two were taken from the record. Only the activity of agents leaves these out.
    expect(await totals()).toEqual([before[0]! + 5, before[1]! + 4]);
    const activity = await board.http.get('/api/v1/agents/reader/history-summary').expect(200);
    expect(activity.body).toMatchObject({ summary: { total_executions: 1 } });
    // The artifact of the other correlation is as it was.
    expect((await board.artifacts('half-1', { embed_meta: true }))[0]).toEqual(half);
  });

  test('runs an agent again whose execution is from before definitions were stored', async () => {
    await board.publishSync('Request', { text: 'Bob' }, { correlation: 'request-2' });
    expect(await sources(await replayed('request-2'))).toEqual([
      'greeter recorded',
      'printer recorded',
      'reader recorded',
    ]);
    await board.close();
    const old = `correlation_id = 'request-2' and agent = 'greeter'`;
    await changeStored(board.app.database.url, `update executions set definition = null where ${old}`);
    await start('Goodbye');
    expect(await sources(await replayed('request-2'))).toEqual(['greeter run', 'printer run', 'reader recorded']);
  });
});
