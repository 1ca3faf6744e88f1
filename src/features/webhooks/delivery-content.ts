import { toTimestamp } from '../../common/timestamp.js';
import type { ClaimedDelivery } from './delivery-claims.js';

/**
 * Returns the body of a delivery (docs/webhooks.md). It has the same bytes in every attempt, which is why `timestamp`
 * is that of the artifact. `sequence` is the artifact's number in its correlation.
 */
export function deliveryContent(
  artifact: Omit<ClaimedDelivery['artifact'], 'payload'>,
  payload: string,
  sequence: number,
): string {
  const { id, type, produced_by, tags } = artifact;
  const createdAt = toTimestamp(artifact.created_at);
  // Payload and tags are JSON already.
  const fields = [
    `"id":${JSON.stringify(id)}`,
    `"type":${JSON.stringify(type)}`,
    `"produced_by":${JSON.stringify(produced_by)}`,
    `"payload":${payload}`,
    `"created_at":"${createdAt}"`,
    `"tags":${tags}`,
  ];
  const correlationId = JSON.stringify(artifact.correlation_id);
  return `{"event_type":"artifact.created","correlation_id":${correlationId},"sequence":${sequence},"artifact":{${fields.join()}},"timestamp":"${createdAt}"}`;
}
