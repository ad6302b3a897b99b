import { Box, Flex, Text, chakra } from '@chakra-ui/react'
import { t } from '../i18n/t.ts'
import { CopyButton } from './copy.tsx'

type CodeBlockProps = {
  code: string
  /** The language, or what the text is. */
  title?: string
  /** Beyond this it scrolls. */
  maxHeight?: string
  /** `letters` fills the lines, as a key wants it, which a browser would else break behind the hyphen of its beginning. */
  wrap?: boolean | 'letters'
}

const Pre = chakra('pre')

/** Text to be read or taken along as it is. */
export function CodeBlock({ code, title, maxHeight = '24rem', wrap = false }: CodeBlockProps) {
  return (
    <Box layerStyle="frame" bg="bg.subtle" overflow="hidden" minW="0">
      <Flex align="center" justify="space-between" ps="3" pe="1" h="8" borderBottomWidth="1px" gap="2">
        <Text textStyle="xs" color="fg.muted" truncate>
          {title}
        </Text>
        <CopyButton text={code} label={t('复制')} />
      </Flex>
      <Pre
        tabIndex={0}
        role="region"
        aria-label={title ?? t('代码')}
        m="0"
        p="3"
        maxH={maxHeight}
        overflow="auto"
        textStyle="xs"
        fontFamily="mono"
        whiteSpace={wrap ? 'pre-wrap' : 'pre'}
        overflowWrap={wrap ? 'anywhere' : undefined}
        wordBreak={wrap === 'letters' ? 'break-all' : undefined}
        focusVisibleRing="inside"
      >
        {code}
      </Pre>
    </Box>
  )
}
