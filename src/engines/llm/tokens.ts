import { isJsonObject, type JsonObject } from '../../common/json.js';

/** Tokens of one call of a model. */
export interface Tokens {
  input: number;
  output: number;
}

/**
 * Returns the usage of a call so far from one chunk of a provider's stream, or null if the chunk has none. The SDK
 * reports usage only at the end of the answer, which a call that is aborted or breaks off does not reach. `before` is
 * the last known usage. It reads the formats of Anthropic (from the first chunk), Google (each chunk), and OpenAI and
 * compatible servers (the last chunk).
 */
export function reportedUsage(chunk: unknown, before: Tokens): Tokens | null {
  if (!isJsonObject(chunk)) return null;
  const usage = [chunk.usage, chunk.usageMetadata, within(chunk.message), within(chunk.response)].find(isJsonObject);
  if (!usage) return null;
  const input =
    sum(usage, ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']) ??
    sum(usage, ['prompt_tokens']) ??
    sum(usage, ['promptTokenCount', 'toolUsePromptTokenCount']);
  const output =
    sum(usage, ['output_tokens']) ??
    sum(usage, ['completion_tokens']) ??
    sum(usage, ['candidatesTokenCount', 'thoughtsTokenCount']);
  return { input: input ?? before.input, output: output ?? before.output };
}

const within = (holder: unknown): unknown => (isJsonObject(holder) ? holder.usage : undefined);

/** Null if the first of these fields is missing. */
function sum(usage: JsonObject, names: readonly [string, ...string[]]): number | null {
  if (typeof usage[names[0]] !== 'number') return null;
  return names
    .map((name) => usage[name])
    .reduce<number>((total, count) => total + (typeof count === 'number' ? count : 0), 0);
}

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
