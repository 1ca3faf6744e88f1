const PATTERN = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d+))?)?(Z|[+\- ]\d{2}:?\d{2})?)?$/i;

/**
 * Epoch milliseconds of an ISO 8601 date or timestamp; `undefined` if `text` is not one. Without a time zone it is UTC.
 * A space before the offset is read as `+`, because an unencoded plus in a query string arrives as a space.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, date, time = '00:00', seconds = '00', fraction = '', zone = 'Z'] = match;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  // A leap second, which RFC 3339 allows, becomes the next second.
  const [second, added] = seconds === '60' ? ['59', 1_000] : [seconds, 0];
  const epoch = Date.parse(`${date}T${time}:${second}.${milliseconds}${offset(zone)}`);
  return isRealDate(date!) && !Number.isNaN(epoch) ? epoch + added : undefined;
}

function offset(zone: string): string {
  if (zone.toUpperCase() === 'Z') return 'Z';
  return `${zone[0] === ' ' ? '+' : zone[0]}${zone.slice(1, 3)}:${zone.slice(-2)}`;
}

/** `Date.parse` rolls 30 February over into March. */
const isRealDate = (date: string): boolean => {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
};
