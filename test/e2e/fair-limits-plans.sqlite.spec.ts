import { DatabaseSync } from 'node:sqlite';

import { eventually } from '../support/eventually.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const CONFIG = `
limits: { pool: { concurrency: 4 } }
agents:
  person: { consumes: [{ types: [Task] }], limits: [pool], fair_by: payload.tenant, engine: { kind: external } }
`;
const TENANTS = 12;

it('statements about some keys of those that wait for a limit read only these in the index of keys', async () => {
  const prepare = jest.spyOn(DatabaseSync.prototype, 'prepare');
  const board = await Board.start(CONFIG);
  try {
    const outside = new Outside(board.http);
    for (let n = 0; n < 2 * TENANTS; n += 1) await board.publish('Task', { tenant: n % TENANTS });
    let ended = 0;
    await eventually('all have started and ended', async () => {
      const held = await outside.claim({ agents: ['person'], max: 100 });
      for (const each of held) await outside.send(each, 'complete', { outputs: [] });
      ended += held.length;
      return ended === 2 * TENANTS;
    });
    const texts = new Set(prepare.mock.calls.map(([text]) => text).filter((text) => text.includes('"fair_key" in (')));
    const connection = new DatabaseSync(board.app.database.url.slice('sqlite:'.length));
    const plans = [...texts].map((text) => {
      const steps = connection.prepare(`explain query plan ${text}`).all();
      return { text, plan: steps.map(({ detail }) => String(detail)) };
    });
    connection.close();
    expect(plans.some(({ text }) => text.startsWith('select') && text.includes('"turn"'))).toBe(true);
    const others = plans.filter(
      ({ plan }) => !plan.some((step) => /fair_keys_key \(agent=\? AND fair_key=\?\)$/.test(step)),
    );
    expect(others).toEqual([]);
  } finally {
    await board.close();
    prepare.mockRestore();
  }
});
