import type { Environment } from './environment.js';
import { SettingsError } from './resolve-settings.js';

export type SamplerName = 'always_on' | 'always_off' | 'traceidratio';

/** How traces are taken and sent, where they are. What the exporter reads of the environment by itself is not here. */
export interface TracingSettings {
  sampler: SamplerName;
  /** A caller that samples his trace, or does not, decides for ours. */
  parentBased: boolean;
  /** The part of traces that `traceidratio` takes, from 0 to 1. */
  ratio: number;
  /** Undefined has the default of the specification. Milliseconds. */
  scheduledDelayMillis?: number;
  exportTimeoutMillis?: number;
  maxQueueSize?: number;
  maxExportBatchSize?: number;
  /** What was given and does not hold, a line each: to be logged. */
  ignored: string[];
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

const SAMPLERS: readonly SamplerName[] = ['always_on', 'always_off', 'traceidratio'];

/**
 * The variables of OpenTelemetry's "Environment Variable Specification"; null where no endpoint is given, or traces are turned off.
 * SettingsError where an endpoint is none. Any other value that cannot be used counts as not given, as the specification has it:
 * such variables are often those of a whole fleet.
 */
export function readTracingSettings(environment: Environment): TracingSettings | null {
  const given = ENDPOINTS.filter((name) => environment[name]);
  if (given.length === 0 || environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || environment.OTEL_TRACES_EXPORTER === 'none') return null;
  const wrong = given.filter((name) => !isHttpUrl(environment[name]!));
  if (wrong.length > 0) throw new SettingsError(wrong.map((name) => `${name}: must be an http or https URL, such as http://127.0.0.1:4318`));
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

// Its text may hold a password, and is never shown.
function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

function readSampler(environment: Environment, ignored: string[]): Pick<TracingSettings, 'sampler' | 'parentBased' | 'ratio'> {
  const name = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const sampler = SAMPLERS.find((known) => known === name.replace(/^parentbased_/, ''));
  if (!sampler) ignored.push('OTEL_TRACES_SAMPLER: must be always_on, always_off or traceidratio, or one of them after parentbased_; every trace is taken');
  return { sampler: sampler ?? 'always_on', parentBased: !sampler || name.startsWith('parentbased_'), ratio: readRatio(environment, ignored) };
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
    .map((name) => `${name}: traces are sent as http/json, which collectors take at the same address as http/protobuf`);
}
