import { Tabs } from '@mantine/core';
import { type ComponentType } from 'react';
import { useSearchParams } from 'wouter';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { useMe } from '../../session';
import { Accounts } from './accounts';
import { Audit } from './audit';
import { Classes } from './classes';
import { Feedback } from './feedback';
import { Health } from './health';
import { Mechanisms } from './mechanisms';
import { Requests } from './requests';
import { Settings } from './settings';

const kTabs: [value: string, label: string, view: ComponentType][] = [
  ['accounts', 'Accounts', Accounts],
  ['classes', 'Classes', Classes],
  ['mechanisms', 'Mechanisms', Mechanisms],
  ['settings', 'Settings', Settings],
  ['health', 'Health', Health],
  ['requests', 'Requests', Requests],
  ['feedback', 'Feedback', Feedback],
  ['audit', 'Audit log', Audit],
];

export default function Operator() {
  const me = useMe();
  const [search, setSearch] = useSearchParams();
  const asked = search.get('tab');
  const [tab, , View] = kTabs.find(([value]) => value === asked) ?? ['accounts', '', Accounts];
  return (
    <Page title="Operator" about="Runs this market: accounts, slot classes and their mechanisms, settings, health.">
      {me.operator ? (
        <Tabs
          value={tab}
          onChange={(value) => setSearch(value ? { tab: value } : {}, { replace: true })}
        >
          <Tabs.List aria-label="what to operate">
            {kTabs.map(([value, label]) => (
              <Tabs.Tab key={value} value={value}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={tab} pt="lg">
            <View />
          </Tabs.Panel>
        </Tabs>
      ) : (
        <Empty title="This page is for operators">
          You use this market as an ordinary account. Ask its operator through the help page.
        </Empty>
      )}
    </Page>
  );
}
