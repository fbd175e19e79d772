import { Alert, Button, Group } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Live } from '../api/live';
import { newBuild, reloadOnce } from './build';
import { saved, useUnsaved, watchInput } from './unsaved';

// When the server is back with another build, the console loads it: at once if nobody has begun to
// fill in anything, else when they say so or leave the page.
export function NewBuild({ live, className }: { live: Live; className?: string | undefined }) {
  const [location] = useLocation();
  const [build, setBuild] = useState<string>();
  const unsaved = useUnsaved();
  useEffect(() => watchInput(), []);
  const page = useRef(location);
  useEffect(() => {
    if (page.current !== location) saved();
    page.current = location;
  }, [location]);
  useEffect(() => {
    if (live !== 'live') return;
    let gone = false;
    void newBuild().then((found) => {
      if (!gone) setBuild(found);
    });
    return () => {
      gone = true;
    };
  }, [live]);
  const [refused, setRefused] = useState(false);
  useEffect(() => {
    if (build && !unsaved && !refused) setRefused(!reloadOnce(build));
  }, [build, unsaved, refused]);
  if (!build || live === 'lost') return null;
  return (
    <Alert color="blue" className={className} role="status">
      <Group justify="space-between" gap="xs">
        The server has a new version of this console. It is loaded when you leave this page.
        <Button size="xs" variant="default" onClick={() => window.location.reload()}>
          Load it now
        </Button>
      </Group>
    </Alert>
  );
}
