import type { Behaviour, Received } from './receiver.js';

/** A request to a remote agent. */
export interface RemoteRequest {
  execution_id: string;
  correlation_id: string;
  agent: string;
  attempt: number;
  inputs: { id: string; type: string; payload: Record<string, unknown> }[];
}

export const requestIn = ({ body }: Received): RemoteRequest => JSON.parse(body) as RemoteRequest;

/** Answers 200 with `answer` as JSON. */
export const replies =
  (answer: unknown): Behaviour =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));

/** Uses each of these behaviours once, and then the last one. */
export function inTurn(...behaviours: Behaviour[]): Behaviour {
  let next = 0;
  return (response, received) => behaviours[Math.min(next++, behaviours.length - 1)]!(response, received);
}
