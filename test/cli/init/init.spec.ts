// Runs `starling init` of the built program for each template, and then the checks and tests of these projects with the package as npm
// installs it from a folder: as a link.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { PROGRAM_ENVIRONMENT } from '../../support/built-program.js';
import { Folder, runProgram } from '../run-program.js';

const ROOT = resolve(import.meta.dirname, '../../..');
const TEMPLATES = ['approvals', 'batch', 'hello', 'nest', 'support-desk'];
/** The files that each project has, whatever its template. */
const ALWAYS = [
  '.gitignore',
  '.vscode/extensions.json',
  '.vscode/settings.json',
  'README.md',
  'package.json',
  'starling.yaml',
  'tsconfig.json',
];

const folder = new Folder();
afterAll(() => folder.remove());

const project = (...path: string[]): string => join(folder.path, ...path);
const read = (...path: string[]): string => readFileSync(project(...path), 'utf8');
const init = (...args: string[]) => runProgram(['init', ...args], { cwd: folder.path });

/** Runs node in the folder with the projects. Rejects with what it printed if it fails. */
async function node(args: string[], cwd = folder.path): Promise<string> {
  const run = promisify(execFile)(process.execPath, args, { cwd, env: PROGRAM_ENVIRONMENT });
  const { stdout } = await run.catch((error: { stdout: string; stderr: string }) =>
    Promise.reject(new Error(error.stdout + error.stderr)),
  );
  return stdout;
}

describe('the templates', () => {
  const outputs = new Map<string, string>();

  beforeAll(async () => {
    for (const template of TEMPLATES) {
      const { code, stdout, stderr } = await init(template, '--dir', template);
      expect({ template, code, stderr }).toEqual({ template, code: 0, stderr: '' });
      outputs.set(template, stdout);
    }
    mkdirSync(project('node_modules'));
    symlinkSync(ROOT, project('node_modules/starling-agents'));
    for (const name of ['@nestjs', '@types', 'csv-parse'])
      symlinkSync(join(ROOT, 'node_modules', name), project('node_modules', name));
  });

  test.each(TEMPLATES)('%s lists what it wrote, and the next commands', (template) => {
    const written = readdirSync(project(template), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.path.length + 1));
    expect(written).toEqual(expect.arrayContaining(ALWAYS.map((path) => join(template, path))));
    expect(written.some((path) => path.endsWith('.test.ts'))).toBe(true);
    const [created, next] = outputs.get(template)!.split('Next:\n') as [string, string];
    expect(
      created
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
        .sort(),
    ).toEqual(written.sort());
    expect(next).toContain(`  cd ${template}\n  npm install\n`);
    expect(read(template, 'starling.yaml').split('\n')[0]).toBe(
      '# yaml-language-server: $schema=./node_modules/starling-agents/schema/starling.schema.json',
    );
    expect(JSON.parse(read(template, 'package.json'))).toMatchObject({
      name: template,
      type: 'module',
      dependencies: { 'starling-agents': expect.stringMatching(/^file:\.\.\//) },
    });
  });

  test('starling check has no finding', async () => {
    for (const template of TEMPLATES) {
      const file = project(template, 'starling.yaml');
      expect(await runProgram(['check', file], { env: { OPENAI_API_KEY: 'none' } })).toEqual({
        code: 0,
        stdout: `${file}: ok\n`,
        stderr: '',
      });
    }
  });

  test('their tests pass, and their modules compile', async () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    // The tsconfig.json of all templates but nest is the same, and a compiler takes longer to start than to check one.
    folder.write('tsconfig.json', '{ "extends": "./hello/tsconfig.json", "exclude": ["nest", "node_modules"] }');
    await Promise.all([node([tsc]), node([tsc], project('nest'))]);
    const tests = ['{approvals,batch,hello,support-desk}/*.test.ts', 'nest/dist/*.test.js'];
    const report = await node(['--test', '--test-isolation=none', '--test-reporter=tap', ...tests]);
    expect(report).toMatch(/^# tests 11$/m);
    expect(report).toMatch(/^# pass 11$/m);
  });
});

describe('starling init', () => {
  test('writes hello to the working directory, and the second time names the files that exist', async () => {
    const cwd = project('again');
    mkdirSync(cwd);
    expect((await runProgram(['init'], { cwd })).stdout).toMatch(/^Created hello: .*\n {2}\.gitignore\n/);
    writeFileSync(join(cwd, 'starling.yaml'), 'types: {}');
    const second = await runProgram(['init', 'batch'], { cwd });
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(
      /^\.gitignore, \.vscode\/extensions\.json, .*README\.md, starling\.yaml and tsconfig\.json exist already in \S+\/again, and init overwrites nothing; name another folder with --dir\n$/,
    );
    expect(readFileSync(join(cwd, 'starling.yaml'), 'utf8')).toBe('types: {}');
    expect(readdirSync(cwd)).not.toContain('expenses.csv');
  });

  test('keeps a package.json, and says what it lacks', async () => {
    const cwd = new Folder();
    cwd.write('package.json', '{}');
    const { stdout } = await runProgram(['init', 'nest'], { cwd: cwd.path });
    expect(readFileSync(join(cwd.path, 'package.json'), 'utf8')).toBe('{}');
    cwd.remove();
    const next = stdout.split('Next:\n')[1]!;
    expect(next).toMatch(
      /^ {2}npm pkg set type=module\n {2}npm install file:\S+ @nestjs\/common@\S+\n {2}npm install --save-dev @types\/node@\S+ typescript@\S+\n {2}npx tsc\n/,
    );
  });

  test.each([
    ['an unknown template', ['helo'], 'unknown template helo; did you mean hello?'],
    [
      'one that is like none',
      ['x'],
      'unknown template x; the templates are approvals, batch, hello, nest and support-desk',
    ],
    ['a file as the folder', ['--dir', 'a-file'], `cannot write to ${project('a-file')}: `],
  ])('refuses %s with one line', async (_, args, message) => {
    folder.write('a-file', '');
    const { code, stdout, stderr } = await init(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.startsWith(message)).toBe(true);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
