// Notes the parent process before the application is loaded.
import './npx.js';

import { Command, Option } from 'commander';

import { VERSION } from '../common/version.js';
import type { Format } from './check/formats.js';
import { addClientCommands } from './client/commands.js';
import { failing } from './failures.js';
import { addSettingOptions, hidePassword, settingFlags } from './setting-options.js';

const CONFIG_OPTION = '-c, --config <file>';
const CONFIG_DESCRIPTION = 'configuration file (default: starling.yaml in the working directory)';

/**
 * Builds the command line. An invalid command line exits with 1 and an error message. Each command is imported when it
 * is called, because the whole application takes half a second to load, and `--help` should not wait for it.
 */
export function buildProgram(): Command {
  const program = new Command('starling')
    .description('Serves configured agents over HTTP, on a durable blackboard. Also a client for a running server.')
    .version(VERSION)
    .showHelpAfterError('(see --help)')
    // A misspelled `--webhook-secret=...` must not put the secret into a log.
    .configureOutput({ outputError: (text, write) => write(text.replace(/(--[^\s'=]+)=[^']*/, '$1')) });

  addSettingOptions(
    program
      .command('serve')
      .description('serve the API and run the configured agents until SIGTERM')
      .option(CONFIG_OPTION, CONFIG_DESCRIPTION)
      .option(
        '--no-worker',
        'only answer requests, and leave the work to other processes on the same Postgres database',
      ),
  ).action(
    failing(async (options: ServeFlags) =>
      (await import('../main.js')).serve({ ...startOptions(options), worker: options.worker }),
    ),
  );

  addSettingOptions(
    program
      .command('dev')
      .description(
        'serve while you develop: with the dashboard, readable logs and error_stacks; changes of the configuration file and its modules apply immediately',
      )
      .option(CONFIG_OPTION, CONFIG_DESCRIPTION),
  ).action(
    failing(async (options: ConfigFlags) =>
      (await import('./dev/develop.js')).develop(options.config, flagsIn(options)),
    ),
  );

  addSettingOptions(
    program
      .command('worker')
      .description('run agents for the API processes on the same Postgres database; serves only health and metrics')
      .option(CONFIG_OPTION, CONFIG_DESCRIPTION),
  ).action(failing(async (options: ConfigFlags) => (await import('../main.js')).work(startOptions(options))));

  program
    .command('init')
    .description('write a project to start from: a configuration, an agent, a test and what an editor needs')
    .argument('[template]', 'approvals, batch, hello, nest or support-desk', 'hello')
    .option('--dir <folder>', 'the folder to write to', '.')
    .action(
      failing(async (template: string, { dir }: { dir: string }) =>
        (await import('./init/create-project.js')).createProject(template, dir),
      ),
    );

  program
    .command('check')
    .description('check a configuration file: print every error with its place; exit code 1 if there are any')
    .argument('<file>', 'configuration file')
    .option('--watch', 'check again after each change of the file and of the modules that it names, until Ctrl-C')
    .addOption(
      new Option('--format <format>', 'text, a JSON document, or annotations for GitHub Actions')
        .choices(['text', 'json', 'github'] satisfies Format[])
        .default('text'),
    )
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .action(
      failing(async (file: string, { watch, json, ...options }: CheckFlags) => {
        const format = json ? 'json' : options.format;
        if (watch) return (await import('./check/check-changes.js')).checkChanges(file, format);
        if (!(await (await import('./check/check.js')).check(file, format))) process.exitCode = 1;
      }),
    );

  addSettingOptions(
    program
      .command('migrate')
      .description('migrate the database to the schema of this version; serve also does this')
      .option(CONFIG_OPTION, 'configuration file'),
    ['database_url'],
  ).action(
    failing(async (options: Record<string, string>) =>
      (await import('./migrate-command.js')).migrateDatabase(options.config, flagsIn(options)),
    ),
  );

  program
    .command('client')
    .description('write a client in TypeScript or Python, with a method and types for each artifact type')
    .requiredOption('--lang <language>', 'ts or python')
    .option('--out <folder>', 'folder for the file', '.')
    .option(CONFIG_OPTION, CONFIG_DESCRIPTION)
    .action(
      failing(async (options: { lang: string; out: string; config?: string }) =>
        (await import('./typed-client/generate-client.js')).generateClient(options),
      ),
    );

  addClientCommands(program);

  return program;
}

interface CheckFlags {
  watch?: boolean;
  json?: boolean;
  format: Format;
}

interface ConfigFlags extends Record<string, unknown> {
  config?: string;
}

interface ServeFlags extends ConfigFlags {
  worker: boolean;
}

const startOptions = (options: ConfigFlags) => ({ config: options.config, flags: flagsIn(options) });

function flagsIn(options: Record<string, unknown>): Record<string, unknown> {
  const flags = settingFlags(options);
  const warning = hidePassword(flags);
  if (warning !== null) console.error(`warning: ${warning}`);
  return flags;
}
