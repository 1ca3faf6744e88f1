import { Registry } from 'prom-client';

/** The metrics of one application. The library's global registry would mix several applications in one process. */
export class MetricsRegistry extends Registry {}
