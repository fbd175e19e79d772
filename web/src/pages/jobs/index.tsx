import { Button, Chip, Group, Switch } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { usePages } from '../../api/queries';
import { Empty } from '../../parts/empty';
import { Loaded, Page } from '../../parts/page';
import { Search } from '../../parts/search';
import { useMe } from '../../session';
import { countStates, type Job, kStates, matching } from './list';
import { JobsTable } from './table';

const kPage = 500;
const kMostPages = 20; // Ten thousand jobs; older ones are found on the command line.

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

function Found({ jobs, everybody }: { jobs: Job[]; everybody: boolean }) {
  const [, go] = useLocation();
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
          onChange={(value) => go(value === 'all' ? '/jobs' : `/jobs?state=${value}`, { replace: true })}
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
      {shown.length > 0 ? (
        <JobsTable jobs={shown} owners={everybody} />
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
      about="What you run on other people's machines."
      actions={
        <>
          {me.operator && (
            <Switch
              label="Everybody's"
              checked={everybody}
              onChange={(e) => setEverybody(e.currentTarget.checked)}
            />
          )}
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
