// Uses files on disk.
import { SqliteDatabase } from '../../src/database/dialects/sqlite-database.js';
import { Files } from './files.js';

const files = new Files();
afterAll(() => files.clear());

it('closes once, however often close is called, and then another one can open the file', async () => {
  const path = files.path();
  const database = files.open(path);
  expect(() => SqliteDatabase.open(path)).toThrow('is in use by another starling process');
  await Promise.all([database.close(), database.close()]);
  await database.close();
  await files.open(path).close();
});
