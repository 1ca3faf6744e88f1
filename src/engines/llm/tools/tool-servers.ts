import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Catalog } from '../../../catalog/catalog.js';
import { Outbound } from '../../../http-client/outbound.js';
import { ToolServer, type ToolServerOptions } from './tool-server.js';

/** The MCP servers of this process: agents that name the same one share it. Stopped with the service, after its executions. */
@Injectable()
export class ToolServers implements OnApplicationShutdown {
  private readonly servers = new Map<string, ToolServer>();

  constructor(
    private readonly catalog: Catalog,
    private readonly outbound: Outbound,
  ) {}

  at(options: ToolServerOptions): ToolServer {
    const key = JSON.stringify(options);
    let server = this.servers.get(key);
    if (!server) this.servers.set(key, (server = new ToolServer(options, this.catalog.baseDirectory, this.outbound.fetch)));
    return server;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.close()));
  }
}
