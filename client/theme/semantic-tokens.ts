import { defineSemanticTokens } from '@chakra-ui/react'

const pair = (light: string, dark: string) => ({ value: { _light: light, _dark: dark } })

/** The roles in which recipes use a palette, taken from one scale of hues; `mark` is what is drawn instead of written. */
const palette = (hue: string) => ({
  contrast: pair('{colors.white}', '{colors.white}'),
  fg: pair(`{colors.${hue}.700}`, `{colors.${hue}.300}`),
  subtle: pair(`{colors.${hue}.50}`, `{colors.${hue}.950}`),
  muted: pair(`{colors.${hue}.100}`, `{colors.${hue}.900}`),
  emphasized: pair(`{colors.${hue}.200}`, `{colors.${hue}.800}`),
  solid: pair(`{colors.${hue}.600}`, `{colors.${hue}.600}`),
  focusRing: pair(`{colors.${hue}.500}`, `{colors.${hue}.400}`),
  border: pair(`{colors.${hue}.200}`, `{colors.${hue}.800}`),
  mark: pair(`{colors.${hue}.500}`, `{colors.${hue}.400}`),
})

const neutral = {
  contrast: pair('{colors.white}', '{colors.gray.950}'),
  fg: pair('{colors.gray.700}', '{colors.gray.300}'),
  subtle: pair('{colors.gray.100}', '#202024'),
  muted: pair('{colors.gray.200}', '{colors.gray.800}'),
  emphasized: pair('{colors.gray.300}', '{colors.gray.700}'),
  solid: pair('{colors.gray.800}', '{colors.gray.200}'),
  focusRing: pair('{colors.blue.500}', '{colors.blue.400}'),
  border: pair('{colors.gray.300}', '{colors.gray.700}'),
}

const accent = palette('blue')
const good = palette('green')
const warning = palette('orange')
const bad = palette('red')

export const semanticTokens = defineSemanticTokens({
  colors: {
    bg: {
      DEFAULT: pair('{colors.gray.50}', '{colors.gray.950}'),
      panel: pair('{colors.white}', '#161619'),
      subtle: pair('{colors.gray.50}', '#1a1a1d'),
      muted: pair('{colors.gray.100}', '#202024'),
      emphasized: pair('{colors.gray.200}', '{colors.gray.800}'),
      inverted: pair('{colors.gray.900}', '{colors.gray.100}'),
      error: pair('{colors.red.50}', '{colors.red.950}'),
      warning: pair('{colors.orange.50}', '{colors.orange.950}'),
      success: pair('{colors.green.50}', '{colors.green.950}'),
      info: pair('{colors.blue.50}', '{colors.blue.950}'),
    },
    fg: {
      DEFAULT: pair('{colors.gray.900}', '#ececef'),
      muted: pair('{colors.gray.600}', '{colors.gray.400}'),
      subtle: pair('#6a6a74', '#8e8e99'),
      inverted: pair('{colors.gray.50}', '{colors.gray.950}'),
      error: pair('{colors.red.700}', '{colors.red.400}'),
      warning: pair('{colors.orange.700}', '{colors.orange.300}'),
      success: pair('{colors.green.700}', '{colors.green.300}'),
      info: pair('{colors.blue.700}', '{colors.blue.300}'),
    },
    border: {
      DEFAULT: pair('{colors.gray.200}', '#29292e'),
      muted: pair('#eeeef0', '#202024'),
      subtle: pair('{colors.gray.100}', '#1c1c20'),
      emphasized: pair('{colors.gray.300}', '{colors.gray.700}'),
      inverted: pair('{colors.gray.800}', '{colors.gray.200}'),
      error: pair('{colors.red.500}', '{colors.red.400}'),
      warning: pair('{colors.orange.500}', '{colors.orange.400}'),
      success: pair('{colors.green.500}', '{colors.green.400}'),
      info: pair('{colors.blue.500}', '{colors.blue.400}'),
    },
    // What features name: one accent and four states.
    accent,
    good,
    warning,
    bad,
    neutral,
    // What the library's own recipes name.
    gray: neutral,
    blue: accent,
    green: good,
    orange: warning,
    red: bad,
  },
  radii: { l1: { value: '{radii.sm}' }, l2: { value: '{radii.md}' }, l3: { value: '{radii.lg}' } },
  shadows: {
    xs: pair('0 1px 2px rgba(9, 9, 11, 0.06)', '0 1px 2px rgba(0, 0, 0, 0.5)'),
    sm: pair('0 1px 3px rgba(9, 9, 11, 0.08)', '0 1px 3px rgba(0, 0, 0, 0.5)'),
    md: pair('0 4px 12px rgba(9, 9, 11, 0.1)', '0 4px 12px rgba(0, 0, 0, 0.6)'),
    lg: pair(
      '0 8px 24px rgba(9, 9, 11, 0.12), 0 0 0 1px rgba(9, 9, 11, 0.06)',
      '0 8px 24px rgba(0, 0, 0, 0.6), 0 0 0 1px rgba(255, 255, 255, 0.08)',
    ),
    xl: pair('0 16px 40px rgba(9, 9, 11, 0.16)', '0 16px 40px rgba(0, 0, 0, 0.7)'),
    inner: pair('inset 0 1px 2px rgba(9, 9, 11, 0.05)', 'inset 0 1px 2px rgba(0, 0, 0, 0.5)'),
    inset: pair('inset 0 0 0 1px rgba(9, 9, 11, 0.05)', 'inset 0 0 0 1px rgba(255, 255, 255, 0.05)'),
  },
})
