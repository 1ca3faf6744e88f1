// Runs commands to their ends in this process: help, checks and errors. What depends on the process, such as its threads, its modules and
// how it starts, is tested with the built program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { flagOf, settingEntries } from '../../src/config/settings-table.js';
import { builtProgram, PROGRAM_ENVIRONMENT } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { runInProcess } from './in-process.js';
import { type Ended, Folder, runProgram } from './run-program.js';

const folder = new Folder();
beforeAll(() => builtProgram(), 180_000);
afterAll(() => folder.remove());

const run = (args: string[], env: Record<string, string> = {}): Promise<Ended> => runInProcess(args, { env });

const GOOD = `
types:
  Number: { schema: { type: object, required: [n], properties: { n: { type: number } } } }
agents:
  doubler:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Double }]
    engine: { kind: expression, expression: "{'n': payload.n * 2.0}" }
`;

describe('starling', () => {
  test('--version is the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await runProgram(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('--help names the commands', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    for (const command of ['serve', 'check', 'migrate']) expect(stdout).toContain(command);
  });

  test('serve --help names every setting', async () => {
    const { stdout } = await run(['serve', '--help']);
    for (const [, setting] of settingEntries) expect(stdout).toContain(flagOf(setting));
  });

  test.each([
    [['serve', '--prot', '1'], "unknown option '--prot'"],
    [['sevre'], "unknown command 'sevre'"],
    [['check'], "missing required argument 'file'"],
    [['serve', 'starling.yaml'], 'too many arguments'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  test('a misspelt secret flag is refused without showing the secret', async () => {
    const { code, stdout, stderr } = await run(['serve', '--webhook-secert=hunter2hunter2hunter2']);
    expect(code).toBe(1);
    expect(stderr).toContain('--webhook-secert');
    expect(stdout + stderr).not.toContain('hunter2');
  });
});

describe('a secret', () => {
  const SECRET = 'hunter2hunter2hunter2';

  test.each([
    ['--webhook-secret', SECRET, 'STARLING_WEBHOOK_SECRET'],
    ['--secret-key', '0f'.repeat(32), 'STARLING_SECRET_KEY'],
  ])(
    'is refused as %s, with one line that names an alternative and does not show it',
    async (flag, secret, variable) => {
      for (const args of [[flag, secret], [`${flag}=${secret}`], [flag]]) {
        for (const command of ['serve', 'worker']) {
          const { code, stdout, stderr } = await run([command, '--config', folder.write('secret.yaml', GOOD), ...args]);
          const line = `${flag}: a secret cannot be a flag, because the process list shows flags; use ${flag}-file, ${variable} or ${variable}_FILE\n`;
          expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: line });
        }
      }
    },
  );

  test('is read from a file that a flag or a variable names; a wrong file is not quoted', async () => {
    const file = folder.write('secret.txt', 'hunter2\n');
    const config = folder.write('secret.yaml', GOOD);
    const rule = 'must be a text of 16 to 256 characters, in base64 if it begins with whsec_, or two of them';
    expect((await runProgram(['serve', '--config', config, '--webhook-secret-file', file])).stderr).toBe(
      `--webhook-secret-file ${file}: ${rule}\n`,
    );
    expect(
      (await runProgram(['serve', '--config', config], { env: { STARLING_WEBHOOK_SECRET_FILE: file } })).stderr,
    ).toBe(`STARLING_WEBHOOK_SECRET_FILE ${file}: ${rule}\n`);
  });

  test('in a database URL given as a flag causes a warning, and is removed from the process list', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `postgres://me:${SECRET}@127.0.0.1:${(silent.address() as AddressInfo).port}/starling`;
    const child = spawn(
      process.execPath,
      [await builtProgram(), 'serve', '--config', folder.write('secret.yaml', GOOD), '--database-url', url],
      { env: PROGRAM_ENVIRONMENT },
    );
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
    try {
      await eventually('it connects', async () => (await promisify(silent.getConnections.bind(silent))()) > 0);
      expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).not.toContain(SECRET);
      expect(said).toContain(
        'warning: --database-url: contains a password, which is visible in the process list and the shell history; use STARLING_DATABASE_URL or --database-url-file instead\n',
      );
      expect(said).not.toContain(SECRET);
    } finally {
      child.kill('SIGKILL');
      silent.close();
    }
  });

  test('may be a whole database URL in a file', async () => {
    const path = join(folder.path, 'from-file.db');
    const file = folder.write('url', `sqlite:${path}\r\n`);
    expect(await run(['migrate', '--database-url-file', file])).toEqual({
      code: 0,
      stdout: `${path} is up to date\n`,
      stderr: '',
    });
    expect((await runProgram(['migrate'], { cwd: folder.path, env: { DATABASE_URL_FILE: 'url' } })).stdout).toBe(
      `${path} is up to date\n`,
    );
  });
});

describe('starling check', () => {
  test('says ok for a valid file', async () => {
    const file = folder.write('good.yaml', GOOD);
    expect(await run(['check', file])).toEqual({ code: 0, stdout: `${file}: ok\n`, stderr: '' });
  });

  test('prints the warnings of a doubtful file and says ok', async () => {
    const file = folder.write(
      'doubtful.yaml',
      GOOD.replace('types: [Number]', 'types: [Number], from_agents: [doubler]'),
    );
    const { code, stdout } = await run(['check', file]);
    expect(stdout).toMatch(/^warning: .*doubler/m);
    expect(stdout).toMatch(/: ok$/m);
    expect(code).toBe(0);
  });

  test('reports every error of an invalid file with its path', async () => {
    const file = folder.write(
      'bad.yaml',
      `server: { port: abc, lease: 2d, prot: 1 }\n${GOOD.replace('kind: expression,', 'kind: expresion,').replace('schema: {', 'shema: {')}`,
    );
    const { code, stdout } = await run(['check', file]);
    expect(code).toBe(1);
    for (const path of [
      'server.port',
      'server.lease',
      'server.prot',
      'types.Number.shema',
      'agents.doubler.engine.kind',
    ])
      expect(stdout).toContain(path);
  });

  test('reports settings that only the start can check', async () => {
    const file = folder.write('bounds.yaml', `server: { lease: 2d, outbound_allow: [10.0.0.0/33] }\n${GOOD}`);
    const { code, stdout } = await run(['check', file]);
    expect(code).toBe(1);
    expect(stdout).toContain('server.lease: must be a duration from 1s to 1h');
    expect(stdout).toContain('server.outbound_allow: must be address ranges');
  });

  test('reports every error of the files for replays with its place, and what they must not change', async () => {
    const agent = (name: string, type = 'Call', expression = '{}'): string =>
      `  ${name}:\n    consumes: [{ types: [${type}] }]\n    publishes: [{ type: Made }]\n    engine: { kind: expression, expression: '${expression}' }\n`;
    const person =
      '  person:\n    consumes: [{ types: [Call] }]\n    publishes: [{ type: Made }]\n    engine: { kind: external }\n';
    const types = 'types:\n  Call:\n    schema: { type: object }\n';
    // The agent of the service has a timeout, and this one the same because it names none.
    const good = folder.write('good.yaml', `agents:\n${agent('one', 'Call', '{"a": 1}')}${person}`);
    const wrong = folder.write('wrong.yaml', `agents:\n${agent('one', 'Call', '1 +')}`);
    const variants = `    variants: { b: { share: 1%, expression: '{"a": 2}' } }\n`;
    const other = folder.write(
      'other.yaml',
      `types:\n  Call: { schema: { type: object, required: [a] } }\nagents:\n${agent('one', 'Ring')}${variants}${agent('two')}${agent('person')}`,
    );
    const check = (...files: string[]) => {
      const given = files.map((file, index) => `c${index}=${file}`);
      const server = `server: { replay_config: ${JSON.stringify(given)} }\n`;
      return run([
        'check',
        folder.write('service.yaml', `${server}${types}agents:\n${agent('one')}${person}    timeout: 5m\n`),
      ]);
    };
    const service = join(folder.path, 'service.yaml');
    const rule = `must be as in ${service}, because replays take only engine and timeout from here`;
    expect(await check(good)).toMatchObject({ code: 0, stdout: `${service}: ok\n` });
    const more = '    description: Makes.\n    retry: { attempts: 1 }\n';
    const ignored = folder.write('ignored.yaml', `budget: { tokens: 5 }\nagents:\n${agent('one')}${more}`);
    expect(await check(good, ignored)).toMatchObject({
      code: 0,
      stdout: `warning: ${ignored}: replays take only engine, timeout and models from here, and everything else as the service has it; they ignore budget (line 1), agents.one.description (line 7), agents.one.retry (line 8)\n${service}: ok\n`,
    });
    expect(await check(good, wrong, other, join(folder.path, 'none.yaml'))).toMatchObject({
      code: 1,
      stdout: [
        `${wrong} has 1 error:`,
        '  line 5, column 48: agents.one.engine.expression: is not valid CEL at `+`',
        `${other} has 5 errors:`,
        `  line 2, column 3: types.Call: ${rule}`,
        `  line 5, column 5: agents.one.consumes: ${rule}`,
        `  line 8, column 5: agents.one.variants: ${rule}`,
        `  line 9, column 3: agents.two: is not an agent of ${service}, so no replay would run it`,
        `  line 16, column 5: agents.person.engine: ${rule}`,
        `${join(folder.path, 'none.yaml')} has 1 error:`,
        '  the file does not exist',
        '',
      ].join('\n'),
    });
  });

  test('warns of a rollback that differs in a file for replays, whose variants are equal', async () => {
    const agent = (rollback: string): string =>
      `${GOOD}    variants: { b: { share: 1%, expression: "{'n': 1.0}" } }\n${rollback}`;
    const own = '    rollback: { failures: 5%, of: 200 }\n';
    const same = folder.write('same.yaml', agent(own));
    const without = folder.write('without.yaml', agent(''));
    const sooner = folder.write('sooner.yaml', agent('    rollback: { failures: 1%, of: 200 }\n'));
    const check = (rollback: string): Promise<Ended> => {
      const server = `server: { replay_config: ["a=${same}", "b=${without}", "c=${sooner}"] }\n`;
      return run(['check', folder.write('ramp.yaml', `${server}${agent(rollback)}`)]);
    };
    const warning = (file: string): string =>
      `warning: ${file}: replays take only engine, timeout and models from here, and everything else as the service has it; they ignore agents.doubler.rollback (line 10)\n`;
    const ok = `${join(folder.path, 'ramp.yaml')}: ok\n`;
    expect(await check(own)).toMatchObject({ code: 0, stdout: `${warning(sooner)}${ok}` });
    expect(await check('')).toMatchObject({ code: 0, stdout: `${warning(same)}${warning(sooner)}${ok}` });
  });

  test.each([
    ['a missing file', 'missing.yaml', null],
    ['text that is not YAML', 'broken.yaml', 'agents: [}'],
  ])('reports %s as one error', async (_, name, text) => {
    const file = text === null ? join(folder.path, name) : folder.write(name, text);
    const { code, stdout } = await run(['check', file]);
    expect(code).toBe(1);
    expect(stdout).toContain(name);
  });

  test('names the file, the line and the column at which a module is broken', async () => {
    const files = {
      'typo.ts': 'const one: number = 1;\n\nexport default async () => one +;\n',
      'missing.mjs': 'import { two } from "./one.mjs";\nexport default () => two;\n',
      'one.mjs': 'export const one = 1;\n',
      'below.mjs': 'import two from "./two.mjs";\nexport default two;\n',
      'two.mjs': 'const one = 1;\nconst one = 2;\n',
      'named.ts': 'export const named = () => null;\n',
      'early.ts': 'const text: string | undefined = undefined;\nexport default text!.trim();\n',
      'above.ts': 'import "./cut.ts";\nexport default async () => null;\n',
      'cut.ts': 'export default async () => {\n  return { a: 1 };\n',
      'over.mjs': 'import "./ended.mjs";\nexport default async () => null;\n',
      'ended.mjs': 'export default async () => {\n  return { a: 1 };\n',
    };
    for (const [name, text] of Object.entries(files)) folder.write(name, text);
    const agent = (module: string): string =>
      `  ${module.replace('.', '-')}: { consumes: [{ types: [Number] }], publishes: [{ type: Never }], engine: { kind: function, module: ./${module} } }\n`;
    const file = folder.write(
      'modules.yaml',
      `${GOOD}${['typo.ts', 'missing.mjs', 'below.mjs', 'early.ts', 'above.ts', 'over.mjs', 'named.ts'].map(agent).join('')}`,
    );
    const { code, stdout } = await runProgram(['check', file]);
    expect(code).toBe(1);
    expect(stdout.match(/\.\/.*/g)).toEqual([
      './typo.ts cannot be loaded: Expression expected (typo.ts:3:33)',
      "./missing.mjs cannot be loaded: The requested module './one.mjs' does not provide an export named 'two' (missing.mjs:1:10)",
      "./below.mjs cannot be loaded: Identifier 'one' has already been declared (two.mjs:2:7)",
      "./early.ts cannot be loaded: Cannot read properties of undefined (reading 'trim') (early.ts:2:22)",
      "./above.ts cannot be loaded: Expected '}', got '<eof>' (cut.ts:2)",
      './over.mjs cannot be loaded: Unexpected end of input (ended.mjs:3)',
      './named.ts must have a default export of the form async (inputs, context) => output',
    ]);
  });

  test('runs with sixteen threads, half of which look up names', async () => {
    folder.write(
      'threads.mjs',
      `
      import { readdirSync, readFileSync } from 'node:fs';
      const names = readdirSync('/proc/self/task').map((task) => readFileSync('/proc/self/task/' + task + '/comm', 'utf8').trim());
      console.log('threads of the pool', names.filter((name) => name === 'libuv-worker').length);
      export default () => null;
    `,
    );
    const file = folder.write(
      'threads.yaml',
      `${GOOD}  threads: { consumes: [{ types: [Number] }], publishes: [{ type: Never }], engine: { kind: function, module: ./threads.mjs } }\n`,
    );
    // Modules print to stderr here, because stdout has only the findings.
    expect((await runProgram(['check', file])).stderr).toContain('threads of the pool 16\n');
  });

  test('fills in the environment', async () => {
    const file = folder.write(
      'variables.yaml',
      `server: { port: \${DESK_PORT}, server_name: \${DESK_NAME:-Desk} }\n${GOOD}`,
    );
    expect((await run(['check', file], { DESK_PORT: '9000' })).code).toBe(0);
    const { code, stdout } = await run(['check', file]);
    expect(code).toBe(1);
    expect(stdout).toContain('DESK_PORT');
  });
});

describe('wrong settings', () => {
  test('stop the start; all are reported together, one per line', async () => {
    const file = folder.write('serve.yaml', GOOD);
    const env = { STARLING_PORT: 'abc', STARLING_LOG_LEVLE: 'debug', STARLING_WEBHOOK_SECRET: 'hunter2' };
    expect(await runProgram(['serve', '--config', file, '--lease', '30'], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'STARLING_LOG_LEVLE: there is no such setting; did you mean STARLING_LOG_LEVEL?',
        'STARLING_PORT: must be an integer from 0 to 65535 (got "abc")',
        'STARLING_WEBHOOK_SECRET: must be a text of 16 to 256 characters, in base64 if it begins with whsec_, or two of them',
        '--lease: must be a duration from 1s to 1h, such as 500ms, 30s or 5m (got "30")\n',
      ].join('\n'),
    });
  });

  test('accepts lists, repeated or with commas, and booleans without a value', async () => {
    const file = folder.write('lists.yaml', GOOD);
    const lists = [
      '--outbound-allow',
      '10.0.0.0/8',
      '--outbound-allow',
      'nope',
      '--cors-origins',
      'https://a.example,b.example',
    ];
    const { stderr } = await runProgram(['serve', '--config', file, '--dashboard', ...lists, '--create-ui=maybe']);
    expect(stderr.split('\n')).toEqual([
      '--create-ui: must be true or false (got "maybe")',
      expect.stringMatching(/^--outbound-allow: .*\(got "nope"\)$/),
      expect.stringMatching(/^--cors-origins: .*\(got "b.example"\)$/),
      '',
    ]);
  });

  test('are reported beside the errors of the file', async () => {
    const file = folder.write('both.yaml', GOOD.replace('kind: expression,', 'kind: expresion,'));
    const { code, stderr } = await runProgram(['serve', '--config', file, '--port', 'abc']);
    expect(code).toBe(1);
    expect(stderr).toContain('agents.doubler.engine.kind');
    expect(stderr).toContain('--port: must be');
  });

  test('an error in a file for replays stops the start', async () => {
    const file = folder.write('service.yaml', GOOD);
    const candidate = folder.write('candidate.yaml', GOOD.replace('kind: expression,', 'kind: expresion,'));
    const { code, stderr } = await runProgram(['serve', '--config', file, '--replay-config', `candidate=${candidate}`]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/candidate\.yaml has 1 error:\n {2}line \d+, column \d+: agents\.doubler\.engine\.kind: /);
    const twice = ['--replay-config', `one=${file}`, '--replay-config', `one=${file}`];
    const named = await runProgram(['serve', '--config', file, ...twice]);
    expect(named).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^--replay-config: must be a list of name=file with different names /) as string,
    });
  });

  test('a missing configuration file is reported in one line', async () => {
    const { code, stderr } = await runProgram(['serve'], { cwd: folder.path });
    expect(code).toBe(1);
    expect(stderr).toBe('there is no starling.yaml in this folder; name the configuration file with --config <file>\n');
  });

  test('a Postgres that cannot be reached is named without its password', async () => {
    const file = folder.write('postgres.yaml', GOOD);
    const { code, stderr } = await runProgram(['serve', '--config', file], {
      env: { DATABASE_URL: 'postgres://me:hunter2@db/starling' },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^database_url: cannot use the database starling at db:5432: it cannot be reached.*\n$/);
    expect(stderr).not.toContain('hunter2');
  });
});

describe('starling migrate', () => {
  test('creates the database, and finds it up to date afterwards', async () => {
    const path = join(folder.path, 'new/starling.db');
    for (let time = 1; time <= 2; time += 1) {
      expect(await runProgram(['migrate', '--database-url', `sqlite:${path}`])).toEqual({
        code: 0,
        stdout: `${path} is up to date\n`,
        stderr: '',
      });
    }
  });

  test('uses the database of the configuration file', async () => {
    const path = join(folder.path, 'configured.db');
    const file = folder.write('migrate.yaml', `server: { database_url: "sqlite:${path}" }\n${GOOD}`);
    expect((await run(['migrate', '--config', file])).stdout).toBe(`${path} is up to date\n`);
  });

  test('refuses a file that is not a database in one line, and leaves it unchanged', async () => {
    const path = folder.write('letter.txt', 'Dear all, this is no database, however long one looks at it.');
    expect(await run(['migrate', '--database-url', `sqlite:${path}`])).toEqual({
      code: 1,
      stdout: '',
      stderr: `database_url: ${path} is not a SQLite database; choose another file, which is created if it is missing\n`,
    });
    expect(readFileSync(path, 'utf8')).toMatch(/^Dear all/);
  });

  test('refuses a folder in one line, and leaves nothing next to it', async () => {
    const path = join(folder.path, 'databases');
    mkdirSync(path);
    expect(await run(['migrate', '--database-url', `sqlite:${path}`])).toEqual({
      code: 1,
      stdout: '',
      stderr: `database_url: ${path} is a folder; name a file in it, such as sqlite:${path}/starling.db\n`,
    });
    expect(readdirSync(folder.path).filter((name) => name.startsWith('databases'))).toEqual(['databases']);
  });

  test('refuses a folder that cannot be created in one line', async () => {
    expect(await run(['migrate', '--database-url', 'sqlite:/proc/nope/deeper/starling.db'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^database_url: cannot make the folder of \/proc\/nope\/deeper\/starling\.db: .*\n$/,
      ) as string,
    });
  });
});
