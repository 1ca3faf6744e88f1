// Shorter ones are written again faster than remembered.
const REMEMBERED_FROM = 4_096;

const texts = new WeakMap<object, string>();

/**
 * Tells that `text` is the JSON of `value`, which is not changed any more. Whoever has read or written a payload's text says
 * so here: an expression that needs a large payload then hands the text on, since listing the keys of an object with a
 * hundred thousand of them alone would hold the main thread for 20 ms.
 */
export function rememberText(value: object, text: string): void {
  if (text.length >= REMEMBERED_FROM) texts.set(value, text);
}

/** Undefined for values whose text is short or unknown. */
export const rememberedText = (value: object): string | undefined => texts.get(value);
