import { Box, Button, Flex, Stack, Text } from '@chakra-ui/react'
import { FlaskConical } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { confirm } from '../../components/confirm.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { refusalCode } from '../../lib/errors.ts'
import { priceText } from '../../lib/format.ts'
import { discardWords } from '../../lib/leave-guard.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { beginningsOf, changeOf, differingFigures, type Drafts, isUnreadable, type PriceRow } from './drafts.ts'
import { figures } from './figures.ts'

type SaveBarProps = {
  drafts: Drafts
  rows: readonly PriceRow[]
  onDone: (drafts: Drafts) => void
  onRehearse: () => void
}

/** Saves all that is typed at once; what somebody else has changed meanwhile is shown before it may be replaced. */
export function SaveBar({ drafts, rows, onDone, onRehearse }: SaveBarProps) {
  const { quotaPerUnit } = useStatus()
  const utils = trpc.useUtils()
  const setPrices = trpc.admin.models.setPrices.useMutation()
  const began = useRef<ReadonlyMap<string, string>>(new Map())
  useEffect(() => {
    began.current = beginningsOf(drafts, rows, began.current)
  }, [drafts, rows])
  const [isSaving, setSaving] = useState(false)
  const [overtaken, setOvertaken] = useState<readonly string[]>([])
  const unreadable = [...drafts].flatMap(([model, draft]) => (isUnreadable(draft) ? [model] : []))
  const save = async () => {
    setSaving(true)
    setOvertaken([])
    try {
      const { prices } = changeOf(drafts, quotaPerUnit)
      await setPrices.mutateAsync({ prices, expected: Object.fromEntries(began.current) })
      await utils.admin.prices.list.refetch()
      void utils.invalidate()
      notify.success(t('已为 {count} 个模型设置价格', { count: drafts.size }))
      // What was typed over these meanwhile begins with what is stored now.
      began.current = new Map([...began.current].filter(([model]) => !drafts.has(model)))
      onDone(drafts)
    } catch (error) {
      if (refusalCode(error) === 'prices.changed_meanwhile') await showOthers(error)
      else notify.error(error, t('保存失败'))
    } finally {
      setSaving(false)
    }
  }
  /** Whoever saves again has read what somebody else has set: what could not be fetched is refused again. */
  const showOthers = async (refusal: unknown) => {
    const now = await utils.admin.prices.list.fetch(undefined, { staleTime: 0 }).catch(() => undefined)
    if (!now) return notify.error(refusal, t('保存失败'))
    const stored = beginningsOf(drafts, now.rows, new Map())
    setOvertaken([...stored].flatMap(([model, entries]) => (began.current.get(model) === entries ? [] : [model])))
    began.current = stored
  }
  const discard = async () => {
    if (await confirm(discardWords())) onDone(drafts)
  }
  const replaced = overtaken.filter((model) => drafts.has(model))
  return (
    <Stack
      gap="3"
      p="3"
      layerStyle="panel"
      flexShrink="0"
      position={{ base: 'sticky', sm: 'static' }}
      bottom="2"
      zIndex="1"
    >
      {replaced.length > 0 && (
        <Overtaken
          models={replaced}
          drafts={drafts}
          rows={rows}
          onLoad={() => onDone(new Map([...drafts].filter(([model]) => replaced.includes(model))))}
        />
      )}
      <Flex gap="2" align="center" wrap="wrap">
        <Text textStyle="sm" flex="1" minW="32">
          {t('{count} 个模型的价格有未保存的修改', { count: drafts.size })}
          {unreadable.length > 0 && (
            <Text as="span" display="block" color="bad.fg" role="alert">
              {t('{models} 的价格不是有效的数字', { models: unreadable.slice(0, 3).join(', ') })}
            </Text>
          )}
        </Text>
        <Button variant="ghost" onClick={() => void discard()} disabled={isSaving}>
          {t('放弃修改')}
        </Button>
        <Button onClick={onRehearse} disabled={isSaving || unreadable.length > 0}>
          <FlaskConical aria-hidden />
          {t('预演与定时')}
        </Button>
        <Button variant="solid" loading={isSaving} disabled={unreadable.length > 0} onClick={() => void save()}>
          {t('保存')}
        </Button>
      </Flex>
    </Stack>
  )
}

type OvertakenProps = {
  models: readonly string[]
  drafts: Drafts
  rows: readonly PriceRow[]
  onLoad: () => void
}

/** What somebody else has set, model by model, beside what is typed here; the rows themselves may be out of sight. */
function Overtaken({ models, drafts, rows, onLoad }: OvertakenProps) {
  const { quotaPerUnit } = useStatus()
  const labels = new Map(figures().map(({ id, label }) => [id, label]))
  const shown = (value: number | null) => (value === null ? '–' : priceText(value))
  return (
    <Notice tone="warning" isAlert>
      {t('这些价格已被其他人修改，您的修改未保存。再次保存将覆盖对方的修改。')}
      <Box as="ul" listStyleType="none" maxH="32" overflowY="auto" tabIndex={0} aria-label={t('对方的修改')} mt="1">
        {models.map((model) => {
          const draft = drafts.get(model)
          const row = rows.find((one) => one.model === model)
          const differing = draft && row ? differingFigures(draft, row, quotaPerUnit) : undefined
          return (
            <Box as="li" key={model} overflowWrap="anywhere" fontVariantNumeric="tabular-nums">
              <Text as="span" fontFamily="mono" fontWeight="medium">
                {model}
              </Text>{' '}
              {differing?.figures
                .map(({ figure, mine, theirs }) =>
                  t('{label}：对方 {theirs}，您 {mine}', {
                    label: labels.get(figure) ?? figure,
                    theirs: shown(theirs),
                    mine: shown(mine),
                  }),
                )
                .join(' · ')}
              {differing?.isLongContext && ` ${t('长上下文价格也不同')}`}
            </Box>
          )
        })}
      </Box>
      <Button size="xs" mt="2" onClick={onLoad}>
        {t('放弃修改并载入最新')}
      </Button>
    </Notice>
  )
}
