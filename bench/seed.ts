// node seed.ts <database file> <artifacts>: writes a history into the program's own schema as publishing would have left it.
// The counts are folded by the server that opens the file.
import type { DatabaseSync } from 'node:sqlite';
import { v7 } from 'uuid';
import { PER_CORRELATION, correlationOf, createdAt, producerOf, tagOf, typeOf, visibilityOf } from './history.ts';

const { openSqlite } = (await import(
  new URL('../dist/database/open-database.js', import.meta.url).href
)) as typeof import('../src/database/open-database.js');

const IN_ONE_TRANSACTION = 20_000;

const path = process.argv[2]!;
const artifacts = Number(process.argv[3]);
const database = await openSqlite(`sqlite:${path}`);
seed(database.connection);
await database.close();

function seed(connection: DatabaseSync): void {
  const writeArtifact = artifactWriter(connection);
  const writeCorrelation = correlationWriter(connection);
  for (let index = 0; index < artifacts; index += 1) {
    if (index % IN_ONE_TRANSACTION === 0) connection.exec('BEGIN');
    writeArtifact(index);
    if (index % PER_CORRELATION === 0) writeCorrelation(index);
    if ((index + 1) % IN_ONE_TRANSACTION === 0 || index + 1 === artifacts) connection.exec('COMMIT');
  }
}

function artifactWriter(connection: DatabaseSync): (index: number) => void {
  const artifact = connection.prepare(
    `insert into artifacts (seq, id, type, version, payload, produced_by, visibility, visibility_kind, tags, correlation_id, created_at)
     values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const tagged = connection.prepare('insert into artifact_tags (tag, artifact_seq) values (?, ?)');
  return (index) => {
    const seq = index + 1;
    const payload = JSON.stringify({ text: `Where is parcel ${index}? It was to arrive last week.` });
    const visibility = visibilityOf(index);
    const tag = tagOf(index, artifacts);
    const at = createdAt(index);
    const shown = JSON.stringify(visibility);
    artifact.run(seq, v7({ msecs: at }), typeOf(index), payload, producerOf(index), shown, visibility.kind, JSON.stringify([tag]), correlationOf(index), at);
    tagged.run(tag, seq);
  };
}

/** For the correlation that begins at an index. */
function correlationWriter(connection: DatabaseSync): (first: number) => void {
  const correlation = connection.prepare(
    `insert into correlations (id, state, closed, opening, pending, artifact_count, error_count, output_count, opening_executions,
       limited_agents, started_at, last_activity_at, settled_at)
     values (?, 'completed', 0, 1, 0, ${PER_CORRELATION}, 0, ?, 0, '[]', ?, ?, ?)`,
  );
  return (first) => {
    const members = Array.from({ length: PER_CORRELATION }, (_, place) => first + place);
    const outputs = members.filter((index) => producerOf(index) !== 'external').length;
    const ended = createdAt(members.at(-1)!);
    correlation.run(correlationOf(first), outputs, createdAt(first), ended, ended);
  };
}
