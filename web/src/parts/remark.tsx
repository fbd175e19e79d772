import { Badge, Group, Text } from '@mantine/core';
import type { Schemas } from '../api/client';
import { When } from './when';

type Category = Schemas['FeedbackCategory'];

const kColors: Record<Category, string> = { question: 'blue', problem: 'red', idea: 'grape', praise: 'teal' };
export const kCategories: Category[] = ['question', 'problem', 'idea', 'praise'];
export const isCategory = (word: string): word is Category => word in kColors;

// What somebody told the operator; `signed` says who.
export function Remark({ remark, signed = false }: { remark: Schemas['Feedback']; signed?: boolean }) {
  return (
    <>
      <Group gap="xs" mb={4}>
        <Badge variant="light" tt="none" color={kColors[remark.category] ?? 'gray'}>
          {remark.category}
        </Badge>
        {signed && (
          <Text size="sm" fw={600}>
            {remark.account}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          <When at={remark.at} />
        </Text>
      </Group>
      <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
        {remark.text}
      </Text>
    </>
  );
}
