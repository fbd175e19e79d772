import type { Schemas } from '../../../api/client';
import { seconds } from '../../../format';
import { mapOf } from '../file/draft';
import { draftOfJob } from '../file/of-job';
import { isMap, type Yaml } from '../file/yaml';

// How runs differ, and what each point of accuracy cost.

type Job = Schemas['Job'];

export const kMostRuns = 8; // As many as a chart has colours for, and a table columns.

const text = (y: Yaml): string => (typeof y === 'string' ? y : JSON.stringify(y));

// The job file as one row for each value: "price.limit" -> "0.5".
function flat(y: Yaml, path: string, into: Map<string, string>): Map<string, string> {
  if (isMap(y)) for (const [key, value] of Object.entries(y)) flat(value, path ? `${path}.${key}` : key, into);
  else into.set(path, text(y));
  return into;
}

export type Difference = { key: string; values: (string | undefined)[] }; // In the order of the jobs.

export function differences(jobs: Job[]): Difference[] {
  const maps = jobs.map((job) => flat(mapOf(draftOfJob(job)), '', new Map()));
  const keys = [...new Set(maps.flatMap((m) => [...m.keys()]))].filter((key) => key !== 'name');
  return keys
    .map((key) => ({ key, values: maps.map((m) => m.get(key)) }))
    .filter(({ values }) => values.some((v) => v !== values[0]));
}

// Credits for each percent point of accuracy; undefined while there is none.
export function costPerPoint(spent: number, accuracy: number | undefined): number | undefined {
  return accuracy !== undefined && accuracy > 0 ? spent / (100 * accuracy) : undefined;
}

export type Run = { label: string; rows: Schemas['TrainRow'][] };
export type By = 'epoch' | 'minute';

// What the checks of some of the runs measured, beside the loss; the one that most of them are judged
// by first.
export function measured(trainings: Schemas['Training'][]): string[] {
  const judged = new Map<string, number>();
  for (const t of trainings) if (t.figure) judged.set(t.figure.name, (judged.get(t.figure.name) ?? 0) + 1);
  const names = new Set(trainings.flatMap((t) => (t.rows ?? []).flatMap((r) => Object.keys(r.metrics ?? {}))));
  const rank = (name: string) => judged.get(name) ?? 0;
  return [...names].sort((a, b) => rank(b) - rank(a) || a.localeCompare(b));
}

// The curves of several runs on one axis. Minutes are counted from the start of each run.
export function together(
  runs: Run[],
  by: By,
  pick: (row: Schemas['TrainRow']) => number | undefined,
): { x: number[]; series: { label: string; values: (number | null)[] }[] } {
  const points = runs.map(({ rows }) =>
    rows.map((row) => ({
      x: by === 'epoch' ? row.epoch : seconds(row.at) / 60,
      y: pick(row),
    })),
  );
  const x = [...new Set(points.flat().map((p) => p.x))].sort((a, b) => a - b);
  return {
    x,
    series: runs.map((run, i) => {
      const at = new Map(points[i]?.map((p) => [p.x, p.y]));
      return { label: run.label, values: x.map((t) => at.get(t) ?? null) };
    }),
  };
}
