import { chakra } from '@chakra-ui/react'

/** What is folded away until somebody opens it; an arrow in its summary turns with it. */
export const Details = chakra('details', {
  base: {
    '& > summary svg': { transition: 'transform {durations.fast}' },
    '&[open] > summary svg': { rotate: '90deg' },
  },
})

export const Summary = chakra('summary', {
  base: {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '1',
    cursor: 'pointer',
    listStyle: 'none',
    textStyle: 'sm',
    borderRadius: 'l1',
    focusVisibleRing: 'outside',
    '&::-webkit-details-marker': { display: 'none' },
  },
})
