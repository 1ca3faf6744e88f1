import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

interface Closable {
  close(): Promise<void>;
}

/**
 * Resources that several agents' engines share, such as connections. They are closed with the service, after its
 * executions.
 */
@Injectable()
export class SharedResources implements OnApplicationShutdown {
  private readonly byKey = new Map<string, Closable>();

  /**
   * Returns the resource with this key; the first caller makes it. The key must include the kind of resource, because
   * callers with equal keys get the same object.
   */
  get<Resource extends Closable>(key: string, make: () => Resource): Resource {
    let resource = this.byKey.get(key);
    if (!resource) this.byKey.set(key, (resource = make()));
    return resource as Resource;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.byKey.values()].map((resource) => resource.close()));
  }
}
