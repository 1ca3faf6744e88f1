import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** Attackers use this address, so that limits for one address do not apply to other clients. */
export const ATTACKER = '127.0.0.66';

export interface Sent {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  /** The body as it is sent; an object is sent as JSON. */
  body?: Buffer | string | object;
  from?: string;
  agent?: Agent;
  timeoutMs?: number;
  /** The answer counts until this signal; then the request is aborted. */
  signal?: AbortSignal;
}

export interface Answered {
  /** The status; 0 if there was no answer. */
  status: number;
  headers: IncomingHttpHeaders;
  /** The first 64 KiB of the body. */
  text: string;
  /** The size of the whole body. */
  bytes: number;
  /** Why the answer is missing or incomplete. */
  error?: string;
}

const KEPT_BYTES = 65_536;

/** Sends one request and reads its answer without keeping it. Never rejects. */
export function send(
  url: string,
  { method, path, headers = {}, body, from, agent, timeoutMs = 30_000, signal }: Sent,
): Promise<Answered> {
  const content = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const length =
    content === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) };
  return new Promise((resolve) => {
    const answer: Answered = { status: 0, headers: {}, text: '', bytes: 0 };
    const end = (error?: string): void => resolve(error === undefined ? answer : { ...answer, error });
    const asked = request(`${url}${path}`, {
      method: method ?? (content === undefined ? 'GET' : 'POST'),
      headers: { ...length, ...headers },
      localAddress: from,
      agent: agent ?? false,
      signal,
    });
    const timer = setTimeout(() => asked.destroy(new Error(`no whole answer within ${timeoutMs} ms`)), timeoutMs);
    asked.once('close', () => clearTimeout(timer));
    asked.on('error', (error) => end(error.message));
    asked.once('response', (response) => {
      answer.status = response.statusCode!;
      answer.headers = response.headers;
      response.on('data', (chunk: Buffer) => {
        if (answer.bytes < KEPT_BYTES) answer.text += chunk.toString('utf8');
        answer.bytes += chunk.length;
      });
      response.once('end', () => end());
      response.once('error', (error) => end(error.message));
    });
    asked.end(content);
  });
}
