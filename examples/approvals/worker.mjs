// A worker for the agent `reader`: it claims executions, renews their leases, and completes them. It needs only Node.js 18
// or later.
//   STARLING_URL=http://127.0.0.1:8344 WORKER=worker-1 node worker.mjs
import { setTimeout as sleep } from 'node:timers/promises';

const url = process.env.STARLING_URL ?? 'http://127.0.0.1:8344';
const name = process.env.WORKER ?? `worker-${process.pid}`;
const workMs = Number(process.env.WORK_MS ?? 0);

async function post(path, body) {
  const response = await fetch(`${url}/api/v1/executions/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const unreachable = (error) => ({
  status: 503,
  body: { detail: `${url} cannot be reached: ${error.cause?.message ?? error.message}` },
});

/** The lease tokens of the executions that this worker has claimed, by execution id. It releases them when it stops. */
const held = new Map();
let claiming;
let isStopping = false;

async function work({ execution_id: id, lease_token, lease_until, inputs }) {
  // Every third of the lease, so that two heartbeats may fail.
  const heartbeat = setInterval(
    () => post(`${id}/heartbeat`, { lease_token }).catch(() => {}),
    Math.max((Date.parse(lease_until) - Date.now()) / 3, 100),
  );
  try {
    await sleep(workMs);
    const total = inputs[0].payload.lines.reduce((sum, { amount }) => sum + amount, 0);
    await end(id, 'complete', { lease_token, outputs: [{ type: 'Reading', payload: { total } }] });
  } catch (error) {
    await end(id, 'fail', { lease_token, error_type: error.name, error_message: error.message });
  } finally {
    clearInterval(heartbeat);
    held.delete(id);
  }
}

/** Releases the claimed executions, so that another worker gets them immediately and not when the leases expire. */
async function stop() {
  if (isStopping) return;
  isStopping = true;
  // An answer that is on its way may bring executions. A claim that still waits for work is not waited for.
  await Promise.race([claiming, sleep(1_000)]);
  await Promise.all([...held].map(([id, lease_token]) => end(id, 'release', { lease_token })));
  process.exit(0);
}

for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, stop);

/**
 * Repeats the request until the service answers, which is safe with the same lease token. A 409 says that another worker
 * has the execution now.
 */
async function end(id, how, body) {
  for (;;) {
    const answer = await post(`${id}/${how}`, body).catch(unreachable);
    console.log(name, how, id, answer.status, answer.body.detail ?? answer.body.state);
    if (answer.status === 400) throw new Error(answer.body.detail);
    if (answer.status < 500) return;
    await sleep(1_000);
  }
}

async function claim() {
  const { status, body } = await post('claim', { agents: ['reader'], wait: 20, claimed_by: name }).catch(unreachable);
  if (status === 200) {
    for (const { execution_id, lease_token } of body.executions) held.set(execution_id, lease_token);
    return body.executions;
  }
  console.log(name, 'claim', status, body.detail);
  await sleep(1_000);
  return [];
}

while (!isStopping) {
  claiming = claim();
  for (const execution of await claiming) if (!isStopping) await work(execution);
}
