import type { Agent } from './random-rules.js';
import type { Sent } from './sent.js';

export interface Payload {
  key: number;
  /** How long it takes. Null if it only ends when it is called off. */
  ms: number | null;
  failures: number;
  tenant?: string;
  weight?: number;
  urgency?: number;
  /** Artifacts with the same number are joined. */
  n?: string;
  /** Attempts fail until then (epoch ms). */
  down_until?: number;
}

export interface Work {
  agent: Agent;
  payload: Payload;
  sent: Sent;
  hasDeadline?: boolean;
}
