import { createServer } from 'node:net';

/** Systems give higher ports to programs that ask for any port. Browsers and `fetch` refuse some lower ones. */
const FIRST = 20_000;
const LAST = 32_000;

/** Returns a port on which nothing listens. No other program gets it by chance until the caller listens on it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await canListen(port)) return port;
  }
}

async function canListen(port: number): Promise<boolean> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (isFree) await new Promise((resolve) => probe.close(resolve));
  return isFree;
}
