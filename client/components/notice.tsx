import { Box, Flex, HStack, Stack, Text } from '@chakra-ui/react'
import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

const icons = { info: Info, warning: TriangleAlert, bad: CircleAlert }
const looks = {
  info: { bg: 'bg.muted', iconColor: 'fg.muted' },
  warning: { bg: 'warning.subtle', iconColor: 'warning.fg' },
  bad: { bg: 'bad.subtle', iconColor: 'bad.fg' },
}

type NoticeProps = {
  tone?: keyof typeof icons
  title?: string
  children?: ReactNode
  /** The way out of what it warns of. */
  action?: ReactNode
  /** Appears after something happened, and is read out. */
  isAlert?: boolean
}

/** A sentence the reader should not miss, in the flow of the page. */
export function Notice({ tone = 'info', title, children, action, isAlert = false }: NoticeProps) {
  const Icon = icons[tone]
  const { bg, iconColor } = looks[tone]
  return (
    <Flex
      role={isAlert ? 'alert' : undefined}
      gap="2.5"
      px="3"
      py="2.5"
      borderRadius="l3"
      bg={bg}
      textStyle="sm"
      align="flex-start"
      flexShrink="0"
    >
      <HStack h="5" color={iconColor} flexShrink="0">
        <Icon size={15} aria-hidden />
      </HStack>
      <Stack gap="0.5" flex="1" minW="0" overflowWrap="anywhere">
        {title && <Text fontWeight="medium">{title}</Text>}
        {children && <Text as="div">{children}</Text>}
      </Stack>
      {/* One line of words stands at its middle. */}
      {action && <Box my="-1">{action}</Box>}
    </Flex>
  )
}
