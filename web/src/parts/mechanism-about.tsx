import { List, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react';
import type { Schemas } from '../api/client';
import { type Property, propertiesOf } from './mechanism-words';

const kMarks = {
  good: { icon: IconCheck, color: 'teal' },
  limit: { icon: IconAlertTriangle, color: 'orange' },
  plain: { icon: IconInfoCircle, color: 'gray' },
};

// A program of the operator's has no properties that we know.
type About = Pick<Schemas['Mechanism'], 'summary'> & Partial<Pick<Schemas['Mechanism'], 'properties'>>;
const kOwn: Property = { kind: 'plain', text: 'The program is not trusted: every outcome is checked before it counts.' };

// A mechanism in plain words: what it does, what it promises and what not.
export function MechanismAbout({ mechanism }: { mechanism: About }) {
  return (
    <>
      <Text size="sm" mb="xs">
        {mechanism.summary}
      </Text>
      <List size="sm" spacing={6} listStyleType="none" center={false}>
        {(mechanism.properties ? propertiesOf(mechanism.properties) : [kOwn]).map(({ text, kind }) => {
          const { icon: Icon, color } = kMarks[kind];
          return (
            <List.Item
              key={text}
              icon={
                <ThemeIcon size={20} radius="xl" variant="light" color={color} aria-hidden>
                  <Icon size={13} />
                </ThemeIcon>
              }
            >
              {text}
            </List.Item>
          );
        })}
      </List>
    </>
  );
}
