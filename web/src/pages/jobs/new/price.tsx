import { Alert, SimpleGrid, Stack, Text } from '@mantine/core';
import type { Schemas } from '../../../api/client';
import { count, credits, dateTime, duration } from '../../../format';
import { type Form, NumberField, TextField } from './fields';
import { deadlineOf, lasts, likelyBudget, dearestClass, likelyLimit, mostWorkers } from './terms';

type Props = { form: Form; classes: Schemas['SlotClass'][]; available: number; unread: boolean };

// The third step: what it may cost, and until when.
export function Price({ form, classes, available, unread }: Props) {
  const { draft } = form;
  if (unread)
    return <Alert color="yellow">The form cannot show this job file. The file is used as you wrote it.</Alert>;
  const slot = dearestClass(draft, classes);
  const time = lasts(draft, slot, available);
  const until = draft.deadline === '' ? undefined : deadlineOf(draft.deadline, Date.now());
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberField
          form={form}
          field="limit"
          label="Limit price"
          description={`credits per slot-hour; suggested now ${credits(slot?.suggested ?? 0)}`}
          step={0.1}
          placeholder={`${credits(likelyLimit(draft, slot))}, twice the suggested`}
        />
        <NumberField
          form={form}
          field="budget"
          label="Cap"
          description={`the most this job may cost; you have ${credits(available)}`}
          step={1}
          placeholder={credits(likelyBudget(draft, slot, available))}
        />
        <TextField
          form={form}
          field="deadline"
          label="Deadline"
          description={until ? dateTime(until) : 'the job ends then, finished or not: a duration, or a date and time'}
          placeholder="none; 3h, or 2027-03-01T22:00:00Z"
        />
      </SimpleGrid>
      {draft.limit === '' && (
        <Text size="sm">
          {`You set no limit price. The job then pays at most ${credits(likelyLimit(draft, slot))} per slot-hour: twice the suggested price.`}
        </Text>
      )}
      {draft.budget === '' && (
        <Text size="sm">
          {`You set no cap. It is then ${credits(likelyBudget(draft, slot, available))} credits: ${
            likelyBudget(draft, slot, available) < likelyLimit(draft, slot) * mostWorkers(draft)
              ? 'all that you have'
              : 'one hour of all workers at the limit price'
          }.`}
        </Text>
      )}
      <Text size="sm" mih={44}>
        {`${credits(likelyBudget(draft, slot, available))} credits are set aside when you submit. At the limit price they pay for ${count(
          mostWorkers(draft),
          'worker',
        )} for ${Number.isFinite(time) ? duration(time) : 'any length of time'}. You pay the price of each lease for the time worked. The rest comes back.`}
      </Text>
    </Stack>
  );
}
