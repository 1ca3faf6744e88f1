import type { RampOptions, Remaining } from '../agent-options.js';
import type { Diagnostics, Path } from '../diagnostics.js';
import { OVERRIDABLE } from '../override-options.js';
import { BASE, MOST_VARIANTS, partsOf, shareText, WHOLE } from '../variants.js';

/** Finds problems of `variants` and `rollback` that the schema of an agent cannot express. */
export function checkShares({ variants, rollback }: Remaining<RampOptions>, agent: Path, errors: Diagnostics): void {
  const path = [...agent, 'variants'];
  if (variants === undefined) {
    if (rollback !== undefined && !errors.touches(path))
      errors.add([...agent, 'rollback'], 'counts the attempts of variants; add variants, or remove rollback');
    return;
  }
  const all = Object.entries(variants);
  if (all.length === 0) errors.add(path, 'has no variant; add one, or remove variants');
  if (all.length > MOST_VARIANTS) errors.add(path, `must have at most ${MOST_VARIANTS} variants`);
  for (const [name, options = {}] of all) {
    if (name === BASE) errors.add([...path, name], `${BASE} means the agent's own options; choose another name`);
    if (!errors.touches([...path, name]) && OVERRIDABLE.every((option) => options[option] === undefined))
      errors.add(
        [...path, name],
        `must have one or more of ${OVERRIDABLE.join(', ')}, which replace those of the engine`,
      );
  }
  const shares = all.flatMap(([, options]) => options?.share ?? []);
  const sum = shares.reduce((parts, share) => parts + partsOf(share), 0);
  if (sum > WHOLE) errors.add(path, `the shares are ${shareText(sum)} together; they must be at most 100%`);
}
