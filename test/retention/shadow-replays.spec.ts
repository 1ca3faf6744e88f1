// Shadow replays over HTTP of what retention deletes. The clock is moved by the test.
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { Board } from '../e2e/board.js';
import { SERVER, WORKER } from '../e2e/replica-boards.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ManualClock } from '../support/manual-clock.js';
import { CleanedBoard } from './cleaned-board.js';

const config = (types: string): string => `
server: { retain_keys: 1m, retain_executions: 1h }
types: { Form: ${types}, Stamp: ${types} }
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

  const start = async (types: string, role = WORKER): Promise<CleanedBoard> => {
    board = await Board.start(config(types), {
      clock,
      folder: folder.path,
      role,
      files: { 'desk.js': 'export default async () => ({ stamped: true });' },
      settings: { shutdownGraceMs: 0 },
    });
    return new CleanedBoard(board, clock);
  };
  const replay = async (): Promise<string> => {
    const { body } = await board.http.post('/api/v1/correlations/form-1/replay').send({ mode: 'shadow' }).expect(200);
    return (body as ReplayBody).correlation_id;
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
    await start('{ retain: 1h }');
    await board.publish('Form', {}, { correlation: 'form-1' });
    await board.ended('form-1');
    await board.close();
    const cleaned = await start('{ retain: 1h }', SERVER);
    const id = await replay();
    await cleaned.cleanUpAfter(1);
    expect(await board.status('form-1')).toMatchObject({ state: 'not_found' });
    await board.close();
    await start('{ retain: 1h }');
    expect(await reasonOf(id)).toBe(`${WHY} retention has deleted the original form-1`);
  });

  it('says that the executions of its original were deleted', async () => {
    const cleaned = await start('{}');
    await board.publish('Form', {}, { correlation: 'form-1' });
    await board.ended('form-1');
    await cleaned.cleanUpAfter(1);
    expect(await cleaned.count('executions')).toBe(0);
    expect(await reasonOf(await replay())).toBe(
      `${WHY} the original form-1 has no executions; retention may have deleted them`,
    );
  });
});
