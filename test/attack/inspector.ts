import { once } from 'node:events';

import { WebSocket } from 'ws';

import { eventually } from '../support/eventually.js';

const MIB = 2 ** 20;

interface Reply {
  id?: number;
  result?: { result?: { value?: unknown } };
  error?: { message: string };
}

/** V8's inspector of a process that was started with `--inspect`. */
export class Inspector {
  private count = 0;
  private readonly waiting = new Map<number, (reply: Reply) => void>();

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const reply = JSON.parse(String(data)) as Reply;
      this.waiting.get(reply.id ?? 0)?.(reply);
      this.waiting.delete(reply.id ?? 0);
    });
    // It closes with the process, whose end the tests check.
    socket.on('error', () => undefined);
  }

  /** `log` is the output of the process, which includes its inspector's address. */
  static async of(log: readonly string[]): Promise<Inspector> {
    const address = (): string | undefined => /ws:\/\/\S+/.exec(log.join('\n'))?.[0];
    await eventually('the process says where its inspector is', () => address() !== undefined);
    const socket = new WebSocket(address()!);
    await once(socket, 'open');
    return new Inspector(socket);
  }

  /** Returns the MiB in use after a collection: objects, and buffers outside of the heap. */
  async liveMib(): Promise<number> {
    await this.ask('HeapProfiler.collectGarbage');
    const { heapUsed, external } = await this.usage();
    return heapUsed + external;
  }

  /** Memory of the process as it is, in MiB. */
  async usage(): Promise<NodeJS.MemoryUsage> {
    const { result } = await this.ask('Runtime.evaluate', {
      expression: `Object.fromEntries(Object.entries(process.memoryUsage()).map(([name, bytes]) => [name, bytes / ${MIB}]))`,
      returnByValue: true,
    });
    return result?.result?.value as NodeJS.MemoryUsage;
  }

  close(): void {
    this.socket.terminate();
  }

  private ask(method: string, params: object = {}): Promise<Reply> {
    this.count += 1;
    const id = this.count;
    return new Promise((resolve, reject) => {
      const onEnd = (): void => reject(new Error('the process has ended'));
      if (this.socket.readyState !== WebSocket.OPEN) return onEnd();
      this.socket.once('close', onEnd);
      this.waiting.set(id, (reply) => {
        this.socket.off('close', onEnd);
        if (reply.error) reject(new Error(`${method}: ${reply.error.message}`));
        else resolve(reply);
      });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
