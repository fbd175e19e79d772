import { Button, Chip, Group, Switch, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useDeferredValue, useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { count } from '../../format';
import { Empty } from '../../parts/empty';
import { ErrorBox } from '../../parts/error-box';
import { Loaded, Page } from '../../parts/page';
import { Search } from '../../parts/search';
import { useMe } from '../../session';
import { useAllJobs } from './all-jobs';
import { countStates, type Job, kStates, matching } from './list';
import { kMostRuns } from './compare/settings';
import { JobsTable, type Picking } from './table';

function NewJob() {
  return (
    <Button component={Link} href="/jobs/new" leftSection={<IconPlus size={16} aria-hidden />}>
      New job
    </Button>
  );
}

// Which runs are ticked, while the address says ?compare=yes.
function usePicking(): Picking | undefined {
  const [picked, setPicked] = useState<Set<string>>(new Set());
  if (new URLSearchParams(useSearch()).get('compare') !== 'yes') return undefined;
  return {
    picked,
    full: picked.size >= kMostRuns,
    toggle: (id) =>
      setPicked((now) => {
        const next = new Set(now);
        if (!next.delete(id) && next.size < kMostRuns) next.add(id);
        return next;
      }),
  };
}

function CompareBar({ picked }: { picked: Set<string> }) {
  const [, go] = useLocation();
  return (
    <Group gap="sm">
      <Text size="sm" role="status">
        {`Tick two to ${kMostRuns} runs to compare. ${count(picked.size, 'run')} chosen.`}
      </Text>
      <Button
        size="xs"
        disabled={picked.size < 2}
        onClick={() => go(`/jobs/compare?jobs=${[...picked].join(',')}`)}
      >
        Compare
      </Button>
      <Button size="xs" variant="default" onClick={() => go('/jobs')}>
        Cancel
      </Button>
    </Group>
  );
}

type FoundProps = { jobs: Job[]; everybody: boolean; search: string; setSearch: (text: string) => void };

function Found({ jobs, everybody, search, setSearch }: FoundProps) {
  const [, go] = useLocation();
  const picking = usePicking();
  const state = new URLSearchParams(useSearch()).get('state') ?? 'all';
  const wanted = useDeferredValue(search);
  const named = useMemo(() => matching(jobs, wanted), [jobs, wanted]);
  const counts = useMemo(() => countStates(named), [named]);
  const shown = useMemo(
    () => (state === 'all' ? named : named.filter((job) => job.state === state)),
    [named, state],
  );
  if (jobs.length === 0)
    return (
      <Empty
        title="No jobs yet"
        action={
          <Button component={Link} href="/jobs/new" variant="light">
            Begin with a sample
          </Button>
        }
      >
        A job trains a model or runs a program on machines that others lend. You see what it would take and
        cost before anything is spent, and it never costs more than the cap you set.
      </Empty>
    );
  return (
    <>
      <Group gap="sm">
        <Search
          aria-label="Search jobs"
          placeholder="Search by name"
          value={search}
          onChange={setSearch}
          w={{ base: '100%', xs: 240 }}
        />
        <Chip.Group
          value={state}
          onChange={(value) => {
            const ask = new URLSearchParams(value === 'all' ? {} : { state: String(value) });
            if (picking) ask.set('compare', 'yes');
            go(ask.size > 0 ? `/jobs?${ask}` : '/jobs', { replace: true });
          }}
        >
          <Group gap={6} role="radiogroup" aria-label="State">
            <Chip value="all" size="xs">{`all ${named.length.toLocaleString('en')}`}</Chip>
            {kStates
              .filter((s) => counts.has(s) || s === state)
              .map((s) => (
                <Chip key={s} value={s} size="xs">{`${s} ${(counts.get(s) ?? 0).toLocaleString('en')}`}</Chip>
              ))}
          </Group>
        </Chip.Group>
      </Group>
      {picking && <CompareBar picked={picking.picked} />}
      {shown.length > 0 ? (
        <JobsTable jobs={shown} owners={everybody} picking={picking} />
      ) : (
        <Empty title="No job matches">Try other words, or another state.</Empty>
      )}
    </>
  );
}

export default function Jobs() {
  const me = useMe();
  const [everybody, setEverybody] = useState(false);
  const [search, setSearch] = useState(''); // Here, so that it outlives another list.
  const query = useAllJobs(everybody);
  return (
    <Page
      title="Jobs"
      about="Your trainings and programs on other people's machines."
      actions={
        <>
          {me.operator && (
            <Switch
              label="Everybody's"
              checked={everybody}
              onChange={(e) => setEverybody(e.currentTarget.checked)}
            />
          )}
          <Button component={Link} href="/jobs/forecasts" variant="default">
            Forecast against actual
          </Button>
          <Button component={Link} href="/jobs?compare=yes" variant="default">
            Compare runs
          </Button>
          <NewJob />
        </>
      }
    >
      {query.isFetchNextPageError && (
        <ErrorBox error={query.error} retry={() => void query.fetchNextPage()} />
      )}
      <Loaded query={query} height={400}>
        {(data) => (
          <Found jobs={data.items ?? []} everybody={everybody} search={search} setSearch={setSearch} />
        )}
      </Loaded>
    </Page>
  );
}
