import { Stack } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { useGet } from '../../api/queries';
import { Empty } from '../../parts/empty';
import { Loaded, Page } from '../../parts/page';
import { seconds } from '../../format';
import { useMe } from '../../session';
import { type Draft, noDraft } from './scenario';
import { StartPanel } from './start-panel';
import { ReplayPanel } from './replay-panel';
import { RunsPanel } from './runs-panel';
import { RunView } from './run-view';

export default function Lab() {
  const me = useMe();
  const [search, setSearch] = useSearchParams();
  // Kept while results are looked at, so that one knob can be changed and the run repeated.
  const [draft, setDraft] = useState<Draft>(noDraft);
  const scenarios = useGet('/v1/lab/scenarios', {});
  const run = search.get('run');
  const show = (id: string | undefined) => {
    setSearch(id ? { run: id } : {});
    window.scrollTo(0, 0);
  };
  const again = (from: Draft) => {
    setDraft(from);
    show(undefined);
  };
  if (run) return <RunView id={run} key={run} show={show} again={again} />;
  return (
    <Page
      title="Lab"
      about="Try pricing mechanisms on a simulated community, or on this market’s own history."
    >
      <Loaded query={scenarios} height={600}>
        {(s) =>
          seconds(s.limits.time) > 0 ? (
            <Stack gap="lg">
              <StartPanel scenarios={s} draft={draft} setDraft={setDraft} show={show} />
              <RunsPanel show={show} />
              {me.operator && <ReplayPanel show={show} />}
            </Stack>
          ) : (
            <Empty title="This server has no lab">
              Its operator has turned it off. The same experiments run on any computer with souk lab run.
            </Empty>
          )
        }
      </Loaded>
    </Page>
  );
}
