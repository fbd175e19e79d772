import { Box, type BoxProps } from '@mantine/core';
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import classes from './wide-table.module.css';

// Is there less room than a table needs? Known before anything is painted, so that nothing jumps.
export function useCards(minWidth: number): { box: RefObject<HTMLDivElement>; cards: boolean } {
  const box = useRef<HTMLDivElement>(null);
  const [cards, setCards] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => element.clientWidth > 0 && setCards(element.clientWidth < minWidth);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, [minWidth]);
  return { box, cards };
}

// Each cell says what its column is called.
export function labelCells(table: HTMLTableElement) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent ?? '');
  for (const body of table.tBodies)
    for (const row of body.rows)
      [...row.cells].forEach((cell, i) => {
        const label = row.cells.length === heads.length ? (heads[i] ?? '') : '';
        if (cell.dataset['label'] !== label) cell.dataset['label'] = label;
      });
}

type Props = { minWidth: number; children: ReactNode; mah?: number; 'aria-label'?: string } & Pick<BoxProps, 'mt' | 'mb'>;

// A table where there is room for it; where there is not, a card for each row, so that nobody has to
// scroll sideways for an amount.
export function WideTable({ minWidth, children, mah, ...rest }: Props) {
  const { box, cards } = useCards(minWidth);
  useLayoutEffect(() => {
    const element = box.current;
    if (!cards || !element) return;
    const label = () => element.querySelectorAll('table').forEach(labelCells);
    label();
    const watch = new MutationObserver(label);
    watch.observe(element, { childList: true, subtree: true, characterData: true });
    return () => watch.disconnect();
  }, [cards, box]);
  return (
    <Box
      ref={box}
      className={(cards ? classes['cards'] : classes['plain']) ?? ''}
      {...(mah ? { style: { maxHeight: mah }, tabIndex: 0, role: 'region' } : {})}
      {...rest}
    >
      {children}
    </Box>
  );
}
