// Shadow replays over HTTP of what retention deletes. The clock is moved by the test.
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { Board } from '../e2e/board.js';
import { SERVER, WORKER } from '../e2e/replica-boards.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ManualClock } from '../support/manual-clock.js';
import { CleanedBoard } from './cleaned-board.js';

const config = (types: string, agents: string): string => `
server: { retain_keys: 1m, retain_executions: 1h }
types: { Form: ${types}, Stamp: ${types} }
${agents}
`;
const DESK = `
agents:
  desk:
    consumes: [{ types: [Form] }]
    publishes: [{ type: Stamp }]
    engine: { kind: function, module: ./desk.js }
`;

describe('a shadow replay', () => {
  const clock = new ManualClock();
  let folder: ConfigurationFolder;
  let board: Board;

  const start = async (types: string, { role = WORKER, agents = DESK } = {}): Promise<void> => {
    board = await Board.start(config(types, agents), {
      clock,
      folder: folder.path,
      role,
      files: { 'desk.js': 'export default async () => ({ stamped: true });' },
      settings: { shutdownGraceMs: 0 },
    });
  };
  const replay = async (mode: string): Promise<{ status: number; body: ReplayBody & { detail: string } }> =>
    board.http.post('/api/v1/correlations/form-1/replay').send({ mode });
  /** Begins a replay of a form that desk has not answered, and then deletes what is due while no process has desk. */
  const replayBeforeCleanup = async (types: string): Promise<string> => {
    await start(types, { role: SERVER });
    await board.publish('Form', {}, { correlation: 'form-1' });
    await board.http.post('/api/v1/correlations/form-1/cancel').expect(200);
    const { body } = await replay('shadow');
    await board.close();
    await start(types, { agents: '' });
    await new CleanedBoard(board, clock).cleanUpAfter(1);
    return body.correlation_id;
  };
  const reasonOf = async (correlation_id: string): Promise<string> => {
    await board.ended(correlation_id);
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
    return (body as { items: [{ error_message: string }] }).items[0].error_message;
  };
  const WHY = 'desk does not run in a shadow replay, because its function is not declared pure, and';

  beforeEach(() => {
    folder = new ConfigurationFolder();
  });
  afterEach(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  it('says that its original was deleted before its agent was answered', async () => {
    const id = await replayBeforeCleanup('{ retain: 1h }');
    expect(await board.status('form-1')).toMatchObject({ state: 'not_found' });
    await board.close();
    await start('{ retain: 1h }');
    expect(await reasonOf(id)).toBe(`${WHY} retention has deleted the original form-1`);
  });

  it('says that the executions of its original were deleted before its agent was answered', async () => {
    const id = await replayBeforeCleanup('{}');
    await board.close();
    await start('{}');
    expect(await reasonOf(id)).toBe(`${WHY} the original form-1 has no executions; retention may have deleted them`);
  });

  it('is refused, as one from the record is, when executions of its original were deleted', async () => {
    await start('{}');
    const cleaned = new CleanedBoard(board, clock);
    await board.publish('Form', {}, { correlation: 'form-1' });
    await board.ended('form-1');
    await cleaned.cleanUpAfter(1);
    expect(await cleaned.count('executions')).toBe(0);
    for (const mode of ['shadow', 'recorded'])
      expect(await replay(mode)).toMatchObject({
        status: 409,
        body: {
          detail:
            'Retention has deleted executions of correlation form-1, so its record is not complete; replay it with mode full',
        },
      });
    const { status, body } = await replay('full');
    expect(status).toBe(200);
    expect(await board.ended(body.correlation_id)).toMatchObject({ state: 'completed', artifact_count: 2 });
  });
});
