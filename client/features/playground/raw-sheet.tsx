import { Stack, Tabs, Text } from '@chakra-ui/react'
import { CodeBlock } from '../../components/code-block.tsx'
import { Facts } from '../../components/facts.tsx'
import { Code } from '../../components/cells/names.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import type { Reply } from './reply.ts'
import { imagesShortened, messageOf } from './raw.ts'

/** The call as it went out, the events as they came, and what they amount to. */
export function RawSheet({ reply, onClose }: { reply: Reply | undefined; onClose: () => void }) {
  return (
    <Sheet open={reply !== undefined} onClose={onClose} title={t('请求与事件')}>
      {reply && (
        <Stack gap="4">
          <Facts
            facts={[{ label: t('请求 ID'), value: <Code>{reply.requestId}</Code>, hidden: reply.requestId === '' }]}
          />
          <Tabs.Root defaultValue="request" lazyMount>
            <Tabs.List aria-label={t('请求与事件')}>
              <Tabs.Trigger value="request">{t('请求')}</Tabs.Trigger>
              <Tabs.Trigger value="reply">{t('回复')}</Tabs.Trigger>
              <Tabs.Trigger value="events">{t('事件 ({count})', { count: reply.events.length })}</Tabs.Trigger>
            </Tabs.List>
            <Tabs.Content value="request" pt="4">
              <CodeBlock
                title="POST /pg/chat/completions"
                code={JSON.stringify(imagesShortened(reply.request), null, 2)}
                maxHeight="65vh"
                wrap
              />
            </Tabs.Content>
            <Tabs.Content value="reply" pt="4">
              <CodeBlock title="JSON" code={JSON.stringify(messageOf(reply), null, 2)} maxHeight="65vh" wrap />
            </Tabs.Content>
            <Tabs.Content value="events" pt="4">
              {reply.events.length === 0 ? (
                <Text color="fg.muted">{t('原始事件只保留到页面刷新。')}</Text>
              ) : (
                <CodeBlock title="text/event-stream" code={reply.events.join('\n')} maxHeight="65vh" />
              )}
            </Tabs.Content>
          </Tabs.Root>
        </Stack>
      )}
    </Sheet>
  )
}
