import { Flex, chakra } from '@chakra-ui/react'
import { Money } from '../../components/cells/numbers.tsx'
import { Meter } from '../../components/charts/sparkline.tsx'
import { t } from '../../i18n/t.ts'
import { formatPercent } from '../../lib/format.ts'
import type { Token } from './use-open-token.ts'

const Faint = chakra('span', { base: { color: 'fg.muted' } })

/** What may be spent in all, as long as there is a limit. */
export const totalOf = ({ usedQuota, remainQuota }: Pick<Token, 'usedQuota' | 'remainQuota'>): number =>
  usedQuota + Math.max(0, remainQuota)

/** What was spent of what may be. */
export function Spend({ token }: { token: Token }) {
  if (token.unlimitedQuota) {
    return (
      <Flex as="span" gap="1.5" align="baseline">
        <Money quota={token.usedQuota} />
        <Faint>{t('不限额')}</Faint>
      </Flex>
    )
  }
  const cap = totalOf(token)
  const share = cap === 0 ? 1 : token.usedQuota / cap
  return (
    <Flex as="span" direction="column" gap="1" w="full" minW="28">
      <Flex as="span" justify="space-between" gap="2" lineHeight="1.1">
        <Money quota={token.usedQuota} />
        <Faint>
          / <Money quota={cap} />
        </Faint>
      </Flex>
      <Meter share={share} label={t('已用 {share}', { share: formatPercent(share, 0) })} />
    </Flex>
  )
}
