import { Box, Flex } from '@chakra-ui/react'
import { SafeHtml } from '../components/safe-html.tsx'
import { useStatus } from '../lib/status.ts'

/** The operator's footer, or the name of the site and its version. */
export function Footer() {
  const { footerHtml, systemName, version } = useStatus()
  return (
    <Flex as="footer" justify="center" px="6" py="5" color="fg.subtle" textStyle="xs" flexShrink="0">
      {footerHtml ? (
        <SafeHtml html={footerHtml} />
      ) : (
        <Box as="span">{[systemName, version].filter(Boolean).join(' ')}</Box>
      )}
    </Flex>
  )
}
