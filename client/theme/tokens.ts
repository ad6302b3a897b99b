import { defineTokens } from '@chakra-ui/react'

type Values = Record<string, { value: string }>

const values = (entries: Record<string, string>): Values =>
  Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, { value }]))

const shades = ['50', '100', '200', '300', '400', '500', '600', '700', '800', '900', '950']

const scale = (hexes: string): Values =>
  Object.fromEntries(hexes.split(' ').map((hex, index) => [shades[index] ?? hex, { value: `#${hex}` }]))

/** Steps of a quarter rem: the 4 px grid, with halves for what is smaller than one step. */
const steps = [
  0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60,
  64, 72, 80, 96,
]
const grid: Values = {
  0: { value: '0rem' },
  ...Object.fromEntries(steps.map((step) => [String(step), { value: `${step / 4}rem` }])),
}

const latin = '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial'
const chinese =
  '"PingFang SC", "Hiragino Sans GB", "Microsoft YaHei UI", "Microsoft YaHei", "Noto Sans SC", "Noto Sans CJK SC", "Source Han Sans SC"'

export const tokens = defineTokens({
  colors: {
    transparent: { value: 'transparent' },
    current: { value: 'currentcolor' },
    white: { value: '#ffffff' },
    black: { value: '#09090b' },
    blackAlpha: { 500: { value: 'rgba(9, 9, 11, 0.48)' } },
    gray: scale('fafafa f4f4f5 e6e6e9 d3d3d8 a3a3ad 73737d 56565f 414148 2a2a2f 1b1b1f 111113'),
    blue: scale('f0f3ff e1e7ff c6d0fe a1b2fb 7b93f6 5a75ee 3d56db 3346b9 2c3b95 273474 181e42'),
    green: scale('edfcf3 d5f5e1 ade9c5 78d6a1 43bd7e 1f9d60 14804c 12663f 105135 0e432d 06261a'),
    orange: scale('fffaeb fdf0c9 fae094 f4ca58 e8b02e cb8d10 966005 7c4d0a 66400f 563712 311d06'),
    red: scale('fef3f2 fde4e2 fbccc9 f6a8a3 ee7871 e04d45 c8322b a72722 8a2421 722421 3d0f0d'),
    // One hue per series, distinguished by lightness as well as hue; the last one is "the rest".
    chart: values({
      1: '#4c66e3',
      2: '#1f9d8b',
      3: '#c98a1b',
      4: '#c2528b',
      5: '#6b9b2f',
      6: '#7a5ad6',
      7: '#2f8fc9',
      8: '#cf5f3c',
      9: '#8a8f3a',
      10: '#a65fc4',
      rest: '#9a9aa5',
    }),
  },
  spacing: grid,
  sizes: {
    ...grid,
    ...values({
      '3xs': '14rem',
      '2xs': '16rem',
      xs: '20rem',
      sm: '24rem',
      md: '28rem',
      lg: '32rem',
      xl: '36rem',
      '2xl': '42rem',
      '3xl': '48rem',
      '4xl': '56rem',
      '5xl': '64rem',
      '6xl': '72rem',
      '7xl': '80rem',
      max: 'max-content',
      min: 'min-content',
      fit: 'fit-content',
      prose: '68ch',
      full: '100%',
      dvh: '100dvh',
      dvw: '100dvw',
      vh: '100vh',
      vw: '100vw',
      '1/2': '50%',
      '1/3': '33.333333%',
      '2/3': '66.666667%',
      '1/4': '25%',
      '3/4': '75%',
    }),
  },
  radii: values({
    none: '0',
    '2xs': '1px',
    xs: '2px',
    sm: '4px',
    md: '6px',
    lg: '8px',
    xl: '12px',
    '2xl': '16px',
    full: '9999px',
  }),
  borders: values({ xs: '0.5px solid', sm: '1px solid', md: '2px solid', lg: '4px solid', xl: '8px solid' }),
  fonts: values({
    heading: `${latin}, ${chinese}, sans-serif`,
    body: `${latin}, ${chinese}, sans-serif`,
    mono: `ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", ${chinese}, monospace`,
  }),
  fontSizes: values({
    '2xs': '0.6875rem',
    xs: '0.75rem',
    sm: '0.8125rem',
    md: '0.875rem',
    lg: '1rem',
    xl: '1.125rem',
    '2xl': '1.25rem',
    '3xl': '1.5rem',
    '4xl': '1.875rem',
    '5xl': '2.25rem',
  }),
  fontWeights: values({ normal: '400', medium: '500', semibold: '600', bold: '700' }),
  lineHeights: values({ shorter: '1.25', short: '1.375', moderate: '1.5', tall: '1.625' }),
  letterSpacings: values({ tight: '-0.01em', wide: '0.02em' }),
  durations: values({
    fastest: '50ms',
    faster: '80ms',
    fast: '110ms',
    moderate: '140ms',
    slow: '180ms',
    slower: '220ms',
    slowest: '300ms',
  }),
  easings: values({
    'ease-in': 'cubic-bezier(0.42, 0, 1, 1)',
    'ease-out': 'cubic-bezier(0, 0, 0.58, 1)',
    'ease-in-out': 'cubic-bezier(0.42, 0, 0.58, 1)',
    'ease-in-smooth': 'cubic-bezier(0.32, 0.72, 0, 1)',
  }),
  animations: values({
    spin: 'spin 1s linear infinite',
    ping: 'ping 1s cubic-bezier(0, 0, 0.2, 1) infinite',
    pulse: 'pulse 2s ease-in-out infinite',
  }),
  zIndex: values({
    hide: '-1',
    base: '0',
    docked: '10',
    dropdown: '1000',
    sticky: '1100',
    banner: '1200',
    overlay: '1300',
    modal: '1400',
    popover: '1500',
    skipNav: '1600',
    toast: '1700',
    tooltip: '1800',
    max: '2147483647',
  }),
  cursor: values({
    button: 'pointer',
    checkbox: 'default',
    disabled: 'not-allowed',
    menuitem: 'default',
    option: 'default',
    radio: 'default',
    slider: 'default',
    switch: 'pointer',
  }),
})
