import { settingEntries } from '../../src/config/settings-table.js';
import { readMarkdown } from './markdown.js';

interface Bound {
  bound: string;
  setting: string;
  default: string;
  answer: string;
}

const [, section] = readMarkdown('docs/security.md').split('\n## Bounds\n') as [string, string];
const bounds = section
  .split('\n## ')[0]!
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| **') && !line.startsWith('| bound '))
  .map((line): Bound => {
    const [bound, setting, preset, answer] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()) as [string, string, string, string];
    return { bound, setting, default: preset, answer };
  });
const bySetting = bounds.filter(({ setting }) => setting !== '');
const settings = settingEntries.map(([, setting]) => setting);

const BOUNDING = /^(max|min)_|_(limit|budget|limits|timeout|rate)$/;

describe('the table of bounds', () => {
  test.each(bounds.map((bound) => [bound.bound, bound] as const))(
    'names the consequence past each bound: %s',
    (_name, bound) => {
      expect(bound.default).not.toBe('');
      expect(bound.answer).not.toBe('');
    },
  );

  test.each(bySetting.map((bound) => [bound.setting, bound] as const))(
    'names a setting that exists, with its default: %s',
    (name, bound) => {
      const setting = settings.find((one) => `\`${one.name}\`` === name)!;
      expect(bound.default).toMatch(setting.default ? `\`${setting.default}\`` : /^none(: |$)/);
    },
  );

  const mentioned = bySetting.map(({ setting }) => setting);
  test.each(settings.map(({ name }) => name).filter((name) => BOUNDING.test(name)))('has the setting %s', (name) => {
    expect(mentioned).toContain(`\`${name}\``);
  });
});
