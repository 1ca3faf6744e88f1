// The definitions behind executions. Uses the built program as a process, because only Node's own loader shows what a
// module imports, its database and HTTP. No model answers.
import type { DefinitionBody } from '../../src/features/definitions/dto/definition-body.js';
import type { ListedExecutionBody } from '../../src/features/executions/dto/execution-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const CONFIG = `
types:
  Reading: { schema: { type: object, required: [words] } }
agents:
  reader:
    consumes: [{ types: [Note] }]
    publishes: [{ type: Reading }]
    engine: { kind: function, module: ./agents/reader.mjs }
  asker:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply }]
    retry: { attempts: 1 }
    engine:
      kind: llm
      model: local/none
      base_url: http://127.0.0.1:9/\${PATH_OF_MODEL}
      instructions: Answer in one sentence.
      tools: [{ mcp: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer \${TOKEN}', X-Key: key-4711 } }, allow: [look] }]
  person:
    consumes: [{ types: [Reading] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
`;

const READER = `
import { words } from './words.mjs';
import { stem } from 'stemmer';
export default async ([{ payload }]) => ({ words: words(payload.text).map(stem) });`;
const stemmer = (version: string): string =>
  JSON.stringify({ name: 'stemmer', version, type: 'module', exports: './a.js' });
const WORDS = `export const words = (text) => text.split(' ');`;

describe('the definition of an execution', () => {
  const folder = new ConfigurationFolder();
  let database: TestDatabase;
  let service: Service;

  beforeAll(async () => {
    folder.write('agents/reader.mjs', READER);
    folder.write('agents/words.mjs', WORDS);
    folder.write('node_modules/stemmer/package.json', stemmer('1.2.3'));
    folder.write('node_modules/stemmer/a.js', 'export const stem = (word) => word.slice(0, 4);');
    database = await databaseOf(folder.path);
    await start(CONFIG, 'token-1');
  });
  afterAll(async () => {
    await service?.kill();
    await database?.drop();
    folder.remove();
  });

  async function start(config: string, token: string): Promise<void> {
    await service?.kill();
    const args = ['--config', folder.write('starling.yaml', config), '--database-url', database.url];
    service = await Service.start(args, {
      TOKEN: token,
      PATH_OF_MODEL: `path-of-${token}`,
      LOCAL_API_KEY: 'key',
    });
  }

  const post = async <T>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> => {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return (await response.json()) as T;
  };

  /** Publishes, and returns the execution of the agent that reacts. */
  async function executed(correlation: string, agent: string, type: string): Promise<ListedExecutionBody> {
    await post('/api/v1/artifacts', { type, payload: { text: 'good morning' } }, { 'X-Correlation-ID': correlation });
    let found: ListedExecutionBody | undefined;
    await eventually(`${agent} has ended`, async () => {
      const path = `/api/v1/executions?agent=${agent}&correlation_id=${correlation}`;
      [found] = (await service.get<{ items: ListedExecutionBody[] }>(path)).items;
      return found !== undefined && found.ended_at !== null;
    });
    return found!;
  }

  const definition = (digest: string | null): Promise<DefinitionBody> =>
    service.get<DefinitionBody>(`/api/v1/definitions/${digest}`);

  let reader: ListedExecutionBody;
  let asker: ListedExecutionBody;

  test('has the options, the schemas, each imported file and the versions of packages', async () => {
    reader = await executed('first', 'reader', 'Note');
    expect(reader).toMatchObject({ state: 'completed', definition: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    expect(await definition(reader.definition)).toEqual({
      digest: reader.definition,
      agent: 'reader',
      first_used_at: expect.any(String) as string,
      options: {
        consumes: [{ types: ['Note'] }],
        publishes: [{ type: 'Reading' }],
        engine: { kind: 'function', module: './agents/reader.mjs' },
      },
      schemas: { Reading: { schema: { type: 'object', required: ['words'] } } },
      files: { 'agents/reader.mjs': sha256, 'agents/words.mjs': sha256 },
      packages: { stemmer: '1.2.3' },
    });
  });

  test('says which prompt was used, with variables as the file spells them and without secrets', async () => {
    asker = await executed('first', 'asker', 'Question');
    expect(asker.state).toBe('failed');
    const { options } = await definition(asker.definition);
    expect(options).toMatchObject({
      engine: {
        instructions: 'Answer in one sentence.',
        base_url: 'http://127.0.0.1:9/${PATH_OF_MODEL}',
        tools: [{ mcp: { headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': '(not shown)' } } }],
      },
    });
    const [stored] = await database.rows<{ all: string }>(
      `select definition as "all" from definitions where digest = '${asker.definition}'`,
    );
    expect(stored!.all).not.toMatch(/token-1|key-4711/);
  });

  test('is known for work that a client completes', async () => {
    const { executions } = await post<{ executions: { execution_id: string; lease_token: string }[] }>(
      '/api/v1/executions/claim',
      { agents: ['person'] },
    );
    const { execution_id: id, lease_token } = executions[0]!;
    const before = await service.get<ListedExecutionBody>(`/api/v1/executions/${id}`);
    expect(before.definition).toBeNull();
    await post(`/api/v1/executions/${id}/complete`, { lease_token, outputs: [{ type: 'Approval', payload: {} }] });
    const after = await service.get<ListedExecutionBody>(`/api/v1/executions/${id}`);
    expect(await definition(after.definition)).toMatchObject({
      agent: 'person',
      options: { engine: { kind: 'external' } },
    });
  });

  test('is the same after a start with comments and other values of variables, and another one after a change', async () => {
    await start(`# A comment\n${CONFIG}`, 'token-2');
    expect((await executed('second', 'reader', 'Note')).definition).toBe(reader.definition);
    expect((await executed('second', 'asker', 'Question')).definition).toBe(asker.definition);

    folder.write('agents/words.mjs', WORDS.replace("' '", '/\\s+/'));
    await start(CONFIG.replace('key-4711', 'key-4712'), 'token-2');
    const changed = await executed('third', 'reader', 'Note');
    expect(changed.definition).not.toBe(reader.definition);
    expect((await executed('third', 'asker', 'Question')).definition).not.toBe(asker.definition);
    const [one, other] = [await definition(reader.definition), await definition(changed.definition)];
    expect(one.files['agents/reader.mjs']).toBe(other.files['agents/reader.mjs']);
    expect(one.files['agents/words.mjs']).not.toBe(other.files['agents/words.mjs']);
  });

  test('is another one after a package has another version', async () => {
    const before = await executed('fourth', 'reader', 'Note');
    folder.write('node_modules/stemmer/package.json', stemmer('1.2.4'));
    await start(CONFIG, 'token-2');
    const after = await executed('fifth', 'reader', 'Note');
    expect(after.definition).not.toBe(before.definition);
    const [one, other] = [await definition(before.definition), await definition(after.definition)];
    expect([one.packages, other.packages]).toEqual([{ stemmer: '1.2.3' }, { stemmer: '1.2.4' }]);
    expect(one.files).toEqual(other.files);
  });

  test('is stored once, however many executions and processes have it', async () => {
    const count = async (query: string): Promise<number> =>
      Number((await database.rows<{ count: number | string }>(`select count(*) as count from ${query}`))[0]!.count);
    const digest = (await executed('sixth', 'reader', 'Note')).definition;
    const before = await count('definitions');
    await start(CONFIG, 'token-3');
    for (const correlation of ['seventh', 'eighth'])
      expect(await executed(correlation, 'reader', 'Note')).toMatchObject({ definition: digest });
    expect(await count(`executions where definition = '${digest}'`)).toBeGreaterThanOrEqual(3);
    expect(await count(`definitions where digest = '${digest}'`)).toBe(1);
    expect(await count('definitions')).toBe(before);
  });

  test('is a 404 if nothing has the digest', async () => {
    const response = await fetch(`${service.url}/api/v1/definitions/sha256:1234`);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { detail: 'Definition not found: sha256:1234' },
    ]);
  });
});
