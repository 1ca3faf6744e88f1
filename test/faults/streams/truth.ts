import type { Entry } from '../../support/changelog-readers.js';
import type { Service } from '../../support/service.js';

interface Page {
  items: Entry[];
  pagination: { next: number; has_more: boolean };
}

/** Reads the whole changelog, page by page. */
export async function allEntries(service: Service): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after = 0; ;) {
    const { items, pagination } = await service.get<Page>(`/api/v1/changelog/events?limit=500&after=${after}`);
    entries.push(...items);
    if (!pagination.has_more) return entries;
    after = pagination.next;
  }
}
