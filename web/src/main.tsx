import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client';
import { App } from './app';
import { Boundary } from './robust/boundary';
import { theme } from './theme';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays a refusal; a market that does not answer may come back.
      retry: (tries, error) =>
        error instanceof ApiError && error.status !== 0 && error.status < 500 ? false : tries < 3,
      refetchOnWindowFocus: true,
    },
  },
});

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <QueryClientProvider client={client}>
          <Notifications position="bottom-right" />
          <Boundary>{() => <App />}</Boundary>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
