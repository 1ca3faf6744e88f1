import { diagnosticsIn, load, problemOf, problemTexts } from './loading.js';

const serverName = async (value: string, environment: Record<string, string>): Promise<unknown> =>
  (await load(`server: { server_name: ${value} }`, { environment })).server.server_name;

describe('variables of the environment', () => {
  test.each([
    ['a value', '"${NAME}"', { NAME: 'Desk' }, 'Desk'],
    ['a value without quotes, inside braces', '${NAME}', { NAME: 'Desk' }, 'Desk'],
    ['a value inside a text', '"The ${NAME} desk of ${TOWN:-Bonn}"', { NAME: 'first' }, 'The first desk of Bonn'],
    ['a default', '"${NAME:-Default desk}"', {}, 'Default desk'],
    ['a default in place of an empty value', '"${NAME:-Default}"', { NAME: '' }, 'Default'],
    ['a value that would be YAML', '${NAME}', { NAME: 'x }, dashboard: { y: "z" # ' }, 'x }, dashboard: { y: "z" # '],
    ['a value that names another variable', '${NAME}', { NAME: '${OTHER}', OTHER: 'no' }, '${OTHER}'],
    ['a dollar that is not a variable', '"5 $ or ${1}"', {}, '5 $ or ${1}'],
  ])('%s', async (_, value, environment, expected) => {
    expect(await serverName(value, environment as Record<string, string>)).toBe(expected);
  });

  test('an unquoted variable is read as the number or boolean that it spells', async () => {
    const { server } = await load('server: { port: ${PORT}, dashboard: ${DASHBOARD:-true} }', {
      environment: { PORT: '9000' },
    });
    expect(server).toEqual({ port: 9000, dashboard: true });
  });

  test('are allowed in expressions, schemas and block texts', async () => {
    const text = `
types:
  T: { schema: { properties: { region: { const: "\${REGION}" } } } }
agents:
  a:
    consumes:
      - types: [T]
        where: >
          payload.region ==
          "\${REGION}"
    engine: { kind: expression, expression: payload }
`;
    const { catalog } = await load(text, { environment: { REGION: 'north' } });
    expect(catalog.agent('a')!.subscriptions[0]!.where).toBe('payload.region == "north"\n');
    expect(problemOf(catalog.type('T')!, { region: 'south' })).toBe('payload.region: must be "north"');
  });

  test('a missing variable is reported once, with its place', async () => {
    const text = 'types: {}\nserver:\n  port: ${PORT}\n  server_name: ${NAME}\n';
    expect(await diagnosticsIn(text)).toEqual([
      {
        path: 'server.port',
        line: 3,
        column: 3,
        message: 'the environment variable PORT is not set; set it, or write ${PORT:-default}',
      },
      {
        path: 'server.server_name',
        line: 4,
        column: 3,
        message: 'the environment variable NAME is not set; set it, or write ${NAME:-default}',
      },
    ]);
  });

  test('a malformed reference, and a variable in a key, are errors', async () => {
    expect(await problemTexts('server: { server_name: "${NAME-x}" }')).toEqual([
      'server.server_name: ${NAME-x} is neither ${NAME} nor ${NAME:-default}',
    ]);
    expect(await problemTexts('types: { "${NAME}": {} }', { environment: { NAME: 'T' } })).toEqual([
      'types.${NAME}: a key cannot come from the environment',
    ]);
  });

  test('errors never quote a value of the environment', async () => {
    const texts = await problemTexts('server: { port: ${SECRET} }', { environment: { SECRET: 'hunter2hunter2' } });
    expect(texts).toHaveLength(1);
    expect(texts[0]).not.toContain('hunter2');
  });
});
