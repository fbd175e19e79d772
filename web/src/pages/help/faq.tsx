import { Accordion, Code, Text } from '@mantine/core';
import { Fragment, useState } from 'react';
import { useGet } from '../../api/queries';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { Search } from '../../parts/search';

// Commands are between backquotes in the answers.
function Answer({ text }: { text: string }) {
  return (
    <Text size="sm">
      {text.split('`').map((part, i) => (i % 2 ? <Code key={i}>{part}</Code> : <Fragment key={i}>{part}</Fragment>))}
    </Text>
  );
}

export function Faq() {
  const faq = useGet('/v1/faq', {});
  const [text, setText] = useState('');
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    <Panel title="Frequent questions">
      <Search label="Search the questions" placeholder="price, escrow, pause" mb="sm" value={text} onChange={setText} />
      <Loaded query={faq} height={480}>
        {({ items = [] }) => {
          const found = items.filter((f) =>
            words.every((w) => `${f.question} ${f.answer}`.toLowerCase().includes(w)),
          );
          return found.length === 0 ? (
            <Empty title="No question contains these words">Ask it below: the operator reads what you write.</Empty>
          ) : (
            <Accordion multiple order={3} chevronPosition="left">
              {found.map((f) => (
                <Accordion.Item key={f.question} value={f.question}>
                  <Accordion.Control>{f.question}</Accordion.Control>
                  <Accordion.Panel>
                    <Answer text={f.answer} />
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
          );
        }}
      </Loaded>
    </Panel>
  );
}
