import type { ReactNode } from 'react';

import { numberText } from '../formats';

export interface ProgressProps {
  /** The name of the work for screen readers. */
  label: string;
  /** Completed or failed. */
  ended: number;
  failed: number;
  total: number;
}

/** A bar of what is completed and what failed. */
export function Progress({ label, ended, failed, total }: ProgressProps): ReactNode {
  const percent = (count: number): string => `${total === 0 ? 0 : (count / total) * 100}%`;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={ended}
      aria-valuetext={`${numberText(ended)} of ${numberText(total)}, ${numberText(failed)} failed`}
      className="flex h-2 w-full overflow-hidden rounded-full border border-line-strong bg-raised"
    >
      <div className="bg-completed" style={{ width: percent(ended - failed) }} />
      <div className="bg-failed" style={{ width: percent(failed) }} />
    </div>
  );
}
