// Installs the packed package in an empty folder and starts it on several versions of Node.js, which npx installs. Needs a registry of npm.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { builtProgram } from '../support/built-program.js';

const VERSIONS = (process.env['STARLING_NODE_VERSIONS'] ?? '20,22,24').split(',');
const OLDER = VERSIONS.filter((version) => Number(version) < 24);
const { version: VERSION } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const WITH_MODEL = `
types:
  Question: { schema: { type: object } }
  Answer: { schema: { type: object } }
agents:
  writer:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: llm, model: anthropic/claude-sonnet-4-5, instructions: Answer. }
`;

/** The environment without what `npm test` and the script add; a proxy and its certificates stay. */
const OWN = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$|^STARLING_/.test(name)),
);

describe('an installed package', () => {
  let folder: string;
  let app: string;
  let archive: string;
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
    archive = `../${readdirSync(folder).find((name) => name.endsWith('.tgz'))}`;
    const { code, stderr } = await run(`npm install --no-audit --no-fund ${archive}`);
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

  test('is found, with its types, by programs that are ES modules', async () => {
    expect(await run(`npx --yes -p @arethetypeswrong/cli@0.18.5 attw --profile esm-only ${archive}`)).toMatchObject({
      code: 0,
    });
  }, 300_000);

  test('takes less than 120 MB in fewer than 220 packages', () => {
    const files = readdirSync(join(app, 'node_modules'), { recursive: true, withFileTypes: true });
    const bytes = files
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
    const { packages } = JSON.parse(readFileSync(join(app, 'node_modules/.package-lock.json'), 'utf8')) as {
      packages: object;
    };
    const count = Object.keys(packages).length;
    console.log(`installed: ${(bytes / 1e6).toFixed(1)} MB in ${count} packages`);
    expect(bytes).toBeLessThan(120e6);
    expect(count).toBeLessThan(220);
  });

  test('a checkout installs on Node.js 24 without a warning', async () => {
    const checkout = join(folder, 'checkout');
    for (const file of ['.npmrc', 'package.json', 'package-lock.json', 'stubs'])
      cpSync(file, join(checkout, file), { recursive: true });
    const { code, stdout } = await on('24', `cd ${checkout} && npm_config_loglevel=warn npm ci --dry-run 2>&1`);
    // Settings of the machine are not the checkout's.
    const warnings = stdout.split('\n').filter((line) => /^npm warn (?!Unknown)/.test(line));
    expect([code, warnings]).toEqual([0, []]);
  }, 300_000);

  test('says which packages a model and traces need, and works once they are installed', async () => {
    writeFileSync(join(app, 'starling.yaml'), WITH_MODEL);
    const check = 'npx starling check starling.yaml 2>&1';
    expect(await on('24', check)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        'agents.writer.engine.model: the provider anthropic needs the packages ai and @ai-sdk/anthropic: run npm install ai@7 @ai-sdk/anthropic@4',
      ),
    });
    expect(await run('npm install --no-audit --no-fund ai@7 @ai-sdk/anthropic@4')).toMatchObject({ code: 0 });
    expect(await on('24', `ANTHROPIC_API_KEY=x ${check}`)).toMatchObject({ code: 0, stdout: 'starling.yaml: ok' });
    expect(
      await on('24', `OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 ANTHROPIC_API_KEY=x npx starling serve --port 0`),
    ).toMatchObject({ code: 1, stderr: expect.stringContaining('run npm install @opentelemetry/core@3') });
  }, 300_000);

  test('starts on Node.js 24 under both names, and programs can import it', async () => {
    for (const name of ['starling', 'starling-agents'])
      expect(await on('24', `npx ${name} --version`)).toMatchObject({ code: 0, stdout: VERSION });
    expect(await on('24', 'node main.js')).toMatchObject({ code: 0, stdout: 'function' });
  }, 300_000);
});
