import { ARCHIVE } from './packed-package.js';
import type { Player } from './player.js';

const SERVING = '/dashboard\n';
const CONTINUES = 'waiting for a change\n';
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** How a project gets its packages: from a registry, or without one. */
export interface Installation {
  init(args: string): Promise<string>;
  install(): Promise<void>;
}

/** A user's first hour. The pages of docs and examples explain each part; this one only shows that they fit together. */
export async function playFirstHour(user: Player, { init, install }: Installation): Promise<void> {
  user.says(`# The first hour

From an empty folder to a workflow of your own. Everything below was typed in this order, and the output is real; ids,
times and ports are replaced, columns are narrowed, and log lines are left out. \`npm run test:first-hour\` does it again, and
writes this page.

You need Node.js 24.15 or later. Pack Starling in its folder with \`npm pack\`, and copy the file to an empty folder.

## Init`);
  user.shows(`npx --yes -p ./${ARCHIVE} starling init hello --dir hello`);
  user.output(await init('hello --dir hello'));
  user.shows('cd hello\nnpm install');
  await install();

  user.says(`## Develop

In a separate terminal:`);
  await user.serves('npx starling dev', SERVING);
  user.says(
    `The last address is the dashboard. Publish something in another terminal, and wait for what the agents publish:`,
  );
  await user.runs(`npx starling publish Visitor '{"name": "Ada", "visits": 1}' --correlation-id ada-1 --wait`);

  user.says(`## Change an agent

In \`agents/greeter.ts\`:`);
  const [before, after] = ['`Hello ${name}!`', '`Good morning, ${name}!`'];
  await user.changes('agents/greeter.ts', before, after, SERVING);
  user.says('The service has started again with the change:');
  await user.runsQuietly(`npx starling publish Visitor '{"name": "Ada", "visits": 1}' --correlation-id ada-2 --wait`);
  await user.runs('npx starling artifacts --type Greeting');

  user.says(`## Break it

A syntax error is shown with its place, and the last good configuration continues:`);
  await user.changes('agents/greeter.ts', 'visits === 1', 'visits == = 1', CONTINUES);
  await user.runsQuietly(`npx starling publish Visitor '{"name": "Ada", "visits": 1}' --correlation-id ada-3 --wait`);
  await user.runs('npx starling artifacts --type Greeting --correlation-id ada-3');
  user.says('Mend it:');
  await user.changes('agents/greeter.ts', 'visits == = 1', 'visits === 1', SERVING);
  user.says('The same happens after an error in `starling.yaml`:');
  await user.changes('starling.yaml', 'payload.visits >= 10', 'payload.vists >= 3', CONTINUES);
  user.says('Mend that, too:');
  await user.changes('starling.yaml', 'payload.vists >= 3', 'payload.visits >= 3', SERVING);

  user.says(`## See what happened

A visitor who comes for the third time gets a gift now. \`trace\` draws what followed from a publish:`);
  await user.runsQuietly(`npx starling publish Visitor '{"name": "Ben", "visits": 3}' --correlation-id ben-1 --wait`);
  await user.runs('npx starling trace ben-1');
  user.says('Ada got no gift. `explain` says why:');
  const visitors = await user.runs('npx starling artifacts --type Visitor --correlation-id ada-1');
  await user.runs(`npx starling explain ${ID.exec(visitors)![0]}`);

  user.says(`## Write a client

\`starling client\` writes one that knows the types of your configuration:`);
  await user.runs('npx starling client --lang ts --out client');
  user.says('A program that uses it, `visit.ts`:');
  user.writes(
    'visit.ts',
    'ts',
    `import { Starling } from './client/starling.ts';

const starling = new Starling('http://127.0.0.1:8344');
const run = await starling.publishAndWait.Visitor({ name: 'Cleo', visits: 5 });
console.log(run.first('Greeting')?.payload.text, run.first('Gift')?.payload.what);
`,
  );
  await user.runs('node visit.ts');

  user.says(`## Test

The test that \`init\` wrote expects the first greeting. In \`hello.test.ts\`:`);
  await user.changes('hello.test.ts', 'Hello Ada!', 'Good morning, Ada!');
  await user.runs('node --test');

  user.says(`## Next

Ctrl-C stops \`starling dev\`. Everything is in \`data/starling.db\`, and the next start continues from there.

- [agents.md](agents.md): every key of \`starling.yaml\`
- [testing.md](testing.md): the test kit
- [command-line.md](command-line.md): all commands, and the other templates of \`init\`
- [debugging.md](debugging.md): why an agent ran or did not run`);
}
