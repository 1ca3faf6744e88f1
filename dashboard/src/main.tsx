import './styles.css';

import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { queryClient } from './api/queries';
import { router } from './app/router';
import { applyChoices } from './app/theme';
import { onLive, startLive } from './live/use-live';

applyChoices();
startLive();
onLive(({ kind }) => {
  if (kind === 'resync') void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[2] !== 'pages' });
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
