/** One request of a load, sent again and again. */
export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A task for the load generator, as it is sent to its process. */
export interface Load {
  /** One server, or several that share the connections. */
  url: string | readonly string[];
  /** Sent in turn. More than there are connections are dealt out to these. */
  requests: LoadRequest[];
  connections: number;
  /** How long, or how many in total. */
  until: { seconds: number } | { requests: number };
}

/** Latencies in milliseconds, from sending a request to having read its answer. */
export interface Measured {
  requestsPerSecond: number;
  p50: number;
  p95: number;
  p99: number;
  /** Share of one core that the generator itself was busy, 0 to 1: near 1, the figures are its own limit. */
  generatorBusy: number;
}

export const post = (path: string, body: object, headers: Record<string, string> = {}): LoadRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

export const get = (path: string): LoadRequest => ({ method: 'GET', path });
