import { Flex, HStack, Heading, Stack, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { useDocumentTitle } from '../lib/document-title.ts'

type PageProps = {
  title: string
  /** One sentence on what the page is for, where the title does not say it. */
  description?: ReactNode
  /** The one primary act, a solid button. */
  action?: ReactNode
  /** Quiet acts beside it. */
  extra?: ReactNode
  /** The page is as high as the window and its table scrolls inside; not on phones. */
  fill?: boolean
  /** Prose and forms are easier to read when they are not as wide as the window. */
  width?: 'full' | 'form' | 'wide'
  children: ReactNode
}

const maxWidths = { full: 'none', form: '3xl', wide: '7xl' }

/** The frame of every page in the shell: heading with its acts, and the content below. */
export function Page({ title, description, action, extra, fill = false, width = 'full', children }: PageProps) {
  useDocumentTitle(title)
  return (
    <Flex
      direction="column"
      gap="4"
      width="full"
      maxW={maxWidths[width]}
      mx="auto"
      px={{ base: '4', sm: '6' }}
      py={{ base: '4', sm: '5' }}
      h={fill ? { base: 'auto', sm: 'full' } : 'auto'}
      minH={fill ? '0' : 'full'}
    >
      <PageHeader title={title} description={description} action={action} extra={extra} />
      {children}
    </Flex>
  )
}

type PageHeaderProps = Pick<PageProps, 'title' | 'description' | 'action' | 'extra'>

function PageHeader({ title, description, action, extra }: PageHeaderProps) {
  return (
    <Flex as="header" align="flex-start" justify="space-between" gap="3" wrap="wrap" flexShrink="0">
      <Stack gap="0.5" minW="0">
        <Heading as="h1" textStyle="xl" fontWeight="semibold" letterSpacing="tight">
          {title}
        </Heading>
        {description && (
          <Text color="fg.muted" textStyle="sm" maxW="prose" textWrap="pretty">
            {description}
          </Text>
        )}
      </Stack>
      {(action || extra) && (
        <HStack gap="2" wrap="wrap">
          {extra}
          {action}
        </HStack>
      )}
    </Flex>
  )
}
