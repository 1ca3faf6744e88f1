// Installs generators of clients from npm, PyPI, Go and Maven. Each makes a client of the OpenAPI document of a running
// support desk; the client is compiled, and a program that uses it publishes a message and reads it back.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { runProgram } from '../cli/run-program.js';
import { startApp, type TestApp } from '../support/app.js';
import { MODULES, ToolFolder } from './tool-folder.js';
import { OPENAPI_TYPESCRIPT_PROGRAM } from './typescript-programs.js';

const VERSIONS = {
  pythonClient: '0.29.1',
  mypy: '2.4.1',
  javaGenerator: '7.25.0',
  mavenDependency: '3.8.1',
  mavenExec: '3.5.0',
  goGenerator: 'v2.8.2',
};

const COMPILER = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    rootDir: '.',
    outDir: 'out',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [join(MODULES, '@types')],
    skipLibCheck: true,
  },
  include: ['*.ts', 'client'],
};

/** Each of the programs prints the message that it reads back, and the queue that an agent chose. */
const TEXT = 'When will I get my card?';
const ROUND_TRIP = { text: TEXT, queue: 'cards', produced_by: 'external' };

let app: TestApp;
let folder: ToolFolder;
beforeAll(async () => {
  app = await startApp({ configFile: 'examples/support-desk/starling.yaml' });
});
afterAll(() => app.close());
beforeEach(async () => {
  folder = new ToolFolder();
  folder.write('openapi.json', (await app.http.get('/openapi.json').expect(200)).text);
});
afterEach(() => folder.remove());

const roundTrip = async (printed: Promise<string>): Promise<void> => {
  // Maven prints more.
  const line = (await printed).split('\n').find((one) => one.includes('{'))!;
  expect(JSON.parse(line.slice(line.indexOf('{')))).toEqual(ROUND_TRIP);
};

async function installPython(...packages: string[]): Promise<void> {
  await folder.run('python3', ['-m', 'venv', '.']);
  await folder.run('bin/pip', ['install', '--quiet', ...packages]);
}

/** The body of the first synchronous publish in the README. */
function bodyInReadme(): string {
  const [, body] = /artifacts\/sync [^']*'[^']*' \\\n\s*-d '([^']+)'/.exec(readFileSync('README.md', 'utf8'))!;
  return body!;
}

describe('TypeScript', () => {
  beforeEach(async () => {
    folder.write('package.json', '{ "type": "module" }');
    folder.write('tsconfig.json', JSON.stringify(COMPILER));
    await folder.run('ln', ['-s', MODULES, 'node_modules']);
  });

  it('openapi-typescript', async () => {
    folder.write('program.ts', OPENAPI_TYPESCRIPT_PROGRAM.replace('README_BODY', bodyInReadme()));
    await folder.runModule('openapi-typescript/bin/cli.js', 'openapi.json', '--output', 'api.ts');
    await folder.runModule('typescript/bin/tsc', '--project', '.');
    await roundTrip(folder.run(process.execPath, ['out/program.js', app.url, TEXT]));
  });
});

it('openapi-python-client', async () => {
  await installPython(`openapi-python-client==${VERSIONS.pythonClient}`, `mypy==${VERSIONS.mypy}`);
  // Its formatter is another tool.
  folder.write('config.yaml', 'post_hooks: []\n');
  const wanted = ['--path', 'openapi.json', '--output-path', 'client', '--meta', 'none', '--config', 'config.yaml'];
  await folder.run('bin/openapi-python-client', ['generate', ...wanted, '--fail-on-warning']);
  folder.copyProgram('round_trip.py', 'round_trip.py');
  await folder.run('bin/mypy', ['round_trip.py']);
  await roundTrip(folder.run('bin/python', ['round_trip.py', app.url, TEXT]));
});

it('oapi-codegen (Go)', async () => {
  const generator = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${VERSIONS.goGenerator}`;
  await folder.run('go', ['mod', 'init', 'example.com/roundtrip']);
  await folder.run('mkdir', ['api']);
  const wanted = ['-package', 'api', '-generate', 'types,client', '-o', 'api/api.go'];
  await folder.run('go', ['run', generator, ...wanted, 'openapi.json']);
  folder.copyProgram('round-trip.go', 'main.go');
  await folder.run('go', ['mod', 'tidy']);
  await roundTrip(folder.run('go', ['run', '.', app.url, TEXT]));
});

it('openapi-generator (Java)', async () => {
  const { javaGenerator, mavenDependency, mavenExec } = VERSIONS;
  const artifact = `org.openapitools:openapi-generator-cli:${javaGenerator}`;
  const copy = `org.apache.maven.plugins:maven-dependency-plugin:${mavenDependency}:copy`;
  await folder.run('mvn', ['-B', copy, `-Dartifact=${artifact}`, '-DoutputDirectory=.']);
  const wanted = ['-g', 'java', '--library', 'native', '-i', 'openapi.json', '-o', 'client'];
  // Its issue 24727: without this, it imports a class for the form of uploads that it does not write.
  const complete = ['--global-property', 'skipFormModel=false'];
  await folder.run('java', ['-jar', `openapi-generator-cli-${javaGenerator}.jar`, 'generate', ...wanted, ...complete]);
  folder.copyProgram('RoundTrip.java', 'client/src/main/java/RoundTrip.java');
  const project = ['-B', '-q', '-f', 'client/pom.xml'];
  await folder.run('mvn', [...project, 'compile']);
  const main = ['-Dexec.mainClass=RoundTrip', `-Dexec.args=${app.url} '${TEXT}'`];
  await roundTrip(folder.run('mvn', [...project, `org.codehaus.mojo:exec-maven-plugin:${mavenExec}:java`, ...main]));
});

describe('starling client', () => {
  it('writes Python that a strict checker accepts', async () => {
    await installPython(`mypy==${VERSIONS.mypy}`);
    const programs = ['worker.py', 'publish.py'].map((name) => resolve('examples/clients/python', name));
    for (const [config, files] of [
      ['support-desk', ['starling.py']],
      ['approvals', programs],
    ] as const) {
      const args = ['client', '--lang', 'python', '--out', folder.path, '--config', `examples/${config}/starling.yaml`];
      expect(await runProgram(args)).toMatchObject({ code: 0 });
      await folder.run('bin/mypy', ['--strict', ...files], { MYPYPATH: folder.path });
    }
  });
});
