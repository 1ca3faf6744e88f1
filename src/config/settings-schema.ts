import type { JsonObject } from '../common/json.js';
import { settingEntries } from './settings-table.js';

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
