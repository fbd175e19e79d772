import { Center, SegmentedControl, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useGet } from '../../api/queries';
import { credits } from '../../format';
import { Chart } from '../../parts/chart';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { seriesColors } from '../../theme';
import { flowOf, isFlow, type Line, type Span, usualSpan } from './flow';

const kWords: Record<Span, string> = { day: 'last 24 hours', week: 'last 7 days', month: 'last 30 days' };

// A bar of no height would be a line.
const orNothing = (amount: number) => (amount === 0 ? null : amount);

function Bars({ lines, span }: { lines: Line[]; span: Span }) {
  const flow = useMemo(() => flowOf(lines, span, new Date()), [lines, span]);
  const series = useMemo(
    () => [
      { label: 'earned', values: flow.earned.map(orNothing), bars: true, color: seriesColors[0] },
      { label: 'spent', values: flow.spent.map(orNothing), bars: true, color: seriesColors[1] },
    ],
    [flow],
  );
  return (
    <>
      <Text size="sm" mb="xs">
        Earned {credits(flow.earnedInAll)}, spent {credits(flow.spentInAll)} in the {kWords[span]}.
      </Text>
      <Chart
        label={`earned and spent, ${kWords[span]}`}
        height={180}
        time
        from0
        x={flow.x}
        window={[flow.x[0] ?? 0, flow.until]}
        series={series}
        format={credits}
      />
    </>
  );
}

// What came in and went out, by hour or by day.
export function FlowChart() {
  const statement = useGet('/v1/ledger/statement', {});
  const lines = statement.data?.lines;
  const [chosen, setChosen] = useState<Span>();
  const span = chosen ?? usualSpan(lines ?? [], new Date());
  return (
    <Panel
      title="Earned and spent"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="how far back"
          value={span}
          onChange={(value) => setChosen(value as Span)}
          data={[
            { value: 'day', label: 'Day' },
            { value: 'week', label: 'Week' },
            { value: 'month', label: 'Month' },
          ]}
        />
      }
    >
      <Loaded query={statement} height={246}>
        {() =>
          lines?.some(isFlow) ? (
            <Bars lines={lines} span={span} />
          ) : (
            <Center mih={246}>
              <Empty title="Nothing earned or spent yet">
                Lending earns credits and jobs spend them. Both are shown here by hour and by day.
              </Empty>
            </Center>
          )
        }
      </Loaded>
    </Panel>
  );
}
