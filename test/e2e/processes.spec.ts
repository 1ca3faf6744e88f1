import { VERSION } from '../../src/common/version.js';
import { loadConfiguration } from '../../src/engines/load-configuration.js';
import type { ProcessBody, ProcessesBody } from '../../src/features/processes/dto/processes-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js }, timeout: 24h }
  echo: { consumes: [{ types: [Message] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: '{"n": 1}' } }
`;

export const processesOf = async (board: Board): Promise<ProcessBody[]> =>
  ((await board.http.get('/api/v1/processes').expect(200)).body as ProcessesBody).processes;

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('GET /api/v1/processes', () => {
  it("returns the process's agents and running work, and no earlier processes", async () => {
    const clock = new ManualClock();
    const folder = new ConfigurationFolder();
    const start = (): Promise<Board> =>
      Board.start(CONFIG, {
        clock,
        folder: folder.path,
        files: { 'gate.js': GATE },
        settings: { shutdownGraceMs: 0, leaseMs: 30_000 },
      });
    const startedAt = new Date(clock.now()).toISOString();
    let board = await start();
    await board.publish('Gated', { n: 1, batch: 'listed' });
    await started('listed', 1);
    clock.advance(10_000);
    const [process, ...others] = await processesOf(board);
    expect(others).toEqual([]);
    expect(process).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      roles: ['server', 'worker'],
      version: VERSION,
      configuration: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      replay_configurations: {},
      agents: ['gate', 'echo'],
      running: { gate: 1 },
      started_at: expect.stringContaining(startedAt.slice(0, 16)) as string,
      last_heartbeat_at: expect.stringMatching(/Z$/) as string,
    });
    gatesOf('listed')[0]!.open();
    await board.close();

    board = await start();
    const again = await processesOf(board);
    expect(again).toHaveLength(1);
    expect(again[0]!.id).not.toBe(process!.id);
    expect(again[0]!.configuration).toBe(process!.configuration);
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });
});

// Reads the configuration file as the program does.
describe("a configuration's digest", () => {
  const folder = new ConfigurationFolder();

  afterAll(() => folder.remove());

  const digestOf = async (text: string, environment: Record<string, string> = {}): Promise<string> =>
    (await loadConfiguration(folder.write('starling.yaml', text), { WHERE: 'payload.n > 1.0', ...environment })).catalog
      .digest;
  const agent = (more: string): string =>
    `agents: { echo: { ${more}, consumes: [{ types: [Message] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: '{"n": 1}' } } }`;

  it('is the same for any order of keys, comments, settings and values of variables', async () => {
    const digest = await digestOf(agent('timeout: 5s, description: "${NAME:-none}"'));
    expect(
      await digestOf(
        `# Says it again\nserver: { webhook_secret: "a secret of the operator" }\n${agent('description: "${NAME:-none}", timeout: 5s')}`,
        { NAME: 'hidden' },
      ),
    ).toBe(digest);
  });

  it.each(['timeout: 6s, description: "${NAME:-none}"', 'timeout: 5s, description: "${OTHER:-none}"', 'timeout: 5s'])(
    'differs for %s',
    async (more) => {
      expect(await digestOf(agent(more))).not.toBe(await digestOf(agent('timeout: 5s, description: "${NAME:-none}"')));
    },
  );
});
