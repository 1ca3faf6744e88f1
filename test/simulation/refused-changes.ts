import type { DatabaseSync } from 'node:sqlite';

import { TRANSITIONS } from '../../src/queue/transitions.js';

/** Query for the changes of a state that TRANSITIONS does not allow. */
export const REFUSED_CHANGES = `select id, old, new from refused_changes`;

/** Makes a database note each change of a state that TRANSITIONS does not allow. */
export function noteRefusedChanges(connection: DatabaseSync): void {
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
}
