import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';

import { isJsonObject } from '../common/json.js';
import { nearestName } from '../common/names-in-messages.js';
import type { Environment } from './environment.js';
import { httpUrl } from './network-types.js';
import type { ParseResult } from './setting-types.js';
import { Settings } from './settings.js';
import {
  flagsOf,
  isOurVariable,
  SERVER_URL_VARIABLE,
  type Setting,
  settingEntries,
  type Source,
  variableGroupsOf,
  variablesOf,
} from './settings-table.js';

/** The sources of settings, in the order of precedence. */
export interface SettingsSources {
  /**
   * Command line values by the name of the setting. A name with the suffix `_file` has the path of a file with the
   * value.
   */
  flags: Readonly<Record<string, unknown>>;
  environment: Environment;
  /** Path of the configuration file; undefined if there is none. */
  file?: string;
  /** The `server:` section of that file; undefined if there is none. */
  server: unknown;
  /** Replaces defaults, by the name of the setting. */
  defaults?: Readonly<Record<string, string>>;
}

/** A problem of one setting. */
export interface SettingProblem {
  /** The place of the value: a flag, a variable, or `server.<name>` in the configuration file. */
  source: string;
  message: string;
  /** The names of the settings, if there are several. */
  about?: readonly string[];
}

/** All problems of the settings. The message has one line for each, which names the source. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly problems: readonly SettingProblem[]) {
    super(problems.map(({ source, message }) => `${source}: ${message}`).join('\n'));
  }
}

/** The value from one source, or the reason why it could not be read. */
type Given = { source: string } & ({ raw: unknown } | { problem: string });

/**
 * Takes every setting from its first source. Throws a SettingsError if any source has a wrong value, even an unused
 * one.
 */
export function resolveSettings(sources: SettingsSources): Settings {
  const server = isJsonObject(sources.server) ? sources.server : {};
  const problems = [...unknownNames(sources, server)];
  const files = sources.file === undefined ? [] : [resolve(sources.file)];
  const values = settingEntries.map(([key, setting]) => {
    const preset = sources.defaults?.[setting.name] ?? setting.default;
    return [
      key,
      firstOf({ ...setting, default: preset }, valuesGiven(setting, sources, server, files), problems),
    ] as const;
  });
  if (problems.length > 0) throw new SettingsError(problems);
  const settings = Object.assign(new Settings(), Object.fromEntries(values));
  const contradiction = contradictionIn(settings);
  if (contradiction !== null) throw new SettingsError([contradiction]);
  return Object.assign(settings, {
    csvRoot: settings.csvRoot === null ? null : resolve(settings.csvRoot),
    configurationFiles: [...files, ...settings.replayConfigs.map(({ file }) => resolve(file))],
  });
}

/** Describes a contradiction between settings, because otherwise one of them would silently have no effect. */
function contradictionIn({ clientWebhooks, clientWebhookHosts }: Settings): SettingProblem | null {
  const about = ['client_webhook_hosts', 'client_webhooks'];
  if (clientWebhooks === 'list' && clientWebhookHosts.length === 0)
    return { about, source: about[0]!, message: 'must name at least one host if client_webhooks is list' };
  if (clientWebhooks === 'public' && clientWebhookHosts.length > 0)
    return { about, source: about[1]!, message: 'must be list if client_webhook_hosts is set (got "public")' };
  return null;
}

/** The values in the order of precedence. Adds the files that hold values to `files`. */
function valuesGiven(
  setting: Setting,
  { flags, environment }: SettingsSources,
  server: Record<string, unknown>,
  files: string[],
): Given[] {
  const groups = [
    flagsOf(setting).map(({ name, key, isFile }) => ({ name, isFile, raw: flags[key] })),
    // Compose and shells pass an unset variable as an empty one.
    ...variableGroupsOf(setting).map((group) =>
      group.map(({ name, isFile }) => ({ name, isFile, raw: environment[name] || undefined })),
    ),
    [{ name: `server.${setting.name}`, isFile: false, raw: server[setting.name] }],
  ];
  return groups.flatMap((group) =>
    valueOfGroup(
      group.filter(({ raw }) => raw !== undefined),
      files,
    ),
  );
}

function valueOfGroup(given: (Source & { raw: unknown })[], files: string[]): Given[] {
  const [first, second] = given;
  if (!first) return [];
  if (second) return [{ source: `${first.name} and ${second.name}`, problem: 'only one of them may be given' }];
  if (!first.isFile) return [{ source: first.name, raw: first.raw }];
  const path = String(first.raw);
  files.push(resolve(path));
  const source = `${first.name} ${path}`;
  const read = readSecretFile(path);
  return ['text' in read ? { source, raw: read.text } : { source, problem: read.problem }];
}

function firstOf(setting: Setting, given: Given[], problems: SettingProblem[]): unknown {
  const preset: Given[] = setting.default === null ? [] : [{ source: 'default', raw: setting.default }];
  const results = [...given, ...preset].map((one) => parseOf(setting, one, problems));
  const first = results[0];
  return first && 'value' in first ? first.value : null;
}

function parseOf({ type, secret }: Setting, given: Given, problems: SettingProblem[]): ParseResult<unknown> {
  if ('problem' in given) {
    problems.push({ source: given.source, message: given.problem });
    return { wrong: null };
  }
  const result = type.parse(given.raw);
  if ('wrong' in result)
    problems.push({
      source: given.source,
      message: `must be ${type.expected}${secret ? '' : ` (got ${show(result.wrong)})`}`,
    });
  return result;
}

function* unknownNames(sources: SettingsSources, server: Record<string, unknown>): Generator<SettingProblem> {
  const settings = settingEntries.map(([, setting]) => setting);
  const variables = [...settings.flatMap(variablesOf), SERVER_URL_VARIABLE];
  for (const name of Object.keys(sources.environment)) {
    // Otherwise a misspelled variable would silently leave its setting at the default.
    if (isOurVariable(name) && !variables.includes(name)) yield unknownName(name, variables);
  }
  if (sources.server != null && !isJsonObject(sources.server))
    yield { source: 'server', message: `must be an object (got ${show(sources.server)})` };
  const keys = settings.map(({ name }) => name);
  for (const name of Object.keys(server)) {
    if (!keys.includes(name))
      yield unknownName(
        `server.${name}`,
        keys.map((key) => `server.${key}`),
      );
  }
}

function unknownName(source: string, known: string[]): SettingProblem {
  const nearest = nearestName(source, known);
  return { source, message: `there is no such setting${nearest ? `; did you mean ${nearest}?` : ''}` };
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

/** The address at which `starling serve` listens by default. */
export const DEFAULT_SERVER_URL = 'http://127.0.0.1:8344';

/**
 * Base URL of the server for client commands, without a trailing slash. Throws a SettingsError if it is not an http
 * URL.
 */
export function serverUrl(flag: string | undefined, environment: Environment): string {
  const variable = environment[SERVER_URL_VARIABLE] || undefined;
  const [source, raw] = flag !== undefined ? ['--url', flag] : [SERVER_URL_VARIABLE, variable ?? DEFAULT_SERVER_URL];
  const type = httpUrl();
  const result = type.parse(raw);
  if ('wrong' in result)
    throw new SettingsError([{ source, message: `must be ${type.expected} (got ${JSON.stringify(raw)})` }]);
  return result.value.replace(/\/+$/, '');
}

const LONGEST_FILE_BYTES = 64 * 1_024;

const FILE_PROBLEMS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder; name a file that contains only the value',
  EACCES: 'this process has no permission to read it',
  EPERM: 'this process has no permission to read it',
};

/**
 * The text of a file that contains only a setting's value, without the final line break; or a problem that does not
 * quote it.
 */
function readSecretFile(path: string): { text: string } | { problem: string } {
  try {
    const bytes = readBounded(path);
    if (bytes.length > LONGEST_FILE_BYTES)
      return {
        problem: `it is larger than ${LONGEST_FILE_BYTES / 1_024} KiB; name a file that contains only the value`,
      };
    const text = bytes.toString('utf8').replace(/[\r\n]+$/, '');
    return text === '' ? { problem: 'it is empty; write the value into it' } : { text };
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return { problem: FILE_PROBLEMS[code] ?? `it cannot be read: ${message}` };
  }
}

/**
 * Reads at most one byte more than allowed. The path may also be a pipe, such as a shell's `<(...)`, or an endless
 * device.
 */
function readBounded(path: string): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LONGEST_FILE_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
