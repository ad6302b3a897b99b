import { Grid, Heading, Stack, chakra } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Fragment } from 'react'
import { useHeadingLevel } from './heading-level.ts'

export type Fact = { label: string; value: ReactNode; hidden?: boolean }

const Term = chakra('dt', { base: { color: 'fg.muted' } })
const Value = chakra('dd', { base: { minW: '0', overflowWrap: 'anywhere' } })

/** Names and values below each other, as a panel lists them. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <Grid as="dl" templateColumns="minmax(96px, max-content) minmax(0, 1fr)" columnGap="6" rowGap="2" textStyle="sm">
      {facts
        .filter((fact) => !fact.hidden)
        .map((fact) => (
          <Fragment key={fact.label}>
            <Term>{fact.label}</Term>
            <Value>{fact.value}</Value>
          </Fragment>
        ))}
    </Grid>
  )
}

type SectionProps = { title: string; extra?: ReactNode; children: ReactNode }

/** A titled part of a page or a panel. */
export function Section({ title, extra, children }: SectionProps) {
  const level = useHeadingLevel()
  return (
    <Stack as="section" gap="3">
      <Stack direction="row" justify="space-between" align="center" minH="7">
        <Heading as={level} textStyle="md" fontWeight="semibold">
          {title}
        </Heading>
        {extra}
      </Stack>
      {children}
    </Stack>
  )
}
