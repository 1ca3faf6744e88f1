// Uses the source files of the repository, as the TypeScript compiler parses them.
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

import ts from 'typescript';

const FILES = globSync('src/**/*.ts').sort();

/** The calls that begin a query. */
const QUERIES = new Set([
  'selectFrom',
  'insertInto',
  'updateTable',
  'deleteFrom',
  'prepared',
  'preparedWithList',
  'preparedInsert',
]);

const MAX_PARAMETERS = 8;

/** Files with SQL that are neither repositories nor stores, and the reason for each. */
const SQL_ELSEWHERE: Record<string, string> = {
  'src/features/health/readiness.service.ts': 'its `select 1` only asks whether the database answers',
  'src/queue/change-state.ts': 'the beginning of an update, which several stores share',
  'src/queue/lease.ts': 'a part of a condition, which several stores share',
  'src/queue/queue.ts': 'the columns of a row, which several stores select',
  'src/queue/state-predicate.ts': 'a part of a condition, which several stores share',
};

const parsed = FILES.map((file) => {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
  return { file, nodes };
});

function isQuery(node: ts.Node): boolean {
  if (ts.isTaggedTemplateExpression(node)) return node.tag.getText() === 'sql';
  if (!ts.isCallExpression(node)) return false;
  const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
  return ts.isIdentifier(called) && QUERIES.has(called.text);
}

const mayHaveSql = (file: string): boolean =>
  file.startsWith('src/database/') || /(\.repository|-store|-rows)\.ts$/.test(basename(file));

describe('the source code', () => {
  it('has SQL only in repositories and stores', () => {
    const found = parsed.filter(({ file, nodes }) => !mayHaveSql(file) && nodes.some(isQuery)).map(({ file }) => file);
    const known = Object.keys(SQL_ELSEWHERE);
    expect(found.filter((file) => !known.includes(file))).toEqual([]);
    expect(known.filter((file) => !found.includes(file))).toEqual([]);
  });

  it(`has no constructor with more than ${MAX_PARAMETERS} parameters`, () => {
    const found = parsed.filter(({ nodes }) =>
      nodes.some((node) => ts.isConstructorDeclaration(node) && node.parameters.length > MAX_PARAMETERS),
    );
    expect(found.map(({ file }) => file)).toEqual([]);
  });
});
