/// <reference lib="webworker" />
import { Connection } from './connection';
import type { FromConnection, FromTab } from './messages';

/** Runs once for all tabs. Its name is the address of the stream. */
const scope = self as unknown as SharedWorkerGlobalScope;

const ports = new Set<MessagePort>();

const connection = new Connection(scope.name, (message: FromConnection) => {
  for (const port of ports) port.postMessage(message);
});

scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  ports.add(port);
  port.onmessage = ({ data }: MessageEvent<FromTab>) =>
    data.kind === 'visible' ? connection.show(port) : connection.hide(port);
};
