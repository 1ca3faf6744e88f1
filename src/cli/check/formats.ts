import { relative, resolve } from 'node:path';

import { describeDiagnostic, describeDiagnostics } from '../../catalog/diagnostics.js';
import { readEnvironment } from '../../config/environment.js';
import { type Finding, type Findings, hasErrors } from './findings.js';

function asText(found: Findings): string {
  const { file, findings } = found;
  if (!hasErrors(found))
    return [
      ...findings.map((each) => `warning: ${placeIn(file, each)}${describeDiagnostic(each)}`),
      `${file}: ok`,
    ].join('\n');
  return [...Map.groupBy(findings, (each) => each.file)]
    .flatMap(([name, some]) => (name === undefined ? some.map(describeDiagnostic) : describeDiagnostics(name, some)))
    .join('\n');
}

/** The start of a line about another file than the checked one. */
const placeIn = (checked: string, { file }: Finding): string =>
  file === undefined || file === checked ? '' : `${file}: `;

/** One document on one line, so that each check of `--watch` is a line. */
function asJson(found: Findings): string {
  const { file, findings } = found;
  return JSON.stringify({
    file,
    valid: !hasErrors(found),
    findings: findings.map((each) => ({ ...each, file: each.file === file ? undefined : each.file })),
  });
}

/** The commands of GitHub's "Workflow commands for GitHub Actions" that annotate lines. */
const asAnnotations = ({ findings }: Findings): string => findings.map(annotation).join('\n');

function annotation({ severity, file, line, column, path, message }: Finding): string {
  const properties = Object.entries({ file: file && pathInRepository(file), line, col: column })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escaped(String(value), /[%\r\n:,]/g)}`);
  return `::${severity} ${properties.join(',')}::${escaped(path === '' ? message : `${path}: ${message}`, /[%\r\n]/g)}`;
}

/** GitHub decodes these characters. */
const escaped = (text: string, special: RegExp): string =>
  text.replace(special, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** Annotations name files from the root of the repository, and a step may run in a folder of it. */
function pathInRepository(file: string): string {
  const { GITHUB_WORKSPACE: root } = readEnvironment();
  return root ? relative(root, resolve(file)) : file;
}

/** How `starling check` prints what it found. Each returns one text, which may be empty. */
export const FORMATS = {
  text: asText,
  json: asJson,
  github: asAnnotations,
} satisfies Record<string, (findings: Findings) => string>;

export type Format = keyof typeof FORMATS;
