import { Registry } from 'prom-client';

/** The metrics of one application; the library's global registry would mix those of several in one process. */
export class MetricsRegistry extends Registry {}
