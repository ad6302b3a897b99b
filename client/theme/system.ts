import { createSystem, defaultBaseConfig, defineConfig, defineLayerStyles, defineTextStyles } from '@chakra-ui/react'
import { animationStyles, keyframes, layerStyles as libraryStyles } from '@chakra-ui/react/theme'
import { adjustments } from './adjustments.ts'
import { globalCss } from './global-css.ts'
import { libraryRecipes, librarySlotRecipes } from './library-recipes.ts'
import { buttonRecipe } from './recipes.ts'
import { semanticTokens } from './semantic-tokens.ts'
import { tokens } from './tokens.ts'

const style = (fontSize: string, lineHeight: string) => ({ value: { fontSize, lineHeight } })

const textStyles = defineTextStyles({
  '2xs': style('2xs', '1rem'),
  xs: style('xs', '1rem'),
  sm: style('sm', '1.25rem'),
  md: style('md', '1.25rem'),
  lg: style('lg', '1.5rem'),
  xl: style('xl', '1.75rem'),
  '2xl': style('2xl', '1.75rem'),
  '3xl': style('3xl', '2rem'),
  '4xl': style('4xl', '2.25rem'),
  '5xl': style('5xl', '2.75rem'),
  label: { value: { fontSize: 'sm', lineHeight: '1.25rem', fontWeight: 'medium' } },
  none: { value: {} },
})

/** What groups things: an edge, and a ground where it stands on the page itself. */
const frame = { borderWidth: '1px', borderRadius: 'l3' }
const layerStyles = defineLayerStyles({ frame: { value: frame }, panel: { value: { ...frame, bg: 'bg.panel' } } })

const own = defineConfig({
  preflight: true,
  cssVarsPrefix: 'ui',
  cssVarsRoot: ':where(html)',
  globalCss,
  theme: {
    // `sm` begins where the phone layout ends.
    breakpoints: { sm: '601px', md: '768px', lg: '1024px', xl: '1280px', '2xl': '1536px' },
    keyframes,
    layerStyles: { ...libraryStyles, ...layerStyles },
    animationStyles,
    textStyles,
    tokens,
    semanticTokens,
    recipes: { ...libraryRecipes, button: buttonRecipe },
    slotRecipes: librarySlotRecipes,
  },
})

export const system = createSystem(defaultBaseConfig, own, adjustments)
