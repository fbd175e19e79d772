import type { Schemas } from '../../../api/client';
import type { Band, Series } from '../../../parts/chart';

// The curves of a training: one point for each epoch, with the range of its checks, and between
// them the loss as it was seen while this page was open.

type Training = Schemas['Training'];
type Row = Schemas['TrainRow'];

export type LossPoint = { at: number; loss: number }; // at: epochs done, with fractions

const kMostPoints = 2_000;

// The trail with one more point, if the training moved since.
export function follow(trail: LossPoint[], training: Training): LossPoint[] {
  const at = training.progress * training.epochs;
  const last = trail.at(-1);
  if (training.state !== 'training' || !(training.loss > 0)) return trail;
  if (last && at <= last.at) return at < last.at ? [{ at, loss: training.loss }] : trail;
  const next = [...trail, { at, loss: training.loss }];
  return next.length > kMostPoints ? next.filter((_, i) => i % 2 === 0) : next;
}

export type Curve = { x: number[]; series: Series[]; bands?: Band[] };

export function lossCurve(rows: Row[], trail: LossPoint[]): Curve {
  const at = new Map<number, { loss?: number; check?: number; live?: number }>();
  for (const p of trail) at.set(p.at, { live: p.loss });
  for (const r of rows) at.set(r.epoch, { ...at.get(r.epoch), loss: r.loss, check: r.validation_loss });
  const points = [...at.entries()].sort(([a], [b]) => a - b);
  const series: Series[] = [
    { label: 'training loss', values: points.map(([, p]) => p.loss ?? null) },
    { label: 'validation loss', values: points.map(([, p]) => p.check ?? null), dash: true },
  ];
  if (trail.length > 0)
    series.push({ label: 'latest batches', values: points.map(([, p]) => p.live ?? null), color: '#868e96' });
  return { x: points.map(([x]) => x), series };
}

// What the checks are judged by, as its row has it.
export function figureIn(row: Row, name: string): number | undefined {
  return name === 'loss' ? row.validation_loss : name === 'accuracy' ? row.accuracy : row.metrics?.[name];
}

export function figureCurve(rows: Row[], name: string, target?: number): Curve {
  const series: Series[] = [
    { label: name, values: rows.map((r) => figureIn(r, name) ?? null) },
    { label: 'highest', values: rows.map((r) => r.high ?? null), hidden: true, color: '#1098ad' },
    { label: 'lowest', values: rows.map((r) => r.low ?? null), hidden: true, color: '#1098ad' },
  ];
  if (hasRange(rows))
    series.push({ label: 'mean of the checks', values: rows.map((r) => r.mean ?? null), dash: true });
  if (target !== undefined)
    series.push({ label: 'target', values: rows.map(() => target), color: '#2f9e44', dash: true });
  return { x: rows.map((r) => r.epoch), series, bands: [hasRange(rows) ? [1, 2, 'range of checks'] : [1, 2]] };
}

// What the band is, in a sentence: only where there was more than one check in an epoch.
export function hasRange(rows: Row[]): boolean {
  return rows.some((r) => r.high !== undefined && r.low !== undefined && r.high > r.low);
}
