import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { eventually } from './eventually.js';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Absent if it begins its trace. */
  parentSpanId?: string;
  name: string;
  kind: number;
  /** 2 is an error. */
  status: { code?: number };
  attributes: Record<string, string | number>;
  events: { name: string; attributes: Record<string, string | number> }[];
  links: { traceId: string; spanId: string }[];
  /** The `service.name` of the process that sent it. */
  service: string;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number; doubleValue?: number };
}

type WireSpan = Omit<CollectedSpan, 'attributes' | 'events' | 'service'> & {
  attributes: Attribute[];
  events: { name: string; attributes: Attribute[] }[];
};

interface WireBody {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}

/** The numbers of OTLP for the kinds of spans. */
export const KIND = { internal: 1, server: 2, client: 3, consumer: 5 } as const;

/** Receives traces as a collector does: OTLP over HTTP, as JSON. */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** Everything that was received, unchanged. */
  readonly bodies: string[] = [];
  readonly headers: IncomingMessage['headers'][] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.method === 'POST' && request.url === '/v1/traces') collector.receive(request, body);
        response.setHeader('Content-Type', 'application/json').end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const collector = new TraceCollector(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return collector;
  }

  /** The variables for a process that sends its spans here soon after they have finished. */
  variables(service = 'starling'): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url, OTEL_SERVICE_NAME: service, OTEL_BSP_SCHEDULE_DELAY: '20' };
  }

  /**
   * Returns the spans of a trace, in the order of their ends, once all of these names have arrived, as often as they
   * are listed.
   */
  async trace(traceId: string, names: string[]): Promise<CollectedSpan[]> {
    const found = (): CollectedSpan[] => this.spans.filter((span) => span.traceId === traceId);
    const namesOf = (spans: CollectedSpan[]): string =>
      spans
        .map(({ name }) => name)
        .toSorted()
        .join(', ');
    await eventually(
      `the trace ${traceId} has ${names.toSorted().join(', ')}`,
      () => namesOf(found()) === names.toSorted().join(', '),
    ).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}; it has ${namesOf(found())}`);
    });
    return found();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private receive({ headers }: IncomingMessage, body: string): void {
    this.headers.push(headers);
    this.bodies.push(body);
    for (const { resource, scopeSpans } of (JSON.parse(body) as WireBody).resourceSpans) {
      const service = String(asRecord(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const events = span.events.map(({ name, attributes }) => ({ name, attributes: asRecord(attributes) }));
        this.spans.push({ ...span, attributes: asRecord(span.attributes), events, service });
      }
    }
  }
}

const asRecord = (attributes: Attribute[]): Record<string, string | number> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? '']),
  );
