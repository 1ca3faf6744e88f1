// A separate process: serves the built page of React alone, with the artifacts of another server as a stored answer.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

import { build } from 'vite';

const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

const [folder = '', url = ''] = process.argv.slice(2);
process.env.NODE_ENV = 'production';
await build({
  root: join(import.meta.dirname, 'react-page'),
  build: { outDir: folder, emptyOutDir: true, modulePreload: { polyfill: false } },
  logLevel: 'error',
});
const artifacts = await (await fetch(`${url}/api/v1/artifacts?limit=50`)).text();

const server = createServer(({ url: path = '/' }, response) => {
  if (path.startsWith('/api/')) return response.setHeader('content-type', 'application/json').end(artifacts);
  const file = path === '/' ? '/index.html' : path;
  // Browsers ask for an icon.
  if (!existsSync(join(folder, file))) return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
  return response.end(readFileSync(join(folder, file)));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
