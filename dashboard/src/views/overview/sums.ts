import type { MetricName, Sample } from '../../api/metrics';

/** The sum of a metric's samples that have these labels; undefined until the metrics are read. */
export const sumOf = (
  samples: readonly Sample[] | undefined,
  name: MetricName,
  labels: Record<string, string> = {},
): number | undefined =>
  samples
    ?.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((total, { value }) => total + value, 0);
