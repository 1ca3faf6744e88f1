// Writing a shorter text again is faster than remembering it.
const REMEMBERED_FROM = 4_096;

const texts = new WeakMap<object, string>();

/**
 * Remembers that `text` is the JSON of `value`, which must not change any more. Code that reads or writes a payload's
 * text calls it, so that an expression that needs a large payload can pass on the text. Otherwise just listing the keys
 * of an object with a hundred thousand keys would block the main thread for 20 ms.
 */
export function rememberText(value: object, text: string): void {
  if (text.length >= REMEMBERED_FROM) texts.set(value, text);
}

/** Undefined for values whose text is short or unknown. */
export const rememberedText = (value: object): string | undefined => texts.get(value);
