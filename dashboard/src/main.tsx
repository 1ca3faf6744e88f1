import './styles.css';

import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { isLive, outdateAnswers, queryClient } from './api/queries';
import { router } from './app/router';
import { applyChoices } from './app/theme';
import { onLive, startLive } from './live/use-live';

// Its address is relative to the page's, which changes with the view.
for (const icon of document.querySelectorAll<HTMLLinkElement>('link[rel=icon]')) icon.href = String(icon.href);

applyChoices();
onLive((message) => {
  if (message.kind === 'state') return;
  if (message.kind === 'resync' || message.events.some(({ event_type }) => event_type !== 'execution_output'))
    outdateAnswers();
  if (message.kind !== 'resync') return;
  const { all } = message;
  void queryClient.invalidateQueries({
    predicate: (query) => query.queryKey[2] !== 'pages' && (all || isLive(query)),
  });
});

// The view is loaded before anything is drawn: an empty frame, drawn first, would delay its rows.
void router.load().finally(() => {
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
  // The worker of the live connection starts slowly, and the first rows do not need it.
  requestAnimationFrame(() => setTimeout(startLive));
});
