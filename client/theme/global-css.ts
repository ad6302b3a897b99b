import { defineGlobalStyles } from '@chakra-ui/react'

export const globalCss = defineGlobalStyles({
  '*': {
    '--global-font-mono': 'fonts.mono',
    '--global-font-body': 'fonts.body',
    '--global-color-border': 'colors.border',
  },
  html: { color: 'fg', bg: 'bg', colorPalette: 'accent', fontVariantNumeric: 'tabular-nums' },
  body: { textStyle: 'md' },
  '*::placeholder': { color: 'fg.subtle', opacity: 1 },
  '*::selection': { bg: 'accent.emphasized/70' },
  'code, kbd, pre, samp': { fontFamily: 'mono' },
  ':focus-visible': { outlineColor: 'accent.focusRing' },
  // Below 16 px a phone zooms into the field it focuses.
  'input, select, textarea': { '@media (max-width: 600px)': { fontSize: '16px !important' } },
  '*, *::before, *::after': {
    '@media (prefers-reduced-motion: reduce)': {
      animationDuration: '1ms !important',
      animationIterationCount: '1 !important',
      transitionDuration: '1ms !important',
      scrollBehavior: 'auto !important',
    },
  },
})
