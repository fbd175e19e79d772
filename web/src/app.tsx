import { Center, Loader } from '@mantine/core';
import { useEffect } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { useLive } from './api/live';
import { ErrorBox } from './parts/error-box';
import { NotFound } from './pages/not-found';
import { kPages } from './pages/pages';
import { SignIn } from './pages/sign-in';
import { useSession } from './session';
import { Shell } from './shell';

function Pages() {
  const [location] = useLocation();
  useEffect(() => {
    window.scrollTo(0, 0);
  }, [location]);
  return (
    <Switch>
      {kPages.map(({ path, page: Page }) => (
        <Route path={path} key={path}>
          {(parts: Record<string, string>) => <Page {...parts} key={Object.values(parts).join('/')} />}
        </Route>
      ))}
      <Route>
        <NotFound path={location} />
      </Route>
    </Switch>
  );
}

export function App() {
  const session = useSession();
  const live = useLive(session.state === 'in');
  if (session.state === 'unknown')
    return (
      <Center mih="100vh">
        {session.error ? <ErrorBox error={session.error} /> : <Loader aria-label="loading" />}
      </Center>
    );
  if (session.state === 'out') return <SignIn ended={session.ended} />;
  return (
    <Shell me={session.me} live={live}>
      <Pages />
    </Shell>
  );
}
