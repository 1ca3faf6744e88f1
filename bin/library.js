// What programs import. It loads the package after the check of Node.js, because an older one fails on its imports.
import { createRequire } from 'node:module';

import { requireNode } from './node-version.js';

requireNode('starling-agents', 'node <your program>');
export const { Agent, serve, work } = createRequire(import.meta.url)('../dist/library/index.js');
