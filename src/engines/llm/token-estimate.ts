/**
 * Bytes per token of the estimate; only the provider knows the real count. English prose has about four bytes per
 * token, JSON and most other languages three or more, so the estimate is rather too high than too low. Only text with
 * rare characters has fewer.
 */
export const BYTES_A_TOKEN = 3;

/**
 * Estimates what a model reads, as JSON. JSON escapes quotes and line breaks once more than the provider's format does.
 */
export const estimatedTokens = (read: unknown): number =>
  Math.ceil(Buffer.byteLength(JSON.stringify(read)) / BYTES_A_TOKEN);
