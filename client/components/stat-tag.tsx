import { HStack, Skeleton, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'

type StatTagProps = {
  label: string
  /** What exactly is counted. */
  tip?: string
  /** It is of the filters before. */
  isStale?: boolean
  /** Undefined while it is fetched. */
  children: ReactNode | undefined
}

/** A number beside a page's heading. */
export function StatTag({ label, tip, isStale = false, children }: StatTagProps) {
  return (
    <HStack
      gap="1.5"
      px="2.5"
      h="7"
      borderWidth="1px"
      borderRadius="l2"
      bg="bg.panel"
      textStyle="sm"
      data-tip={tip}
      opacity={isStale ? 0.5 : 1}
    >
      <Text as="span" color="fg.muted">
        {label}
      </Text>
      <Text as="span" fontWeight="medium" minW="4" fontVariantNumeric="tabular-nums">
        {children === undefined ? <Skeleton h="3" w="8" /> : children}
      </Text>
    </HStack>
  )
}
