import { Grid, type GridProps, Heading, Stack, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'

type SectionFrameProps = Omit<GridProps, 'title'> & { title: string; help?: ReactNode; children: ReactNode }

/** A part of the settings page: its name at the left, what it has beside it. */
export function SectionFrame({ title, help, children, ...place }: SectionFrameProps) {
  return (
    <Grid
      as="section"
      templateColumns={{ base: 'minmax(0, 1fr)', lg: '220px minmax(0, 44rem)' }}
      columnGap="10"
      rowGap="4"
      py="6"
      {...place}
    >
      <Stack gap="1">
        <Heading as="h2" textStyle="md" fontWeight="semibold">
          {title}
        </Heading>
        {help && (
          <Text textStyle="xs" color="fg.muted">
            {help}
          </Text>
        )}
      </Stack>
      {children}
    </Grid>
  )
}
