/** A part of a text. Its memory is reserved until the reader asks for the next part or stops reading. */
export interface TextPart {
  text: string;
  /** Whether this is the last part. */
  isLast: boolean;
}

/** A text that may be too large to be held in memory as a whole. It is made while it is sent. */
export abstract class TextInParts {
  constructor(readonly contentType = 'application/json; charset=utf-8') {}

  /** The whole text if it is small and already read; otherwise null. */
  abstract readonly atHand: string | null;

  /**
   * The text from its beginning, the same on each call. Nothing is read before the first part is requested; a
   * DomainError at that point becomes a normal error answer. The reader must call `return` if it does not take all
   * parts.
   */
  abstract parts(): AsyncGenerator<TextPart, void>;
}

/** The whole text; null if it is longer than `mostCharacters`. */
export async function collectText(source: TextInParts, mostCharacters: number): Promise<string | null> {
  let whole = source.atHand ?? '';
  if (whole !== '') return whole.length <= mostCharacters ? whole : null;
  for await (const { text } of source.parts()) {
    if (whole.length + text.length > mostCharacters) return null;
    whole += text;
  }
  return whole;
}
