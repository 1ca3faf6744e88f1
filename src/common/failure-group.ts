import { hash } from 'node:crypto';

/** Characters of an error message that are compared. */
const MOST_READ = 2_000;
/** Characters of a normalised message. */
export const MAX_GROUP_MESSAGE = 300;
const DIGEST_LENGTH = 32;

// In this order: a quoted value may contain an id, and an id may contain numbers. Each pattern takes linear time.
const PLACEHOLDERS: readonly (readonly [RegExp, string])[] = [
  [/"[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g, '<value>'],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, '<id>'],
  [/\b0x[\da-f]+\b/gi, '<hex>'],
  // A word with letters and digits, such as a hash or a token.
  [/\b(?=[a-z_]*\d)(?=\d*[a-z_])\w{8,}\b/gi, '<id>'],
  // A status stays, such as that of an HTTP answer: 401 and 404 have different causes.
  [/(?<!\b(?:answered|status|status code|HTTP) (?=\d{3}\b(?![.,:]\d))\d{0,2})\d+(?:[.,:]\d+)*/gi, '<number>'],
];

/** A group of failures that are counted together. */
export interface FailureGroup {
  /** The same for equal agents, error types and normalised messages, in every database. */
  id: string;
  /** The normalised message. */
  message: string;
}

/** Returns the group of a failure. */
export function failureGroupOf(agent: string, errorType: string, errorMessage: string): FailureGroup {
  const message = normalisedMessage(errorMessage);
  const id = hash('sha256', JSON.stringify([agent, errorType, message]), 'hex').slice(0, DIGEST_LENGTH);
  return { id, message };
}

/**
 * Replaces the parts of an error message in which failures with one cause differ: quoted values, ids, hexadecimal and
 * other numbers.
 */
export function normalisedMessage(message: string): string {
  const replaced = PLACEHOLDERS.reduce(
    (text, [pattern, placeholder]) => text.replace(pattern, placeholder),
    message.slice(0, MOST_READ).toWellFormed(),
  );
  // A cut must not leave half of a surrogate pair, which Postgres refuses.
  return replaced.replace(/\s+/g, ' ').trim().slice(0, MAX_GROUP_MESSAGE).toWellFormed();
}
