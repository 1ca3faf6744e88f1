/**
 * Takes the pictures of README.md and docs/dashboard.md: `npm run pictures [-- <folder>]`. It serves two examples and pictures.yaml with new
 * databases, gives them work, and writes one picture of each view.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Page } from 'playwright-core';

import { showView, startBrowser } from './shown-view.ts';

const [folder = 'docs/pictures'] = process.argv.slice(2);
const ROWS = 'examples/support-desk/banking77/test.csv';
const WINDOW = { width: 1_280, height: 800 };
const MESSAGES = 40;
const INVOICES = 14;
/** Pictures are WebP, which takes a third of PNG's bytes for the same pages. */
const QUALITY = 85;

interface Service {
  url: string;
  process: ChildProcess;
}

interface Execution {
  execution_id: string;
  lease_token: string;
  inputs: { payload: { lines: { amount: number }[] } }[];
}

interface Artifact {
  id: string;
  correlation_id: string;
}

interface Picture {
  name: string;
  path: string;
  /** Shows the whole view, also what a person must scroll to. */
  isWhole?: boolean;
  /** Further steps until the view shows what the picture is about. */
  then?: (page: Page) => Promise<unknown>;
}

const APPROVALS_PICTURES: Picture[] = [
  { name: 'executions', path: '/executions' },
  { name: 'failures', path: '/executions?view=failures' },
  {
    name: 'inbox',
    path: '/inbox?assignee=anna',
    then: async (page) => {
      await page.getByRole('button', { name: 'approver' }).first().click();
      await page.getByRole('button', { name: 'Claim' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox').fill('anna');
      await dialog.getByRole('button', { name: 'Claim' }).click();
      await page.getByText('Pay this invoice?').waitFor();
    },
  },
];

const FLOW_PICTURES: Picture[] = [
  {
    name: 'limits',
    path: '/limits?limit=per_customer',
    then: (page) => page.getByRole('list', { name: 'Waiting' }).waitFor(),
  },
  {
    name: 'schedules',
    path: '/schedules?schedule=daily-report',
    then: (page) => page.getByRole('list', { name: 'Next ticks' }).waitFor(),
  },
];

const databases = mkdtempSync(join(tmpdir(), 'starling-pictures-'));
const receiver = createServer((request, response) => {
  response.writeHead(request.url === '/crm' ? 503 : 204).end();
  request.resume();
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

const desk = await serve('support-desk', 'examples/support-desk/starling.yaml', ['--outbound-allow', '127.0.0.1/32']);
const approvals = await serve('approvals', 'examples/approvals/starling.yaml');
const flow = await serve('flow', 'dashboard/pictures.yaml', ['--dashboard']);
try {
  await workForDesk();
  const experiment = await runExperiment();
  const batch = await startBatch();
  await workForApprovals();
  await take(desk, await deskPictures(batch, experiment));
  await take(approvals, APPROVALS_PICTURES);
  await workForFlow();
  await take(flow, FLOW_PICTURES);
} finally {
  for (const { process } of [desk, approvals, flow]) {
    process.kill();
    await once(process, 'exit');
  }
  receiver.close();
  rmSync(databases, { recursive: true });
}

async function serve(name: string, config: string, options: string[] = []): Promise<Service> {
  const database = `sqlite:${join(databases, `${name}.db`)}`;
  const child = spawn(
    'bin/starling.js',
    ['serve', '--config', config, '--port', '0', '--database-url', database, ...options],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return { url, process: child };
  }
  throw new Error(`${name} ended before it listened`);
}

async function post<T>({ url }: Service, path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

async function workForDesk(): Promise<void> {
  const rows = parse<{ text: string }>(readFileSync(ROWS), { columns: true, to: MESSAGES * 70 });
  for (let message = 0; message < MESSAGES; message += 1) {
    await post(
      desk,
      '/api/v1/artifacts/sync',
      {
        type: 'CustomerMessage',
        payload: { text: rows[message * 70]!.text },
        tags: [message % 3 === 0 ? 'mail' : 'chat'],
        ...(message % 4 === 0 && { webhook: { url: `${receiverUrl}/${message % 8 === 0 ? 'crm' : 'tickets'}` } }),
      },
      { 'X-Correlation-ID': `ticket-${1_001 + message}` },
    );
  }
  // The supervisor joins a routing with an intent, which does not come.
  for (const [ticket, queue] of [
    ['ticket-2001', 'cards'],
    ['ticket-2002', 'security'],
    ['ticket-2003', 'transfers'],
  ] as const)
    await post(
      desk,
      '/api/v1/artifacts',
      { type: 'Routing', payload: { intent: 'card_arrival', queue, priority: 'normal' } },
      { 'X-Correlation-ID': ticket },
    );
}

/** Returns the batch's id. The batch still runs then. */
async function startBatch(): Promise<string> {
  const form = new FormData();
  form.set('request', JSON.stringify({ agent_name: 'classifier', input_mapping: { text: 'text' } }));
  form.set('file', await openAsBlob(ROWS), 'test.csv');
  const response = await fetch(`${desk.url}/run/batch`, { method: 'POST', body: form });
  const batch = (await response.json()) as { batch_id: string };
  if (!response.ok) throw new Error(JSON.stringify(batch));
  return batch.batch_id;
}

/** Returns the experiment's id, when it has ended. */
async function runExperiment(): Promise<string> {
  const rows = parse<Record<string, string>>(readFileSync(ROWS), { columns: true, to: MESSAGES * 70 });
  const some = Array.from({ length: MESSAGES }, (_, message) => rows[message * 70]!);
  const calm = "{'intent': payload.intent, 'queue': 'cards', 'priority': 'normal'}";
  const { experiment_id: id } = await post<{ experiment_id: string }>(desk, '/api/v1/experiments', {
    name: 'one queue for all',
    data: { csv: stringify(some, { header: true }), agent: 'classifier' },
    expected: { column: 'category' },
    output: 'Routing',
    variants: [{ name: 'now' }, { name: 'one queue', overrides: { router: { expression: calm } } }],
    scorers: [
      { name: 'calm', kind: 'cel', expression: "output.priority == 'normal'" },
      { name: 'intent', kind: 'equals', path: '/intent' },
    ],
  });
  for (;;) {
    const { state } = (await (await fetch(`${desk.url}/api/v1/experiments/${id}`)).json()) as { state: string };
    if (state !== 'running') return id;
    await setTimeout(500);
  }
}

async function workForApprovals(): Promise<void> {
  for (let invoice = 1; invoice <= INVOICES; invoice += 1)
    await post(
      approvals,
      '/api/v1/artifacts',
      {
        type: 'Invoice',
        payload: {
          lines: [
            { text: 'Chairs', amount: 180 + invoice },
            { text: 'Lamp', amount: 40.5 * invoice },
          ],
        },
      },
      { 'X-Correlation-ID': `invoice-${invoice}` },
    );
  const { executions } = await post<{ executions: Execution[] }>(approvals, '/api/v1/executions/claim', {
    agents: ['reader'],
    max: INVOICES - 2,
    claimed_by: 'worker-1',
  });
  for (const [index, { execution_id: id, lease_token, inputs }] of executions.entries()) {
    if (index % 3 === 2)
      await post(approvals, `/api/v1/executions/${id}/fail`, {
        lease_token,
        error_type: index % 2 === 0 ? 'UnreadableScan' : 'MissingTax',
        error_message: index % 2 === 0 ? `page ${index} cannot be read` : `line ${index} has no tax rate`,
        final: true,
      });
    else
      await post(approvals, `/api/v1/executions/${id}/complete`, {
        lease_token,
        outputs: [
          { type: 'Reading', payload: { total: inputs[0]!.payload.lines.reduce((sum, line) => sum + line.amount, 0) } },
        ],
      });
  }
  const approving = await post<{ executions: Execution[] }>(approvals, '/api/v1/executions/claim', {
    agents: ['approver'],
    assignee: 'anna',
    max: 3,
    claimed_by: 'anna',
  });
  for (const { execution_id: id, lease_token } of approving.executions)
    await post(approvals, `/api/v1/executions/${id}/complete`, {
      lease_token,
      outputs: [{ type: 'Approval', payload: { approved: true } }],
    });
}

/** Claims what the limits let start. The rest waits. */
async function workForFlow(): Promise<void> {
  for (const customer_id of [17, 17, 18, 17, 19, 19, 20, 18, 21, 22, 22])
    await post(flow, '/api/v1/artifacts', { type: 'Message', payload: { customer_id } });
  await post(flow, '/api/v1/executions/claim', { agents: ['classifier'], max: 20 });
  await fetch(`${flow.url}/api/v1/schedules/daily-report/trigger`, { method: 'POST' });
  const from = '2026-11-02';
  await post(flow, '/api/v1/schedules/daily-report/backfill', { from, to: '2026-11-06' });
}

async function artifacts(query: string): Promise<Artifact[]> {
  return ((await (await fetch(`${desk.url}/api/v1/artifacts?${query}`)).json()) as { items: Artifact[] }).items;
}

async function deskPictures(batch: string, experiment: string): Promise<Picture[]> {
  const [, review] = await artifacts('type=HumanReview&order=asc&limit=2');
  const reviewed = review!.correlation_id;
  const [intent] = await artifacts(`type=Intent&correlation_id=${reviewed}`);
  const graph = (page: Page): Promise<void> => page.locator('.react-flow__node').first().waitFor();
  return [
    { name: 'compare', path: '/compare?left=ticket-1001&right=ticket-1009' },
    { name: 'correlations', path: '/correlations?id_prefix=ticket' },
    {
      name: 'correlation',
      path: `/correlations/${reviewed}?show=both`,
      then: async (page) => {
        await graph(page);
        await page.getByRole('button', { name: 'supervisor' }).first().click();
        await page.getByRole('heading', { name: 'supervisor' }).waitFor();
      },
    },
    { name: 'overview', path: '/' },
    { name: 'artifacts', path: '/artifacts?tag=chat' },
    { name: 'artifact', path: `/artifacts/${intent!.id}` },
    { name: 'agents', path: '/agents' },
    { name: 'agent', path: '/agents/supervisor' },
    { name: 'graph', path: '/graph', then: graph },
    { name: 'waiting', path: '/waiting' },
    {
      name: 'new-batch',
      path: '/batches/new?agent=classifier',
      then: async (page) => {
        await page.locator('input[type=file]').setInputFiles(ROWS);
        await page.getByRole('table').first().waitFor();
      },
    },
    { name: 'deliveries', path: '/deliveries' },
    { name: 'changelog', path: '/changelog' },
    { name: 'publish', path: '/publish?type=CustomerMessage' },
    { name: 'batches', path: '/batches' },
    { name: 'batch', path: `/batches/${batch}` },
    { name: 'experiments', path: '/experiments' },
    { name: 'experiment', path: `/experiments/${experiment}`, isWhole: true },
  ];
}

async function take({ url }: Service, pictures: Picture[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const browser = await startBrowser();
  const page = await browser.newPage({
    viewport: WINDOW,
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  const devtools = await page.context().newCDPSession(page);
  for (const { name, path, isWhole = false, then } of pictures) {
    await showView(page, url, path);
    await then?.(page);
    if (isWhole) await growToWhole(page);
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    if (isWhole) await page.setViewportSize(WINDOW);
    const file = join(folder, `${name}.webp`);
    writeFileSync(file, Buffer.from(data, 'base64'));
    console.log(file);
  }
  await browser.close();
}

/** The list at the end of the view keeps its least height. */
async function growToWhole(page: Page): Promise<void> {
  const hidden = await page.locator('main').evaluate((main) => main.scrollHeight - main.clientHeight);
  await page.setViewportSize({ ...WINDOW, height: WINDOW.height + hidden });
}
