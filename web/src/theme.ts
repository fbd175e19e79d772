import { Anchor, createTheme, type MantineColorsTuple } from '@mantine/core';

// Teal dark enough for white text on it (4.5:1), and light enough on dark grounds.
const souk: MantineColorsTuple = [
  '#e3f8fb', '#cdeef3', '#9fdde7', '#6dcbdb', '#46bcd1', '#2bacc2', '#0c8599', '#0b7285', '#095c6b', '#054853',
];

export const theme = createTheme({
  primaryColor: 'souk',
  colors: { souk },
  primaryShade: { light: 7, dark: 7 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  // A link in a sentence is known by more than its colour.
  components: {
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
  },
});

// Of series in charts, readable on both grounds.
export const seriesColors = ['#1098ad', '#e8590c', '#7048e8', '#2f9e44', '#c2255c', '#a07a00', '#4263eb', '#5c636a'];
