import { CatalogError, type Diagnostic } from '../../src/catalog/diagnostics.js';
import { type Given, load } from './loading.js';

/**
 * Returns the errors and warnings of a configuration, each as `error at ▸ path: message` if it is where the text has the
 * mark, which is removed first, otherwise with line and column.
 */
export async function findingsIn(marked: string, given: Given = {}): Promise<string[]> {
  const before = marked.slice(0, Math.max(marked.indexOf('▸'), 0)).split('\n');
  const mark = `line ${before.length}, column ${before.at(-1)!.length + 1}: `;
  const text = marked.replace('▸', '');
  const lines = await load(text, given).then(
    ({ warnings }) => warnings.map((warning) => `warning ${warning}`),
    (error: unknown) => {
      if (error instanceof CatalogError) return error.diagnostics.map((diagnostic) => `error ${described(diagnostic)}`);
      throw error;
    },
  );
  return lines.map((line) => line.replace(mark, 'at ▸ '));
}

const described = ({ path, line, column, message }: Diagnostic): string =>
  `line ${line}, column ${column}: ${path === '' ? '' : `${path}: `}${message}`;
