import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import { forked, type LoadGenerator, Server } from './children.ts';
import { eventually } from './eventually.ts';
import { type Load, post } from './load.ts';
import { CONNECTIONS, PUBLISH } from './requests.ts';
import { perSecond, type Row } from './row.ts';
import { median } from './statistics.ts';
import type { Received } from './webhook-receiver.ts';

const RUNS = 5;
const RUN_SECONDS = 2;
const WARM_SECONDS = 3;
const BURST = 10_000;
const STEADY_PER_SECOND = 200;
const STEADY_SECONDS = 10;

/** Starts a service that sends everything to one receiver, and one without webhooks. */
export async function webhookRows(
  generator: LoadGenerator,
  folder: string,
  databaseUrls: { on?: string; off?: string } = {},
): Promise<Row[]> {
  const receiver = forked('webhook-receiver.ts', []);
  const [port] = (await once(receiver, 'message')) as [number];
  const options = ['--webhook-url', `http://127.0.0.1:${port}/`];
  process.env.STARLING_WEBHOOK_SECRET = 'a secret of the bench alone';
  const on = await Server.starling(folder, 'webhooks-on', { databaseUrl: databaseUrls.on, options });
  delete process.env.STARLING_WEBHOOK_SECRET;
  const off = await Server.starling(folder, 'webhooks-off', { databaseUrl: databaseUrls.off });
  const publish = (server: Server, until: Load['until']) =>
    generator.run({ url: server.url, requests: PUBLISH, connections: CONNECTIONS, until });

  await publish(off, { seconds: WARM_SECONDS });
  await publish(on, { seconds: WARM_SECONDS });
  await allDelivered(receiver);
  const rows = [
    await publishRow(publish, receiver, on, off),
    await deliveryRow(publish, receiver, on),
    await lagRow(receiver, on),
  ];
  await Promise.all([on.stop(), off.stop()]);
  receiver.kill();
  return rows;
}

type Publish = (server: Server, until: Load['until']) => ReturnType<LoadGenerator['run']>;

async function publishRow(publish: Publish, receiver: ChildProcess, on: Server, off: Server): Promise<Row> {
  const runs: { on: number; off: number }[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const without = await publish(off, { seconds: RUN_SECONDS });
    const withWebhooks = await publish(on, { seconds: RUN_SECONDS });
    runs.push({ on: withWebhooks.requestsPerSecond, off: without.requestsPerSecond });
    await allDelivered(receiver);
  }
  const here = median(runs.map((run) => run.on));
  const baseline = median(runs.map((run) => run.off));
  return {
    work: 'publish/s with webhooks on, of off',
    value: here / baseline,
    atLeast: 0.6,
    aim: 0.8,
    better: 'higher',
    unit: '',
    measured: perSecond(here),
    baseline: `off ${perSecond(baseline)}`,
  };
}

/** Measures from the first publish to the last receipt. */
async function deliveryRow(publish: Publish, receiver: ChildProcess, on: Server): Promise<Row> {
  await ask(receiver, 'reset');
  const started = performance.now();
  await publish(on, { requests: BURST });
  await eventually('everything was delivered', async () =>
    (await ask(receiver, 'how many?')).deliveries >= BURST ? true : undefined,
  );
  const value = BURST / ((performance.now() - started) / 1_000);
  return {
    work: 'deliveries/s to one receiver',
    value,
    atLeast: 1_000,
    aim: null,
    better: 'higher',
    unit: '/s',
    measured: `${BURST.toLocaleString('en')} artifacts, published meanwhile`,
    baseline: '',
  };
}

async function lagRow(receiver: ChildProcess, on: Server): Promise<Row> {
  await ask(receiver, 'reset');
  const { path, headers, body } = post('/api/v1/artifacts', {
    type: 'Note',
    payload: { text: 'Where is parcel 4711?' },
  });
  const answers: Promise<void>[] = [];
  const publishOne = async (): Promise<void> => {
    const response = await fetch(`${on.url}${path}`, { method: 'POST', headers, body });
    if (response.status !== 200) throw new Error(`a publish answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  };
  const started = performance.now();
  for (let sent = 0; sent < STEADY_PER_SECOND * STEADY_SECONDS; sent += 1) {
    answers.push(publishOne());
    await wait(Math.max(0, started + ((sent + 1) * 1_000) / STEADY_PER_SECOND - performance.now()));
  }
  await Promise.all(answers);
  const lags = await allDelivered(receiver);
  return {
    work: `publish to receipt at ${STEADY_PER_SECOND} artifacts/s: p99`,
    value: lags.p99,
    atLeast: 100,
    aim: null,
    better: 'lower',
    unit: ' ms',
    measured: `p50 ${lags.p50} ms, ${lags.deliveries.toLocaleString('en')} deliveries`,
    baseline: '',
  };
}

/** Resolves when nothing more has arrived for a moment, with the deliveries since it was last reset. */
async function allDelivered(receiver: ChildProcess): Promise<Received> {
  for (let before = -1; ;) {
    const received = await ask(receiver, 'how many?');
    if (received.deliveries === before) return ask(receiver, 'reset');
    before = received.deliveries;
    await wait(500);
  }
}

async function ask(receiver: ChildProcess, question: 'how many?' | 'reset'): Promise<Received> {
  receiver.send(question);
  const [received] = (await once(receiver, 'message')) as [Received];
  return received;
}
