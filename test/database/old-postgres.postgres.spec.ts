import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

import { openDatabase } from '../../src/database/open-database.js';
import { StartError } from '../../src/database/start-error.js';

/**
 * Returns a message of Postgres' protocol (version 3.0, as its documentation lists them): a letter, the length, and the
 * content.
 */
const message = (letter: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(letter), int32(body.length + 4), body]);
};

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => Buffer.concat([int16(value >> 16), int16(value & 65_535)]);
const text = (value: string): Buffer => Buffer.from(`${value}\0`);

const READY = message('Z', Buffer.from('I'));
const TEXT_OID = 25;

const answerOf = (value: string): Buffer =>
  Buffer.concat([
    message(
      'T',
      int16(1),
      text('version'),
      int32(0),
      int16(0),
      int32(TEXT_OID),
      int16(65_535),
      int32(0xffffffff),
      int16(0),
    ),
    message('D', int16(1), int32(value.length), Buffer.from(value)),
    message('C', text('SELECT 1')),
    READY,
  ]);

/**
 * A fake server that accepts every login and answers every query with this version. No such old server is available.
 */
async function serverOf(version: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', int32(0)), READY]));
      socket.on('data', (data) => String.fromCharCode(data[0]!) === 'Q' && socket.write(answerOf(version)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

it.each([
  ['140017', '14'],
  ['90624', '9'],
])('refuses a Postgres that is too old (%s) with a line that says which is needed', async (number, version) => {
  const server = await serverOf(number);
  try {
    const { port } = server.address() as AddressInfo;
    await expect(openDatabase(`postgres://u:p@127.0.0.1:${port}/d`)).rejects.toThrow(
      new StartError(`database_url: the server is Postgres ${version}; starling needs 15 or later`),
    );
  } finally {
    server.close();
  }
});
