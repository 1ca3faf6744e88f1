import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** Attackers come from here, so that what is bounded for one address is not bounded for others. */
export const ATTACKER = '127.0.0.66';

export interface Sent {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  /** As it goes out; an object as JSON. */
  body?: Buffer | string | object;
  from?: string;
  agent?: Agent;
  timeoutMs?: number;
  /** Until this signal the answer counts; then the request is given up. */
  signal?: AbortSignal;
}

export interface Answered {
  /** 0 where no answer came. */
  status: number;
  headers: IncomingHttpHeaders;
  /** The first 64 KiB of it. */
  text: string;
  /** Of the whole body. */
  bytes: number;
  /** Why no whole answer came. */
  error?: string;
}

const KEPT_BYTES = 65_536;

/** Sends one request, and reads its answer without keeping it. Never rejects. */
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
