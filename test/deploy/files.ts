import { readFileSync } from 'node:fs';

import { parseAllDocuments } from 'yaml';

import { buildProgram } from '../../src/cli/program.js';
import { settingEntries, variablesOf } from '../../src/config/settings-table.js';

/** Returns every document of a YAML file; a parse error fails the test. */
export function readYaml<T>(path: string): T[] {
  const documents = [...parseAllDocuments(readFileSync(path, 'utf8'))];
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  return documents.map((document) => document.toJS() as T);
}

export interface CommandLine {
  name: string;
  options: Record<string, unknown>;
}

/** Parses a command line as the program does, without running it; an unknown command or option fails the test. */
export function commandLine([name, ...args]: string[]): CommandLine {
  const command = buildProgram().commands.find((candidate) => candidate.name() === name);
  expect(command?.name()).toBe(name);
  const { operands, unknown } = command!.parseOptions(args);
  expect([...operands, ...unknown]).toEqual([]);
  return { name: name!, options: command!.opts() };
}

/** Returns the environment variables that are settings. */
export const VARIABLES: string[] = settingEntries.flatMap(([, setting]) => variablesOf(setting));
