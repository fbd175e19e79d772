import { Button, Select, SimpleGrid, Switch, TextInput } from '@mantine/core';
import type { Filter, Order } from './filter';
import { kNoFilter, kOrders } from './filter';

type Props = {
  filter: Filter;
  order: Order;
  change: (more: Partial<Filter>) => void;
  sort: (by: Order) => void;
};

const kFields: { key: keyof Filter; label: string; placeholder: string; number?: boolean }[] = [
  { key: 'gpu', label: 'GPU', placeholder: 'A100' },
  { key: 'vram', label: 'GPU memory, GiB', placeholder: '40', number: true },
  { key: 'cores', label: 'Cores', placeholder: '8', number: true },
  { key: 'memory', label: 'Memory, GiB', placeholder: '16', number: true },
  { key: 'speed', label: 'Speed', placeholder: '2', number: true },
  { key: 'price', label: 'Price at most', placeholder: '1.00', number: true },
  { key: 'packages', label: 'Has package', placeholder: 'torch' },
  { key: 'region', label: 'Region', placeholder: 'eu' },
];

export function FilterForm({ filter, order, change, sort }: Props) {
  const wrong = (key: keyof Filter) => filter[key] !== '' && !(Number(filter[key]) >= 0);
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" style={{ alignItems: 'end' }} role="search" aria-label="filter">
      {kFields.map(({ key, label, placeholder, number }) => (
        <TextInput
          key={key}
          label={label}
          placeholder={placeholder}
          inputMode={number ? 'decimal' : 'text'}
          maxLength={60}
          value={filter[key]}
          onChange={(e) => change({ [key]: e.currentTarget.value })}
          error={number && wrong(key) && 'a number'}
        />
      ))}
      <Select
        label="Order"
        allowDeselect={false}
        value={order}
        onChange={(by) => by && sort(by as Order)}
        data={Object.entries(kOrders).map(([value, label]) => ({ value, label }))}
      />
      <Switch
        label="Free now"
        checked={filter.all !== 'yes'}
        onChange={(e) => change({ all: e.currentTarget.checked ? '' : 'yes' })}
        mb={8}
      />
      <Switch
        label="With a history"
        checked={filter.proven === 'yes'}
        onChange={(e) => change({ proven: e.currentTarget.checked ? 'yes' : '' })}
        mb={8}
      />
      <Button variant="default" onClick={() => change(kNoFilter)}>
        Clear the filter
      </Button>
    </SimpleGrid>
  );
}
