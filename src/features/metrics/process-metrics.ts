import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/** Memory, CPU, event loop and garbage collection: of the process, however many applications it holds. */
export function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
