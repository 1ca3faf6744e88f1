// Uses the application on both databases, with a few thousand artifacts that were written to the tables directly.
// Nothing is faked.
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { startApp, type TestApp } from '../support/app.js';
import { expectShortTurns } from '../support/main-thread.js';
import { Random } from '../support/random.js';
import { QueryModel } from './query-model.js';

const ARTIFACTS = 4_000;
/** A tenth of the time within which the service has to answer its liveness probe. */
const MOST_HELD_MS = 100;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await new QueryModel(new Random(1)).grow(app.app.get(UnitOfWork, { strict: false }), ARTIFACTS);
});
afterAll(() => app.close());

const values = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${name}=V${n}`);
/** As many values as a filter may have, in three lists and the tags, including some that most artifacts have. */
const WIDEST = [
  ...values('type', 17),
  'type=Common',
  ...values('produced_by', 16),
  'produced_by=external',
  ...['Public', 'Private', 'Labelled', 'Tenant', 'After'].map((kind) => `visibility=${kind}`),
  ...values('tag', 8),
  'tag=most',
  'tag=half',
].join('&');
const get = (path: string) => app.http.get(`${path}${path.includes('?') ? '&' : '?'}${WIDEST}`).expect(200);

it.each(['/api/v1/artifacts', '/api/v1/artifacts?offset=3000&order=desc', '/api/v1/artifacts/summary'])(
  'four parallel GET %s with the widest filter do not block other requests',
  async (path) => {
    await get(path);
    await expectShortTurns(() => Promise.all([get(path), get(path), get(path), get(path)]), MOST_HELD_MS);
  },
);
