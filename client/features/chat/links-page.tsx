import { Button, Flex, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { ExternalLink, MessagesSquare } from 'lucide-react'
import { Link } from 'wouter'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import { chatLinkOf } from '#core/chat-link.ts'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { type SavedLink, savedLinks } from './chat-link.ts'
import { TokenChoice } from './token-choice.tsx'
import { useChatKey } from './use-chat-key.ts'
import { wrongLinkWords } from './wrong-link.ts'

/** The chat links of the operator: in a frame here, in a window of their own, or in a program. */
export function Page() {
  const { chats } = useStatus()
  const links = savedLinks(chats)
  return (
    <Frame title={t('聊天')} description={t('管理员提供的聊天程序，会带上服务器地址和你的令牌打开。')} width="form">
      {links.length === 0 ? (
        <EmptyState
          icon={MessagesSquare}
          title={t('还没有聊天链接')}
          description={t('管理员可以在系统设置中添加；操练场不需要链接。')}
          action={
            <Button asChild>
              <Link href="/playground">{t('打开操练场')}</Link>
            </Button>
          }
        />
      ) : (
        <Links links={links} />
      )}
    </Frame>
  )
}

function Links({ links }: { links: readonly SavedLink[] }) {
  const { isRoot } = useSession()
  const { serverAddress } = useStatus()
  const chat = useChatKey()
  const address = withoutTrailingSlashes(serverAddress || window.location.origin)
  if (chat.error) return <ErrorState error={chat.error} onRetry={chat.retry} />
  return (
    <Stack gap="4">
      {chat.isMissing ? (
        <Text color="fg.muted">{t('没有可用的启用令牌')}</Text>
      ) : chat.token ? (
        <TokenChoice chat={chat} />
      ) : (
        <Skeleton h="9" aria-busy />
      )}
      <Stack gap="0" layerStyle="frame">
        {links.map(({ name, template }, index) => {
          const link = chatLinkOf(template, { address, key: chat.key ?? '' })
          return (
            <Flex key={name} px="4" py="3" gap="3" align="center" wrap="wrap" borderTopWidth={index > 0 ? '1px' : '0'}>
              <Stack gap="0" flex="1" flexBasis={{ base: 'full', sm: '0' }} minW="0">
                <Text fontWeight="medium" truncate>
                  {name}
                </Text>
                <Text textStyle="xs" color="fg.muted" overflowWrap="anywhere">
                  {link.kind === 'invalid' ? wrongLinkWords(isRoot) : link.host}
                </Text>
              </Stack>
              {link.kind !== 'invalid' && !chat.isMissing && chat.key === undefined && (
                <Skeleton h="8" w="44" aria-busy />
              )}
              {link.kind !== 'invalid' && chat.key !== undefined && (
                <HStack gap="2">
                  <Button asChild size="xs">
                    <a href={link.url} target="_blank" rel="noopener noreferrer">
                      <ExternalLink aria-hidden />
                      {link.kind === 'program' ? t('在程序中打开') : t('新窗口打开')}
                    </a>
                  </Button>
                  {link.kind === 'frame' && (
                    <Button asChild size="xs" variant="solid">
                      <Link href={`/app/chat/${index}`}>{t('在此打开')}</Link>
                    </Button>
                  )}
                </HStack>
              )}
            </Flex>
          )
        })}
      </Stack>
    </Stack>
  )
}
