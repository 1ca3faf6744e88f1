import type { Logger } from '../../common/logger.js';
import { missingPackages } from '../../common/optional-packages.js';
import { SettingsError } from '../../config/resolve-settings.js';
import type { TracingSettings } from '../../config/tracing-settings.js';
import { NoTracing, type Tracing } from './tracing.js';

const PACKAGES = [
  '@opentelemetry/core',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
];

/**
 * Without settings nothing is traced, and OpenTelemetry is not loaded. Throws a SettingsError if its packages are not
 * installed.
 */
export async function loadTracing(settings: TracingSettings | null, logger: Logger): Promise<Tracing> {
  if (!settings) return new NoTracing();
  const missing = missingPackages('tracing', PACKAGES);
  if (missing !== null) {
    const message = `${missing}, or set OTEL_SDK_DISABLED=true`;
    throw new SettingsError([{ source: 'OTEL_EXPORTER_OTLP_ENDPOINT', message }]);
  }
  const { openTelemetry } = await import('./open-telemetry.js');
  return openTelemetry(settings, logger);
}
