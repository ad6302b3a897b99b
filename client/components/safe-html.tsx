import { Box } from '@chakra-ui/react'
import type { BoxProps } from '@chakra-ui/react'
import { useEffect, useState } from 'react'

type SafeHtmlProps = BoxProps & { html: string }

/**
 * HTML that people wrote, without its scripts, and held within its own box: whatever its styles say, it is cut off there. The sanitiser is fetched when there is something to clean.
 */
export function SafeHtml({ html, ...rest }: SafeHtmlProps) {
  const [clean, setClean] = useState('')
  useEffect(() => {
    let current = true
    void import('../lib/sanitise.ts').then(({ sanitise }) => {
      if (current) setClean(sanitise(html))
    })
    return () => {
      current = false
    }
  }, [html])
  return (
    <Box
      {...rest}
      contain="content"
      isolation="isolate"
      overflow="hidden"
      maxW="full"
      dangerouslySetInnerHTML={{ __html: clean }}
    />
  )
}
