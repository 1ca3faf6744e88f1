// Runs `starling check` of the built program as a child process, in each of its formats and on files that change.
import { join } from 'node:path';

import { eventually } from '../support/eventually.js';
import { Folder, runProgram } from './run-program.js';
import { StartedProgram } from './started-program.js';

const folder = new Folder();
afterAll(() => folder.remove());

const agent = (name: string, rest: string): string =>
  `  ${name}: { consumes: [{ types: [Call] }], publishes: [{ type: Word }], ${rest} }\n`;
const SPEAKER = agent('speaker', 'engine: { kind: function, module: ./speaker.mjs }');
const WRONG = `server: { lease: 2d }
agents:
${agent('speaker', 'engine: { kind: expression, expression: "payload +" }')}  "100%, sure":
    consumes: [{ type: Call }]
    engine: { kind: external }
`;
const DOUBTFUL = `agents:
${agent('speaker', 'engine: { kind: expression, expression: payload }').replace('[Call]', '[Call], from_agents: [spaeker]')}`;

test('JSON is one document on a line, with every finding and its place', async () => {
  const wrong = folder.write('wrong.yaml', WRONG);
  const { code, stdout } = await runProgram(['check', wrong, '--json'], { env: { STARLING_PORT: 'abc' } });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^\{.*\}\n$/);
  expect(JSON.parse(stdout)).toEqual({
    file: wrong,
    valid: false,
    findings: [
      {
        severity: 'error',
        line: 1,
        column: 11,
        path: 'server.lease',
        message: 'must be a duration from 1s to 1h, such as 500ms, 30s or 5m (got "2d")',
      },
      {
        severity: 'error',
        line: 3,
        column: 123,
        path: 'agents.speaker.engine.expression',
        message: 'is not valid CEL at `+`',
      },
      {
        severity: 'error',
        line: 5,
        column: 18,
        path: 'agents["100%, sure"].consumes[0].type',
        message: 'is not a known key; did you mean types?',
      },
      { severity: 'error', path: 'STARLING_PORT', message: expect.stringMatching(/^must be an integer/) as string },
    ],
  });

  const doubtful = folder.write('doubtful.yaml', DOUBTFUL);
  const checked = await runProgram(['check', doubtful, '--format', 'json']);
  expect(checked.code).toBe(0);
  expect(JSON.parse(checked.stdout)).toMatchObject({
    file: doubtful,
    valid: true,
    findings: [{ severity: 'warning', line: 2, column: 56, path: 'agents.speaker.consumes[0].from_agents[0]' }],
  });
});

test('annotations for GitHub name the file from the root of the repository, and escape what GitHub decodes', async () => {
  folder.write('wrong.yaml', WRONG);
  const env = { GITHUB_WORKSPACE: join(folder.path, '..'), STARLING_PORT: 'abc' };
  const { code, stdout } = await runProgram(['check', 'wrong.yaml', '--format', 'github'], { cwd: folder.path, env });
  expect(code).toBe(1);
  const file = `${folder.path.split('/').at(-1)}/wrong.yaml`;
  expect(stdout.trimEnd().split('\n')).toEqual([
    `::error file=${file},line=1,col=11::server.lease: must be a duration from 1s to 1h, such as 500ms, 30s or 5m (got "2d")`,
    `::error file=${file},line=3,col=123::agents.speaker.engine.expression: is not valid CEL at \`+\``,
    `::error file=${file},line=5,col=18::agents["100%25, sure"].consumes[0].type: is not a known key; did you mean types?`,
    expect.stringMatching(/^::error ::STARLING_PORT: must be an integer/),
  ]);

  folder.write('a, b.yaml', DOUBTFUL);
  const checked = await runProgram(['check', 'a, b.yaml', '--format', 'github'], { cwd: folder.path });
  expect(checked.code).toBe(0);
  expect(checked.stdout).toMatch(
    /^::warning file=a%2C b\.yaml,line=2,col=56::agents\.speaker\.consumes\[0\]\.from_agents\[0\]: [^\n]*\n$/,
  );

  const refused = await runProgram(['check', 'wrong.yaml', '--json', '--format', 'github']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("option '--json' cannot be used with option '--format <format>'");
});

test('what modules print while they are loaded goes to stderr', async () => {
  folder.write('printing.mjs', "console.log('loaded'); process.stdout.write('here'); export default () => null;");
  const file = folder.write('printing.yaml', `agents:\n${SPEAKER.replace('speaker.mjs', 'printing.mjs')}`);
  const { stdout, stderr } = await runProgram(['check', file, '--json']);
  expect(JSON.parse(stdout)).toEqual({ file, valid: true, findings: [] });
  expect(stderr).toBe('loaded\nhere');
});

test('--watch checks again after each change of the file or of a module', async () => {
  const file = folder.write('starling.yaml', `agents:\n${SPEAKER}wrong: 1\n`);
  const program = await StartedProgram.start(['check', file, '--watch', '--json']);
  const checks = (): { valid: boolean; findings: { message: string }[] }[] =>
    program.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as never]));
  /** Waits for the check with this number, and until its files are followed. Returns its messages. */
  const messagesOf = async (number: number): Promise<string[]> => {
    await eventually(
      `check ${number} has ended`,
      () => program.stderr.split('starling check: waiting for a change\n').length > number,
    );
    expect(checks()).toHaveLength(number);
    return checks()
      .at(-1)!
      .findings.map(({ message }) => message);
  };
  try {
    const missing = `the file ${join(folder.path, 'speaker.mjs')} does not exist`;
    expect(await messagesOf(1)).toEqual([missing, 'is not a known key']);
    folder.write('starling.yaml', `agents:\n${SPEAKER}`);
    expect(await messagesOf(2)).toEqual([missing]);
    folder.write('speaker.mjs', 'export { speak as default } from "./speak.mjs";\n');
    expect(await messagesOf(3)).toEqual([
      expect.stringContaining('./speaker.mjs cannot be loaded: Cannot find module'),
    ]);
    folder.write('speak.mjs', 'export const speak = () => ({});\n');
    expect(await messagesOf(4)).toEqual([]);
    folder.write('speak.mjs', 'export const speak = ;\n');
    expect(await messagesOf(5)).toEqual([expect.stringContaining('(speak.mjs:1:22)')]);
    expect(program.stderr).toMatch(/^starling check: .*speak\.mjs changed$/m);
  } finally {
    program.process.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  }
});
