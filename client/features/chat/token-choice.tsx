import { Flex, Text } from '@chakra-ui/react'
import { Picker } from '../../components/picker.tsx'
import { t } from '../../i18n/t.ts'
import type { useChatKey } from './use-chat-key.ts'

/** Which token the chat page is given; the reader may give it another. */
export function TokenChoice({ chat }: { chat: ReturnType<typeof useChatKey> }) {
  if (!chat.token) return null
  return (
    <Flex align="center" gap="2" minW="0">
      <Text textStyle="sm" color="fg.muted" flexShrink="0">
        {t('使用令牌')}
      </Text>
      <Picker
        label={t('使用令牌')}
        choices={chat.tokens.map(({ id, name, keyMask }) => ({
          value: String(id),
          label: name || `sk-${keyMask}`,
          note: `sk-${keyMask}`,
        }))}
        value={String(chat.token.id)}
        onChange={(id) => chat.choose(Number(id))}
      />
    </Flex>
  )
}
