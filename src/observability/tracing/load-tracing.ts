import type { Logger } from '../../common/logger.js';
import type { TracingSettings } from '../../config/tracing-settings.js';
import { NoTracing, type Tracing } from './tracing.js';

/** Without settings nothing is traced, and OpenTelemetry is not loaded. */
export async function loadTracing(settings: TracingSettings | null, logger: Logger): Promise<Tracing> {
  if (!settings) return new NoTracing();
  const { openTelemetry } = await import('./open-telemetry.js');
  return openTelemetry(settings, logger);
}
