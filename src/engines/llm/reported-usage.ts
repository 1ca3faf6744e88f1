import { isJsonObject, type JsonObject } from '../../common/json.js';

/** Tokens of one call of a model. */
export interface Tokens {
  input: number;
  output: number;
}

/**
 * What one chunk of a provider's stream says that the call has taken until then; null where it says nothing. The SDK hands this on
 * with the end of the answer alone, which a call that is given up or breaks off does not reach. `before`: what was said last.
 * Of the formats of Anthropic (from the first chunk on), Google (each chunk), OpenAI and those compatible with it (the last one).
 */
export function reportedUsage(chunk: unknown, before: Tokens): Tokens | null {
  if (!isJsonObject(chunk)) return null;
  const usage = [chunk.usage, chunk.usageMetadata, within(chunk.message), within(chunk.response)].find(isJsonObject);
  if (!usage) return null;
  const input = sum(usage, ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']) ?? sum(usage, ['prompt_tokens']) ?? sum(usage, ['promptTokenCount', 'toolUsePromptTokenCount']);
  const output = sum(usage, ['output_tokens']) ?? sum(usage, ['completion_tokens']) ?? sum(usage, ['candidatesTokenCount', 'thoughtsTokenCount']);
  return { input: input ?? before.input, output: output ?? before.output };
}

const within = (holder: unknown): unknown => (isJsonObject(holder) ? holder.usage : undefined);

/** Null where the first of them is missing. */
function sum(usage: JsonObject, names: readonly [string, ...string[]]): number | null {
  if (typeof usage[names[0]] !== 'number') return null;
  return names.map((name) => usage[name]).reduce<number>((total, count) => total + (typeof count === 'number' ? count : 0), 0);
}
