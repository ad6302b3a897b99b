import { chakra } from '@chakra-ui/react'

/** A framed list of lines, one below the other. */
export const Lines = chakra('ul', {
  base: { listStyleType: 'none', borderWidth: '1px', borderRadius: 'l3', bg: 'bg.panel', px: '4' },
})

export const Line = chakra('li', {
  base: { py: '2.5', borderBottomWidth: '1px', borderColor: 'border.muted', _last: { borderBottomWidth: '0' } },
})
