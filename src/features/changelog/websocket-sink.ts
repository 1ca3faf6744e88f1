import type { Socket } from 'node:net';

import type { WebSocket } from 'ws';

import type { EntryBatch, GapEntry } from './entry.js';
import { Sink } from './stream.js';

const GOING_AWAY = 1_001;

/** Sends one JSON message for each entry. */
export class WebSocketSink extends Sink {
  private hasAnswered = true;

  constructor(
    private readonly webSocket: WebSocket,
    socket: Socket,
  ) {
    super(socket);
    webSocket.on('pong', () => {
      this.hasAnswered = true;
    });
  }

  opened(position: number): void {
    this.send(JSON.stringify({ seq: position, event_type: 'stream_opened' }));
  }

  entries(batch: EntryBatch): void {
    // The socket is corked, so that all entries go out in one write.
    this.socket.cork();
    for (const { json } of batch.entries) this.send(json);
    this.socket.uncork();
  }

  gap(gap: GapEntry): void {
    this.send(JSON.stringify(gap));
  }

  liveEvent(_name: string, json: string): void {
    this.send(json);
  }

  beat(): boolean {
    if (!this.hasAnswered) return false;
    this.hasAnswered = false;
    this.webSocket.ping();
    return true;
  }

  end(): void {
    this.webSocket.close(GOING_AWAY, 'The service is stopping; connect again and resume');
  }

  private send(json: string): void {
    this.webSocket.send(json, this.hasLeft);
    this.wrote();
  }
}
