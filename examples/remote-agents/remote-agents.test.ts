import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestKit } from 'starling-agents/testing';

process.env['AGENT_SECRET'] ??= 'whsec_plJ3nmyCDGBKInavdOK15jsl';
const CONFIGURATION = new URL('starling.yaml', import.meta.url);
const ORDER = { number: '17', net: 100 };
const INVOICE = { number: '17', gross: 119 };
const ARCHIVED = { number: '17', sha256: '7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a' };

test('an order is invoiced, and its invoice is archived', async () => {
  await using kit = await startTestKit(CONFIGURATION, {
    answers: { invoicer: INVOICE, archive: ([invoice]) => ({ ...ARCHIVED, number: invoice!.payload['number']! }) },
  });
  const run = await kit.publish('Order', ORDER);
  assert.deepEqual(
    run.artifacts.map(({ type, produced_by, payload }) => [type, produced_by, payload]),
    [
      ['Invoice', 'invoicer', INVOICE],
      ['Archived', 'archive', ARCHIVED],
    ],
  );
});

test('an invoicer that answers without the gross amount is reported, and nothing is archived', async () => {
  await using kit = await startTestKit(CONFIGURATION, {
    answers: { invoicer: { number: '17' }, archive: ARCHIVED },
  });
  const run = await kit.publish('Order', ORDER);
  await kit.advance('10m'); // past the further attempts
  assert.equal(run.errors[0]?.failed_agent, 'invoicer');
  assert.match(run.errors[0]?.error_message ?? '', /gross/);
  assert.deepEqual(run.all('Archived'), []);
});
