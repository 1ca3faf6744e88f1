import { isScalar, parseDocument } from 'yaml';

import type { Environment } from '../../config/environment.js';

// Private-use characters: a plain YAML scalar may contain them even inside `{...}`, where `${NAME}` would not parse.
const OPEN = '\uE000';
const CLOSE = '\uE001';
const PLACEHOLDER = new RegExp(`${OPEN}(\\d+)${CLOSE}`, 'g');
const VARIABLE = /\$\{([A-Za-z_][^}\n]*)\}/g;

/**
 * The `${NAME}` and `${NAME:-default}` of a configuration text. They are replaced by placeholders before the text is
 * parsed and filled in afterwards, so that no value of the environment can change the structure of the file.
 */
export class Interpolation {
  private readonly references: string[] = [];

  constructor(private readonly environment: Environment) {}

  setAside(text: string): string {
    return text.replace(VARIABLE, (_, reference: string) => `${OPEN}${this.references.push(reference) - 1}${CLOSE}`);
  }

  areIn(text: string): boolean {
    return text.includes(OPEN);
  }

  /** Returns the text as the file spells it. */
  restore(text: string): string {
    return text.replace(PLACEHOLDER, (_, position: string) => `\${${this.references[Number(position)]}}`);
  }

  /** Fills in the variables. Calls `onProblem` for each one that has no value. */
  fillIn(text: string, onProblem: (message: string) => void): string {
    return text.replace(PLACEHOLDER, (_, position: string) => {
      const reference = this.references[Number(position)]!;
      const value = this.valueOf(reference, onProblem);
      return value ?? `\${${reference}}`;
    });
  }

  private valueOf(reference: string, onProblem: (message: string) => void): string | undefined {
    const [, name, fallback] = /^(\w+)(?::-(.*))?$/.exec(reference) ?? [];
    if (name === undefined) {
      onProblem(`\${${reference}} is neither \${NAME} nor \${NAME:-default}`);
      return undefined;
    }
    const value = this.environment[name];
    if (fallback !== undefined) return value || fallback;
    if (value === undefined)
      onProblem(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`);
    return value;
  }
}

/** Returns what an unquoted YAML scalar with this text means: a number, true, false, null or the text. */
export function readPlainScalar(text: string): string | number | boolean | null {
  if (text === '') return null;
  const { contents, errors } = parseDocument(text);
  // A value such as `8 # x` is probably not meant as a number.
  if (errors.length > 0 || !isScalar(contents) || contents.source !== text) return text;
  const { value } = contents;
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : text;
}
