import { type LeasedRow, leasedTable } from '../leasing/leased-table.js';

/** Deliveries wait in the lines of the origins that they go to, so that one host has one share, however many URLs it has. */
export const DELIVERIES = leasedTable('deliveries', 'origin', ['target_id', 'correlation_id', 'sequence', 'attempt', 'traceparent']);

/** What is read of a delivery that is claimed, or whose lease was lost. */
export interface LeasedDelivery extends LeasedRow {
  target_id: string;
  correlation_id: string;
  sequence: number;
  attempt: number;
  traceparent: string | null;
}
