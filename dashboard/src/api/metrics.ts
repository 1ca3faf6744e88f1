import { useQuery } from '@tanstack/react-query';

import { answered, api } from './client';

/** One value of a metric, with its labels. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of Prometheus. */
export function samplesIn(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key, quoted]) => [key!, quoted!.replace(/\\(.)/g, '$1')]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}

const EVERY_MS = 5_000;

/** The gauges of the process that answers, and of the database; undefined until they are read. */
export function useMetrics(): readonly Sample[] | undefined {
  const { data } = useQuery({
    queryKey: ['/metrics'],
    queryFn: async ({ signal }) => samplesIn(await answered(api.GET('/metrics', { parseAs: 'text', signal }))),
    refetchInterval: EVERY_MS,
  });
  return data;
}
