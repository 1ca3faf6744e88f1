import type { Clients } from './clients.js';
import type { Operation } from './operations.js';

/** The steps of clients; the others are those of the machine. */
export type ClientOperation = Exclude<Operation, { kind: 'crash' | 'suspend' | 'setClock' | 'fullDisk' | 'ice' }>;

/** Makes clients send what a step says. */
export function sendFor(operation: ClientOperation, clients: Clients): void {
  switch (operation.kind) {
    case 'orders':
      for (let index = 0; index < operation.count; index += 1) clients.order(operation.keyed, operation.webhook);
      return;
    case 'trip':
      return clients.trip();
    case 'pleas':
      for (let index = 0; index < operation.count; index += 1) clients.plea();
      return;
    case 'leaps':
      for (let index = 0; index < operation.count; index += 1) clients.leap();
      return;
    case 'retryAll':
      return clients.retryAll();
    case 'topics':
      return clients.topics(operation.count);
    case 'flow':
      for (const key of operation.keys) clients.flow(operation.agent, key);
      return;
    case 'recall':
      return clients.recall(operation.key);
    case 'limit':
      return clients.changeLimit(operation.name, operation.values);
    case 'pause':
      return clients.pause(operation.agent, operation.ms);
    case 'pair':
      return clients.pair();
    case 'nap':
      return clients.nap(operation.ms, operation.cancelAfter);
    case 'deadline':
      return clients.deadline(operation.ms, operation.deadline);
    case 'schedule':
      return clients.schedule(operation.seconds, operation.ticks);
    case 'run':
      return clients.run();
    case 'replay':
      return clients.replay(operation.pick, operation.mode, operation.cancelAfter);
    case 'experiment':
      return clients.experiment(operation);
    case 'batch':
      return clients.batch(operation.rows);
  }
}
