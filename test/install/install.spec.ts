// Installs the packed package in an empty folder and starts it on several versions of Node.js, which npx installs. Needs a registry of npm.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { builtProgram } from '../support/built-program.js';

const VERSIONS = (process.env['STARLING_NODE_VERSIONS'] ?? '20,22,24').split(',');
const OLDER = VERSIONS.filter((version) => Number(version) < 24);
const { version: VERSION } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** The environment without what `npm test` adds; a proxy and its certificates stay. */
const OWN = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$/.test(name)));

describe('an installed package', () => {
  let folder: string;
  let app: string;
  // Without the folder of the checkout's own Node.js, which npm adds to PATH.
  const PATH = (process.env['PATH'] ?? '')
    .split(':')
    .filter((entry) => !entry.includes('node_modules'))
    .join(':');

  const run = async (command: string, cwd = app, path = PATH) => {
    const env = { ...OWN, PATH: path, npm_config_loglevel: 'error' };
    try {
      const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], { cwd, env, timeout: 300_000 });
      return { code: 0, stdout: stdout.trim(), stderr: stderr.trim() };
    } catch (failed) {
      const { code, stdout, stderr } = failed as { code: number; stdout: string; stderr: string };
      return { code, stdout: stdout.trim(), stderr: stderr.trim() };
    }
  };
  /** Runs a command as on a machine that has this version of Node.js. */
  const on = async (version: string, command: string) => {
    const { stdout } = await run(`npx --yes -p node@${version} -c 'dirname $(command -v node)'`);
    return run(command, app, `${stdout}:${PATH}`);
  };

  beforeAll(async () => {
    await builtProgram();
    folder = mkdtempSync(join(tmpdir(), 'starling-install-'));
    app = join(folder, 'app');
    await run(`npm pack --ignore-scripts --pack-destination ${folder} && mkdir ${app}`, process.cwd());
    writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }');
    writeFileSync(join(app, 'main.js'), "import { serve } from 'starling-agents';\nconsole.log(typeof serve);\n");
    const packed = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
    const { code, stderr } = await run(`npm install --no-audit --no-fund ../${packed}`);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(OLDER)(
    'says on Node.js %s in one line which command starts it, and that command works',
    async (version) => {
      const advice = (name: string, command: string): unknown =>
        expect.stringMatching(
          new RegExp(
            `^${name} needs Node\\.js 24\\.15 or later \\(this is ${version}[.0-9]+\\): start it with ${command}$`,
          ),
        );
      const refused = { code: 1, stdout: '' };
      expect(await on(version, 'npx starling --version')).toEqual({
        ...refused,
        stderr: advice('starling', 'npx -p node@24 starling'),
      });
      expect(await on(version, 'node main.js')).toEqual({
        ...refused,
        stderr: advice('starling-agents', 'npx -p node@24 node <your program>'),
      });
      expect(await on(version, 'npm_config_yes=true npx -p node@24 starling --version')).toMatchObject({
        code: 0,
        stdout: VERSION,
      });
      expect(await on(version, 'npm_config_yes=true npx -p node@24 node main.js')).toMatchObject({
        code: 0,
        stdout: 'function',
      });
    },
    300_000,
  );

  test('starts on Node.js 24 under both names, and programs can import it', async () => {
    for (const name of ['starling', 'starling-agents'])
      expect(await on('24', `npx ${name} --version`)).toMatchObject({ code: 0, stdout: VERSION });
    expect(await on('24', 'node main.js')).toMatchObject({ code: 0, stdout: 'function' });
  }, 300_000);
});
