#!/usr/bin/env node
import { existsSync } from 'node:fs';

function refuse(message) {
  console.error(message);
  process.exit(1);
}

const REQUIRED = [24, 15];
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  refuse(`starling needs Node.js ${REQUIRED.join('.')} or later (this is ${process.versions.node}): npm ci brings one for npx and npm scripts`);
}

const cli = new URL('../dist/cli.js', import.meta.url);
if (!existsSync(cli)) refuse('starling is not built yet: run npm run build');
await import(cli.href);
