import { Box, Button, Flex, Skeleton, Text } from '@chakra-ui/react'
import { MessagesSquare } from 'lucide-react'
import { Link, useParams } from 'wouter'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import { chatLinkOf } from '#core/chat-link.ts'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useDocumentTitle } from '../../lib/document-title.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { sandboxOf, savedLinks } from './chat-link.ts'
import { TokenChoice } from './token-choice.tsx'
import { useChatKey } from './use-chat-key.ts'
import { wrongLinkWords } from './wrong-link.ts'

/** A chat page of the operator's in a frame, with the gateway's address and one of the reader's keys put in. */
export function Page() {
  const { id } = useParams<{ id?: string }>()
  const { chats } = useStatus()
  const link = savedLinks(chats)[Number(id ?? 0)]
  useDocumentTitle(link?.name ?? t('聊天'))
  if (!link) {
    return <WrongLink />
  }
  return <ChatFrame key={link.template} name={link.name} template={link.template} />
}

function WrongLink() {
  const { isRoot } = useSession()
  return (
    <EmptyState
      icon={MessagesSquare}
      title={wrongLinkWords(isRoot)}
      action={
        isRoot && (
          <Button asChild>
            <Link href="/admin/settings?q=Chats">{t('前往设置')}</Link>
          </Button>
        )
      }
      headingLevel="h1"
    />
  )
}

function ChatFrame({ name, template }: { name: string; template: string }) {
  const { serverAddress } = useStatus()
  const chat = useChatKey()
  const address = withoutTrailingSlashes(serverAddress || window.location.origin)
  if (chat.error) return <ErrorState error={chat.error} onRetry={chat.retry} />
  if (chat.isMissing) {
    return (
      <EmptyState
        icon={MessagesSquare}
        title={t('没有可用的启用令牌')}
        description={t('即将前往令牌页面。')}
        headingLevel="h1"
      />
    )
  }
  if (chat.key === undefined) return <Skeleton flex="1" m="4" aria-busy />
  const link = chatLinkOf(template, { address, key: chat.key })
  if (link.kind === 'invalid') {
    return <WrongLink />
  }
  return (
    <Flex direction="column" h="full" minH="70vh">
      <Flex px="4" py="2" gap="3" align="center" wrap="wrap" borderBottomWidth="1px" justify="space-between">
        <Text as="h1" fontWeight="medium" textStyle="sm">
          {name}
        </Text>
        <TokenChoice chat={chat} />
        <Text textStyle="xs" color="fg.muted">
          {t('密钥 {key} 会交给 {host}。', { key: `sk-${chat.token?.keyMask ?? ''}`, host: link.host })}
        </Text>
      </Flex>
      {link.kind === 'frame' ? (
        <Box flex="1" minH="0">
          <iframe
            key={link.url}
            src={link.url}
            title={name}
            referrerPolicy="no-referrer"
            sandbox={sandboxOf(link.url, window.location.origin)}
            allow="clipboard-write; microphone; camera"
            style={{ width: '100%', height: '100%', minHeight: '60vh', border: 0 }}
          />
        </Box>
      ) : (
        <EmptyState
          icon={MessagesSquare}
          title={t('这个链接由你电脑上的程序打开')}
          action={<a href={link.url}>{t('打开 {name}', { name })}</a>}
        />
      )}
    </Flex>
  )
}
