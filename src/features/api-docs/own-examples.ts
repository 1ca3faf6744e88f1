import type { Catalog } from '../../catalog/catalog.js';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import { type ExampleWorkflow, exampleWorkflow } from './example-workflow.js';

/** Replaces one value of an example. Returns undefined for a value that stays. */
type Replace = (value: JsonValue) => JsonValue | undefined;

/**
 * The examples in the code are about one workflow: a CustomerMessage, of which the agent classifier makes an Intent.
 * Rewrites them in a document in the words of the catalog, so that a reader can send them to this server.
 */
export function withOwnExamples<T extends object>(document: T, catalog: Catalog): T {
  const workflow = exampleWorkflow(catalog);
  if (!workflow) return document;
  const replaceValue = replacement(workflow, catalog);
  const rewrite = (value: JsonValue): JsonValue => {
    const replaced = replaceValue(value);
    if (replaced !== undefined) return replaced;
    if (Array.isArray(value)) return value.map(rewrite);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [replaceValue(key) as string, rewrite(inner)]),
    );
  };
  return inExamples(document as JsonObject, rewrite) as T;
}

/** Applies a function to every example of a document. `isNamed`: the keys of `part` are names, and no keywords. */
function inExamples(part: JsonValue, rewrite: (example: JsonValue) => JsonValue, isNamed = false): JsonValue {
  if (Array.isArray(part)) return part.map((item) => inExamples(item, rewrite));
  if (!isJsonObject(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      !isNamed && (key === 'example' || key === 'examples')
        ? rewrite(value)
        : inExamples(value, rewrite, !isNamed && key === 'properties'),
    ]),
  );
}

function replacement(workflow: ExampleWorkflow, catalog: Catalog): Replace {
  const payloads = payloadsOf(workflow);
  const names = namesOf(workflow, catalog);
  const pattern = new RegExp(`\\b(${[...names.keys()].join('|')})\\b`, 'g');
  return (value) => {
    if (typeof value === 'string') return value.replace(pattern, (name) => names.get(name)!);
    return isJsonObject(value) ? payloads.get(canonicalJson(value)) : undefined;
  };
}

function namesOf({ agent, type, produced }: ExampleWorkflow, { agents }: Catalog): Map<string, string> {
  const own = agent?.name ?? 'classifier';
  const other = agents.find(({ name }) => name !== own)?.name ?? own;
  return new Map([
    ['CustomerMessage', type.name],
    ['CustomerMesage', misspelt(type.name)],
    ['What a customer wrote', type.description],
    ['classifier', own],
    ['classifer', misspelt(own)],
    ['Names the intent of a message', agent?.description ?? ''],
    ...['Intent', 'Routing', 'Reply'].map((name): [string, string] => [name, produced.name]),
    ...['router', 'responder', 'supervisor'].map((name): [string, string] => [name, other]),
  ]);
}

const misspelt = (name: string): string => (name.length > 2 ? name.slice(0, -2) + name.slice(-1) : `${name}x`);

/** The payloads and inputs in the examples of the code, by their texts. */
function payloadsOf({ type, payload, producedPayload }: ExampleWorkflow): Map<string, JsonObject> {
  const [key = 'text'] = Object.keys(payload);
  const replaced: [JsonObject, JsonObject][] = [
    [{ text: 'My card has not arrived yet' }, payload],
    [{ text: 'Please cancel my transfer' }, payload],
    [{ intent: 'card_arrival', confidence: 0.98 }, producedPayload],
    [{ intent: 'card_arrival' }, producedPayload],
    [{ reply: 'Your card is on its way.' }, producedPayload],
    [{ text: 'text' }, { [key]: key }],
    [
      { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } },
      type.schema ?? { type: 'object' },
    ],
  ];
  return new Map(replaced.map(([sample, own]) => [canonicalJson(sample), own]));
}
