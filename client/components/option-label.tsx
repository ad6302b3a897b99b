import { chakra } from '@chakra-ui/react'

export const Option = chakra('label', {
  base: {
    display: 'flex',
    alignItems: 'center',
    gap: '2',
    minH: '8',
    px: '2',
    borderRadius: 'l1',
    cursor: 'pointer',
    textStyle: 'sm',
    _hover: { bg: 'bg.muted' },
  },
})
