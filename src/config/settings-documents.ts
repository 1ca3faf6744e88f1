import type { JsonObject } from '../common/json.js';
import { commandFlagsOf, type Setting, settingEntries, variablesOf } from './settings-table.js';

/**
 * JSON Schema of the configuration file's `server:` section. Bounds that it cannot express, such as those of durations,
 * are checked at the start. Editors show `errorMessage`, which equals the message of the check at the start.
 */
export const serverSettingsSchema: JsonObject = {
  type: 'object',
  description: 'Settings of the server. Flags and environment variables override them.',
  additionalProperties: false,
  properties: Object.fromEntries(
    settingEntries.map(([, { name, type, description, default: preset }]) => {
      const shownDefault = preset ? `; default ${preset}` : '';
      return [
        name,
        { description: description + shownDefault, ...type.schema, errorMessage: `must be ${type.expected}` },
      ];
    }),
  ),
};

/** The table of all settings as docs/configuration.md shows it. */
export function settingsMarkdown(): string {
  const rows = settingEntries.map(([, setting]) =>
    row([
      code(setting.name),
      codes(commandFlagsOf(setting).map(({ name }) => name)),
      codes(variablesOf(setting)),
      preset(setting),
      setting.description,
    ]),
  );
  return [
    row(['key under `server:`', 'flag', 'environment', 'default', 'meaning']),
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const row = (cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const code = (text: string): string => `\`${text}\``;

const codes = (texts: string[]): string => texts.map(code).join(', ');

const preset = (setting: Setting): string => (setting.default ? code(setting.default) : 'none');
