// Uses the application, its database and HTTP.
import { eventually } from '../support/eventually.js';
import { ImportApp } from './import-app.js';

it('a service that stops while it imports rows answers 503 and leaves none of them', async () => {
  const taken = await ImportApp.start();
  const path = await taken.file(
    'large.csv',
    `id,text\n${Array.from({ length: 100_000 }, (_, n) => `${n},row ${n}\n`).join('')}`,
  );
  const asked = taken.app.http
    .post('/run/batch')
    .send({ agent_name: 'greeter', batch_inputs: path, row_key: 'id' })
    .then((answer) => answer);
  await eventually('rows are in', async () => (await taken.held()).batch_rows > 0);
  taken.app.lifecycle.stop();
  const { status, body, headers } = await asked;
  expect([status, body]).toEqual([
    503,
    { detail: 'The service is stopping; send the batch again after its next start' },
  ]);
  expect(headers['retry-after']).toMatch(/^\d+$/);
  expect(await taken.held()).toEqual({ batches: 0, batch_rows: 0, batch_keys: 0 });
  await taken.close();
});
