import { SettingsError } from '../../src/config/resolve-settings.js';
import { readTracingSettings } from '../../src/config/tracing-settings.js';

const OTEL_EXPORTER_OTLP_ENDPOINT = 'https://collector.example:4318';

const read = (more: Record<string, string> = {}) => readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT, ...more });

describe("OpenTelemetry's variables", () => {
  it('turn tracing off without an endpoint, or with the SDK disabled', () => {
    const off = [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
      { OTEL_SERVICE_NAME: 'desk', OTEL_TRACES_SAMPLER: 'always_on' },
    ];
    expect(off.map((environment) => readTracingSettings(environment))).toEqual([null, null, null]);
    expect([read({ OTEL_SDK_DISABLED: 'TRUE' }), read({ OTEL_TRACES_EXPORTER: 'none' })]).toEqual([null, null]);
    expect(read({ OTEL_SDK_DISABLED: 'false' })).not.toBeNull();
    expect(
      readTracingSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }),
    ).not.toBeNull();
  });

  it('sample every trace by default, unless the caller does not sample', () => {
    expect(read()).toEqual({ sampler: 'always_on', parentBased: true, ratio: 1, ignored: [] });
  });

  it.each([
    ['always_off', undefined, { sampler: 'always_off', parentBased: false, ratio: 1 }],
    ['traceidratio', '0.25', { sampler: 'traceidratio', parentBased: false, ratio: 0.25 }],
    ['parentbased_traceidratio', '0', { sampler: 'traceidratio', parentBased: true, ratio: 0 }],
    ['parentbased_always_off', undefined, { sampler: 'always_off', parentBased: true, ratio: 1 }],
  ])('sampler %s with %s', (sampler, ratio, expected) => {
    expect(read({ OTEL_TRACES_SAMPLER: sampler, ...(ratio && { OTEL_TRACES_SAMPLER_ARG: ratio }) })).toMatchObject({
      ...expected,
      ignored: [],
    });
  });

  it('that are invalid count as not given, and are named', () => {
    const wrong = {
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: '2',
      OTEL_BSP_SCHEDULE_DELAY: '-1',
      OTEL_BSP_MAX_QUEUE_SIZE: 'many',
      OTEL_BSP_EXPORT_TIMEOUT: '2000',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    };
    const settings = read(wrong)!;
    expect(settings).toMatchObject({ sampler: 'always_on', parentBased: true, ratio: 1, exportTimeoutMillis: 2_000 });
    expect([settings.scheduledDelayMillis, settings.maxQueueSize]).toEqual([undefined, undefined]);
    expect(settings.ignored.map((line) => line.split(':')[0])).toEqual([
      'OTEL_TRACES_SAMPLER',
      'OTEL_TRACES_SAMPLER_ARG',
      'OTEL_BSP_SCHEDULE_DELAY',
      'OTEL_BSP_MAX_QUEUE_SIZE',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
    ]);
  });

  it.each(['127.0.0.1:4318', 'grpc://collector:4317', 'collector'])(
    'an endpoint %s is refused without showing it',
    (endpoint) => {
      const refused = () => readTracingSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint });
      expect(refused).toThrow(
        new SettingsError([
          {
            source: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
            message: 'must be an http or https URL, such as http://127.0.0.1:4318',
          },
        ]),
      );
    },
  );
});
