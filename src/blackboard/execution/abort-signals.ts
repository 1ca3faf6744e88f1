import type { Signals } from '../../pubsub/signals.js';

/** Ids in one message between processes, which can have 7,500 bytes. */
const IDS_IN_A_SIGNAL = 100;

/** Aborts the engines of cancelled executions, in every process. Call it after the commit. */
export function abortEngines(signals: Signals, ids: readonly string[]): void {
  for (let sent = 0; sent < ids.length; sent += IDS_IN_A_SIGNAL)
    signals.executionsCancelled.publishEverywhere(ids.slice(sent, sent + IDS_IN_A_SIGNAL));
}
