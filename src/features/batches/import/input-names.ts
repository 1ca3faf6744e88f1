import { DomainError } from '../../../common/domain-error.js';

/** Refuses input names that would meet in one input. DomainError `invalid`. */
export function checkInputNames(sources: readonly { source: string; name: string }[]): void {
  const sourceOf = new Map<string, string>();
  for (const { source, name } of sources) {
    const other = sourceOf.get(name);
    if (other !== undefined) {
      throw new DomainError(
        'invalid',
        `input_mapping: ${excerpt(other)} and ${excerpt(source)} both become ${excerpt(name)}; give one another name`,
      );
    }
    sourceOf.set(name, source);
  }
}

const LONGEST = 60;

/** Quotes a value of a client's data for a message, and cuts it if it is long. */
export const excerpt = (text: string): string =>
  JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text);
