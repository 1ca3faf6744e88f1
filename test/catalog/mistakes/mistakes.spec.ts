// Checks configurations with one mistake each, as `starling check` does, in this process.
import { describeDiagnostic } from '../../../src/catalog/diagnostics.js';
import { findingsOf } from '../../../src/cli/check/findings.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { AGENTS_MISTAKES } from './agents-mistakes.js';
import { ENGINES_MISTAKES } from './engines-mistakes.js';
import { EXPRESSIONS_MISTAKES } from './expressions-mistakes.js';
import { LIMITS_MISTAKES } from './limits-mistakes.js';
import { SCHEDULES_MISTAKES } from './schedules-mistakes.js';
import { SETTINGS_MISTAKES } from './settings-mistakes.js';
import { TYPES_MISTAKES } from './types-mistakes.js';
import { VARIANTS_MISTAKES } from './variants-mistakes.js';
import { YAML_MISTAKES } from './yaml-mistakes.js';

let folder: ConfigurationFolder;
let before: NodeJS.ProcessEnv;
beforeAll(() => {
  folder = new ConfigurationFolder();
  before = process.env;
  process.env = { PATH: before['PATH'], OPENAI_API_KEY: 'sk' };
});
afterAll(() => {
  process.env = before;
  folder.remove();
});

describe.each([
  ['the form of the file', YAML_MISTAKES],
  ['types', TYPES_MISTAKES],
  ['agents', AGENTS_MISTAKES],
  ['expressions', EXPRESSIONS_MISTAKES],
  ['engines', ENGINES_MISTAKES],
  ['limits', LIMITS_MISTAKES],
  ['variants', VARIANTS_MISTAKES],
  ['schedules', SCHEDULES_MISTAKES],
  ['settings', SETTINGS_MISTAKES],
])('one mistake in %s is one line, with its place', (_, mistakes) => {
  test.each(mistakes)('%s', async (_what, text, line) => {
    const { findings } = await findingsOf(folder.write('starling.yaml', text));
    expect(
      findings.map((each) => `${each.severity} ${describeDiagnostic(each)}`.replace(folder.path, '<folder>')),
    ).toEqual([line]);
  });
});
