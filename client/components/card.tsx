import { Heading, Stack } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { useHeadingLevel } from './heading-level.ts'

/** A task of its own on a page of several. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  const level = useHeadingLevel()
  return (
    <Stack as="section" gap="3" layerStyle="panel" px="4" py="3.5" minW="0">
      <Heading as={level} textStyle="md" fontWeight="semibold">
        {title}
      </Heading>
      {children}
    </Stack>
  )
}
