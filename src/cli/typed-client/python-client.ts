import type { ClientAgent, ClientCatalog, ClientType } from './client-catalog.js';
import { pythonMethods } from './python-names.js';
import { PythonTypes } from './python-types.js';
import { template } from './template.js';

/** Returns a Python module without dependencies: the types of the catalog, and the client that every module has. */
export function pythonClient({ types, agents, components }: ClientCatalog): string {
  return [
    template('python/head.py').trimEnd(),
    ...new PythonTypes(components).definitions.map((definition) => definition.trimEnd()),
    publishClass('Publish', 'PublishOptions', 'Published', types),
    publishClass('PublishAndWait', 'WaitOptions', 'Run', types),
    runClass(types),
    workClass(agents, types),
    template('python/starling.py'),
  ].join('\n\n\n');
}

const payloadOf = ({ component }: ClientType): string => component ?? 'dict[str, Any]';

function publishClass(name: string, options: string, answer: string, types: ClientType[]): string {
  const methods = pythonMethods(types.map((type) => type.name));
  const defined = types.map(
    (type) =>
      `    def ${methods.get(type.name)!}(self, payload: ${payloadOf(type)}, **options: Unpack[${options}]) -> ${answer}:\n` +
      `        return self._publish(${JSON.stringify(type.name)}, payload, options)`,
  );
  const start = `class ${name}:\n    def __init__(self, publish: Callable[[str, Any, Any], ${answer}]) -> None:\n        self._publish = publish`;
  return [start, ...defined].join('\n\n');
}

function runClass(types: ClientType[]): string {
  const overloads = (method: string, answer: (payload: string) => string): string[] =>
    types.map(
      (type) =>
        `    @overload\n    def ${method}(self, type: Literal[${JSON.stringify(type.name)}]) -> ${answer(payloadOf(type))}: ...`,
    );
  return [
    'class Run(RunBody):',
    ...overloads('all', (payload) => `list[Artifact[${payload}]]`),
    '    def all(self, type: str) -> Any:\n        """The artifacts of a type, in the order of their publishing."""\n        return self.of_type(type)\n',
    ...overloads('first', (payload) => `Artifact[${payload}] | None`),
    '    def first(self, type: str) -> Any:\n        """The first artifact of a type, or None if there is none."""\n        return next(iter(self.of_type(type)), None)',
  ].join('\n');
}

function workClass(agents: ClientAgent[], types: ClientType[]): string {
  const methods = pythonMethods(agents.map(({ name }) => name));
  const payloads = new Map(types.map((type) => [type.name, payloadOf(type)]));
  const defined = agents.map(({ name, consumes, publishes }) => {
    const inputs = [...new Set(consumes.map((type) => payloads.get(type)!))].join(' | ') || 'Any';
    const outputs = publishes.map((type) => `Output[Literal[${JSON.stringify(type)}], ${payloads.get(type)!}]`);
    const output = outputs.join(' | ') || 'Any';
    return (
      `    def ${methods.get(name)!}(\n` +
      `        self,\n        handle: Callable[[Execution[${inputs}]], ${output} | list[${output}]],\n` +
      `        **options: Unpack[WorkerOptions],\n    ) -> None:\n` +
      `        self._work(${JSON.stringify(name)}, handle, options)`
    );
  });
  const start = `class Work:\n    def __init__(self, work: Callable[[str, Any, Any], None]) -> None:\n        self._work = work`;
  return [start, ...defined].join('\n\n');
}
