#!/usr/bin/env -S node --max-semi-space-size=16 --v8-pool-size=1 --heap-growing-percent=50
// The flags keep the process small (docs/performance.md). They are in the first line because V8 reads them only at its start.
// `node bin/starling.js` works too, but takes more memory.
import { existsSync } from 'node:fs';

import { requireNode } from './node-version.js';

function refuse(message) {
  console.error(message);
  process.exit(1);
}

requireNode('starling', 'starling');

const program = new URL('../dist/bundle/program.js', import.meta.url);
if (!existsSync(program)) refuse('starling is not built yet: run npm run build');
// Half of libuv's threads look up names, and a name for which no server answers keeps a thread busy for many seconds. With the usual four
// threads, two such names would block all other lookups. src/http-client/lookups.ts leaves some threads free. The threads start at their
// first use, which comes after this line.
process.env.UV_THREADPOOL_SIZE ??= '16';
const { buildProgram } = await import(program.href);
await buildProgram().parseAsync();
