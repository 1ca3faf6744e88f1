import { resolve } from 'node:path';
import { isJsonObject } from '../common/json.js';
import { nearestName } from '../common/nearest-name.js';
import type { Environment } from './environment.js';
import { Settings } from './settings.js';
import { flagOf, isOurVariable, SERVER_URL_VARIABLE, settingEntries, variableOf, type Setting } from './settings-table.js';

/** Where settings come from, in the order of precedence. */
export interface SettingsSources {
  /** By the name of the setting, as given on the command line. */
  flags: Readonly<Record<string, unknown>>;
  environment: Environment;
  /** Path of the configuration file; undefined where there is none. */
  file?: string;
  /** The `server:` section of that file; undefined where there is none. */
  server: unknown;
}

/** Everything that is wrong with the given settings, a line each, which names the source and the setting. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join('\n'));
  }
}

interface Given {
  /** The flag, variable or key, as its author wrote it. */
  source: string;
  raw: unknown;
}

/** Every setting, from the first source that gives it. SettingsError where any source gives a wrong value, used or not. */
export function resolveSettings(sources: SettingsSources): Settings {
  const server = isJsonObject(sources.server) ? sources.server : {};
  const mistakes = [...unknownNames(sources, server)];
  const values = settingEntries.map(([key, setting]) => [key, firstOf(setting, valuesGiven(setting, sources, server), mistakes)] as const);
  if (mistakes.length > 0) throw new SettingsError(mistakes);
  const settings = Object.assign(new Settings(), Object.fromEntries(values));
  const contradiction = contradictionIn(settings);
  if (contradiction !== null) throw new SettingsError([contradiction]);
  return Object.assign(settings, {
    csvRoot: settings.csvRoot === null ? null : resolve(settings.csvRoot),
    configurationFiles: sources.file === undefined ? [] : [resolve(sources.file)],
  });
}

/** Settings that mean nothing together: one of them would have no effect, without a word. */
function contradictionIn({ clientWebhooks, clientWebhookHosts }: Settings): string | null {
  if (clientWebhooks === 'list' && clientWebhookHosts.length === 0) return 'client_webhook_hosts: must name at least one host where client_webhooks is list';
  if (clientWebhooks === 'public' && clientWebhookHosts.length > 0) return 'client_webhooks: must be list for client_webhook_hosts to hold (got "public")';
  return null;
}

function valuesGiven(setting: Setting, { flags, environment }: SettingsSources, server: Record<string, unknown>): Given[] {
  const variables = [variableOf(setting), setting.plainVariable].filter((name) => name !== undefined);
  return [
    { source: flagOf(setting), raw: flags[setting.name] },
    // Compose and shells pass a variable that nobody set as an empty one.
    ...variables.map((source) => ({ source, raw: environment[source] || undefined })),
    { source: `server.${setting.name}`, raw: server[setting.name] },
  ].filter(({ raw }) => raw !== undefined);
}

function firstOf(setting: Setting, given: Given[], mistakes: string[]): unknown {
  const preset = setting.default === null ? [] : [{ source: 'default', raw: setting.default }];
  const readings = [...given, ...preset].map(({ source, raw }) => ({ source, reading: setting.kind.read(raw) }));
  for (const { source, reading } of readings) {
    if ('wrong' in reading) mistakes.push(`${source}: must be ${setting.kind.expected}${setting.secret ? '' : ` (got ${show(reading.wrong)})`}`);
  }
  const first = readings[0]?.reading;
  return first && 'value' in first ? first.value : null;
}

function* unknownNames(sources: SettingsSources, server: Record<string, unknown>): Generator<string> {
  const settings = settingEntries.map(([, setting]) => setting);
  const variables = [...settings.map(variableOf), SERVER_URL_VARIABLE];
  for (const name of Object.keys(sources.environment)) {
    // A misspelt variable would otherwise leave its setting at the default without a word.
    if (isOurVariable(name) && !variables.includes(name)) yield unknownName(name, variables);
  }
  if (sources.server != null && !isJsonObject(sources.server)) yield `server: must be an object (got ${show(sources.server)})`;
  const keys = settings.map(({ name }) => name);
  for (const name of Object.keys(server)) {
    if (!keys.includes(name)) yield unknownName(`server.${name}`, keys.map((key) => `server.${key}`));
  }
}

function unknownName(name: string, known: string[]): string {
  const nearest = nearestName(name, known);
  return `${name}: there is no such setting${nearest ? `; did you mean ${nearest}?` : ''}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
