import { Anchor, TypographyStylesProvider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type MouseEvent, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { Loaded, Page } from '../../parts/page';
import classes from './guide.module.css';
import { guides, render, textOf } from './guides';

// One guide, with links that stay in the console.
export default function Guide({ name }: { name: string }) {
  const [, go] = useLocation();
  const guide = useQuery({ queryKey: ['guide', name], queryFn: async () => render(await textOf(name)), retry: false });
  const hash = window.location.hash.slice(1);
  useEffect(() => {
    if (guide.data && hash) document.getElementById(hash)?.scrollIntoView();
  }, [guide.data, hash]);
  const follow = (event: MouseEvent) => {
    const href = (event.target as HTMLElement).closest('a')?.getAttribute('href');
    if (!href?.startsWith('/') || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(href);
  };
  const known = guides.find((g) => g.name === name);
  return (
    <Page
      title={guide.data?.title ?? known?.title ?? 'Guide'}
      about={
        <Anchor component={Link} href="/help" size="sm">
          All guides
        </Anchor>
      }
    >
      <Loaded query={guide} height={600}>
        {({ html }) => (
          <TypographyStylesProvider className={classes.text} onClick={follow}>
            <div dangerouslySetInnerHTML={{ __html: html }} />
          </TypographyStylesProvider>
        )}
      </Loaded>
    </Page>
  );
}
