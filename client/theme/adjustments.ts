import { defineConfig } from '@chakra-ui/react'

/** An adjustment adds no slots to those of the recipe it is merged into. */
const sameSlots: string[] = []

/** What our grid changes in the library's recipes: 32 px controls, quiet badges, and edges instead of shadows. */
export const adjustments = defineConfig({
  theme: {
    recipes: {
      badge: { base: { colorPalette: 'neutral', borderRadius: 'l1' } },
      input: {
        base: { bg: 'bg.panel', _readOnly: { bg: 'bg.muted' } },
        variants: {
          size: { sm: { '--input-height': 'sizes.8' }, md: { '--input-height': 'sizes.9' } },
          variant: { outline: { bg: 'bg.panel', borderColor: 'border.emphasized' } },
        },
        defaultVariants: { size: 'sm' },
      },
      inputAddon: {
        variants: { size: { sm: { '--input-height': 'sizes.8' }, md: { '--input-height': 'sizes.9' } } },
        defaultVariants: { size: 'sm' },
      },
      textarea: {
        variants: { variant: { outline: { bg: 'bg.panel', borderColor: 'border.emphasized' } } },
        defaultVariants: { size: 'sm' },
      },
      code: { defaultVariants: { size: 'sm' } },
      kbd: { base: { colorPalette: 'neutral' }, defaultVariants: { size: 'sm' } },
      link: { base: { colorPalette: 'accent', color: 'colorPalette.fg', _hover: { textDecoration: 'underline' } } },
      skeleton: { variants: { variant: { pulse: { background: 'bg.muted' } } } },
    },
    slotRecipes: {
      checkbox: {
        slots: sameSlots,
        defaultVariants: { size: 'sm' },
      },
      combobox: {
        slots: sameSlots,
        base: { content: { borderRadius: 'l2', boxShadow: 'lg' } },
        variants: {
          size: {
            sm: {
              root: { '--combobox-input-height': 'sizes.8' },
              // Room for a finger.
              trigger: { boxSize: { base: '6', sm: 'auto' } },
              clearTrigger: { minW: { base: '6', sm: '0' }, minH: { base: '6', sm: '0' } },
            },
          },
          variant: { outline: { input: { bg: 'bg.panel', borderColor: 'border.emphasized' } } },
        },
        defaultVariants: { size: 'sm' },
      },
      dialog: {
        slots: sameSlots,
        base: { content: { borderRadius: 'l3', boxShadow: 'lg' }, title: { textStyle: 'lg' } },
      },
      drawer: {
        slots: sameSlots,
        base: { content: { boxShadow: 'lg' }, title: { textStyle: 'lg' } },
      },
      menu: {
        slots: sameSlots,
        base: { itemGroupLabel: { textStyle: 'xs', color: 'fg.muted', fontWeight: 'medium' } },
      },
      nativeSelect: {
        slots: sameSlots,
        variants: {
          size: {
            sm: { root: { '--select-field-height': 'sizes.8' } },
            md: { root: { '--select-field-height': 'sizes.9' } },
          },
          variant: { outline: { field: { bg: 'bg.panel', borderColor: 'border.emphasized' } } },
        },
        defaultVariants: { size: 'sm' },
      },
      segmentGroup: {
        slots: sameSlots,
        defaultVariants: { size: 'sm' },
      },
      switch: {
        slots: sameSlots,
        defaultVariants: { size: 'sm' },
      },
      tabs: {
        slots: sameSlots,
        defaultVariants: { size: 'sm' },
      },
      tag: {
        slots: sameSlots,
        // Room for a finger, over what stands around the small cross.
        base: {
          closeTrigger: {
            p: { base: '5px', sm: '0' },
            m: { base: '-5px', sm: '0' },
            boxSize: { base: '6', sm: 'auto' },
          },
        },
      },
    },
  },
})
