import type { Visibility } from '../../catalog/visibility.js';
import type { JsonObject } from '../../common/json.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';

/** Rows that a feature stores in the same transaction as a client's artifact. */
export interface PublishCompanion {
  /** Names that the transaction locks when it begins (`Transaction.lock`). */
  names: readonly string[];
  /**
   * Called when the transaction has locked the correlation, unless the artifact is already stored. A DomainError undoes
   * the publish.
   */
  store(tx: Transaction, correlation: TrackedCorrelation): Promise<void>;
}

export interface Publication {
  /**
   * An idempotency key may fix it beforehand. If an artifact with this id is already stored, nothing is stored again.
   */
  artifactId: string;
  correlationId: string;
  /** Whether the service made the id for this request and has given it to no client, so that no correlation has it. */
  isNewCorrelation?: boolean;
  type: string;
  payload: JsonObject;
  tags: string[];
  partitionKey: string | null;
  visibility: Visibility;
  companion?: PublishCompanion;
  /** The client waits for what follows from it. Only then agents that only compute run before it is stored. */
  isAwaited?: boolean;
  /** Milliseconds until the correlation is cancelled, unless it has settled by then. Absent or null: no deadline. */
  deadlineMs?: number | null;
}

interface Stored {
  artifactId: string;
  correlationId: string;
  /** Position of the published artifact. */
  seq: number;
  /** The generation of the correlation that this publish belongs to; `CorrelationWaiters.wait` takes it. */
  generation: number;
}

/**
 * `sequence`: its number within the correlation, starting at 1. `isRepeated`: an earlier request stored it, so the correlation
 * may have settled.
 */
export type Published = Stored & ({ isRepeated: false; sequence: number } | { isRepeated: true });
