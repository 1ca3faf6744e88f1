import { isLost, isLostIn } from '../../src/queue/lease.js';
import { queueOver } from '../../src/queue/queue.js';
import { compilingDatabase } from './compiling-database.js';

const db = compilingDatabase();

describe('a queue', () => {
  it('is a table with the columns of leases, and has the type of the columns that it reads', () => {
    const queue = queueOver('deliveries', 'queue', ['target_id', 'attempt']);
    type Row = Awaited<ReturnType<ReturnType<typeof queue.select>['execute']>>[number];
    const row: Row = {
      id: 'd',
      queue: 'q',
      priority: 0,
      background: 0,
      seq: 1,
      created_at: 0,
      target_id: 't',
      attempt: 1,
    };
    expect(queue.select(db).compile().sql).toBe(
      'select "id", "queue" as "queue", "priority", "background", "seq", "created_at", "target_id", "attempt" from "deliveries"',
    );
    expect(Object.keys(row)).toHaveLength(8);
  });

  it('refuses other tables, and the columns of another table', () => {
    // @ts-expect-error: imports have a lease, but are not claimed
    queueOver('batches', 'agent', []);
    // @ts-expect-error: deliveries have no agent
    queueOver('deliveries', 'agent', []);
    // @ts-expect-error: executions have no target
    queueOver('executions', 'agent', ['target_id']);
  });
});

describe('a lease', () => {
  const at = (owner: string | null, until: number) => ({ owner, until });

  it.each([true, false])('is lost when its time has passed (other processes: %s)', (isShared) => {
    for (const owner of ['own', 'other', null]) expect(isLost(at(owner, 99), 'own', 100, { isShared })).toBe(true);
    expect(isLost(at('own', 100), 'own', 100, { isShared })).toBe(false);
    expect(isLost(at(null, 100), 'own', 100, { isShared })).toBe(false);
  });

  it('of another owner is lost before that only if other processes are impossible', () => {
    expect(isLost(at('other', 100), 'own', 100, { isShared: true })).toBe(false);
    expect(isLost(at('other', 100), 'own', 100, { isShared: false })).toBe(true);
  });

  it('has the same rule in a query', () => {
    const sql = (isShared: boolean): string =>
      db
        .selectFrom('batches')
        .select('seq')
        .where(isLostIn(['import_owner', 'import_until'], 'own', 100, { isShared }))
        .compile()
        .sql.replace(/^.* where /, '');
    expect(sql(true)).toBe('"import_until" < ?');
    expect(sql(false)).toBe('("import_until" < ? or "import_owner" <> ?)');
  });
});
