import { Box } from '@chakra-ui/react'
import type { BoxProps } from '@chakra-ui/react'
import { useEffect, useState } from 'react'

type SafeHtmlProps = BoxProps & { html: string }

/** Its words, of which a page can make nothing else. */
function escapedWords(html: string): string {
  const box = document.createElement('div')
  box.textContent = new DOMParser().parseFromString(html, 'text/html').body.textContent
  return box.innerHTML
}

/**
 * HTML that people wrote, without its scripts, and held within its own box: whatever its styles say, it is cut off there. The sanitiser
 * is fetched when there is something to clean; where it does not come the words are shown alone.
 */
export function SafeHtml({ html, ...rest }: SafeHtmlProps) {
  const [clean, setClean] = useState('')
  useEffect(() => {
    let current = true
    void import('../lib/sanitise.ts')
      .then(
        ({ sanitise }) => sanitise(html),
        () => escapedWords(html),
      )
      .then((cleaned) => current && setClean(cleaned))
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
