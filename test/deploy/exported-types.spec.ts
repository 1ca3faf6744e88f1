import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import ts from 'typescript';

import { builtProgram } from '../support/built-program.js';

// Uses the package as `npm pack` writes it, and the declarations that the build writes.
describe('what the package exports', () => {
  let root: string;
  let folder: string;
  let tarball: Uint8Array;

  beforeAll(async () => {
    root = dirname(dirname(await builtProgram()));
    folder = mkdtempSync(join(tmpdir(), 'starling-pack-'));
    const [{ filename }] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ filename: string }];
    tarball = readFileSync(join(folder, filename));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is described by its package.json without a finding of publint', async () => {
    const { messages, pkg } = await publint({ pack: { tarball: tarball.slice().buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it('has every value that its declarations promise', () => {
    const namesIn = (module: string): string[] =>
      JSON.parse(
        execFileSync(
          process.execPath,
          [
            '-p',
            `import(${JSON.stringify(join(root, module))}).then((all) => console.log(JSON.stringify(Object.keys(all)))), ''`,
          ],
          { encoding: 'utf8' },
        ),
      ) as string[];
    expect(namesIn('bin/library.js')).toEqual(namesIn('dist/index.js'));
    expect(namesIn('bin/testing.js')).toEqual(namesIn('dist/testing/testing.js'));
  });

  it('has the types that were agreed on', () => {
    // `UPDATE_TYPES=1 npm test -- test/deploy/exported-types` writes the file after an intended change.
    const agreed = join(import.meta.dirname, 'exported-types.txt');
    const entries = ['dist/index.d.ts', 'dist/testing/testing.d.ts'];
    const types = `${exportedTypes(entries.map((entry) => join(root, entry)))}\n`;
    if (process.env.UPDATE_TYPES) writeFileSync(agreed, types);
    expect(types).toBe(readFileSync(agreed, 'utf8'));
  });
});

/** Returns the declarations of all exports of these files, and of every type of the package that they refer to, sorted by name. */
function exportedTypes(files: string[]): string {
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
  });
  const checker = program.getTypeChecker();
  const found = new Map<ts.Symbol, string>();
  const visit = (symbol: ts.Symbol): void => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const own = (target.declarations ?? []).filter((declaration) => isOwn(declaration));
    if (found.has(target) || own.length === 0) return;
    found.set(target, own.map((declaration) => printed(statementOf(declaration))).join('\n'));
    for (const declaration of own) visitReferences(declaration);
  };
  const visitReferences = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const symbol = checker.getSymbolAtLocation(node);
      if (symbol && isTopLevel(symbol)) visit(symbol);
    }
    node.forEachChild(visitReferences);
  };
  for (const file of files)
    checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!).forEach(visit);
  return [...found.values()].sort().join('\n\n');
}

const isOwn = (node: ts.Node): boolean => !node.getSourceFile().fileName.includes('/node_modules/');

/** Members and parameters are part of the declaration that they are in. */
const isTopLevel = (symbol: ts.Symbol): boolean =>
  (symbol.flags & ts.SymbolFlags.Alias) !== 0 ||
  (symbol.declarations ?? []).some((declaration) =>
    ts.isSourceFile(statementOf(declaration).parent ?? declaration.parent),
  );

/** A variable's declaration is within its statement. */
const statementOf = (node: ts.Node): ts.Node => (ts.isVariableDeclaration(node) ? node.parent.parent : node);

const printer = ts.createPrinter({ removeComments: true });
const printed = (node: ts.Node): string => printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
