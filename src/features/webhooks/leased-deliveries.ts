import { type LeasedRow, leasedTable } from '../../queue/leased-table.js';

/** Deliveries wait in the queues of their targets, so that one that is slow or dead holds up no other. */
export const DELIVERIES = leasedTable('deliveries', 'queue', ['target_id', 'correlation_id', 'sequence', 'attempt', 'traceparent']);

/** What is read of a delivery that is claimed, or whose lease was lost. */
export interface LeasedDelivery extends LeasedRow {
  target_id: string;
  correlation_id: string;
  sequence: number;
  attempt: number;
  traceparent: string | null;
}
