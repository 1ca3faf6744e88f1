// A remote agent that takes a second for every answer, for any number of parallel requests; prints its address on
// standard output.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const TAKES_MS = 1_000;
const ANSWER = JSON.stringify({ outputs: [{ type: 'Answer', payload: { text: 'It will be there tomorrow.' } }] });

const server = createServer((request, response) => {
  request
    .resume()
    .on(
      'end',
      () => void wait(TAKES_MS).then(() => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)),
    );
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
