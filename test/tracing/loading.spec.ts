// Runs the built program as a child process, and checks what it loads, and what it has sent when it is stopped.
import { join } from 'node:path';

import { Folder, runProgram } from '../cli/run-program.js';
import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { TraceCollector } from '../support/trace-collector.js';

const folder = new Folder();
const services: Service[] = [];

beforeAll(async () => {
  await builtProgram();
  // prom-client loads the API itself, with or without traces; that is a few functions without an SDK behind them.
  folder.write(
    'tell-loads.mjs',
    `import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (/^(@opentelemetry\\/|pg$)/.test(specifier) && !/prom-client/.test(context.parentURL ?? '')) console.error('loads ' + specifier);
        return next(specifier, context);
      },
    });`,
  );
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.kill()));
});
afterAll(() => folder.remove());

const CONFIG = `
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: "{'n': 1}" } }
`;

let databases = 0;

async function start(env: Record<string, string>): Promise<Service> {
  const config = folder.write('starling.yaml', CONFIG);
  const database = `sqlite:${join(folder.path, `${(databases += 1)}.db`)}`;
  const telling = { NODE_OPTIONS: `--import ${join(folder.path, 'tell-loads.mjs')}` };
  const service = await Service.start(['--config', config, '--database-url', database], { ...telling, ...env });
  services.push(service);
  return service;
}

const loads = ({ log }: Service): string[] => log.filter((line) => line.startsWith('loads '));

async function publish({ url }: Service): Promise<void> {
  const body = JSON.stringify({ type: 'Order', payload: {} });
  const headers = { 'Content-Type': 'application/json', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
  const answer = await fetch(`${url}/api/v1/artifacts/sync`, { method: 'POST', headers, body });
  expect(await answer.json()).toMatchObject({ completed: true });
}

it('without an endpoint and with SQLite, neither OpenTelemetry nor the driver of Postgres is loaded', async () => {
  const service = await start({ OTEL_SERVICE_NAME: 'desk' });
  await publish(service);
  expect(await service.kill('SIGTERM')).toBe(0);
  expect(loads(service)).toEqual([]);
});

it('with an endpoint, the SDK is loaded, its variables apply, and the remaining spans are sent at the end', async () => {
  const collector = await TraceCollector.start();
  try {
    const service = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'desk',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=of-the-collector',
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    });
    await eventually('it reports what it loads', () => loads(service).includes('loads @opentelemetry/sdk-trace'));
    await publish(service);
    expect(collector.spans).toEqual([]);
    expect(await service.kill('SIGTERM')).toBe(0);
    expect(collector.spans.map(({ service: name, name: span }) => [name, span])).toEqual([
      ['desk', 'agent echo'],
      ['desk', 'POST /api/v1/artifacts/sync'],
    ]);
    expect(collector.headers.map((headers) => [headers['content-type'], headers['x-api-key']])).toEqual([
      ['application/json', 'of-the-collector'],
    ]);
    expect(service.log.join('\n')).not.toContain('of-the-collector');
  } finally {
    await collector.close();
  }
});

it('a malformed endpoint stops the start with a line that names it', async () => {
  const config = folder.write('starling.yaml', CONFIG);
  const args = [
    'serve',
    '--port',
    '0',
    '--config',
    config,
    '--database-url',
    `sqlite:${join(folder.path, 'never.db')}`,
  ];
  const { code, stderr } = await runProgram(args, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' } });
  expect([code, stderr]).toEqual([
    1,
    'OTEL_EXPORTER_OTLP_ENDPOINT: must be an http or https URL, such as http://127.0.0.1:4318\n',
  ]);
});
