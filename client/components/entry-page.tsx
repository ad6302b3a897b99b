import { Center, Heading, Stack, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { useDocumentTitle } from '../lib/document-title.ts'
import { useStatus } from '../lib/status.ts'

type EntryPageProps = {
  /** The window's title. */
  title: string
  /** What the page says; the title by default. */
  heading?: string
  description?: ReactNode
  /** The other ways from here: to sign up, to reset a password. */
  below?: ReactNode
  width?: 'narrow' | 'wide'
  children: ReactNode
}

/** One task in the middle of an empty page: setting up, signing in, signing up. */
export function EntryPage({ title, heading, description, below, width = 'narrow', children }: EntryPageProps) {
  const { logo } = useStatus()
  useDocumentTitle(title)
  return (
    // From the top: centred, all of it would move when an error appears in it. What is long has its button in sight.
    <Center
      minH="full"
      px="4"
      pt={{ base: '8', sm: width === 'narrow' ? 'max(3rem, 14vh)' : '12' }}
      pb={{ base: '8', sm: '12' }}
      alignItems="flex-start"
    >
      <Stack w="full" maxW={width === 'narrow' ? 'xs' : 'md'} gap="6">
        <Stack gap="3">
          <img src={logo || '/icon.svg'} alt="" width={36} height={36} />
          <Stack gap="1">
            <Heading as="h1" textStyle="3xl" fontWeight="semibold" letterSpacing="tight">
              {heading ?? title}
            </Heading>
            {description && (
              <Text color="fg.muted" textStyle="sm" textWrap="pretty">
                {description}
              </Text>
            )}
          </Stack>
        </Stack>
        {children}
        {below && (
          <Stack gap="2" textStyle="sm" color="fg.muted">
            {below}
          </Stack>
        )}
      </Stack>
    </Center>
  )
}
