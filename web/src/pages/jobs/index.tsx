import { Button, Chip, Group, Switch, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { usePages } from '../../api/queries';
import { count } from '../../format';
import { Empty } from '../../parts/empty';
import { Loaded, Page } from '../../parts/page';
import { Search } from '../../parts/search';
import { useMe } from '../../session';
import { countStates, type Job, kStates, matching } from './list';
import { kMostRuns } from './compare/settings';
import { JobsTable, type Picking } from './table';

const kPage = 500;
const kMostPages = 20; // Ten thousand jobs; older ones are found with the command line.

function NewJob() {
  return (
    <Button component={Link} href="/jobs/new" leftSection={<IconPlus size={16} aria-hidden />}>
      New job
    </Button>
  );
}

function useAllJobs(everybody: boolean) {
  const query = usePages('/v1/jobs', { query: { limit: kPage, ...(everybody ? { all: true } : {}) } });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const pages = Math.ceil((data?.items?.length ?? 0) / kPage);
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && pages < kMostPages) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, pages]);
  return query;
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

function Found({ jobs, everybody }: { jobs: Job[]; everybody: boolean }) {
  const [, go] = useLocation();
  const picking = usePicking();
  const state = new URLSearchParams(useSearch()).get('state') ?? 'all';
  const [search, setSearch] = useState('');
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
      <Loaded query={query} height={400}>
        {(data) => <Found jobs={data.items ?? []} everybody={everybody} />}
      </Loaded>
    </Page>
  );
}
