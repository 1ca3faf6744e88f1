/** A shorter secret could occur in any text, so it is not replaced. */
const SHORTEST = 6;
const INSTEAD = '[secret]';

/** Removes the configured values of a tool server from texts. */
export class Secrets {
  private readonly values: readonly string[];

  /** A server may quote a line of a value, or an `Authorization` without its scheme. */
  constructor(values: readonly string[]) {
    const parts = values.flatMap((value) => [value, ...value.split(/[\r\n]+/), value.replace(/^\S+ +/, '')]);
    // The longest first: a value may contain another one.
    this.values = [...new Set(parts)]
      .filter(({ length }) => length >= SHORTEST)
      .toSorted((one, other) => other.length - one.length);
  }

  hiddenIn(text: string): string {
    return this.values.reduce((shown, value) => shown.replaceAll(value, INSTEAD), text);
  }

  /** The same for a text whose rest is missing. Its end is removed if a value may begin there. */
  hiddenInStart(text: string): string {
    const shown = this.hiddenIn(text);
    const begun = this.values.map((value) => {
      let length = Math.min(value.length - 1, shown.length);
      while (!shown.endsWith(value.slice(0, length))) length -= 1;
      return length;
    });
    return shown.slice(0, shown.length - Math.max(0, ...begun));
  }
}
