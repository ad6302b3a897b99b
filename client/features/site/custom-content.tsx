import { Box, chakra } from '@chakra-ui/react'
import { Markdown } from '../../components/markdown.tsx'

const Frame = chakra('iframe')

const isAddress = (content: string): boolean => /^https:\/\/\S+$/.test(content.trim())

/** A page of this very origin could take its own sandbox off. */
const sandboxOf = (address: string): string => {
  const isOwn = URL.parse(address)?.origin === window.location.origin
  return `allow-scripts allow-forms allow-popups${isOwn ? '' : ' allow-same-origin'}`
}

/** What the operator wrote: the address of a page of theirs, or Markdown with HTML in it. */
export function WrittenPage({ content, title }: { content: string; title: string }) {
  if (isAddress(content)) {
    return (
      <Frame
        src={content.trim()}
        title={title}
        // The framed page may run, but not act on this one.
        sandbox={sandboxOf(content.trim())}
        referrerPolicy="no-referrer"
        display="block"
        w="full"
        h="calc(100dvh - {sizes.14})"
        border="none"
      />
    )
  }
  return (
    <Box w="full" maxW="3xl" mx="auto" px={{ base: '4', sm: '6' }} py={{ base: '6', sm: '10' }}>
      <Markdown source={content} />
    </Box>
  )
}
