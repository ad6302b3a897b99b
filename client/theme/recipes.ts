import { defineRecipe } from '@chakra-ui/react'

type Control = { height: string; padding: string; textStyle?: string; icon?: string }

const control = ({ height, padding, textStyle = 'sm', icon = '4' }: Control) => ({
  h: height,
  minW: height,
  px: padding,
  textStyle,
  gap: '1.5',
  _icon: { width: icon, height: icon },
})

/**
 * One solid button a page is the primary act; everything else is quiet and neutral.
 * `surface` and `subtle` take on the palette they are given, for acts that warn.
 */
export const buttonRecipe = defineRecipe({
  className: 'button',
  base: {
    display: 'inline-flex',
    appearance: 'none',
    alignItems: 'center',
    justifyContent: 'center',
    userSelect: 'none',
    position: 'relative',
    borderRadius: 'l2',
    whiteSpace: 'nowrap',
    verticalAlign: 'middle',
    borderWidth: '1px',
    borderColor: 'transparent',
    cursor: 'button',
    flexShrink: '0',
    outline: '0',
    fontWeight: 'medium',
    transitionProperty: 'background, border-color, color',
    transitionDuration: 'fast',
    focusVisibleRing: 'outside',
    _disabled: { opacity: '0.5', cursor: 'not-allowed' },
    _icon: { flexShrink: '0' },
    // While it works its words are unseen behind the spinner, but still there for those who listen.
    '&[data-loading] > span > span': { visibility: 'visible', color: 'transparent', '& svg': { opacity: '0' } },
  },
  variants: {
    size: {
      '2xs': control({ height: '6', padding: '1.5', textStyle: 'xs', icon: '3.5' }),
      xs: control({ height: '7', padding: '2', textStyle: 'xs', icon: '3.5' }),
      sm: control({ height: '8', padding: '3' }),
      md: control({ height: '9', padding: '3.5' }),
      lg: control({ height: '10', padding: '4', textStyle: 'md' }),
      xl: control({ height: '11', padding: '5', textStyle: 'md', icon: '5' }),
      '2xl': control({ height: '12', padding: '6', textStyle: 'lg', icon: '5' }),
    },
    variant: {
      solid: {
        bg: 'colorPalette.solid',
        color: 'colorPalette.contrast',
        _hover: { bg: 'colorPalette.solid/90', _disabled: { bg: 'colorPalette.solid' } },
      },
      outline: {
        bg: 'bg.panel',
        borderColor: 'border.emphasized',
        color: 'fg',
        _hover: { bg: 'bg.muted', _disabled: { bg: 'bg.panel' } },
        _expanded: { bg: 'bg.muted' },
      },
      ghost: { color: 'fg.muted', _hover: { bg: 'bg.muted', color: 'fg' }, _expanded: { bg: 'bg.muted', color: 'fg' } },
      subtle: { bg: 'colorPalette.subtle', color: 'colorPalette.fg', _hover: { bg: 'colorPalette.muted' } },
      surface: {
        bg: 'bg.panel',
        borderColor: 'colorPalette.border',
        color: 'colorPalette.fg',
        _hover: { bg: 'colorPalette.subtle' },
      },
      plain: { color: 'colorPalette.fg', px: '0', h: 'auto', minW: '0', _hover: { textDecoration: 'underline' } },
    },
  },
  defaultVariants: { size: 'sm', variant: 'outline' },
})
