import { Center, Loader } from '@mantine/core';
import { lazy, Suspense, useEffect } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { useLive } from './api/live';
import { ErrorBox } from './parts/error-box';
import { SignIn } from './pages/sign-in';
import { useSession } from './session';
import { Shell } from './shell';

// One chunk for each page, so that the first visit loads what it shows.
const Home = lazy(() => import('./pages/home'));
const Machines = lazy(() => import('./pages/machines'));
const Machine = lazy(() => import('./pages/machines/machine'));
const Jobs = lazy(() => import('./pages/jobs'));
const NewJob = lazy(() => import('./pages/jobs/new-job'));
const Job = lazy(() => import('./pages/jobs/job'));
const Prices = lazy(() => import('./pages/prices'));
const Lab = lazy(() => import('./pages/lab'));
const Ledger = lazy(() => import('./pages/ledger'));
const Operator = lazy(() => import('./pages/operator'));
const Help = lazy(() => import('./pages/help'));
const Guide = lazy(() => import('./pages/help/guide'));
const Account = lazy(() => import('./pages/account'));

function Pages() {
  const [location] = useLocation();
  useEffect(() => {
    window.scrollTo(0, 0);
  }, [location]);
  return (
    <Suspense
      fallback={
        <Center mih="60vh">
          <Loader aria-label="loading" />
        </Center>
      }
    >
      <Switch>
        <Route path="/" component={Home} />
        <Route path="/machines" component={Machines} />
        <Route path="/machines/:id">{({ id }) => <Machine id={id} key={id} />}</Route>
        <Route path="/jobs" component={Jobs} />
        <Route path="/jobs/new" component={NewJob} />
        <Route path="/jobs/:id">{({ id }) => <Job id={id} key={id} />}</Route>
        <Route path="/prices" component={Prices} />
        <Route path="/lab" component={Lab} />
        <Route path="/ledger" component={Ledger} />
        <Route path="/operator" component={Operator} />
        <Route path="/help" component={Help} />
        <Route path="/help/:name">{({ name }) => <Guide name={name} key={name} />}</Route>
        <Route path="/account" component={Account} />
        <Route>
          <Redirect to="/" />
        </Route>
      </Switch>
    </Suspense>
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
