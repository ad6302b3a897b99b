import { defineGlobalStyles } from '@chakra-ui/react'
import { forcedColors } from './forced-colors.ts'

/** Phones, upright and on their side. */
const phone = '@media (max-width: 600px), (pointer: coarse) and (max-height: 500px)'

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
  // With a field that is wrong its label and what is said about it come into view.
  '[aria-invalid=true]': { scrollMarginBlock: '3rem' },
  // Below 16 px a phone zooms into the field it focuses.
  'input, select, textarea': {
    // The letters of that size need their height, or what hangs below the line is cut off.
    [phone]: { fontSize: '16px !important', lineHeight: '1.5 !important' },
  },
  // What is only a hint may be smaller, and then fits.
  'input::placeholder, textarea::placeholder': { [phone]: { fontSize: '14px' } },
  'input:placeholder-shown': { textOverflow: 'ellipsis' },
  // What is printed is what is open: a panel, else the page; neither what leads elsewhere nor what can only be pressed.
  'html, body, #root, #root > *, main': { _print: { height: 'auto !important' } },
  'html, body, #root, #root > *, main, main *': {
    _print: { maxHeight: 'none !important', overflow: 'visible !important' },
  },
  '[data-shell], nav, footer, button[aria-label]:has(> svg), [role=search], [data-scope=toast]': {
    _print: { display: 'none !important' },
  },
  ':has(> [data-detail-panel]) > :not([data-detail-panel])': { _print: { display: 'none !important' } },
  '[data-detail-panel]': {
    _print: {
      position: 'static !important',
      width: 'full !important',
      boxShadow: 'none !important',
      border: '0 !important',
    },
  },
  'tr, li, dl > *': { _print: { breakInside: 'avoid' } },
  '*, *::before, *::after': {
    '@media (prefers-reduced-motion: reduce)': {
      animationDuration: '1ms !important',
      animationIterationCount: '1 !important',
      transitionDuration: '1ms !important',
      scrollBehavior: 'auto !important',
    },
  },
  ...forcedColors,
})
