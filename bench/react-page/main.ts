// The baseline of the dashboard's cold load: a page of React alone, which shows the same artifacts in a table.
import { createElement as h, type ReactNode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

interface Artifact {
  id: string;
  type: string;
  produced_by: string;
  created_at: string;
}

function Page(): ReactNode {
  const [artifacts, setArtifacts] = useState<Artifact[]>([]);
  useEffect(() => {
    void fetch('/api/v1/artifacts?limit=50')
      .then((response) => response.json())
      .then(({ items }: { items: Artifact[] }) => setArtifacts(items));
  }, []);
  const row = ({ id, type, produced_by, created_at }: Artifact, index: number): ReactNode =>
    h(
      'tr',
      { key: id, 'data-index': index },
      [id, type, produced_by, created_at].map((text) => h('td', { key: text }, text)),
    );
  return h('table', null, h('tbody', null, artifacts.map(row)));
}

createRoot(document.getElementById('root')!).render(h(Page));
