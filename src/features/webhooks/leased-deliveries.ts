import { type LeasedRow, leasedTable } from '../../queue/leased-table.js';

/** Each target has a queue of deliveries, so that a slow or dead target does not delay others. */
export const DELIVERIES = leasedTable('deliveries', 'queue', [
  'target_id',
  'correlation_id',
  'sequence',
  'attempt',
  'traceparent',
]);

/** The columns that are read for a claimed delivery, and for one whose lease was lost. */
export interface LeasedDelivery extends LeasedRow {
  target_id: string;
  correlation_id: string;
  sequence: number;
  attempt: number;
  traceparent: string | null;
}
