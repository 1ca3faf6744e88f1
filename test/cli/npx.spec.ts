// Starts the built program by npm's npx, as a user does, on a SQLite file.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { Folder } from './run-program.js';

const folder = new Folder();
beforeAll(async () => {
  const bin = join(folder.path, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(await builtProgram(), join(bin, 'starling'));
  symlinkSync(process.execPath, join(bin, 'node'));
  symlinkSync(resolve(import.meta.dirname, '../..'), join(folder.path, 'node_modules/starling-agents'));
  folder.write('package.json', '{ "private": true }');
  folder.write('starling.yaml', 'agents: {}\n');
});
afterAll(() => folder.remove());

test.each(['serve', 'dev'])('SIGTERM for npx stops starling %s', async (command) => {
  const file = join(folder.path, 'starling.yaml');
  const database = `sqlite:${join(folder.path, `${command}.db`)}`;
  const args = [command, '--config', file, '--port', '0', '--database-url', database];
  const service = await Service.run(['npx', '--prefix', folder.path, 'starling', ...args]);
  service.process.kill('SIGTERM');
  await eventually('the service has stopped', () => service.log.some((line) => /"stopped"|INFO: stopped/.test(line)));
  await eventually('nothing listens', () =>
    fetch(`${service.url}/health`).then(
      () => false,
      () => true,
    ),
  );
});
