// Postgres keeps deleted rows, and their index entries, as long as some session could still see them. It counts its
// reads itself.
import { Board } from '../e2e/board.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { connected } from '../support/postgres-cluster.js';
import { CleanedBoard } from './cleaned-board.js';

const CONFIG = `
server: { retain_keys: 1m }
types: { Note: { retain: 1h } }
agents: {}
`;
const OLD = 5_000;
/** The reads of one artifact's index entry: when it is found, and a few more. */
const MOST_READS = 10;

it('a cleanup reads deleted rows only a few times, while a session keeps an old snapshot', async () => {
  const clock = new ManualClock();
  const folder = new ConfigurationFolder();
  const board = await Board.start(CONFIG, { clock, folder: folder.path });
  const cleaned = new CleanedBoard(board, clock);
  await board.publish('Note', {}, { correlation: 'old' });
  const columns = 'type, version, produced_by, visibility, visibility_kind, tags, correlation_id, payload';
  await connected(board.app.database.url, async (writer) => {
    await writer.query(
      `insert into artifacts (id, created_at, ${columns}) select gen_random_uuid(), created_at - n, ${columns} from artifacts, generate_series(1, ${OLD - 1}) n`,
    );
    await writer.query(`update correlations set artifact_count = ${OLD}`);
  });
  const entriesRead = async (): Promise<number> => {
    const [row] = await board.app.database.rows<{ read: string }>(
      `select idx_tup_read as read from pg_stat_user_indexes where indexrelname = 'artifacts_by_age'`,
    );
    return Number(row!.read);
  };

  await connected(board.app.database.url, async (holder) => {
    await holder.query('begin isolation level repeatable read');
    await holder.query('select count(*) from artifacts');
    await cleaned.cleanUpAfter(1);
    expect(await cleaned.count('artifacts')).toBe(0);
  });
  // A connection reports its counts some seconds after its last transaction, or when it closes.
  await board.close();
  await eventually('what was read has been counted', async () => (await entriesRead()) >= OLD);
  expect(await entriesRead()).toBeLessThan(OLD * MOST_READS);
  await board.app.database.drop();
  folder.remove();
});
