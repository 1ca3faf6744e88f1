import type { Command } from 'commander';

/** Adds the option of every command that talks to a server. */
export const toServer = (command: Command): Command =>
  command.option('--url <base>', 'address of the server (default: http://127.0.0.1:8344, env: STARLING_URL)');

/** Adds the options of commands that print tables and lines on a terminal, and JSON otherwise. */
export const forPeople = (command: Command): Command =>
  toServer(command).option('--json', 'print JSON on a terminal too');

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value];

export const LIMIT = ['--limit <n>', 'how many to list at most (default: 50)'] as const;

/** Adds commands to the help of one, each with what it does. */
export function withExamples(command: Command, ...examples: readonly (readonly [string, string])[]): Command {
  const width = Math.max(...examples.map(([words]) => words.length));
  const lines = examples.map(([words, does]) => `  starling ${words.padEnd(width)}  ${does}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
