import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconBuildingStore,
  IconChevronDown,
  IconMoon,
  IconSun,
} from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { Live } from './api/live';
import { change, useChange } from './api/queries';
import { credits } from './format';
import { kPages } from './pages/pages';
import { NewBuild } from './robust/new-build';
import { leave, type Me } from './session';
import classes from './shell.module.css';

function Scheme() {
  const { setColorScheme } = useMantineColorScheme();
  const now = useComputedColorScheme('light');
  const next = now === 'dark' ? 'light' : 'dark';
  return (
    <Tooltip label={`${next} colours`}>
      <ActionIcon variant="default" size="lg" aria-label={`${next} colours`} onClick={() => setColorScheme(next)}>
        {next === 'dark' ? <IconMoon size={18} /> : <IconSun size={18} />}
      </ActionIcon>
    </Tooltip>
  );
}

function Person({ me }: { me: Me }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const gone = () => {
    leave(client);
    go('/');
  };
  const out = useChange(() => change('post', '/v1/logout', {}), { done: gone, leaves: true });
  const everywhere = useChange(() => change('delete', '/v1/tokens', {}), { done: gone, leaves: true });
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <UnstyledButton className={classes.person}>
          <VisuallyHidden>account</VisuallyHidden>
          <Group gap={6} wrap="nowrap">
            <div>
              <Text size="sm" fw={600} lh={1.2} truncate maw={140}>
                {me.name}
              </Text>
              <Text size="xs" c="dimmed" lh={1.2} className="numbers">
                {credits(me.available + me.bonus)} credits
              </Text>
            </div>
            <IconChevronDown size={14} />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => go('/account')}>Account, password and tokens</Menu.Item>
        <Menu.Item onClick={() => out.mutate()}>Log out</Menu.Item>
        <Menu.Item color="red" onClick={() => everywhere.mutate()}>
          Log out everywhere, machines too
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export function Shell({ me, live, children }: { me: Me; live: Live; children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const [location] = useLocation();
  const rooms = kPages.flatMap(({ path, room }) => (room && (!room.operator || me.operator) ? [{ to: path, ...room }] : []));
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className={classes.skip} href="#main">
        Skip to the page
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="menu" />
            <Link href="/" className={classes.brand} onClick={close}>
              <IconBuildingStore size={24} aria-hidden />
              <span>Souk</span>
            </Link>
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Scheme />
            <Person me={me} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="rooms">
        {rooms.map(({ to, label, icon: Icon }) => {
          const here = to === '/' ? location === '/' : location.startsWith(to);
          return (
            <NavLink
              key={to}
              component={Link}
              href={to}
              label={label}
              active={here}
              {...(here ? { 'aria-current': 'page' as const } : {})}
              leftSection={<Icon size={18} aria-hidden />}
              onClick={close}
              className={classes.room}
            />
          );
        })}
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        {live === 'lost' && (
          <Alert color="yellow" className={classes.lost} role="status">
            The market does not answer. What you see may be old. The console keeps trying.
          </Alert>
        )}
        <NewBuild live={live} className={classes.lost} />
        {children}
      </AppShell.Main>
    </AppShell>
  );
}
