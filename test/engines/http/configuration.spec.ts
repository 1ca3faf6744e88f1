// Checks what `starling check` reports about http agents.
import { CatalogError } from '../../../src/catalog/diagnostics.js';
import { loadConfiguration } from '../../../src/engines/load-configuration.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';

describe('an http agent', () => {
  const folder = new ConfigurationFolder();
  afterAll(() => folder.remove());

  const load = (engine: string, environment: Record<string, string> = {}) =>
    loadConfiguration(
      folder.write(
        'starling.yaml',
        `agents:\n  a: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: { kind: http, ${engine} } }\n`,
      ),
      environment,
    );
  const problems = async (engine: string, environment?: Record<string, string>): Promise<string[]> => {
    const error = await load(engine, environment).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CatalogError);
    return (error as CatalogError).diagnostics.map(({ path, message }) => `${path}: ${message}`);
  };

  test.each([
    ['secret: a secret of this suite', 'agents.a.engine.url: is required'],
    [
      'url: agents.example',
      'agents.a.engine.url: must be an http or https URL without a user, such as http://127.0.0.1:9000/',
    ],
    [
      'url: "http://me:secret@agents.example/"',
      'agents.a.engine.url: must be an http or https URL without a user, such as http://127.0.0.1:9000/',
    ],
    [
      'url: "http://169.254.169.254/"',
      'agents.a.engine.url: must not point to 169.254.169.254: link-local, metadata and unusable addresses are never called',
    ],
    ['url: "http://agents.example:0/"', 'agents.a.engine.url: must have a port other than 0'],
    ['url: "http://a.example/", max_answer: 1 MB', 'agents.a.engine.max_answer: must be a size such as 512KiB or 1MiB'],
    ['url: "http://a.example/", max_answer: 65MiB', 'agents.a.engine.max_answer: must be a size from 1B to 64MiB'],
    ['url: "http://a.example/", max_answer: 0B', 'agents.a.engine.max_answer: must be a size from 1B to 64MiB'],
    ['url: "http://a.example/", method: PUT', 'agents.a.engine.method: is not a known key'],
  ])('%s is an error', async (engine, message) => {
    expect(await problems(engine)).toEqual([message]);
  });

  test.each(['short', 'whsec_this is no base64'])(
    'a secret such as %j is an error that does not quote it',
    async (secret) => {
      expect(await problems('url: "http://a.example/", secret: "${SECRET}"', { SECRET: secret })).toEqual([
        'agents.a.engine.secret: must be a text of 16 to 256 characters, in base64 if it begins with whsec_',
      ]);
    },
  );

  test('may be served beside Starling, and take its URL and its secret from the environment', async () => {
    const environment = { AGENT_URL: 'http://127.0.0.1:9000/answer', SECRET: 'a secret of this suite' };
    const { catalog, warnings } = await load(
      'url: "${AGENT_URL}", secret: "${SECRET}", max_answer: 64MiB',
      environment,
    );
    expect(warnings).toEqual([]);
    expect(catalog.agent('a')!.engine).toMatchObject({ url: environment.AGENT_URL, secret: environment.SECRET });
  });
});
