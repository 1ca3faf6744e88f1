import type { ReactNode } from 'react';

/** Each is drawn in 16 × 16, with lines of 1.5. */
const PATHS = {
  overview: 'M2.5 2.5h4.500v5h-4.500zM9 2.500h4.500v3H9zM9 8.500h4.500v5H9zM2.500 10.500H7v3H2.500z',
  correlation:
    'M3 8a1.500 1.500 0 1 0 3 0 1.500 1.500 0 0 0-3 0ZM10.500 3.500a1.500 1.500 0 1 0 3 0 1.500 1.500 0 0 0-3 0ZM10.500 12.500a1.500 1.500 0 1 0 3 0 1.500 1.500 0 0 0-3 0ZM6 8l4.500-4M6 8l4.500 4',
  artifact: 'M4 2.500h5l3.500 3.500v7.500H4zM9 2.500V6h3.500M6.500 9h4M6.500 11.500h2.500',
  agent: 'M3.500 5.500h9v7h-9zM8 5.500V3M6 8.500v1M10 8.500v1M1.500 8v2.500M14.500 8v2.500',
  graph: 'M2.500 6h3v4h-3zM10.500 2.500h3v4h-3zM10.500 9.500h3v4h-3zM5.500 8h2.500V4.500h2.500M8 8v3.500h2.500',
  waiting:
    'M4 2.500h8M4 13.500h8M5 2.500c0 3 3 3.500 3 5.500s-3 2.500-3 5.500M11 2.500c0 3-3 3.500-3 5.500s3 2.500 3 5.500',
  execution: 'M5 3l7.500 5L5 13z',
  limit: 'M2.500 12a5.500 5.500 0 1 1 11 0M8 12l2.500-4.500',
  schedule: 'M2.500 8a5.500 5.500 0 1 0 11 0 5.500 5.500 0 0 0-11 0ZM8 5v3.500l2.500 1',
  inbox: 'M2.500 9.500 4.500 3h7l2 6.500v3.500h-11zM2.500 9.500h3l1 1.500h3l1-1.500h3',
  batch: 'M2.500 5 8 2.500 13.500 5 8 7.500zM2.500 8 8 10.500 13.500 8M2.500 11 8 13.500l5.500-2.500',
  experiment: 'M6.500 2.500v4L3 13.500h10L9.500 6.500v-4M5 2.500h6M5 10h6',
  delivery: 'M13.500 2.500 2.500 7l4 2 2 4.500zM6.500 9l3-3',
  changelog: 'M2.500 4h1M6 4h7.500M2.500 8h1M6 8h7.500M2.500 12h1M6 12h7.500',
  compare: 'M2.500 3h4.500v10H2.500zM9 3h4.500v10H9z',
  publish: 'M8 10.500v-8M4.500 6 8 2.500 11.500 6M2.500 10.500v3h11v-3',
  search: 'M3 7a4 4 0 1 0 8 0 4 4 0 0 0-8 0ZM10 10l3.500 3.500',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  check: 'M3 8.500 6.500 12 13 4.500',
  cross: 'M4 4l8 8M12 4l-8 8',
  ring: 'M8 2.500a5.500 5.500 0 1 1-5.500 5.500',
  dot: 'M6 8a2 2 0 1 0 4 0 2 2 0 0 0-4 0Z',
  again: 'M13 8A5 5 0 1 1 11.500 4.500M13 2.500v3h-3',
  slash: 'M3 8a5 5 0 1 0 10 0 5 5 0 0 0-10 0ZM4.500 11.500l7-7',
  bars: 'M5.500 3.500v9M10.500 3.500v9',
  light:
    'M5.500 8a2.500 2.500 0 1 0 5 0 2.500 2.500 0 0 0-5 0ZM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.500 3.500l1 1M11.500 11.500l1 1M12.500 3.500l-1 1M4.500 11.500l-1 1',
  dark: 'M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500Z',
  system: 'M2.500 3h11v7.500h-11zM6 13.500h4M8 10.500v3',
  rows: 'M2.500 4h11M2.500 8h11M2.500 12h11',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  fit: 'M2.500 6v-3.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10',
  join: 'M2.500 3.500c4 0 3 4.500 7 4.500M2.500 12.500c4 0 3-4.500 7-4.500M9.500 8h4',
  down: 'M4 6.500 8 10.500l4-4',
  up: 'M4 9.500 8 5.500l4 4',
  right: 'M6.500 4l4 4-4 4',
  download: 'M8 2.500v8M4.500 7 8 10.500 11.500 7M2.500 13.500h11',
  forward: 'M2.500 8h11M9.500 4l4 4-4 4',
  warning: 'M8 2.500 14 13H2zM8 6.500v3M8 11v.500',
  terminal: 'M3 4.500 6.500 8 3 11.500M8 12h5',
} as const;

export type IconName = keyof typeof PATHS;

export interface IconProps {
  name: IconName;
  /** Without one, the icon is decoration beside a text. */
  label?: string;
  className?: string;
}

export function Icon({ name, label, className = '' }: IconProps): ReactNode {
  const named = label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label };
  return (
    <svg viewBox="0 0 16 16" className={`size-4 shrink-0 fill-none stroke-current ${className}`} {...named}>
      <path d={PATHS[name]} strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
