/** A part of a text. What it takes in memory is reserved until the next part is asked for, or no more are wanted. */
export interface TextPart {
  text: string;
  /** Nothing comes after it. */
  isLast: boolean;
}

/** A text that may be too large to be held as a whole, and is made as it is sent. */
export abstract class TextInParts {
  constructor(readonly contentType = 'application/json; charset=utf-8') {}

  /** The whole text, where it is small and nothing of it has to be read any more; else null. */
  abstract readonly atHand: string | null;

  /**
   * The text from its beginning, the same each time. Nothing is read before the first part is asked for; a DomainError there is an
   * answer like any other. `return` has to be called where not all parts are taken.
   */
  abstract parts(): AsyncGenerator<TextPart, void>;
}

/** The whole text; null where it is longer than `mostCharacters`. */
export async function collectText(source: TextInParts, mostCharacters: number): Promise<string | null> {
  let whole = source.atHand ?? '';
  if (whole !== '') return whole.length <= mostCharacters ? whole : null;
  for await (const { text } of source.parts()) {
    if (whole.length + text.length > mostCharacters) return null;
    whole += text;
  }
  return whole;
}
