import { Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import type { Schemas } from '../../../api/client';
import { count, decimals, duration, percent, seconds } from '../../../format';
import { Chart } from '../../../parts/chart';
import { Fact } from '../../../parts/fact';
import { Panel } from '../../../parts/panel';
import { figureCurve, follow, hasRange, lossCurve, type LossPoint } from './curves';
import { aboutFigure, capital, figureOf, figureText, otherMetrics } from './figures';
import { endedText } from './money';

type Training = Schemas['Training'];

const kChart = 220; // px

function Facts({ t, live }: { t: Training; live: boolean }) {
  const figure = figureOf(t);
  const value = t.figure ? t.figure.value : t.accuracy;
  return (
    <Group gap="xl" align="flex-start">
      <Fact label="Epoch">{t.epochs > 0 ? `${t.epoch} of ${t.epochs}` : '–'}</Fact>
      <Fact label={figure === 'loss' ? 'Validation loss' : capital(figure)} about={aboutFigure(t)}>
        {value === undefined ? '–' : figureText(figure, value)}
      </Fact>
      {otherMetrics(t).map(([name, measured]) => (
        <Fact key={name} label={capital(name)}>
          {figureText(name, measured)}
        </Fact>
      ))}
      <Fact label="Recent loss">{t.loss > 0 ? t.loss.toFixed(4) : '–'}</Fact>
      <Fact label="Workers">{t.workers}</Fact>
      <Fact
        label="Trained for"
        about={live && t.left && seconds(t.left) >= 1 ? `at most ${duration(seconds(t.left))} left` : ''}
      >
        {duration(seconds(t.elapsed))}
      </Fact>
      <Fact label="Samples" about={t.wasted_steps > 0 ? `${count(t.wasted_steps, 'step')} lost` : ''}>
        {t.samples.toLocaleString('en')}
      </Fact>
    </Group>
  );
}

function Curves({ t, trail, live }: { t: Training; trail: LossPoint[]; live: boolean }) {
  const rows = useMemo(() => t.rows ?? [], [t.rows]);
  const loss = useMemo(() => lossCurve(rows, trail), [rows, trail]);
  const figure = figureOf(t);
  const judged = useMemo(() => figureCurve(rows, figure, t.target), [rows, figure, t.target]);
  if (loss.x.length === 0)
    return (
      <Text c="dimmed" size="sm" mih={live ? kChart : 0}>
        {live ? 'Curves appear after the first update.' : 'It ended before the first update.'}
      </Text>
    );
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <div>
        <Title order={3} size="h5">
          Loss
        </Title>
        <Chart label="loss by epoch" xLabel="epoch" whole height={kChart} {...loss} from0 />
      </div>
      <div>
        <Title order={3} size="h5">
          {figure === 'loss' ? 'Validation loss' : capital(figure)}
        </Title>
        <Chart
          label={`${figure} by epoch`}
          xLabel="epoch"
          whole
          height={kChart}
          format={
            figure === 'accuracy' ? (y, step = 0.0001) => percent(y, decimals(100 * step)) : (y) => figureText(figure, y)
          }
          {...judged}
        />
        {hasRange(rows) && (
          <Text size="xs" c="dimmed">
            The band shows the lowest and the highest check within an epoch.
          </Text>
        )}
      </div>
    </SimpleGrid>
  );
}

// How far a training is: facts, and curves that grow while one looks.
export function TrainingPanel({ training: t, job }: { training: Training; job: Schemas['Job'] }) {
  const live = !job.ended;
  const [trail, setTrail] = useState<LossPoint[]>([]);
  useEffect(() => setTrail((now) => follow(now, t)), [t]);
  return (
    <Panel title="Training">
      <Stack>
        <Progress
          value={t.state === 'finished' ? 100 : 100 * t.progress}
          aria-label="progress of the training"
          animated={live && t.state === 'training'}
        />
        <Facts t={t} live={live} />
        <Curves t={t} trail={trail} live={live} />
        {t.state === 'finished' && t.reason && <Text size="sm">{endedText(job, t.reason)}</Text>}
      </Stack>
    </Panel>
  );
}
