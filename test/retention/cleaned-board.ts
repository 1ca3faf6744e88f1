import { Rollups } from '../../src/blackboard/queries/rollups.js';
import { Retention } from '../../src/blackboard/retention/retention.js';
import type { Board } from '../e2e/board.js';
import { withoutPolling } from '../e2e/replica-boards.js';
import { eventually } from '../support/eventually.js';
import type { ManualClock } from '../support/manual-clock.js';

export const DAY_MS = 86_400_000;
/** After this time a cleanup is due again. */
const TURN_MS = 601_000;

/** A board that deletes only when the test says so. */
export class CleanedBoard {
  constructor(
    readonly board: Board,
    private readonly clock: ManualClock,
  ) {
    withoutPolling(board);
  }

  /** Advances the clock by this many days, and deletes what is due then. */
  async cleanUpAfter(days: number): Promise<void> {
    this.clock.advance(days * DAY_MS + TURN_MS);
    await this.rollUp();
    await this.board.app.app.get(Retention, { strict: false }).run();
  }

  /** Only rolled-up rows are deleted, which may take several passes while others write. */
  async rollUp(): Promise<void> {
    const last = {
      artifacts: await this.lastPosition('artifacts'),
      artifact_terms: await this.lastPosition('artifacts'),
      execution_terms: await this.lastPosition('executions'),
    };
    await eventually('everything is rolled up', async () => {
      await this.board.app.app.get(Rollups, { strict: false }).run();
      for (const [name, seq] of Object.entries(last))
        if (seq > 0 && (await this.count('rollups', `name = '${name}' and up_to_seq >= ${seq}`)) === 0) return false;
      return true;
    });
  }

  private async lastPosition(table: 'artifacts' | 'executions'): Promise<number> {
    const [last] = await this.board.app.database.rows<{ seq: number | string }>(
      `select coalesce(max(seq), 0) as seq from ${table}`,
    );
    return Number(last!.seq);
  }

  /** Returns the rows of a table in the database. */
  async count(table: string, where = 'true'): Promise<number> {
    const [row] = await this.board.app.database.rows<{ count: number | string }>(
      `select count(*) as count from ${table} where ${where}`,
    );
    return Number(row!.count);
  }

  async metric(name: string): Promise<number> {
    const { text } = await this.board.http.get('/metrics').expect(200);
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)![1]);
  }

  /** Returns the total of a list with this filter, which must equal its length. */
  async total(query: Record<string, unknown>): Promise<number> {
    const { body } = await this.board.http
      .get('/api/v1/artifacts')
      .query({ limit: 500, ...query })
      .expect(200);
    const { items, pagination } = body as { items: unknown[]; pagination: { total: number } };
    expect(items).toHaveLength(pagination.total);
    return pagination.total;
  }
}
