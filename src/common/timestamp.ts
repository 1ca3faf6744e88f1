const DAY_MS = 86_400_000;

let newestDay = NaN;
let date = '';

/**
 * Epoch ms as UTC ISO 8601 with milliseconds and `Z`. The result equals `toISOString`, which takes about as long as
 * reading the artifact that the time belongs to. Consecutive calls mostly ask for times on the same day, so the date is
 * cached.
 */
export function toTimestamp(epochMs: number): string {
  const day = Math.floor(epochMs / DAY_MS);
  if (day !== newestDay) {
    date = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length);
    newestDay = day;
  }
  const ms = epochMs - day * DAY_MS;
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  return `${date}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${three(ms % 1_000)}Z`;
}

const two = (count: number): string => (count < 10 ? `0${count}` : `${count}`);

const three = (count: number): string => (count < 100 ? `0${two(count)}` : `${count}`);
