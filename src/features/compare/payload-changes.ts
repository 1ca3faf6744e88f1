import microdiff from 'microdiff';

/** Payloads with more characters are compared as a whole. */
export const MOST_COMPARED = 256 * 1_024;

/** Characters of a value's JSON that are shown. */
const MOST_SHOWN = 1_000;

/** Characters of the changes of one payload that are listed. */
const MOST_LISTED = 16 * 1_024;

/** A difference of two payloads, in the form of the wire. */
export interface Change {
  op: 'add' | 'remove' | 'replace';
  /** A JSON Pointer (RFC 6901). */
  path: string;
  /** JSON of the left value. Absent for `add`. */
  left?: string;
  /** JSON of the right value. Absent for `remove`. */
  right?: string;
  /** True if one of the two is only the beginning of the JSON; otherwise absent. */
  shortened?: true;
}

export interface Changes {
  listed: Change[];
  /** How many more there are. */
  leftOff: number;
}

/** Compares two payloads, given as JSON texts. Lists are compared place by place. */
export function changesOf(left: string, right: string): Changes {
  if (left === right) return { listed: [], leftOff: 0 };
  const changes = isLarge(left) || isLarge(right) ? [replaced(left, right)] : differences(left, right);
  const listed: Change[] = [];
  let characters = 0;
  for (const change of changes) {
    const shown = shortened(change);
    characters += JSON.stringify(shown).length;
    if (characters > MOST_LISTED) break;
    listed.push(shown);
  }
  return { listed, leftOff: changes.length - listed.length };
}

const isLarge = (text: string): boolean => text.length > MOST_COMPARED;

const replaced = (left: string, right: string): Change => ({ op: 'replace', path: '', left, right });

const OPS = { CREATE: 'add', REMOVE: 'remove', CHANGE: 'replace' } as const;

function differences(left: string, right: string): Change[] {
  // A list around both, because payloads need not be objects.
  return microdiff([bare(left)], [bare(right)], { cyclesFix: false }).map((difference) => ({
    op: OPS[difference.type],
    path: pointerOf(difference.path.slice(1)),
    ...(difference.type !== 'CREATE' && { left: JSON.stringify(difference.oldValue) }),
    ...(difference.type !== 'REMOVE' && { right: JSON.stringify(difference.value) }),
  }));
}

/** Without prototypes, because the library would find a key such as `toString` in every object that has one. */
const bare = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (Object.setPrototypeOf(value, null) as object)
      : value,
  );

const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function shortened({ op, path, left, right }: Change): Change {
  const isLong = [left, right].some((text) => text !== undefined && text.length > MOST_SHOWN);
  return {
    op,
    path,
    ...(left !== undefined && { left: beginningOf(left) }),
    ...(right !== undefined && { right: beginningOf(right) }),
    ...(isLong && { shortened: true }),
  };
}

const beginningOf = (text: string): string => text.slice(0, MOST_SHOWN).toWellFormed();
