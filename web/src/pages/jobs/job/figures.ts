import type { Schemas } from '../../../api/client';
import { percent } from '../../../format';

// What the checks of a training measure, in words.

type Training = Schemas['Training'];

// What the checks are judged by. Servers from before there were others tell the accuracy alone.
export const figureOf = (t: Pick<Training, 'figure'>): string => t.figure?.name ?? 'accuracy';

export const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

// An accuracy is a share, anything else a number.
export const figureText = (name: string, value: number, digits = 2): string =>
  name === 'accuracy' ? percent(value, digits) : String(Number(value.toPrecision(4)));

// What to know about it: what was aimed at, and whether it was measured by one owner alone.
export function aboutFigure(t: Pick<Training, 'target' | 'confirmed' | 'figure'>): string {
  const below = t.figure?.below ? 'at most ' : '';
  const target = t.target === undefined ? [] : [`target ${below}${figureText(figureOf(t), t.target, 1)}`];
  return [...target, ...(t.confirmed === false ? ['not confirmed: measured by one owner alone'] : [])].join(', ');
}

// What else the last check measured.
export function otherMetrics(t: Pick<Training, 'rows' | 'figure'>): [string, number][] {
  return Object.entries(t.rows?.at(-1)?.metrics ?? {}).filter(([name]) => name !== figureOf(t));
}
