import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

interface Closable {
  close(): Promise<void>;
}

/** What the engines of several agents share, such as connections. Closed with the service, after its executions. */
@Injectable()
export class SharedResources implements OnApplicationShutdown {
  private readonly byKey = new Map<string, Closable>();

  /** The resource of this key, made by the first caller. The key names the kind of resource too: callers with equal keys get the same object. */
  get<Resource extends Closable>(key: string, make: () => Resource): Resource {
    let resource = this.byKey.get(key);
    if (!resource) this.byKey.set(key, (resource = make()));
    return resource as Resource;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.byKey.values()].map((resource) => resource.close()));
  }
}
