// Uses the source files of the repository.
import { globSync, readFileSync } from 'node:fs';

/**
 * Matches code that asks which database it has. Code asks for what it needs to know instead, for example
 * `unitOfWork.isShared` or `dialect.keepsDeadRows`.
 */
const ASKS_FOR_DATABASE =
  /\bdialect(?:Of\([^)]*\))?\.(?:name|exclusive)\b|\b(?:SQLITE|POSTGRES)\b|\binstanceof (?:Sqlite|Postgres)\w*|database\/dialects\/(?!dialect\.js|database-clock\.js)/;

describe('the database in use', () => {
  const outside = globSync('src/**/*.ts', { exclude: ['src/database/**'] });

  it('is known only to src/database', () => {
    expect(outside.length).toBeGreaterThan(300);
    expect(outside.filter((file) => ASKS_FOR_DATABASE.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
