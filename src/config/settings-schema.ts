import type { JsonObject } from '../common/json.js';
import { settingEntries } from './settings-table.js';

/**
 * JSON Schema of the configuration file's `server:` section. Bounds of durations and the like, which it cannot say, are
 * checked at start. `errorMessage` is what editors show, and the same that the check at start says.
 */
export const serverSettingsSchema: JsonObject = {
  type: 'object',
  description: 'Settings of the server; flags and environment variables win over them.',
  additionalProperties: false,
  properties: Object.fromEntries(
    settingEntries.map(([, { name, type, description, default: preset }]) => {
      const shownDefault = preset ? `; default ${preset}` : '';
      return [name, { description: description + shownDefault, ...type.schema, errorMessage: `must be ${type.expected}` }];
    }),
  ),
};
