import { Box, Button, Flex, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { channelStatus } from '#core/statuses.ts'
import { Time } from '../../../components/cells/time.tsx'
import { Section } from '../../../components/facts.tsx'
import { notify } from '../../../components/notify.ts'
import { t } from '../../../i18n/t.ts'
import { trpc } from '../../../lib/trpc.ts'
import { ChannelStatus } from '../list/cells.tsx'
import type { Cooldown } from '../list/use-cooldowns.ts'
import type { ChannelDetail } from '../channel-detail.ts'
import { CooldownLines } from './cooldown-lines.tsx'

type KeyStatesProps = {
  channel: ChannelDetail
  cooldowns: readonly Cooldown[]
  onChanged: () => Promise<unknown>
}

/** Each credential by its place in the key field, with its state; the text itself is not shown here. */
export function KeyStates({ channel, cooldowns, onChanged }: KeyStatesProps) {
  const set = trpc.admin.channels.setKeyStatus.useMutation()
  const [working, setWorking] = useState<number>()
  const change = async ({ position, fingerprint }: ChannelDetail['keys'][number], on: boolean) => {
    setWorking(position)
    try {
      await set.mutateAsync({
        id: channel.id,
        position,
        status: on ? channelStatus.enabled : channelStatus.disabled,
        // Another key may stand there since.
        expected: { fingerprint },
      })
    } catch (error) {
      notify.error(error, t('密钥的状态没有更改'))
    }
    await onChanged()
    setWorking(undefined)
  }
  return (
    <Section title={t('密钥（{count}）', { count: channel.keys.length })}>
      <Stack as="ul" gap="0" listStyleType="none" textStyle="sm">
        {channel.keys.map((key) => {
          const isOn = key.status === channelStatus.enabled
          const name = t('密钥 {number}', { number: key.position + 1 })
          const ownCooldowns = cooldowns.filter((cooldown) => cooldown.key === key.position)
          return (
            <Box as="li" key={key.position} py="2" borderBottomWidth="1px" borderColor="border.muted">
              <Flex align="center" gap="3">
                <Text as="span" flex="1">
                  {name}
                </Text>
                <ChannelStatus of={key} cooldowns={ownCooldowns} />
                <Button
                  size="2xs"
                  loading={working === key.position}
                  aria-label={isOn ? t('禁用 {name}', { name }) : t('启用 {name}', { name })}
                  onClick={() => void change(key, !isOn)}
                >
                  {isOn ? t('禁用') : t('启用')}
                </Button>
              </Flex>
              {key.statusReason !== '' && (
                <Text textStyle="xs" color="fg.muted" overflowWrap="anywhere" mt="1">
                  {key.statusReason} · <Time value={key.statusAt} />
                </Text>
              )}
              {isOn && <CooldownLines cooldowns={ownCooldowns} nameOf={({ model }) => model} />}
            </Box>
          )
        })}
      </Stack>
    </Section>
  )
}
