import { connect, type Socket } from 'node:net';

import { ATTACKER } from './requests.js';

/** An attacker's raw connections, held as long as the service allows it. */
export class Connections {
  private readonly sockets = new Set<Socket>();

  constructor(private readonly port: number) {}

  get open(): number {
    return [...this.sockets].filter((socket) => !socket.destroyed && socket.readyState === 'open').length;
  }

  /**
   * Opens a connection and writes to it. Reads the answer only if `reads`. Ignores errors, which an attacker expects.
   */
  begin(bytes: Buffer | string, { reads = true } = {}): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1', localAddress: ATTACKER });
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    if (reads) socket.resume();
    else socket.pause();
    socket.write(bytes);
    return socket;
  }

  /** Writes to all connections that are still open. */
  writeToAll(bytes: Buffer | string): void {
    for (const socket of this.sockets) if (socket.writable) socket.write(bytes);
  }

  endAll(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }
}
