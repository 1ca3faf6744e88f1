// A remote agent that answers later. It needs only Node.js 18 or later.
//
// AGENT_SECRET=whsec_... node archive.mjs     (PORT, default 9002; STARLING_URL, default http://127.0.0.1:8344)
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';

const { AGENT_SECRET, PORT = '9002', STARLING_URL = 'http://127.0.0.1:8344', TAKES_MS = '500' } = process.env;
if (!AGENT_SECRET) throw new Error('AGENT_SECRET is not set');
const OLDEST_SECONDS = 300;
const AGAIN_AFTER_MS = 500;

/** Keyed by the execution's id, so that a request that is sent again is not stored twice. */
const archived = new Map();

const server = createServer(async (request, response) => {
  if (request.method === 'GET') return show(request.url.slice('/archived/'.length), response);
  const body = await read(request);
  if (!isSigned(request.headers, body)) return response.writeHead(401).end('the signature is missing or wrong');
  const { execution_id: id, inputs } = JSON.parse(body);
  response.writeHead(202, { location: `/archived/${id}` }).end();
  await complete(id, request.headers['starling-lease-token'], await archive(id, inputs[0].payload));
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`the archive listens on http://127.0.0.1:${server.address().port}/`),
);

async function archive(id, invoice) {
  if (!archived.has(id)) {
    await setTimeout(Number(TAKES_MS));
    archived.set(id, {
      number: invoice.number,
      sha256: createHash('sha256').update(JSON.stringify(invoice)).digest('hex'),
    });
  }
  return archived.get(id);
}

/** Repeats the request until the service has accepted it, or says that the lease has ended. */
async function complete(id, leaseToken, payload) {
  for (;;) {
    const status = await post(`/api/v1/executions/${id}/complete`, {
      lease_token: leaseToken,
      outputs: [{ type: 'Archived', payload }],
    });
    console.log(`${id}: ${status ?? 'no answer'}`);
    if (status !== null && status < 500) return;
    await setTimeout(AGAIN_AFTER_MS);
  }
}

async function post(path, body) {
  try {
    const response = await fetch(new URL(path, STARLING_URL), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}

function show(id, response) {
  const found = archived.get(id);
  response
    .writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    .end(JSON.stringify(found ?? { error: 'not archived yet' }));
}

/** Whether the sender knows the secret, and the request is not an old one that is sent again (Standard Webhooks). */
function isSigned(headers, body) {
  const sentAt = headers['webhook-timestamp'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt)) <= OLDEST_SECONDS)) return false;
  const key = AGENT_SECRET.startsWith('whsec_')
    ? Buffer.from(AGENT_SECRET.slice(6), 'base64')
    : Buffer.from(AGENT_SECRET);
  const expected = createHmac('sha256', key).update(`${headers['webhook-id']}.${sentAt}.${body}`).digest();
  const given = (headers['webhook-signature'] ?? '').split(' ').filter((part) => part.startsWith('v1,'));
  return given
    .map((part) => Buffer.from(part.slice(3), 'base64'))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
}

async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
