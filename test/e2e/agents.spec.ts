import { Agent } from '../../src/engines/provider/agent.decorator.js';
import { startApp, type TestApp } from '../support/app.js';

const SECRET = 'c2VjcmV0LW9mLXRoZS1vcGVyYXRvcg';

const CONFIG = `
agents:
  mapper: { consumes: [{ types: [Note] }], publishes: [{ type: Done }], engine: { kind: expression, expression: payload } }
  coder: { consumes: [{ types: [Note] }], publishes: [{ type: Done }], engine: { kind: function, module: ./coder.js } }
  caller:
    consumes: [{ types: [Note] }]
    publishes: [{ type: Done }]
    engine: { kind: http, url: "http://127.0.0.1:9/hidden?key=\${SECRET}", secret: "\${SECRET}" }
  writer:
    consumes: [{ types: [Note] }]
    publishes: [{ type: Done }]
    engine:
      kind: llm
      model: local/llama3.2
      base_url: "http://127.0.0.1:9/hidden/\${SECRET}"
      instructions: Say \${SECRET}
      tools:
        - { mcp: { url: "http://127.0.0.1:9/hidden", headers: { Authorization: "\${SECRET}" } }, allow: [look] }
        - { mcp: { command: hidden-program, args: ["\${SECRET}"], env: { TOKEN: "\${SECRET}" } }, allow: [search] }
  person: { consumes: [{ types: [Note] }], publishes: [{ type: Done }], engine: { kind: external, assignee: ada } }
`;

@Agent({ name: 'counter', consumes: [{ types: ['Note'] }], publishes: [{ type: 'Done' }] })
class Counter {
  execute(): object {
    return {};
  }
}

/** Uses the application, its database and HTTP, and an agent of each engine kind. None of them runs. */
describe('the list of agents', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({
      config: CONFIG,
      files: { 'coder.js': 'export default () => ({});' },
      environment: { SECRET },
      agents: [Counter],
    });
  });

  afterAll(() => app.close());

  it('has the kind of each engine and the model, and nothing that may contain a secret', async () => {
    const { body, text } = await app.http.get('/api/v1/agents').expect(200);
    const { agents } = body as { agents: { name: string; engine: object }[] };
    expect(Object.fromEntries(agents.map(({ name, engine }) => [name, engine]))).toEqual({
      mapper: { kind: 'expression', model: null },
      coder: { kind: 'function', model: null },
      caller: { kind: 'http', model: null },
      writer: { kind: 'llm', model: 'local/llama3.2' },
      person: { kind: 'external', model: null },
      counter: { kind: 'provider', model: null },
    });
    for (const hidden of [SECRET, 'hidden', '127.0.0.1', 'coder.js', 'payload', 'Say', 'look', 'search'])
      expect(text).not.toContain(hidden);
  });

  it('documents every kind of engine', async () => {
    const { body: document } = await app.http.get('/openapi.json').expect(200);
    const { agents } = (await app.http.get('/api/v1/agents')).body as { agents: { engine: { kind: string } }[] };
    const { schemas } = (document as { components: { schemas: Record<string, { properties: { kind: object } }> } })
      .components;
    expect(schemas.AgentEngineBody!.properties.kind).toMatchObject({
      enum: expect.arrayContaining(agents.map(({ engine }) => engine.kind)) as string[],
    });
  });
});
