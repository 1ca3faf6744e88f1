// Experiments over HTTP whose trials are not scored before retention could delete them. The clock is moved by the test.
import { ExperimentLoop } from '../../src/features/experiments/experiment-loop.js';
import { Board } from '../e2e/board.js';
import { Experiments, meansOf } from '../e2e/experiment-board.js';
import { Outside } from '../e2e/outside.js';
import { SERVER, WORKER } from '../e2e/replica-boards.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { CleanedBoard } from './cleaned-board.js';

const CONFIG = `
server: { retain_keys: 1m, retain_executions: 1h }
types: { Form: { retain: 1h }, Stamp: { retain: 1h }, Case: { retain: 1h }, Verdict: { retain: 1h } }
agents:
  desk: { consumes: [{ types: [Form] }], publishes: [{ type: Stamp }], engine: { kind: external }, timeout: 3000d }
  judge: { consumes: [{ types: [Case] }], publishes: [{ type: Verdict }], engine: { kind: external }, timeout: 3000d }
`;

describe('a trial of an experiment', () => {
  const clock = new ManualClock();
  let folder: ConfigurationFolder;
  let board: Board;
  let cleaned: CleanedBoard;

  const start = async (role = WORKER): Promise<void> => {
    board = await Board.start(CONFIG, { clock, folder: folder.path, role, settings: { shutdownGraceMs: 0 } });
    cleaned = new CleanedBoard(board, clock);
  };
  const answer = async (agent: string, output: object): Promise<void> => {
    const outside = new Outside(board.http);
    for (let given = 0; given < 2; given += 1) {
      const [held] = await outside.claim({ agents: [agent], max: 1 });
      expect(await outside.send(held!, 'complete', { output })).toMatchObject({ status: 200 });
    }
  };
  const waiting = (agent: string): Promise<void> =>
    eventually(`two executions of ${agent} wait`, async () => {
      const { body } = await board.http.get('/api/v1/executions').query({ agent, replay: true }).expect(200);
      return (body as { items: unknown[] }).items.length === 2;
    });

  const continued = (): Promise<void> => board.app.app.get(ExperimentLoop, { strict: false }).run();

  beforeEach(() => {
    folder = new ConfigurationFolder();
  });
  afterEach(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  it('is kept with its judges until it is scored, and runs once', async () => {
    await start();
    const id = await new Experiments(board.http).start({
      data: { csv: 'n\n1\n', agent: 'desk' },
      output: 'Stamp',
      variants: [{ name: 'one' }, { name: 'other' }],
      scorers: [
        { name: 'seven', kind: 'cel', expression: 'output.n == 7' },
        { name: 'judged', kind: 'judge', agent: 'judge' },
      ],
    });
    await waiting('desk');
    // Both agents answer while no process continues the experiment.
    await board.close();
    await start(SERVER);
    await answer('desk', { n: 7 });
    await board.close();
    await start();
    await cleaned.cleanUpAfter(1);
    await continued();
    await waiting('judge');
    await board.close();
    await start(SERVER);
    await answer('judge', { score: 0.5 });
    await board.close();
    await start();
    await cleaned.cleanUpAfter(1);
    await continued();
    const done = await new Experiments(board.http).ended(id);
    expect(done).toMatchObject({ state: 'completed', failed_trials: 0 });
    expect([meansOf(done, 'seven'), meansOf(done, 'judged')]).toEqual([
      [1, 1],
      [0.5, 0.5],
    ]);
    expect(await cleaned.count('executions', `agent = 'desk'`)).toBe(2);
    await cleaned.cleanUpAfter(1);
    for (const table of ['artifacts', 'executions', 'correlations'])
      expect([table, await cleaned.count(table)]).toEqual([table, 0]);
  });
});
