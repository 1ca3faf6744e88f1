import { DatabaseSync } from 'node:sqlite';

import { TRANSITIONS } from '../../src/queue/transitions.js';

/** Query for the changes of a state that TRANSITIONS does not allow. */
export const REFUSED_CHANGES = `select id, old, new from refused_changes`;

/** Makes a database file note each change of a state that TRANSITIONS does not allow. */
export function noteRefusedChanges(file: string): void {
  const connection = new DatabaseSync(file);
  connection.exec('create table refused_changes (id text, old text, new text)');
  for (const [table, transitions] of Object.entries(TRANSITIONS)) {
    const allowed = Object.entries<readonly string[]>(transitions).flatMap(([old, all]) =>
      all.map((next) => `'${old} ${next}'`),
    );
    connection.exec(`
      create trigger note_${table} after update of state on ${table}
      when old.state || ' ' || new.state not in (${allowed.join(', ')})
      begin insert into refused_changes values (new.id, old.state, new.state); end`);
  }
  // Each simulated life begins with a copy of the database file alone.
  connection.exec('pragma wal_checkpoint(truncate)');
  connection.close();
}
