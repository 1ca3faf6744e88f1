import type { LookupAddress, LookupOptions } from 'node:dns';

import { Agent, buildConnector } from 'undici';

import { type AddressRules, isLocalhost, portOf, type UrlGiver } from './address-rules.js';
import type { HostTraffic } from './host-traffic.js';
import { CONNECT_TIMEOUT_MS, type Lookups } from './lookups.js';
import { OutboundError } from './outbound-error.js';

const LONGEST_HEADERS_BYTES = 16 * 1_024;

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Opens the connections of outbound requests, if the address is allowed and the host has not reached its traffic limit.
 */
export class Connecting {
  constructor(
    private readonly rules: AddressRules,
    private readonly lookups: Lookups,
    /** Counts only clients' requests. */
    private readonly traffic: HostTraffic,
  ) {}

  agentFor(by: UrlGiver): Agent {
    return new Agent({
      allowH2: false,
      maxHeaderSize: LONGEST_HEADERS_BYTES,
      // Only the caller's time limit applies.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.connector(by),
    });
  }

  /** Each port has its own connector, because the rules depend on the port and a lookup does not receive it. */
  private connector(by: UrlGiver): buildConnector.connector {
    const byPort = new Map<number, buildConnector.connector>();
    return (options, callback) => {
      const port = portOf(options);
      let connect = byPort.get(port);
      if (!connect) byPort.set(port, (connect = this.connectorTo(port, by)));
      connect(options, by === 'operator' ? callback : this.counted(options.hostname, callback));
    };
  }

  private connectorTo(port: number, by: UrlGiver): buildConnector.connector {
    return buildConnector({
      allowH2: false,
      timeout: CONNECT_TIMEOUT_MS,
      lookup: (name: string, options: LookupOptions, callback: LookupCallback) => {
        this.addressesOf(name, port, by).then(
          (addresses) =>
            options.all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
          (error: Error) => callback(error, []),
        );
      },
    });
  }

  private counted(hostname: string, callback: buildConnector.Callback): buildConnector.Callback {
    return (...[error, socket]) => {
      if (error || !socket) return callback(error as Error, null);
      try {
        this.traffic.add(hostname, socket);
      } catch (full) {
        socket.destroy();
        return callback(full as Error, null);
      }
      callback(null, socket);
    };
  }

  private async addressesOf(name: string, port: number, by: UrlGiver): Promise<LookupAddress[]> {
    const addresses = await this.lookups.addressesOf(name);
    const refusals = addresses.map(({ address }) => this.rules.refusal(address, port, by));
    const reachable = addresses.filter((_, index) => refusals[index] === null);
    const refusal = refusals.find((found) => found !== null);
    // One forbidden address is enough to refuse a name, except for localhost: it has two, and an operator may have
    // allowed only one.
    if (refusal && (reachable.length === 0 || !isLocalhost(name))) throw refused(name, refusal, by);
    if (reachable.length === 0) throw new OutboundError(`${name} has no address`);
    return reachable;
  }
}

// Clients must not learn to which internal address a name resolves: they could probe one name after another.
function refused(name: string, refusal: string, by: UrlGiver): OutboundError {
  const whole = `${name} must ${refusal}`;
  if (by === 'operator') return new OutboundError(whole, true);
  return new OutboundError(
    `${name} resolves to an address that may not be called; the log of the service shows the address`,
    true,
    new Error(whole),
  );
}
