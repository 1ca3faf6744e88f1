/**
 * No model's own count, which only its provider knows. English prose has about four bytes a token, JSON and most other languages three or
 * more: with three, the estimate is rather too high than too low. Only text of rare characters has fewer.
 */
export const BYTES_A_TOKEN = 3;

/** Of what a model reads, written as JSON. That escapes quotes and line breaks once more than the provider's own form does. */
export const estimatedTokens = (read: unknown): number => Math.ceil(Buffer.byteLength(JSON.stringify(read)) / BYTES_A_TOKEN);
