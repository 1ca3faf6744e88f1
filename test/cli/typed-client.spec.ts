// Uses the built program, the application over HTTP, the compiler, and clients as separate processes.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { startApp, type TestApp } from '../support/app.js';
import { describeIf } from '../support/prerequisites.js';
import { FaultyFront } from './faulty-front.js';
import { Folder, runProgram } from './run-program.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PYTHON = 'python3';

const CONFIG = `
types:
  CustomerMessage:
    description: The text */ of a customer
    schema:
      type: object
      required: [text]
      additionalProperties: false
      properties:
        text: { type: string, minLength: 1, description: As it was typed }
        channel: { enum: [chat, mail] }
        order-lines: { type: array, items: { $ref: '#/$defs/line' } }
      $defs: { line: { type: object, required: [pieces], properties: { pieces: { type: integer }, parts: { type: array, items: { $ref: '#/$defs/line' } } } } }
  Intent:
    schema:
      type: object
      required: [name, confidence, of]
      properties:
        name: { type: string }
        confidence: { type: number }
        of: { type: object, required: [text], properties: { text: { type: string } } }
        hint: { type: [string, 'null'] }
  Approval: { schema: { type: object, required: [approved], properties: { approved: { type: boolean } } } }
  order-line: {}
agents:
  classifier:
    consumes: [{ types: [CustomerMessage] }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: "{ 'name': 'card', 'confidence': payload.text == 'unsure' ? 0.1 : 0.9, 'of': { 'text': payload.text } }" }
  approver:
    consumes: [{ types: [Intent] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
    timeout: 6s
    retry: { attempts: 1 }
`;

/** The worker waits until a heartbeat has renewed its lease. */
const TYPESCRIPT = `
import { Starling, StarlingError } from './starling.ts';

const url = process.argv[2]!;
const starling = new Starling(url);
const stop = new AbortController();
const working = starling.work.approver(
  async ({ execution_id, lease_until, inputs: [intent] }) => {
    if (intent!.payload.confidence < 0.5) throw new RangeError(\`unsure of \${intent!.payload.of.text}\`.padEnd(3_000, '.'));
    for (let until = lease_until; until === lease_until; )
      until = ((await (await fetch(\`\${url}/api/v1/executions/\${execution_id}\`)).json()) as typeof intent & { lease_until: string }).lease_until;
    return { type: 'Approval', payload: { approved: true } };
  },
  { claimed_by: 'worker-1', signal: stop.signal },
);
const payload = { text: 'hello', channel: 'chat', 'order-lines': [{ pieces: 2, parts: [{ pieces: 1 }] }] } as const;
const { correlation_id } = await starling.publish.CustomerMessage({ ...payload, 'order-lines': [...payload['order-lines'].map((line) => ({ ...line, parts: [...line.parts] }))] }, { tags: ['vip'] });
const run = await starling.publishAndWait.CustomerMessage({ text: 'unsure' }, { timeout: 120, correlation_id: 'second' });
const approved = await starling.publishAndWait['CustomerMessage']({ text: 'sure' }, { timeout: 120 });
const seen: string[] = [];
for await (const { artifact_type, artifact_id } of starling.stream({ after: 0, artifact_type: ['CustomerMessage'] })) {
  const artifact = await starling.artifact(artifact_id);
  seen.push(artifact.type === 'CustomerMessage' ? artifact.payload.text : artifact_type);
  if (seen.length === 3) break;
}
// @ts-expect-error The type has no field of this name.
const refused: unknown = await starling.publish.CustomerMessage({ txt: 'hello' }).catch((error: unknown) => error);
await starling.publish['order-line']({ any: 1 });
stop.abort();
await working;
const confidence: number | undefined = run.first('Intent')?.payload.confidence;
console.log(JSON.stringify({
  correlation: correlation_id.length,
  second: [run.correlation_id, run.completed, confidence, run.first('Approval') ?? null, run.first('WorkflowError')?.payload.error_message],
  approved: approved.all('Approval').map(({ payload, produced_by }) => [payload.approved, produced_by]),
  seen,
  refused: refused instanceof StarlingError && [refused.status, refused.message],
}));
`;

const PYTHON_PROGRAM = `
import json
import sys
import threading
import urllib.request

from starling import Execution, IntentPayload, Starling, StarlingError

url = sys.argv[1]
starling = Starling(url)
stop = threading.Event()


def approve(execution: Execution[IntentPayload]):
    intent = execution["inputs"][0]["payload"]
    if intent["confidence"] < 0.5:
        raise LookupError(f"unsure of {intent['of']['text']}".ljust(3_000, "."))
    until = execution["lease_until"]
    while until == execution["lease_until"]:
        until = json.load(urllib.request.urlopen(f"{url}/api/v1/executions/{execution['execution_id']}"))["lease_until"]
    return {"type": "Approval", "payload": {"approved": True}}


threading.Thread(target=lambda: starling.work.approver(approve, claimed_by="worker-1", stop=stop), daemon=True).start()
lines = [{"pieces": 2, "parts": [{"pieces": 1}]}]
published = starling.publish.CustomerMessage({"text": "hello", "channel": "chat", "order-lines": lines}, tags=["vip"])
run = starling.publish_and_wait.CustomerMessage({"text": "unsure"}, timeout=120, correlation_id="second")
approved = starling.publish_and_wait.CustomerMessage({"text": "sure"}, timeout=120)
seen = []
for entry in starling.stream(after=0, artifact_type=["CustomerMessage"]):
    seen.append(starling.artifact(entry["artifact_id"])["payload"]["text"])
    if len(seen) == 3:
        break
try:
    starling.publish.CustomerMessage({"txt": "hello"})
    refused = None
except StarlingError as error:
    refused = [error.status, str(error)]
starling.publish.order_line({"any": 1})
stop.set()
error = run.first("WorkflowError")
print(json.dumps({
    "correlation": len(published["correlation_id"]),
    "second": [run.correlation_id, run.completed, run.first("Intent")["payload"]["confidence"], run.first("Approval"), error["payload"]["error_message"]],
    "approved": [[one["payload"]["approved"], one["produced_by"]] for one in approved.all("Approval")],
    "seen": seen,
    "refused": refused,
}))
`;

const OUTCOME = {
  correlation: 36,
  // The service takes an error's message up to this length.
  second: ['second', true, 0.1, null, 'unsure of unsure'.padEnd(2_000, '.')],
  approved: [[true, 'approver']],
  seen: ['hello', 'unsure', 'sure'],
  refused: [400, expect.stringMatching(/payload\.txt/)],
};

const execute = async (program: string, args: string[], cwd: string): Promise<string> => {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(program, args, { cwd, env, timeout: 200_000 }).catch(
    (failed: { stdout: string; stderr: string }) => {
      throw new Error(`${failed.stdout}\n${failed.stderr}`);
    },
  );
  return stdout;
};

let hasPython = true;
try {
  await execute(PYTHON, ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'], ROOT);
} catch {
  hasPython = false;
}

describe('starling client', () => {
  const folder = new Folder();
  let app: TestApp;
  let front: FaultyFront;
  const generate = (...args: string[]) =>
    runProgram(['client', '--config', folder.write('starling.yaml', CONFIG), ...args], { cwd: folder.path });

  beforeEach(async () => {
    app = await startApp({ config: CONFIG });
    front = await FaultyFront.start(app.url);
  });
  afterEach(async () => {
    await front.close();
    await app.close();
  });
  afterAll(() => folder.remove());

  /** The front made the client repeat a publish, and continue a stream. */
  async function expectRepetitions(): Promise<void> {
    expect(front.keys.slice(0, 3)).toEqual(Array(3).fill(front.keys[0]));
    expect(front.positions).toEqual(['0', expect.stringMatching(/^[1-9]\d*$/)]);
    const { body } = await app.http.get('/api/v1/artifacts?type=CustomerMessage&order=asc').expect(200);
    expect((body as { items: { tags: string[] }[] }).items.map(({ tags }) => tags)).toEqual([['vip'], [], []]);
  }

  it('writes a TypeScript module that compiles under strict settings, and works through faults', async () => {
    expect(await generate('--lang', 'ts', '--out', 'client')).toEqual({
      code: 0,
      stdout: 'client/starling.ts\n',
      stderr: '',
    });
    folder.write('package.json', '{ "type": "module" }');
    folder.write('client/program.ts', TYPESCRIPT);
    const compiler = { extends: join(ROOT, 'tsconfig.json'), include: ['client'], exclude: [] };
    const options = {
      rootDir: '.',
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      noUnusedLocals: true,
    };
    folder.write(
      'tsconfig.json',
      JSON.stringify({
        ...compiler,
        compilerOptions: { ...options, erasableSyntaxOnly: true, exactOptionalPropertyTypes: true },
      }),
    );
    await execute(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--project', '.'], folder.path);
    const printed = await execute(process.execPath, ['client/program.ts', front.url], folder.path);
    expect(JSON.parse(printed)).toEqual(OUTCOME);
    await expectRepetitions();
  });

  describeIf(hasPython, 'Python 3.11 or later')('for Python', () => {
    it('writes a module that works through faults', async () => {
      expect(await generate('--lang', 'python')).toEqual({ code: 0, stdout: 'starling.py\n', stderr: '' });
      folder.write('program.py', PYTHON_PROGRAM);
      expect(JSON.parse(await execute(PYTHON, ['program.py', front.url], folder.path))).toEqual(OUTCOME);
      await expectRepetitions();
    });
  });

  it('replaces its own file and no other, and says what is wrong with its options', async () => {
    const refusal = (message: string) => ({ code: 1, stdout: '', stderr: `${message}\n` });
    expect(await generate('--lang', 'ts', '--out', 'again')).toMatchObject({ code: 0 });
    expect(await generate('--lang', 'ts', '--out', 'again')).toMatchObject({ code: 0 });
    folder.write('again/starling.ts', '// mine\n');
    expect(await generate('--lang', 'ts', '--out', 'again')).toEqual(
      refusal('again/starling.ts exists and is not a generated client; name another folder with --out'),
    );
    expect(readFileSync(join(folder.path, 'again/starling.ts'), 'utf8')).toBe('// mine\n');
    expect(await generate('--lang', 'ts', '--out', 'starling.yaml')).toEqual(
      refusal('--out: starling.yaml/starling.ts cannot be written (EEXIST)'),
    );
    expect(await generate('--lang', 'java')).toEqual(refusal('--lang: must be ts or python (got "java")'));
  });
});
