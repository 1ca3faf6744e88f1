// Runs the built program as a child process, on a machine whose time zone is not UTC.
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { Service } from '../support/service.js';
import { Folder } from './run-program.js';

const CONFIG = `
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: '{"at": artifact.created_at}' } }
`;

interface List {
  items: { type: string; created_at: string; payload: { at?: string } }[];
}

const folder = new Folder();
let service: Service;
const services: Service[] = [];
beforeAll(async () => {
  await builtProgram();
  const args = [
    '--config',
    folder.write('starling.yaml', CONFIG),
    '--database-url',
    `sqlite:${join(folder.path, 'a.db')}`,
  ];
  service = await Service.start(args, { TZ: 'Asia/Kolkata' });
  services.push(service);
});
afterAll(async () => {
  await Promise.all(services.map((started) => started.kill()));
  folder.remove();
});

test('times are UTC, with a zone or without, in any time zone of the machine', async () => {
  const before = new Date().toISOString();
  const answer = await fetch(`${service.url}/api/v1/artifacts/sync`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ type: 'Order' }),
  });
  expect(answer.status).toBe(200);
  const { items } = await service.get<List>('/api/v1/artifacts');
  const [order, echo] = items;
  expect(order!.created_at >= before && order!.created_at <= new Date().toISOString()).toBe(true);
  expect(echo!.payload.at).toBe(order!.created_at);

  const typesSince = async (from: string): Promise<string[]> =>
    (await service.get<List>(`/api/v1/artifacts?from=${from}`)).items.map(({ type }) => type);
  const [first, last] = [order!.created_at.slice(0, -1), echo!.created_at.slice(0, -1)];
  expect(await typesSince(first)).toEqual(['Order', 'Echo']);
  expect(await typesSince(new Date(Date.parse(`${last}Z`) + 1).toISOString().slice(0, -1))).toEqual([]);
  const { agent_id, summary } = await service.get<{ agent_id: string; summary: { execution_timeline: object } }>(
    '/api/v1/agents/echo/history-summary',
  );
  expect([agent_id, Object.keys(summary.execution_timeline)]).toEqual(['echo', [`${last.slice(0, 13)}:00:00Z`]]);
});
