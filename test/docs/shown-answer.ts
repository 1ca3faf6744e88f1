/** The ids and tokens that a page shows, with the values that replace them when its commands run. */
export type Known = Map<string, string>;

/** The ids of artifacts and other rows, of a lease, of a span. */
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![\w-])[\w-]{43}(?![\w-])|\b[0-9a-f]{16}\b/;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z/;
/** Numbers that differ at another time or on another machine. */
const MEASURES = [
  'duration_ms',
  'responseTime',
  'seq',
  'after',
  'next',
  'completed_items',
  'progress_percentage',
  'total_executions',
  'total_artifacts_\\w+',
  'executions',
  'starts',
  'ends',
  'p50',
  'p95',
  'p99',
  'artifacts_\\w+',
];
const MEASURE = new RegExp(`(?<="(?:${MEASURES.join('|')})": ?)[\\d.]+|(?<= in )\\d+(?= s\\b)`);
/** A measured time in a column of a table, after `took`, or one of two with an arrow between them. */
const ELAPSED = /(?<= {2}| took | → )(?:\d+ min )?[\d.]+ m?s(?= {2}| → |\n|$)/;
const VARIABLE = new RegExp(
  `(?<id>${ID.source})|(?<time>${TIME.source})|(?<measure>${MEASURE.source})|(?<elapsed>${ELAPSED.source})|\\.\\.\\.`,
  'g',
);

const withoutSpace = (text: string): string => text.replace(/\s/g, '');

const literally = (text: string): string => withoutSpace(text).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/**
 * Returns whether `answer` contains what a page shows of it: the same text except white space, times, and the parts
 * that the page omits with `...`. Lines of plain text may have others between them. Records new ids in `known`.
 */
export function holds(answer: string, shown: string, isPlain: boolean, known: Known): boolean {
  const parts = isPlain ? shown.trim().split('\n') : [shown];
  const found: string[] = [];
  const pattern = parts.map((part) => patternOf(part, found, known)).join('.*?');
  const match = new RegExp(pattern, 's').exec(withoutSpace(answer));
  match?.slice(1).forEach((id, index) => known.set(found[index]!, id));
  return match !== null;
}

function patternOf(shown: string, found: string[], known: Known): string {
  let [pattern, from] = ['', 0];
  for (const { 0: text, index, groups = {} } of shown.matchAll(VARIABLE)) {
    const variable = groups['id']
      ? patternOfId(text, found, known)
      : groups['time']
        ? TIME.source
        : groups['measure']
          ? // A slow machine takes minutes.
            '(?:\\d+min)?[\\d.]+'
          : groups['elapsed']
            ? '(?:\\d+min)?[\\d.]+m?s'
            : '.*?';
    pattern += literally(shown.slice(from, index)) + variable;
    from = index + text.length;
  }
  return pattern + literally(shown.slice(from));
}

function patternOfId(id: string, found: string[], known: Known): string {
  if (known.has(id)) return literally(known.get(id)!);
  if (found.includes(id)) return `\\${found.indexOf(id) + 1}`;
  found.push(id);
  return `(${id.length === 36 ? '[0-9a-f-]{36}' : `[\\w-]{${id.length}}`})`;
}

/** Returns the command with the ids that are known by now. */
export const withKnown = (command: string, known: Known): string =>
  command.replaceAll(new RegExp(ID.source, 'g'), (id) => known.get(id) ?? id);
