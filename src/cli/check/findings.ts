import { resolve } from 'node:path';

import { CatalogError, type Diagnostic } from '../../catalog/diagnostics.js';
import { SettingsError } from '../../config/resolve-settings.js';
import { type ConfigurationParts, readConfiguration } from '../configuration.js';

/** An error or a warning about a configuration. */
export interface Finding extends Diagnostic {
  severity: 'error' | 'warning';
  /** The configuration file, as it was given. Absent for a setting from elsewhere. */
  file?: string;
}

export interface Findings {
  /** The configuration file, as it was given. */
  file: string;
  /** Warnings are absent if there are errors. */
  findings: Finding[];
  /** Paths of the configuration file and of files that hold settings, as far as they are known. */
  files: string[];
}

/** Finds the errors that the start would report for this file, and the warnings. */
export async function findingsOf(
  file: string,
  flags: Record<string, unknown> = {},
  parts: ConfigurationParts = {},
): Promise<Findings> {
  try {
    const { warnings, settings } = await readConfiguration(file, flags, parts);
    const findings = warnings.map((warning) => ({ severity: 'warning' as const, ...warning }));
    return { file, findings, files: settings.configurationFiles };
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    return { file, findings: error.errors.flatMap(errorsIn), files: [...new Set([file, ...filesIn(error)])] };
  }
}

/** The files that have errors. One that replays name is followed, so that it can be corrected. */
const filesIn = ({ errors }: AggregateError): string[] =>
  errors.flatMap((error) => (error instanceof CatalogError ? resolve(error.file) : []));

function errorsIn(error: unknown): Finding[] {
  const severity = 'error';
  if (error instanceof CatalogError) return error.diagnostics.map((each) => ({ severity, file: error.file, ...each }));
  if (error instanceof SettingsError)
    return error.problems.map(({ source, message }) => ({ severity, path: source, message }));
  throw error;
}

export const hasErrors = ({ findings }: Findings): boolean => findings.some(({ severity }) => severity === 'error');
