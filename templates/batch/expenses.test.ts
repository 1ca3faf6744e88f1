import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { startTestKit } from 'starling-agents/testing';

const CONFIGURATION = new URL('starling.yaml', import.meta.url);
const [, ...ROWS] = readFileSync(new URL('expenses.csv', import.meta.url), 'utf8')
  .trim()
  .split('\n');

test('each row of the file gets a decision', async () => {
  await using kit = await startTestKit(CONFIGURATION);
  const decisions = [];
  for (const row of ROWS) {
    const [employee, purpose, amount] = row.split(',') as [string, string, string];
    const run = await kit.run('checker', { employee, purpose, amount });
    decisions.push(`${employee}: ${run.first('Decision').payload['decision']}`);
  }
  assert.deepEqual(decisions, ['Ada: pay', 'Ben: ask', 'Cleo: pay', 'Dan: ask']);
});

test('an amount that is no number is refused', async () => {
  await using kit = await startTestKit(CONFIGURATION);
  await assert.rejects(kit.run('checker', { employee: 'Ada', purpose: 'Train', amount: 'much' }), /amount/);
});
