// Plays a user's first hour with the packed package, in an empty folder, and compares it with the page about it, which it writes with
// UPDATE=1. It installs from npm; with STARLING_FIRST_HOUR=short, the dependencies are links to those of this checkout.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { freePort } from '../support/free-port.js';
import { normalised } from './normalise.js';
import { ARCHIVE, linkDependencies, unpackInto } from './packed-package.js';
import { Player } from './player.js';
import { type Installation, playFirstHour } from './story.js';

const PAGE = 'docs/first-hour.md';
const isShort = process.env['STARLING_FIRST_HOUR'] === 'short';

/** The environment without what `npm test` adds; a proxy and its certificates stay. */
const OWN = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|STARLING_)|^NODE_OPTIONS$/.test(name)),
);

describe('the first hour', () => {
  const folder = mkdtempSync(join(tmpdir(), 'starling-first-hour-'));
  let port: string;
  let user: Player;

  beforeAll(async () => {
    await builtProgram();
    port = String(await freePort());
    user = new Player(folder, port, {
      ...OWN,
      // The Node.js of the tests, without the programs of this checkout.
      PATH: [
        dirname(process.execPath),
        ...(OWN['PATH'] ?? '').split(delimiter).filter((path) => !path.includes('node_modules')),
      ].join(delimiter),
      TERM: 'dumb',
      NO_COLOR: '1',
      npm_config_loglevel: 'error',
      npm_config_progress: 'false',
      STARLING_PORT: port,
      STARLING_URL: `http://127.0.0.1:${port}`,
    });
    await user.outputOf(`cd ${process.cwd()} && npm pack --ignore-scripts --pack-destination ${folder}`);
  });
  afterAll(async () => {
    await user.stops();
    rmSync(folder, { recursive: true, force: true });
  });

  const project = join(folder, 'hello');
  const fromRegistry: Installation = {
    init: (args) => user.outputOf(`npx --yes -p ./${ARCHIVE} starling init ${args}`),
    install: async () => {
      user.folder = project;
      await user.outputOf('npm install --no-audit --no-fund');
    },
  };
  const linked: Installation = {
    async init(args) {
      const cache = join(folder, 'cache');
      await user.outputOf(unpackInto(cache, ARCHIVE));
      linkDependencies(cache);
      return user.outputOf(`${cache}/node_modules/.bin/starling init ${args}`);
    },
    async install() {
      await user.outputOf(unpackInto(project, ARCHIVE));
      linkDependencies(project);
      user.folder = project;
    },
  };

  test(`happens as ${PAGE} says`, async () => {
    await playFirstHour(user, isShort ? linked : fromRegistry);
    expect(await (await fetch(`http://127.0.0.1:${port}/dashboard`)).text()).toContain('<div id="root">');
    await user.stops();
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    const page = normalised(user.text, port, folder);
    if (process.env['UPDATE'] === '1') writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8')).toBe(page);
  }, 600_000);
});
