// Parameters as the API has them (name, type, range, default, meaning), for forms.
import type { Schemas } from '../api/client';

type Parameter = Schemas['Parameter'];

// "From 0 to 1. Empty: 0.5.", for the text below a field.
export function aboutOf(p: Parameter): string {
  const range =
    p.low === undefined || p.high === undefined
      ? ''
      : ` ${p.type === 'whole' ? 'A whole number from' : p.above_low ? 'Above' : 'From'} ${p.low} to ${p.high}.`;
  const otherwise = p.default ?? p.default_words;
  return p.meaning + (p.type === 'price' ? ' Credits per slot-hour.' : range) +
    (otherwise === undefined || p.type === 'choice' ? '' : ` Empty: ${otherwise}.`);
}

// What is wrong with a value, or nothing. The market checks again, and exactly.
export function wrong(p: Parameter, text: string): string | undefined {
  const value = text.trim();
  if (value === '') return p.needed ? 'It is needed.' : undefined;
  if (p.low === undefined || p.high === undefined) return undefined;
  const n = Number(value);
  if (Number.isNaN(n)) return 'Write a number.';
  if (p.type === 'whole' && !Number.isInteger(n)) return 'Write a whole number.';
  if (n > p.high) return `At most ${p.high}.`;
  if (n < p.low || (p.above_low && n === p.low)) return p.above_low ? `Above ${p.low}.` : `At least ${p.low}.`;
  return undefined;
}

// What a form begins with: only what leaving out would not do.
export function firstParams(parameters: Parameter[] = []): Record<string, string> {
  return Object.fromEntries(
    parameters.flatMap((p) => (p.suggested === undefined ? [] : [[p.name, p.suggested]])),
  );
}
