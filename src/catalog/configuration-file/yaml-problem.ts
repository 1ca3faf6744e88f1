import { type Document, visit, type YAMLError } from 'yaml';

/** A problem of a text that is not YAML, with its position in the text. */
export interface YamlProblem {
  message: string;
  position: number;
}

/**
 * The cause of everything that the parser reports: the first error, as all others may follow from it. CEL without
 * quotes is the most frequent one.
 */
export function yamlProblem(document: Document, first: YAMLError, text: string): YamlProblem {
  const [position] = first.pos;
  if (first.code === 'MULTIPLE_DOCS')
    return { message: 'the file contains several YAML documents; keep one', position };
  const expression = unquotedExpression(text, position);
  if (expression)
    return {
      message: `${expression.key} is CEL without quotes, which YAML reads in its own way; put the expression in quotes, or write \`${expression.key}: |\` and the expression in the next lines`,
      position: expression.position,
    };
  const quote = openQuote(document, position);
  if (quote !== undefined)
    return { message: `the text that begins here has no closing ${text[quote]}`, position: quote };
  const bracket = first.message.startsWith('Flow') ? openBracket(document, position, text) : undefined;
  if (bracket !== undefined) return { message: `the ${text[bracket]} here is not closed`, position: bracket };
  if (/^Unexpected flow-(map|seq)-end/.test(first.message))
    return { message: `the ${text[position]} here closes nothing`, position };
  return { message: WORDS[first.code] ?? first.message, position };
}

/** Other words for messages of the parser that an author of a configuration may not understand. */
const WORDS: Partial<Record<YAMLError['code'], string>> = {
  BLOCK_AS_IMPLICIT_KEY:
    'the value contains a further key; put a text that contains ": " in quotes, and begin a key where its neighbours begin',
  TAB_AS_INDENT: 'a tab cannot indent; use spaces',
};

/** The start of a text in quotes that ends at `position`, where the parser misses its last quote. */
function openQuote(document: Document, position: number): number | undefined {
  let start: number | undefined;
  visit(document, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE') && range?.[1] === position) [start] = range;
    },
  });
  return start;
}

/** The start of the innermost list or map around `position` that has no last bracket. */
function openBracket(document: Document, position: number, text: string): number | undefined {
  let start: number | undefined;
  visit(document, {
    Collection: (_, { flow, range }) => {
      if (!flow || !range || position <= range[0] || range[2] < position) return;
      if (!/[\]}]/.test(text[range[1] - 1]!)) [start] = range;
    },
  });
  return start;
}

const EXPRESSION_KEY = /(?<=^|[\s{,])(?<key>where|by|expression):\s+(?![|>\s])/g;

/** The expression without quotes that an error at `position` follows from. */
function unquotedExpression(text: string, position: number): { key: string; position: number } | null {
  const before = [...text.slice(0, position + 1).matchAll(EXPRESSION_KEY)].at(-1);
  if (!before || endOfValue(text, before.index + before[0].length) < position) return null;
  return { key: before.groups!.key!, position: before.index };
}

/** The end of the line in which the brackets that open at `start` are closed. Brackets in quotes do not count. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  const tokens = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[{[(]|[}\])]|\n|$/g;
  tokens.lastIndex = start;
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    if (token[0] === '') break;
    if (/^[{[(]/.test(token[0])) depth++;
    else if (/^[}\])]/.test(token[0])) depth--;
    else if (token[0] === '\n' && depth <= 0) return token.index;
  }
  return text.length;
}
