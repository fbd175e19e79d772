import { Badge, Button, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { type FormEvent, useId, useState } from 'react';
import { change, useChange, usePages } from '../../api/queries';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { When } from '../../parts/when';
import { useMe } from '../../session';

const kLongest = 4_000;
const kColors: Record<string, string> = { question: 'blue', problem: 'red', idea: 'grape', praise: 'teal' };

function Form() {
  const [category, setCategory] = useState('question');
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
            What is it
          </Text>
          <SegmentedControl
            aria-labelledby={label}
            value={category}
            onChange={setCategory}
            data={['question', 'problem', 'idea', 'praise']}
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
                <Group gap="xs">
                  <Badge variant="light" tt="none" color={kColors[f.category] ?? 'gray'}>
                    {f.category}
                  </Badge>
                  <Text size="xs" c="dimmed">
                    <When at={f.at} />
                  </Text>
                </Group>
                <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
                  {f.text}
                </Text>
              </div>
            ))}
            {all.hasNextPage && (
              <Button size="xs" variant="default" w="fit-content" onClick={() => void all.fetchNextPage()}>
                Look further back
              </Button>
            )}
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
