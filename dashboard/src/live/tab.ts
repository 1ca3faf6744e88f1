import { API_BASE } from '../base';
import { Connection } from './connection';
import type { FromConnection, FromTab } from './messages';

const STREAM = `${API_BASE}/api/v1/changelog/stream`;

/** How one tab reaches the connection that all tabs share. */
export interface Tab {
  send(message: FromTab): void;
}

/** A browser opens six connections to a host, so all tabs share one stream. */
export function joinConnection(receive: (message: FromConnection) => void): Tab {
  if ('SharedWorker' in window) return throughWorker(receive);
  if ('locks' in navigator && 'BroadcastChannel' in window) return throughLeader(receive);
  return alone(receive);
}

function throughWorker(receive: (message: FromConnection) => void): Tab {
  const worker = new SharedWorker(new URL('./shared-worker.ts', import.meta.url), { type: 'module', name: STREAM });
  worker.port.onmessage = ({ data }: MessageEvent<FromConnection>) => receive(data);
  return { send: (message) => worker.port.postMessage(message) };
}

type Broadcast =
  | { kind: 'from connection'; message: FromConnection }
  | { kind: 'from tab'; tab: string; message: FromTab }
  | { kind: 'new leader' };

/** The tab that holds a lock has the connection, and another one takes over when it is closed. */
function throughLeader(receive: (message: FromConnection) => void): Tab {
  const channel = new BroadcastChannel(STREAM);
  const broadcast = (message: Broadcast): void => channel.postMessage(message);
  const tab = crypto.randomUUID();
  let last: FromTab = { kind: 'hidden' };
  let lead: ((tab: string, message: FromTab) => void) | undefined;
  const send = (message: FromTab): void => {
    last = message;
    if (lead) lead(tab, message);
    else broadcast({ kind: 'from tab', tab, message });
  };
  channel.onmessage = ({ data }: MessageEvent<Broadcast>) => {
    if (data.kind === 'from connection') receive(data.message);
    else if (data.kind === 'from tab') lead?.(data.tab, data.message);
    else send(last);
  };
  void navigator.locks.request(STREAM, () => {
    const connection = new Connection(STREAM, (message) => {
      receive(message);
      broadcast({ kind: 'from connection', message });
    });
    lead = (from, { kind }) => (kind === 'visible' ? connection.show(from) : connection.hide(from));
    lead(tab, last);
    // It does not know yet which of the other tabs are visible.
    broadcast({ kind: 'new leader' });
    // Held until the tab is closed.
    return new Promise<never>(() => undefined);
  });
  return { send };
}

function alone(receive: (message: FromConnection) => void): Tab {
  const connection = new Connection(STREAM, receive);
  return { send: ({ kind }) => (kind === 'visible' ? connection.show('') : connection.hide('')) };
}
