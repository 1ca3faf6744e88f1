// Checks what `starling check` reports about llm agents, and how their providers are loaded.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { CatalogError, describeDiagnostic } from '../../../src/catalog/diagnostics.js';
import { loadConfiguration } from '../../../src/engines/load-configuration.js';
import { Board } from '../../e2e/board.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';

const agentWith = (engine: string, more = ''): string =>
  `agents:\n  a: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: { kind: llm, ${engine} }${more} }\n`;

describe('an llm agent', () => {
  let folder: ConfigurationFolder;
  beforeEach(() => {
    folder = new ConfigurationFolder();
  });
  afterEach(() => folder.remove());

  const load = async (text: string, environment: Record<string, string> = { OPENAI_API_KEY: 'sk' }) => {
    const { warnings } = await loadConfiguration(folder.write('starling.yaml', text), environment);
    return { warnings: warnings.map(describeDiagnostic) };
  };
  const problems = async (text: string): Promise<string[]> => {
    const error = await load(text).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CatalogError);
    return (error as CatalogError).diagnostics.map(({ path, message }) => `${path}: ${message}`);
  };

  test.each([
    [
      'model: gpt-5-mini, instructions: x',
      'agents.a.engine.model: must name provider and model, such as openai/gpt-5-mini',
    ],
    ['model: openai/gpt-5-mini', 'agents.a.engine.instructions: is required'],
    ['model: openai/x, instructions: x, api_key: sk-1', 'agents.a.engine.api_key: is not a known key'],
    [
      'model: openai/x, instructions: x, base_url: "http://me:secret@host/v1"',
      'agents.a.engine.base_url: must be an http or https URL without a user, such as http://127.0.0.1:11434/v1',
    ],
    [
      'model: local/x, instructions: x, base_url: "http://169.254.169.254/v1"',
      'agents.a.engine.base_url: must not point to 169.254.169.254: link-local, metadata and unusable addresses are never called',
    ],
    [
      'model: openai/x, instructions: x, tools: [{ mcp: { url: "http://[fd00:ec2::254]/mcp" }, allow: [t] }]',
      'agents.a.engine.tools[0].mcp.url: must not point to fd00:ec2::254: link-local, metadata and unusable addresses are never called',
    ],
    ['model: openai/x, instructions: x, context: all', 'agents.a.engine.context: must be one of "none", "correlation"'],
    [
      'model: openai/x, instructions: x, context: { type: Fact }',
      'agents.a.engine.context.type: is not a known key; did you mean types?',
    ],
    [
      'model: mistral/small, instructions: x',
      'agents.a.engine.model: the provider mistral needs the package @ai-sdk/mistral: run npm install @ai-sdk/mistral, or set base_url to an OpenAI-compatible server',
    ],
  ])('%s is an error', async (engine, message) => {
    expect(await problems(agentWith(engine))).toEqual([message]);
  });

  test('must publish a type', async () => {
    expect(
      await problems(
        'agents: { a: { consumes: [{ types: [Question] }], engine: { kind: llm, model: openai/x, instructions: x } } }',
      ),
    ).toEqual([
      'agents.a.engine: an llm agent must publish at least one type, because the model answers in its schema',
    ]);
  });

  test('causes a warning if its key is missing, or if a budget limits its price or the length of its answers', async () => {
    const text = `models: { openai/dear: { input_per_million: 1, output_per_million: 2 } }\n${agentWith('model: openai/x, instructions: x', ', budget: { cost: 1 }')}`;
    expect((await load(text, {})).warnings).toEqual([
      expect.stringContaining(
        'agents.a.engine.model: the environment variable OPENAI_API_KEY is not set; set it, or executions fail',
      ),
      expect.stringContaining('agents.a.engine.model: has no price under models, so cost budgets do not apply to it'),
      expect.stringContaining(
        'agents.a.engine.model: neither models nor the agent sets max_output_tokens, so the budget limits its answers to 4096 tokens',
      ),
    ]);
    const dear = text.replace('openai/x', 'openai/dear');
    expect((await load(dear)).warnings).toHaveLength(1);
    expect((await load(dear.replace('instructions: x', 'instructions: x, max_output_tokens: 100'))).warnings).toEqual(
      [],
    );
    expect(
      (await load(dear.replace('output_per_million: 2', 'output_per_million: 2, max_output_tokens: 8192'))).warnings,
    ).toEqual([]);
    expect(await problems(text.replace('{ cost: 1 }', '{}'))).toEqual([
      'agents.a.budget: must be an object with tokens, cost or both',
    ]);
  });

  test('causes a warning about unknown types and producers in its context', async () => {
    const { warnings } = await load(
      agentWith(
        'model: openai/x, instructions: x, context: { types: [Question, Quesion], produced_by: [external, a, b] }',
      ),
    );
    expect(warnings).toEqual([
      expect.stringContaining(
        'agents.a.engine.context.types[1]: no artifact type has the name Quesion, so the context contains none of it',
      ),
      expect.stringContaining(
        'agents.a.engine.context.produced_by[2]: no agent has the name b, so the context contains none of it',
      ),
    ]);
  });

  test('accepts a provider package that is installed beside the configuration, and passes it the key of its name', async () => {
    const manifest = {
      name: '@ai-sdk/acme-labs',
      version: '1.0.0',
      type: 'module',
      exports: { '.': { types: './x.d.ts', import: './index.js' } },
    };
    const provider = `export const acmeLabs = null;
export function createAcmeLabs({ apiKey }) {
  const usage = { inputTokens: { total: 3 }, outputTokens: { total: 2 } };
  return (modelId) => ({
    specificationVersion: 'v4', provider: 'acme', modelId, supportedUrls: {},
    async doStream() {
      const parts = [
        { type: 'stream-start', warnings: [] }, { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: JSON.stringify({ text: modelId + ' has ' + apiKey.length }) }, { type: 'text-end', id: '1' },
        { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
      ];
      return { stream: new ReadableStream({ start(controller) { parts.forEach((part) => controller.enqueue(part)); controller.close(); } }) };
    },
  });
}`;
    folder.write('node_modules/@ai-sdk/acme-labs/package.json', JSON.stringify(manifest));
    folder.write('node_modules/@ai-sdk/acme-labs/index.js', provider);
    process.env.ACME_LABS_API_KEY = 'four';
    const board = await Board.start(agentWith('model: acme-labs/big, instructions: x'), { folder: folder.path });
    const { artifacts } = await board.publishSync('Question', {});
    expect(artifacts.map(({ payload }) => payload)).toEqual([{ text: 'big has 4' }]);
    await board.close();

    // Such packages throw this error if they find none.
    const missing = `throw Object.assign(new Error('ACME API key is missing'), { name: 'AI_LoadAPIKeyError' });`;
    folder.write('node_modules/@ai-sdk/keyless/package.json', JSON.stringify({ ...manifest, name: '@ai-sdk/keyless' }));
    folder.write(
      'node_modules/@ai-sdk/keyless/index.js',
      provider.replace('async doStream() {', `async doStream() { ${missing}`),
    );
    const keyless = await Board.start(
      agentWith('model: keyless/big, instructions: x').replace('engine:', 'retry: { attempts: 5, delay: 1h }, engine:'),
      { folder: folder.path },
    );
    const failed = await keyless.publishSync('Question', {});
    expect(failed.artifacts.map(({ payload }) => payload)).toMatchObject([
      { error_message: 'the key of keyless is missing: ACME API key is missing', attempts: 1 },
    ]);
    await keyless.close();
    await keyless.app.database.drop();
  });
});

test('packages that only llm agents need are loaded only by them', () => {
  const src = resolve(import.meta.dirname, '../../../src');
  const importing = (pattern: string): string[] =>
    readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .filter((file) =>
        new RegExp(`^import (?!type\\b)[^;]*from '${pattern}'`, 'm').test(readFileSync(join(src, file), 'utf8')),
      );
  expect(importing("(ai|@ai-sdk/[^']*)")).toEqual([]);
  // Starling's own MCP server loads this one with its first message.
  expect(importing("@modelcontextprotocol/[^']*")).toEqual(['features/mcp/exchange.ts']);
  expect(importing("[^']*/exchange\\.js")).toEqual([]);
});
