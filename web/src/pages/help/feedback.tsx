import { Button, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { type FormEvent, useId, useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange, usePages } from '../../api/queries';
import { Empty } from '../../parts/empty';
import { More } from '../../parts/more';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { isCategory, kCategories, Remark } from '../../parts/remark';
import { useMe } from '../../session';

const kLongest = 4_000;

function Form() {
  const [category, setCategory] = useState<Schemas['FeedbackCategory']>('question');
  const [text, setText] = useState('');
  const label = useId();
  const give = useChange(() => change('post', '/v1/feedback', { body: { category, text } }), {
    said: 'Sent to the operator. Thank you.',
    done: () => setText(''),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    give.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <div>
          <Text size="sm" fw={500} id={label} mb={4}>
            Kind of message
          </Text>
          <SegmentedControl
            aria-labelledby={label}
            value={category}
            onChange={(value) => isCategory(value) && setCategory(value)}
            data={kCategories}
          />
        </div>
        <Textarea
          label="Your message"
          description="The operator of this market reads it."
          required
          autosize
          minRows={4}
          maxRows={16}
          maxLength={kLongest}
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
        />
        <Group>
          <Button type="submit" loading={give.isPending} disabled={text.trim() === ''}>
            Send
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

// An operator gets everybody's; here are one's own.
function Past() {
  const me = useMe();
  const all = usePages('/v1/feedback', { query: { limit: 100 } });
  return (
    <Loaded query={all} height={160}>
      {({ items }) => {
        const mine = items.filter((f) => f.account === me.name);
        if (mine.length === 0 && !all.hasNextPage)
          return <Empty title="You have not written yet">What you send shows here.</Empty>;
        return (
          <Stack gap="md">
            {mine.map((f) => (
              <div key={f.id}>
                <Remark remark={f} />
              </div>
            ))}
            <More pages={all} label="Show older ones" />
          </Stack>
        );
      }}
    </Loaded>
  );
}

export function Feedback() {
  return (
    <>
      <Panel title="Write to the operator">
        <Form />
      </Panel>
      <Panel title="What you wrote">
        <Past />
      </Panel>
    </>
  );
}
