import { Stack, Tabs } from '@chakra-ui/react'
import { CodeBlock } from '../../components/code-block.tsx'
import { Facts } from '../../components/facts.tsx'
import { Code } from '../../components/cells/names.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import type { Reply } from './reply.ts'

/** The call as it went out and the events as they came. */
export function RawSheet({ reply, onClose }: { reply: Reply | undefined; onClose: () => void }) {
  return (
    <Sheet open={reply !== undefined} onClose={onClose} title={t('请求与事件')}>
      {reply && (
        <Stack gap="4">
          <Facts facts={[{ label: t('请求 ID'), value: <Code>{reply.requestId}</Code> }]} />
          <Tabs.Root defaultValue="request" lazyMount>
            <Tabs.List aria-label={t('请求与事件')}>
              <Tabs.Trigger value="request">{t('请求')}</Tabs.Trigger>
              <Tabs.Trigger value="events">{t('事件 ({count})', { count: reply.events.length })}</Tabs.Trigger>
            </Tabs.List>
            <Tabs.Content value="request" pt="4">
              <CodeBlock
                title="POST /pg/chat/completions"
                code={JSON.stringify(reply.request, null, 2)}
                maxHeight="65vh"
                wrap
              />
            </Tabs.Content>
            <Tabs.Content value="events" pt="4">
              <CodeBlock title="text/event-stream" code={reply.events.join('\n')} maxHeight="65vh" />
            </Tabs.Content>
          </Tabs.Root>
        </Stack>
      )}
    </Sheet>
  )
}
