import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/** Returns the metrics of memory, CPU, event loop and garbage collection, which all applications of a process share. */
export function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
