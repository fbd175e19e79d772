import {
  IconBuildingStore,
  IconChartCandle,
  IconDeviceDesktop,
  IconFlask,
  IconHelp,
  IconHome,
  IconPlayerPlay,
  IconReceipt,
  IconShieldCog,
} from '@tabler/icons-react';
import { Center, Loader } from '@mantine/core';
import type { ComponentType } from 'react';
import { chunk } from '../robust/chunk';

// The one list of pages, in the order of the menu. Each is a chunk of its own, so that the first visit
// loads what it shows. A `:part` of a path is given to the page, which begins anew when it changes.
// Pages without a `room` are reached from others.
export type Page = {
  path: string;
  page: ComponentType<Record<string, string>>;
  room?: { label: string; icon: typeof IconHome; operator?: boolean };
};

function Waiting() {
  return (
    <Center mih="60vh">
      <Loader aria-label="loading" />
    </Center>
  );
}

const page = (load: () => Promise<{ default: ComponentType<never> }>) =>
  chunk(load as () => Promise<{ default: ComponentType<Record<string, string>> }>, () => <Waiting />);

export const kPages: Page[] = [
  { path: '/', page: page(() => import('./home')), room: { label: 'Home', icon: IconHome } },
  { path: '/market', page: page(() => import('./market')), room: { label: 'Market', icon: IconBuildingStore } },
  { path: '/machines', page: page(() => import('./machines')), room: { label: 'Machines', icon: IconDeviceDesktop } },
  { path: '/machines/:id', page: page(() => import('./machines/machine')) },
  { path: '/jobs', page: page(() => import('./jobs')), room: { label: 'Jobs', icon: IconPlayerPlay } },
  { path: '/jobs/new', page: page(() => import('./jobs/new-job')) },
  { path: '/jobs/compare', page: page(() => import('./jobs/compare')) },
  { path: '/jobs/forecasts', page: page(() => import('./jobs/compare/forecasts')) },
  { path: '/jobs/:id', page: page(() => import('./jobs/job')) },
  { path: '/prices', page: page(() => import('./prices')), room: { label: 'Prices', icon: IconChartCandle } },
  { path: '/lab', page: page(() => import('./lab')), room: { label: 'Lab', icon: IconFlask } },
  { path: '/ledger', page: page(() => import('./ledger')), room: { label: 'Ledger', icon: IconReceipt } },
  {
    path: '/operator',
    page: page(() => import('./operator')),
    room: { label: 'Operator', icon: IconShieldCog, operator: true },
  },
  { path: '/help', page: page(() => import('./help')), room: { label: 'Help', icon: IconHelp } },
  { path: '/help/:name', page: page(() => import('./help/guide')) },
  { path: '/account', page: page(() => import('./account')) },
];
