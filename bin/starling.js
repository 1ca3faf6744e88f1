#!/usr/bin/env -S node --max-semi-space-size=16 --v8-pool-size=1 --no-maglev --heap-growing-percent=50
// The flags keep the process small (docs/performance.md); V8 takes them at its start alone, so they stand in the line above.
// `node bin/starling.js` works as well, and takes more memory.
import { existsSync } from 'node:fs';

function refuse(message) {
  console.error(message);
  process.exit(1);
}

const REQUIRED = [24, 15];
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  refuse(
    `starling needs Node.js ${REQUIRED.join('.')} or later (this is ${process.versions.node}): npm ci brings one for npx and npm scripts`,
  );
}

const program = new URL('../dist/cli/program.js', import.meta.url);
if (!existsSync(program)) refuse('starling is not built yet: run npm run build');
// Half of libuv's threads look up names, and a name that no server answers for keeps one busy for many seconds: of the usual four, two
// such names would keep all others waiting. Of these, src/http-client/lookups.ts leaves them a part. The threads are started at their first
// use, which comes after this line.
process.env.UV_THREADPOOL_SIZE ??= '16';
const { buildProgram } = await import(program.href);
await buildProgram().parseAsync();
