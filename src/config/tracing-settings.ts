import type { Environment } from './environment.js';
import { SettingsError } from './resolve-settings.js';

export type SamplerName = 'always_on' | 'always_off' | 'traceidratio';

/** How traces are sampled and sent. Variables that the exporter reads itself are not included. */
export interface TracingSettings {
  sampler: SamplerName;
  /** Whether the sampling decision of the caller's trace also applies here. */
  parentBased: boolean;
  /** The share of traces that `traceidratio` samples, from 0 to 1. */
  ratio: number;
  /** Milliseconds. Undefined means the default of OpenTelemetry's specification. */
  scheduledDelayMillis?: number;
  exportTimeoutMillis?: number;
  maxQueueSize?: number;
  maxExportBatchSize?: number;
  /** Log lines about values that are ignored. */
  ignored: string[];
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

const SAMPLERS: readonly SamplerName[] = ['always_on', 'always_off', 'traceidratio'];

/**
 * Reads the variables of OpenTelemetry's "Environment Variable Specification". Null if no endpoint is set, or if traces
 * are disabled. Throws a SettingsError if an endpoint is not a URL. Other invalid values are ignored, as the
 * specification demands, because such variables are often set for a whole fleet.
 */
export function readTracingSettings(environment: Environment): TracingSettings | null {
  const given = ENDPOINTS.filter((name) => environment[name]);
  if (
    given.length === 0 ||
    environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' ||
    environment.OTEL_TRACES_EXPORTER === 'none'
  )
    return null;
  const wrong = given.filter((name) => !isHttpUrl(environment[name]!));
  if (wrong.length > 0)
    throw new SettingsError(
      wrong.map((source) => ({ source, message: 'must be an http or https URL, such as http://127.0.0.1:4318' })),
    );
  const ignored: string[] = [];
  return {
    ...readSampler(environment, ignored),
    scheduledDelayMillis: readWhole(environment, 'OTEL_BSP_SCHEDULE_DELAY', ignored),
    exportTimeoutMillis: readWhole(environment, 'OTEL_BSP_EXPORT_TIMEOUT', ignored),
    maxQueueSize: readWhole(environment, 'OTEL_BSP_MAX_QUEUE_SIZE', ignored),
    maxExportBatchSize: readWhole(environment, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', ignored),
    ignored: [...ignored, ...otherProtocols(environment)],
  };
}

// The text may contain a password, so it is never shown.
function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

function readSampler(
  environment: Environment,
  ignored: string[],
): Pick<TracingSettings, 'sampler' | 'parentBased' | 'ratio'> {
  const name = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const sampler = SAMPLERS.find((known) => known === name.replace(/^parentbased_/, ''));
  if (!sampler)
    ignored.push(
      'OTEL_TRACES_SAMPLER: must be always_on, always_off or traceidratio, or one of them with the prefix parentbased_; every trace is sampled',
    );
  return {
    sampler: sampler ?? 'always_on',
    parentBased: !sampler || name.startsWith('parentbased_'),
    ratio: readRatio(environment, ignored),
  };
}

function readRatio(environment: Environment, ignored: string[]): number {
  const text = environment.OTEL_TRACES_SAMPLER_ARG || '1';
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  ignored.push('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1; 1 is used');
  return 1;
}

function readWhole(environment: Environment, name: string, ignored: string[]): number | undefined {
  const text = environment[name];
  if (!text) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  ignored.push(`${name}: must be a whole number above 0; the default is used`);
  return undefined;
}

function otherProtocols(environment: Environment): string[] {
  return ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']
    .filter((name) => environment[name] && environment[name] !== 'http/json')
    .map(
      (name) => `${name}: traces are sent as http/json, which collectors accept at the same address as http/protobuf`,
    );
}
