import { Agent, type IncomingHttpHeaders, request } from 'node:http';

import type { FuzzRequest } from './requests.js';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

const NO_ANSWER_MS = 60_000;

/** A client on few connections that are kept open, so that a leftover of one request meets the next. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 24 });

  constructor(private readonly url: string) {}

  send({ method, target, headers, body }: Omit<FuzzRequest, 'route'>): Promise<Answer> {
    const { hostname, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const length = body === null ? {} : { 'Content-Length': body.length };
      const call = request({
        hostname,
        port,
        method,
        path: target,
        headers: { ...headers, ...length },
        agent: this.agent,
        timeout: NO_ANSWER_MS,
      });
      call.on('timeout', () => call.destroy(new Error(`no answer within ${NO_ANSWER_MS} ms`)));
      call.on('error', reject);
      call.on('response', (response) => {
        // It never ends.
        if (response.headers['content-type']?.startsWith('text/event-stream')) {
          response.destroy();
          resolve({ status: response.statusCode!, headers: response.headers, text: '' });
          return;
        }
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() }),
        );
      });
      call.end(body ?? undefined);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
