import { setTimeout as delay } from 'node:timers/promises';

import { type Attack, byConnections, open, repeat } from './attack.js';

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13';
const UPGRADE = `GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${KEY}\r\n\r\n`;
const SSE = 'GET /api/v1/changelog/stream?live=true&after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n';

const [CONTINUATION, TEXT, PING] = [0x0, 0x1, 0x9];

/** Returns a client's masked frame (RFC 6455, section 5.2), with a mask of zeros. */
function frame(opcode: number, payload: string, isFinal = true): Buffer {
  const length =
    payload.length < 126
      ? Buffer.from([0x80 | payload.length])
      : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode]), length, Buffer.alloc(4), Buffer.from(payload)]);
}

const FILTER = frame(TEXT, '{}');

/** Sends `bytes` of frames at a time, ten times a second. */
const flood = (what: string, message: Buffer, bytes: number, reads = true): Attack => ({
  name: `floods of ${what} over 20 WebSockets`,
  run: byConnections(async (connections) => {
    await open(connections, 20, UPGRADE, { reads });
    await delay(500);
    connections.writeToAll(FILTER);
    const messages = Buffer.concat(Array.from({ length: Math.ceil(bytes / message.length) }, () => message));
    await repeat(40, 100, () => connections.writeToAll(messages));
  }),
});

export const STREAMS: Attack[] = [
  {
    name: '400 unread streams',
    run: byConnections(async (connections) => {
      await open(connections, 400, SSE, { reads: false });
      await delay(5_000);
    }),
  },
  {
    name: '400 WebSockets that never send a filter',
    run: byConnections(async (connections) => {
      await open(connections, 400, UPGRADE);
      await delay(4_000);
    }),
  },
  flood('pings', frame(PING, 'p'.repeat(100)), 4_096),
  flood('pings with unread answers', frame(PING, 'p'.repeat(100)), 16_384, false),
  flood('messages after the filter', FILTER, 4_096),
  flood('large messages after the filter', frame(TEXT, `{"a":"${'x'.repeat(60_000)}"}`), 60_000),
  {
    name: '200 first messages in endless fragments',
    run: byConnections(async (connections) => {
      await open(connections, 200, UPGRADE);
      await delay(500);
      connections.writeToAll(frame(TEXT, '{', false));
      await repeat(40, 100, () => connections.writeToAll(frame(CONTINUATION, 'x'.repeat(1_000), false)));
    }),
  },
];
