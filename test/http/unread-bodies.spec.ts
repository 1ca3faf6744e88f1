import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

import { eventually } from '../support/eventually.js';
import { startSampleApp } from './sample-app.js';

/** The data of one read is still passed on after the connection is paused. */
const MOST_PARTS = 16 * 1_024;

/** Uses the edge on an HTTP server, and a route that stops reading. */
it('the unread rest of a body stays with its client', async () => {
  const { app } = await startSampleApp();
  const server = app.getHttpServer() as Server;
  let request: IncomingMessage | undefined;
  server.once('request', (one: IncomingMessage) => (request = one));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(
    'POST /run/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  client.write('1\r\nx\r\n'.repeat(200_000));
  await eventually('no more is read', () => request?.socket.isPaused() === true);
  expect(request!.readableLength).toBeLessThan(MOST_PARTS);
  // The server reads no more, and would not notice that its client disconnects.
  request!.socket.destroy();
  client.destroy();
  await app.close();
});
