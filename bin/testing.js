// What tests import. It loads the test kit after the check of Node.js, because an older one fails on its imports.
import { requireNode } from './node-version.js';

requireNode('starling-agents/testing', 'node --test');

/** See src/testing/testing.ts. */
export async function startTestKit(configuration, options) {
  const kit = await import('../dist/library/testing.js');
  return kit.startTestKit(configuration, options);
}
