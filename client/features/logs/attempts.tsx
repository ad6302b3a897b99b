import { Badge, HStack, Stack, Text, chakra } from '@chakra-ui/react'
import { ChannelCell } from '../../components/cells/names.tsx'
import { Duration } from '../../components/cells/numbers.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { formatDuration } from '../../lib/format.ts'
import { type Attempt, failureText } from './details.ts'

const Arrow = chakra('span', { base: { color: 'fg.subtle' } })

const succeeded = (attempt: Attempt): boolean => attempt.status < 400 && attempt.reason === ''

const reasonOf = ({ reason, refusal }: Attempt): string => failureText(reason, refusal)

const tipOf = (attempt: Attempt): string =>
  [`${attempt.channel_name} · HTTP ${attempt.status} · ${formatDuration(attempt.ms)}`, reasonOf(attempt)]
    .filter(Boolean)
    .join('\n')

/** The channels that a call went through, one chip each; those that failed are struck out. */
export function AttemptChain({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <HStack as="span" display="inline-flex" gap="0.5" maxW="full">
      {attempts.map((attempt, index) => (
        <HStack as="span" key={index} gap="0.5">
          {index > 0 && <Arrow aria-hidden>›</Arrow>}
          <Badge colorPalette={succeeded(attempt) ? 'good' : 'bad'} px="1" data-tip={tipOf(attempt)}>
            {succeeded(attempt) ? `#${attempt.channel_id}` : <s>#{attempt.channel_id}</s>}
          </Badge>
        </HStack>
      ))}
    </HStack>
  )
}

/** Each attempt with its outcome, in words. */
export function AttemptList({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <Stack as="ol" gap="0" listStyleType="none" layerStyle="frame" textStyle="sm">
      {attempts.map((attempt, index) => (
        <Stack as="li" key={index} gap="1" px="3" py="2" borderTopWidth={index > 0 ? '1px' : '0'}>
          <HStack gap="3" justify="space-between">
            <HStack gap="3" minW="0">
              <Status tone={succeeded(attempt) ? 'good' : 'bad'}>
                {succeeded(attempt) ? t('成功') : String(attempt.status)}
              </Status>
              <ChannelCell channel={{ id: attempt.channel_id, name: attempt.channel_name }} />
              {attempt.key_index > 0 && (
                <Text as="span" color="fg.subtle" whiteSpace="nowrap">
                  {t('第 {number} 个密钥', { number: attempt.key_index + 1 })}
                </Text>
              )}
            </HStack>
            <Duration milliseconds={attempt.ms} />
          </HStack>
          {attempt.reason && (
            <Text color="fg.muted" textStyle="xs" overflowWrap="anywhere">
              {reasonOf(attempt)}
            </Text>
          )}
        </Stack>
      ))}
    </Stack>
  )
}
