// The targets and timeouts of requests to models and to tool servers. Uses the application, the AI SDK, the MCP SDK and
// HTTP. The model server is a stand-in, and a script resolves names.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Resolver } from '../../../src/http-client/lookups.js';
import { Board } from '../../e2e/board.js';
import { eventually } from '../../support/eventually.js';
import { ModelServer } from '../../support/model-server.js';
import { errorOf, setKeys, TYPES } from './llm-board.js';

/** Resolves an operator's names, except those that resolve to a metadata service. */
class Names extends Resolver {
  async resolve(name: string) {
    const addresses: Record<string, string> = {
      'models.internal': '127.0.0.1',
      'meta.internal': '169.254.169.254',
      'aws.internal': 'fd00:ec2::254',
    };
    const address = addresses[name]!;
    return [{ address, family: address.includes(':') ? 6 : 4 }];
  }
}

/**
 * Sets a timeout for every request of this process without its own, as Node does after 300 s. Returns a function that
 * removes it.
 */
function boundFetch(ms: number): () => void {
  const holder = new (fetch.constructor as FunctionConstructor)('return globalThis')() as Record<
    symbol,
    { constructor: new (bounds: object) => never }
  >;
  const dispatcher = Symbol.for('undici.globalDispatcher.1');
  const before = holder[dispatcher]!;
  holder[dispatcher] = new before.constructor({ headersTimeout: ms, bodyTimeout: ms });
  return () => void (holder[dispatcher] = before);
}

const NEVER = 'link-local, metadata and unusable addresses are never called';

describe('requests of llm agents', () => {
  let models: ModelServer;
  let redirecting: Server;
  let board: Board;
  let to = '';
  let unbound = (): void => undefined;
  // After a failure, too: the suites of a worker share Node's fetch.
  afterEach(() => unbound());
  beforeAll(async () => {
    setKeys();
    models = await ModelServer.start(() => ({ text: '{"text":"All done."}' }));
    redirecting = createServer((_request, response) => response.writeHead(307, { location: to }).end()).listen(
      0,
      '127.0.0.1',
    );
    await once(redirecting, 'listening');
    const port = new URL(models.url).port;
    const agent = (name: string, url: string, more = ''): string =>
      `  ${name}: { consumes: [{ types: [${name}] }], publishes: [{ type: Reply }], retry: { attempts: 3, delay: 0s }, engine: { kind: llm, model: openai/gpt-5-mini, base_url: "${url}", instructions: Answer.${more} } }`;
    const tools = (url: string): string => `, tools: [{ mcp: { url: "${url}" }, allow: [echo] }]`;
    board = await Board.start(
      `${TYPES}\nagents:\n${[
        agent('Named', `http://models.internal:${port}/v1`),
        agent('Metadata', `http://meta.internal:${port}/v1`),
        agent('Aws', `http://aws.internal:${port}/v1`),
        agent('Redirected', `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/v1`),
        agent('Tools', models.url, tools(`http://meta.internal:${port}/mcp`)),
      ].join('\n')}`,
      { resolver: new Names() },
    );
  });
  afterAll(async () => {
    await board.close();
    redirecting.closeAllConnections();
    redirecting.close();
    await models.close();
  });

  test('go to the address of a configured name, even a private one', async () => {
    expect((await board.publishSync('Named', {})).artifacts.map(({ payload }) => payload)).toEqual([
      { text: 'All done.' },
    ]);
  });

  test.each([
    ['Metadata', 'model', `openai sent no complete answer: meta.internal must not point to 169.254.169.254: ${NEVER}`],
    ['Aws', 'model', `openai sent no complete answer: aws.internal must not point to fd00:ec2::254: ${NEVER}`],
    [
      'Tools',
      'tool',
      expect.stringMatching(
        `^the tool server http://meta\\.internal:\\d+ cannot be reached: meta\\.internal must not point to 169\\.254\\.169\\.254: ${NEVER}$`,
      ),
    ],
  ])(
    'go to no metadata service that a name resolves to, and are not tried again: %s',
    async (type, error_type, error_message) => {
      const correlation = await board.publish(type, {});
      await board.ended(correlation);
      expect(await errorOf(board, correlation)).toMatchObject({ error_type, error_message, attempts: 1 });
    },
  );

  test('are redirected only to allowed addresses', async () => {
    to = `${models.url}/responses`;
    expect((await board.publishSync('Redirected', {})).artifacts.map(({ payload }) => payload)).toEqual([
      { text: 'All done.' },
    ]);
    to = 'http://169.254.169.254/v1/responses';
    const correlation = await board.publish('Redirected', {});
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_type: 'model',
      error_message: `openai sent no complete answer: the URL must not point to 169.254.169.254: ${NEVER}`,
      attempts: 1,
    });
  });

  test.each(['before', 'halfway'] as const)(
    'wait for a model that is silent %s its answer for as long as the agent has time',
    async (when) => {
      unbound = boundFetch(100);
      const asked = models.requests.length;
      let release = (): void => undefined;
      const silence = new Promise<void>((resolve) => (release = resolve));
      models.script = () => ({ text: '{"text":"All done."}', [when]: silence });
      const correlation = await board.publish('Named', {});
      await eventually('the model is asked', () => models.requests.length === asked + 1);
      const body = JSON.stringify({ model: 'other' });
      // Begun later, and aborted.
      await expect(
        fetch(`${models.url}/responses`, { method: 'POST', body }).then((response) => response.text()),
      ).rejects.toMatchObject({ cause: { code: expect.stringMatching(/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/) } });
      unbound();
      release();
      expect((await board.ended(correlation)).state).toBe('completed');
    },
  );
});
