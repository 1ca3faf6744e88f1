// Runs `starling dev` of the built program as a child process, on a SQLite file, and changes its files as an editor does.
import { join } from 'node:path';

import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Folder } from './run-program.js';
import { StartedProgram } from './started-program.js';

const folder = new Folder();
const started: StartedProgram[] = [];
afterAll(async () => {
  started.forEach(({ process }) => process.kill('SIGTERM'));
  await Promise.all(started.map(({ ended }) => ended));
  folder.remove();
});

const AGENT = `import { word } from './word.ts';
export default async function speak([{ payload }]: { payload: { as?: string } }[]): Promise<{ word: string }> {
  if (payload.as === 'error') throw new Error('speechless', { cause: new Error('a cold') });
  if (payload.as === 'crash') void Promise.reject(new Error('nobody waits for me'));
  if (payload.as === 'loop') for (;;);
  return { word };
}
`;

const config = (server = ''): string => `
server: { ${server} }
agents:
  speaker: { consumes: [{ types: [Call] }], publishes: [{ type: Word }], retry: { attempts: 1 }, engine: { kind: function, module: ./speaker.ts } }
  approver: { consumes: [{ types: [Request] }], publishes: [{ type: Approval }], engine: { kind: external } }
`;

/** The program with its answers. */
class Development {
  private constructor(
    readonly program: StartedProgram,
    private readonly url: string,
  ) {}

  static async start(env: Record<string, string> = {}): Promise<Development> {
    const port = await freePort();
    const file = join(folder.path, 'starling.yaml');
    const database = `sqlite:${join(folder.path, 'dev.db')}`;
    const args = ['dev', '--config', file, '--port', String(port), '--database-url', database];
    const program = await StartedProgram.start(args, env);
    started.push(program);
    return new Development(program, `http://127.0.0.1:${port}`);
  }

  async ask(path: string, body?: object): Promise<Record<string, unknown>> {
    const init = body && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
    return (await (await fetch(this.url + path, init)).json()) as Record<string, unknown>;
  }

  /** Returns the answer of the agent; undefined while the service is away. */
  async word(): Promise<string | undefined> {
    try {
      const { artifacts } = await this.ask('/api/v1/artifacts/sync', { type: 'Call', payload: {} });
      return (artifacts as { payload: { word: string } }[])[0]?.payload.word;
    } catch {
      return undefined;
    }
  }

  says(word: string): Promise<void> {
    return eventually(`the agent says ${word}`, async () => (await this.word()) === word);
  }

  /** Waits until it prints the text after everything that `before` has. */
  async prints(text: string, before: string): Promise<void> {
    await eventually(`"${text}" is printed`, () => this.program.stderr.slice(before.length).includes(text)).catch(
      (error: unknown) => {
        throw new Error(this.program.stderr, { cause: error });
      },
    );
  }

  /** Writes a file and waits for what is printed then. */
  async writes(name: string, content: string, text: string): Promise<void> {
    const before = this.program.stderr;
    folder.write(name, content);
    await this.prints(text, before);
  }

  async waiting(): Promise<number> {
    const { items } = await this.ask('/api/v1/executions?agent=approver&state=pending');
    return (items as unknown[]).length;
  }
}

const wordFile = (word: string): string => `export const word: string = '${word}';\n`;
const CONTINUES = 'starling dev: the last good configuration continues; waiting for a change';

test('follows changes, keeps what waits, and continues with the last good configuration', async () => {
  folder.write('speaker.ts', AGENT);
  folder.write('word.ts', wordFile('one'));
  folder.write('starling.yaml', `${config()}wrong: 1\n`);
  const dev = await Development.start();
  // A broken configuration at the start is shown, and nothing serves yet.
  await dev.prints('starling dev: waiting for a change', '');
  expect(dev.program.stderr).toContain('wrong: is not a known key');
  await dev.writes('starling.yaml', config(), 'Serving 2 agents');
  expect(dev.program.stderr).toContain('/dashboard');
  expect(await dev.word()).toBe('one');
  await dev.ask('/api/v1/artifacts', { type: 'Request', payload: {} });
  await eventually('the request waits', async () => (await dev.waiting()) === 1);

  // A broken module of a module, and one that is away.
  await dev.writes('word.ts', 'export const word = ;\n', CONTINUES);
  expect(dev.program.stderr).toContain(
    'agents.speaker.engine.module: ./speaker.ts cannot be loaded: Expression expected (word.ts:1:21)',
  );
  expect(await dev.word()).toBe('one');
  await dev.writes('speaker.ts', AGENT.replace('./word.ts', './gone.ts'), CONTINUES);
  await dev.writes('gone.ts', wordFile('two'), 'Serving 2 agents');
  expect(await dev.word()).toBe('two');
  expect(await dev.waiting()).toBe(1);

  // The configuration file itself.
  await dev.writes('starling.yaml', config().replace('kind: external', 'kind: extern'), CONTINUES);
  expect(dev.program.stderr).toContain('agents.approver.engine.kind');
  expect(await dev.word()).toBe('two');

  // A setting with which only the start fails. The modules do not go back.
  const before = dev.program.stderr;
  folder.write('gone.ts', wordFile('three'));
  await dev.writes('starling.yaml', config('host: 192.0.2.1'), 'host: 192.0.2.1 is not an address of this machine');
  await dev.prints('going back to the last good configuration file, with the modules as they are now', before);
  await dev.says('three');

  // Errors have their places, and logs are readable.
  await dev.ask('/api/v1/artifacts/sync', { type: 'Call', payload: { as: 'error' } });
  const { items } = await dev.ask('/api/v1/executions?agent=speaker&state=failed');
  expect(items).toMatchObject([
    { stack: 'at speak (speaker.ts:3:37)', cause: expect.stringMatching(/^Error: a cold\n/) },
  ]);
  await eventually('the error is logged', () => dev.program.stdout.includes('caused by: Error: a cold'));
  expect(dev.program.stdout).toMatch(/ WARN: execution \{/);
  expect(dev.program.stdout).not.toMatch(/^\{/m);

  // A crash, and a loop that never ends.
  const unharmed = dev.program.stderr;
  await dev.ask('/api/v1/artifacts', { type: 'Call', payload: { as: 'crash' } }).catch(() => undefined);
  await dev.prints('starling dev: the service has ended (1); it starts again after a change', unharmed);
  // The attempt that ended the service runs again, so the agent has to be mended.
  const withoutCrash = AGENT.replace('./word.ts', './gone.ts').replace(/^.*'crash'.*\n/m, '');
  folder.write('starling.yaml', config('server_name: Mended'));
  await dev.writes('speaker.ts', withoutCrash, 'Serving 2 agents');
  void dev.ask('/api/v1/artifacts', { type: 'Call', payload: { as: 'loop' } }).catch(() => undefined);
  await dev.writes('speaker.ts', withoutCrash.replace(/^.*'loop'.*\n/m, ''), 'Serving 2 agents');
  await dev.says('three');

  // The request has waited through all of this.
  const { executions } = await dev.ask('/api/v1/executions/claim', { agents: ['approver'] });
  expect(executions).toHaveLength(1);

  // No process is left, not even if it is killed: its output closes when the last process that has it ends.
  dev.program.process.kill('SIGKILL');
  await dev.program.ended;
  expect(await dev.word()).toBeUndefined();
  const next = await Development.start();
  await next.says('three');
  next.program.process.kill('SIGINT');
  expect(await next.program.ended).toBe(0);
});

test('gives up a check that never ends, and shows the errors of the next change', async () => {
  const time = join(folder.path, 'time');
  /** A module that says how long it takes, and then does it. */
  const after = (ms: number, does: string): string =>
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(time)}, '${ms}');\n${does}`;
  folder.write('speaker.ts', "import { word } from './word.ts';\nexport default () => ({ word });\n");
  folder.write('word.ts', after(20_000, 'export const word = await new Promise(() => undefined);\n'));
  folder.write('starling.yaml', config());
  const dev = await Development.start({
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'told-time.js')}`,
    TOLD_TIME_FILE: time,
  });
  await dev.prints('./speaker.ts has not finished loading after 20 s; an await at its top level', '');
  folder.write('time', '0');
  await dev.writes(
    'word.ts',
    after(60_000, 'for (;;);\nexport const word = 1;\n'),
    'the check has not ended after 60 s',
  );
  folder.write('time', '0');
  await dev.writes('word.ts', 'export const word = ;\n', 'Expression expected (word.ts:1:21)');
  dev.program.process.kill('SIGTERM');
  expect(await dev.program.ended).toBe(0);
});
