// A worker for the agent `reader`: claims executions, says that it is at them, and completes them. Needs Node 18 or later, and nothing else.
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

/** What this worker holds, by the ids of the executions; given back where it is told to stop. */
const held = new Map();
let isStopping = false;

async function work({ execution_id: id, lease_token, lease_until, inputs }) {
  // A third of the lease: two heartbeats may get lost.
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

/** Somebody else begins at once with what this worker would not get done. */
async function stop() {
  if (isStopping) return;
  isStopping = true;
  await Promise.all([...held].map(([id, lease_token]) => end(id, 'release', { lease_token })));
  process.exit(0);
}

for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, stop);

/** Until the service has answered: the same lease may say the same twice. A 409 says that the execution is somebody else's by now. */
async function end(id, how, body) {
  for (;;) {
    const answer = await post(`${id}/${how}`, body).catch(unreachable);
    console.log(name, how, id, answer.status, answer.body.detail ?? answer.body.state);
    if (answer.status === 400) throw new Error(answer.body.detail);
    if (answer.status < 500) return;
    await sleep(1_000);
  }
}

while (!isStopping) {
  const { status, body } = await post('claim', { agents: ['reader'], wait: 20, claimed_by: name }).catch(unreachable);
  if (status === 200) {
    for (const { execution_id, lease_token } of body.executions) held.set(execution_id, lease_token);
    for (const execution of body.executions) await work(execution);
  } else {
    console.log(name, 'claim', status, body.detail);
    await sleep(1_000);
  }
}
