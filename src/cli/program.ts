import { Command } from 'commander';
import { VERSION } from '../common/version.js';
import { addClientCommands } from './client/commands.js';
import { hidePassword } from './exposed-passwords.js';
import { failing } from './failures.js';
import { addSettingOptions, settingFlags } from './setting-options.js';

const CONFIG_OPTION = '-c, --config <file>';
const CONFIG_DESCRIPTION = 'configuration file (default: starling.yaml in the working directory)';

/**
 * The command line. Exits with 1 on a wrong one, and says what is wrong with it. Each command is imported when it is called:
 * the whole application takes half a second to load, which `--help` need not wait for.
 */
export function buildProgram(): Command {
  const program = new Command('starling')
    .description('Serves configured agents over HTTP, on a durable blackboard, and talks to a server that does.')
    .version(VERSION)
    .showHelpAfterError('(see --help)')
    // A misspelt `--webhook-secret=...` must not put the secret into a log.
    .configureOutput({ outputError: (text, write) => write(text.replace(/(--[^\s'=]+)=[^']*/, '$1')) });

  addSettingOptions(
    program
      .command('serve')
      .description('serve the configured agents until SIGTERM')
      .option(CONFIG_OPTION, CONFIG_DESCRIPTION)
      .option('--no-worker', 'answer requests alone, and leave the work to other processes on the same Postgres database'),
  ).action(failing(async (options: ServeFlags) => (await import('./serve.js')).serve({ ...startOptions(options), worker: options.worker })));

  addSettingOptions(
    program
      .command('worker')
      .description('work on what processes on the same Postgres database are asked for; serves health and metrics alone')
      .option(CONFIG_OPTION, CONFIG_DESCRIPTION),
  ).action(failing(async (options: ConfigFlags) => (await import('./worker.js')).work(startOptions(options))));

  program
    .command('check')
    .description('check a configuration file: every error with its place, exit code 1 where there is one')
    .argument('<file>', 'configuration file')
    .action(failing(async (file: string) => (await import('./check-command.js')).check(file)));

  addSettingOptions(
    program.command('migrate').description('bring the database to the schema of this version; serve does so too').option(CONFIG_OPTION, 'configuration file'),
    ['database_url'],
  ).action(failing(async (options: Record<string, string>) => (await import('./migrate-command.js')).migrateDatabase(options.config, flagsIn(options))));

  addClientCommands(program);

  return program;
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
