import { Box } from '@chakra-ui/react'

/** The colour of a series, beside its name. */
export const SeriesMark = ({ color }: { color: string }) => (
  <Box w="2" h="2" borderRadius="xs" forcedColorAdjust="none" style={{ background: color }} />
)
