import { Badge, Text } from '@chakra-ui/react'
import type { MessageFormat } from '#features/messages/schema.ts'
import { Markdown } from '../../components/markdown.tsx'
import { SafeHtml } from '../../components/safe-html.tsx'
import { t } from '../../i18n/t.ts'

/** What somebody wrote, cleaned as its form demands. */
export function MessageBody({ content, format }: { content: string; format: MessageFormat }) {
  if (format === 'markdown') return <Markdown source={content} />
  if (format === 'html') return <SafeHtml html={content} textStyle="md" overflowX="auto" />
  return (
    <Text whiteSpace="pre-wrap" overflowWrap="anywhere">
      {content}
    </Text>
  )
}

/** Markdown is the usual form and says nothing. */
export function FormatTag({ format }: { format: MessageFormat }) {
  if (format === 'markdown') return null
  return <Badge>{format === 'html' ? 'HTML' : t('纯文本')}</Badge>
}
